package main

// command is what can be asked of the program. Its help, the man page and the
// completions of shells come from here and from options.
type command struct {
	name string
	set  commandSet
	// usage are its command lines, without the program's name.
	usage []string
	// about is its help's first paragraph, which begins in the middle of a
	// sentence, details the last.
	about, details string
	examples       []string
	// exits are its exit statuses.
	exits []exit
}

// exit is an exit status.
type exit struct{ status, meaning string }

const stoppedStatus = "stopped by SIGHUP, Ctrl-C or SIGTERM, as after a failure"

// mainJob is what the program does without a command.
var mainJob = command{
	name: "robotsbatch", set: jobCommand,
	usage: []string{"-in FILE -rules RULES [-agent NAME] [-out FILE] [flags]"},
	about: "says of every URL in a list or table whether robots.txt (RFC 9309) lets a crawler fetch it. It reads files, asks no website, and " +
		"keeps the order.",
	examples: []string{
		"-in frontier.arrow -rules robots -agent CCBot -out verdicts.arrow",
		"-in urls.txt.zst -rules robots -emit allowed -out ok.txt.zst",
		`-in "*.arrow" -rules my.rules -agent GPTBot -agent CCBot -out o/`,
	},
	exits: []exit{
		{"0", "done, also when the reader of a pipe had enough before the end"},
		{"1", "failed; nothing half-written is left; or another run is writing -out"},
		{"2", "wrong use"},
		{"3", "done, but more rows without a verdict than -max-invalid permits"},
		{"129, 130, 143", stoppedStatus},
	},
}

// commands are all others, but help and version, which have no flags.
var commands = []command{
	{
		name: "explain", set: explainCommand,
		usage:    []string{"explain -rules RULES [-agent NAME] [flags] URL..."},
		about:    "says which rule of which file decides about a URL.",
		examples: []string{"explain -rules robots -agent CCBot https://example.com/a?b=c"},
		exits: []exit{
			{"0", "allowed; with several URLs or agents, the worst counts"},
			{"1", "denied"},
			{"2", "wrong use, no verdict, or rules that cannot be read"},
			{"129, 130, 143", stoppedStatus},
		},
	},
	{
		name: "compile", set: compileCommand,
		usage: []string{"compile -rules RULES [-rules RULES...] -out PACK [flags]"},
		about: "makes a rule pack: one file with the compiled rules of many authorities, which the main job maps instead of reading robots.txt " +
			"files or captures.",
		details: "A pack has the rules of every agent in it: -agent is chosen when it is used. Of captures it has what decides, with status and " +
			"time. The same files give the same bytes.",
		examples: []string{"compile -rules robots -out site.rules", `compile -rules "crawl/*.warc.gz" -out crawl.rules`},
		exits: []exit{
			{"0", "done"},
			{"1", "failed; nothing half-written is left, and a previous pack stays"},
			{"2", "wrong use"},
			{"129, 130, 143", stoppedStatus},
		},
	},
	{
		name: "inspect", set: inspectCommand,
		usage: []string{"inspect PACK [AUTHORITY...]"},
		about: "says what is in a rule pack.",
		details: "PACK is a file or an object, of which a temporary copy is made. With an AUTHORITY, such as https://example.com or any URL of it, " +
			"it says what the pack has on that: the outcome of the fetch, the agents named in its robots.txt, their rules by line, sitemaps and " +
			"crawl-delays. Without one, it sums the pack up.",
		examples: []string{"inspect site.rules", "inspect site.rules https://example.com"},
		exits: []exit{
			{"0", "done, also when the pack does not have an AUTHORITY"},
			{"1", "the pack cannot be read, or is damaged"},
			{"2", "wrong use"},
			{"129, 130, 143", stoppedStatus},
		},
	},
	{
		name: "verify", set: verifyCommand,
		usage: []string{"verify [-quiet] FILE|FOLDER..."},
		about: "says whether outputs still are, byte for byte, what was written, and whether they can be read to their end.",
		details: "A FOLDER of outputs is checked against the manifest in it, a FILE against its own (-manifest) or that of its folder: size and " +
			"checksum of the whole, and of each batch or row group, so that it says which one is damaged and where. A FILE without a manifest, or " +
			"in an object store, is read to its end, which finds what Arrow, Parquet, gzip and zstd know of themselves. Of a rule pack " +
			"everything is checked. Each damage is a line on stderr.",
		examples: []string{"verify verdicts/", "verify verdicts.parquet site.rules"},
		exits: []exit{
			{"0", "nothing is damaged"},
			{"1", "something is damaged, missing or cannot be read, or the job that wrote the folder did not come to its end"},
			{"2", "wrong use"},
			{"129, 130, 143", stoppedStatus},
		},
	},
}

// commandOf returns the command of that name, nil when there is none.
func commandOf(name string) *command {
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}
