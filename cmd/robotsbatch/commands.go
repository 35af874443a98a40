package main

import (
	"slices"

	"robotsbatch/cmd/robotsbatch/internal/cli"
)

// program is the command line, made of the tables of commands and flags.
var program = cli.Program[jobConfig]{
	Purpose: "robots.txt verdicts for lists and tables of URLs", Version: version(),
	Main: mainJob, Commands: commands, Flags: slices.Concat(flagTable, lintFlags),
	Topics: []string{inputTopic, rulesTopic, outputTopic, runningTopic}, Pages: manualTopics(),
	Given: func(c *jobConfig, f *cli.Flag[jobConfig], value string) {
		if !f.Indifferent {
			c.given[f.Name] = append(c.given[f.Name], value)
		}
	},
}

const (
	stoppedStatus = "stopped by SIGHUP, Ctrl-C or SIGTERM, as after a failure"
	// retryStatus is what a scheduler should try again as it is.
	retryStatus = "as 1, but worth another try: a store or disk failed, or a file is being written"
)

// mainJob is what the program does without a command.
var mainJob = cli.Command{
	Name: "robotsbatch", Set: jobCommand,
	Usage: []string{"-in FILE -rules RULES [-agent NAME] [-out FILE] [flags]"},
	About: "says of every URL in a list or table whether robots.txt (RFC 9309) lets a crawler fetch it. It reads files, asks no website, and " +
		"keeps the order.",
	Examples: []string{
		"-in frontier.arrow -rules robots -agent CCBot -out verdicts.arrow",
		"-in urls.txt.zst -rules robots -emit allowed -out ok.txt.zst",
		`-in "*.arrow" -rules my.rules -agent GPTBot -agent CCBot -out o/`,
	},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, also when the reader of a pipe had enough before the end"},
		{Status: "1", Meaning: "failed; nothing half-written is left"},
		{Status: "2", Meaning: "wrong use"},
		{Status: "3", Meaning: "done, but more rows without a verdict than -max-invalid permits"},
		{Status: "75", Meaning: retryStatus},
		{Status: "129, 130, 143", Meaning: stoppedStatus},
	},
}

// commands are all others, but help and version, which have no flags.
var commands = []cli.Command{
	{
		Name: "explain", Set: explainCommand,
		Usage: []string{"explain -rules RULES [-agent NAME] [flags] URL..."},
		About: "says which rule of which line decides about a URL, in which group, and what else matched.",
		Examples: []string{
			"explain -rules robots -agent CCBot https://example.com/a?b=c",
			"explain -rules robots.txt -for example.com https://example.com/a",
		},
		Exits: []cli.Exit{
			{Status: "0", Meaning: "allowed; with several URLs or agents, the worst counts"},
			{Status: "1", Meaning: "denied"},
			{Status: "2", Meaning: "wrong use, no verdict, or rules that cannot be read"},
			{Status: "75", Meaning: retryStatus},
			{Status: "129, 130, 143", Meaning: stoppedStatus},
		},
	},
	{
		Name: "compile", Set: compileCommand,
		Usage: []string{"compile -rules RULES [-rules RULES...] -out PACK [flags]"},
		About: "makes a rule pack: one file with the compiled rules of many authorities, which the main job maps instead of reading robots.txt " +
			"files or captures.",
		Details: "A pack has the rules of every agent in it: -agent is chosen when it is used. Of captures it has what decides, with status and " +
			"time. The same files give the same bytes.",
		Examples: []string{"compile -rules robots -out site.rules", `compile -rules "crawl/*.warc.gz" -out crawl.rules`},
		Exits: []cli.Exit{
			{Status: "0", Meaning: "done"},
			{Status: "1", Meaning: "failed; nothing half-written is left, and a previous pack stays"},
			{Status: "2", Meaning: "wrong use"},
			{Status: "75", Meaning: retryStatus},
			{Status: "129, 130, 143", Meaning: stoppedStatus},
		},
	},
	{
		Name: "inspect", Set: inspectCommand,
		Usage: []string{"inspect PACK [AUTHORITY...]"},
		About: "says what is in a rule pack.",
		Details: "PACK is a file or an object, of which a temporary copy is made. With an AUTHORITY, such as https://example.com or any URL of it, " +
			"it says what the pack has on that: the outcome of the fetch, the agents named in its robots.txt, their rules by line, sitemaps and " +
			"crawl-delays. Without one, it sums the pack up.",
		Examples: []string{"inspect site.rules", "inspect site.rules https://example.com"},
		Exits: []cli.Exit{
			{Status: "0", Meaning: "done, also when the pack does not have an AUTHORITY"},
			{Status: "1", Meaning: "the pack cannot be read, or is damaged"},
			{Status: "2", Meaning: "wrong use"},
			{Status: "75", Meaning: retryStatus},
			{Status: "129, 130, 143", Meaning: stoppedStatus},
		},
	},
	{
		Name: "verify", Set: verifyCommand,
		Usage: []string{"verify [-quiet] FILE|FOLDER..."},
		About: "says whether outputs still are, byte for byte, what was written, and whether they can be read to their end.",
		Details: "A FOLDER of outputs is checked against the manifest in it, a FILE against its own (-manifest) or that of its folder: size and " +
			"checksum of the whole, and of each batch or row group, so that it says which one is damaged and where. A FILE without a manifest, or " +
			"in an object store, is read to its end, which finds what Arrow, Parquet, gzip and zstd know of themselves. Of a rule pack " +
			"everything is checked. Each damage is a line on stderr.",
		Examples: []string{"verify verdicts/", "verify verdicts.parquet site.rules"},
		Exits: []cli.Exit{
			{Status: "0", Meaning: "nothing is damaged"},
			{Status: "1", Meaning: "something is damaged, missing or cannot be read, or the job that wrote the folder did not come to its end"},
			{Status: "2", Meaning: "wrong use"},
			{Status: "129, 130, 143", Meaning: stoppedStatus},
		},
	},
	pipeMode,
	exportHelp,
	hostsHelp,
	diffHelp,
	mergeShards,
	surveyHelp,
	hashAuthorities,
	lintFiles,
	statsHelp,
}
