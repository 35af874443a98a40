package main

import (
	"robotsbatch/batch"
	"robotsbatch/io/format"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// option is a flag. This table is all that is said of flags: parsing, the help
// texts, the man page and the completions of shells come from it. A flag that
// means something else for another command has a row for that.
type option struct {
	name string
	// argument is what its value is called; empty for a flag without one.
	argument string
	// short says in a line what it does, more what there is to know besides.
	short, more string
	// standard is its default, for people.
	standard string
	topic    topic
	// commands are those that have it, common shows it in the short help.
	commands commandSet
	common   bool
	// repeat lets it be given more than once.
	repeat bool
	// words are all that it takes; files says that it takes the name of a file.
	words []string
	files bool
	// indifferent flags do not decide what is in an output: they say where things
	// are, which a manifest has apart, how much of the machine to use, and how to
	// report. -accept-truncated decides about outputs alone of which an input was
	// cut, which are marked.
	indifferent bool
	// bind returns where its value goes: a *bool, a *string, or a
	// func(string) error.
	bind func(c *jobConfig) any
}

// topic is the part of the help that a flag is in.
type topic string

const (
	inputTopic   topic = "Input"
	rulesTopic   topic = "Rules"
	outputTopic  topic = "Output"
	runningTopic topic = "Running"
)

var topics = []topic{inputTopic, rulesTopic, outputTopic, runningTopic}

// commandSet is a set of commands.
type commandSet uint

const (
	jobCommand commandSet = 1 << iota
	explainCommand
	compileCommand
	inspectCommand
	verifyCommand

	readingRules = jobCommand | explainCommand | compileCommand
)

var options = []option{
	{
		name: "in", argument: "FILE", topic: inputTopic, commands: jobCommand, common: true, repeat: true, files: true, indifferent: true,
		short: "list or table of URLs: a file, a folder, a quoted pattern, - for stdin",
		more: "A list has a URL a line; csv and tsv have a header; jsonl, crawl indexes (CDXJ, CDX), Arrow and Parquet; text also as .gz and .zst. " +
			"In a pattern ** stands for any number of folders. Objects: s3://BUCKET/KEY, gs://, azblob://, a folder with a slash at its end " +
			"(robotsbatch help stores).",
		bind: func(c *jobConfig) any { return appendTo(&c.in) },
	},
	{
		name: "files-from", argument: "FILE", topic: inputTopic, commands: jobCommand, files: true, indifferent: true,
		short: "more names of inputs, one a line; - for stdin",
		bind:  func(c *jobConfig) any { return &c.filesFrom },
	},
	{
		name: "in-format", argument: "NAME", topic: inputTopic, commands: jobCommand, words: formatNames(format.Format.Readable),
		short: "format of the inputs", standard: "by the first bytes, then by name",
		more: "arrow, arrows (stream), parquet, csv, tsv, jsonl, cdxj, cdx or text; csv and tsv are known by name alone.",
		bind: func(c *jobConfig) any { return formatOf(&c.inFormat, format.Format.Readable) },
	},
	{
		name: "url-column", argument: "NAME", topic: inputTopic, commands: jobCommand, common: true,
		short: "column, or key of jsonl, with the URLs", standard: "url",
		more: "Without a column url: one in other case, such as URL; then url_protocol, url_host_name, url_port, url_path and url_query of Arrow " +
			"and Parquet put together; then a table's only column of strings.",
		bind: func(c *jobConfig) any { return &c.urlColumn },
	},
	{
		name: "delimiter", argument: "CHAR", topic: inputTopic, commands: jobCommand,
		short: "what separates fields in csv and tsv, such as \";\" or tab", standard: "told from the header of csv",
		bind: func(c *jobConfig) any { return separatorOf(&c.separator) },
	},
	{
		name: "max-line", argument: "SIZE", topic: inputTopic, commands: jobCommand, standard: "1MiB",
		short: "longest line of text, or row of csv",
		bind:  func(c *jobConfig) any { return sizeOf(&c.maxLine, leastLine) },
	},
	{
		name: "accept-truncated", topic: inputTopic, commands: jobCommand, indifferent: true,
		short: "take an input that ends too early as far as it came",
		more:  "The summary says how many rows that are. A Parquet file must have its end.",
		bind:  func(c *jobConfig) any { return &c.acceptTruncated },
	},
	{
		name: "rules", argument: "RULES", topic: rulesTopic, commands: readingRules, common: true, repeat: true, files: true, indifferent: true,
		short: "folder of robots.txt files named by host, rule pack, captures",
		more: "Files are called example.com, example.com.txt, example.com/robots.txt, with a port example.com_8443. Captures are WARC files or tables " +
			"(Arrow, Parquet, csv, tsv, jsonl) with url or authority, body, status, fetched_at, location, error: a file, a folder or a quoted pattern. " +
			"Of several -rules the first that knows an authority decides; redirects of captures lead into all captures. With -for it is a single robots.txt, or - for stdin.",
		bind: func(c *jobConfig) any { return appendTo(&c.folders) },
	},
	{
		name: "agent", argument: "NAME", topic: rulesTopic, commands: jobCommand | explainCommand, common: true, repeat: true,
		short: "crawler's product token, such as CCBot", standard: "*, the rules for everyone",
		more: "Several by commas are one agent, the most specific first: Googlebot-News,Googlebot. Each -agent has a verdict of its own.",
		bind: func(c *jobConfig) any {
			return func(s string) error {
				chain, err := matcher.ParseChain(s)
				c.agents = append(c.agents, chain)
				return err
			}
		},
	},
	{
		name: "for", argument: "HOST", topic: rulesTopic, commands: readingRules,
		short: "whose the single robots.txt is that -rules names",
		more:  "A host stands for http and https; https://example.com for that alone.",
		bind:  func(c *jobConfig) any { return &c.forHost },
	},
	{
		name: "allow-no-rules", topic: rulesTopic, commands: readingRules,
		short: "go on when no -rules has any rules, which is an error otherwise",
		more:  "All verdicts are then those of -missing.",
		bind:  func(c *jobConfig) any { return &c.allowNoRules },
	},
	{
		name: "profile", argument: "NAME", topic: rulesTopic, commands: readingRules, standard: "rfc9309", words: []string{"rfc9309", "google"},
		short: "whose rules: rfc9309, or google for those of Google's parser",
		more:  "A rule pack has the profile and the -robots-limit that it was compiled for.",
		bind:  func(c *jobConfig) any { return oneOf(&c.profile, profiles...) },
	},
	{
		name: "robots-limit", argument: "SIZE", topic: rulesTopic, commands: readingRules, standard: "500KiB, the least there is",
		short: "bytes of a robots.txt that count",
		bind:  func(c *jobConfig) any { return sizeOf(&c.limit, robotstxt.DefaultLimit) },
	},
	{
		name: "missing", argument: "VERDICT", topic: rulesTopic, commands: jobCommand | explainCommand, standard: "allow", words: []string{"allow", "deny", "null"},
		short: "verdict where nothing is known of an authority: allow, deny or null",
		bind: func(c *jobConfig) any {
			return oneOf(&c.missing, word[access.Missing]{"allow", access.MissingAllow},
				word[access.Missing]{"deny", access.MissingDeny}, word[access.Missing]{"null", access.MissingNull})
		},
	},
	{
		name: "as-of", argument: "TIME", topic: rulesTopic, commands: readingRules, standard: "the newest fetch",
		short: "time that ages count up to; of captures, none later counts",
		more:  "2026-03-01T12:00:00Z, or a day, which stands for its end. Which captures of a pack count is decided when it is compiled.",
		bind:  func(c *jobConfig) any { return timeOf(&c.asOf) },
	},
	{
		name: "max-age", argument: "SPAN", topic: rulesTopic, commands: jobCommand | explainCommand, standard: "24h, as RFC 9309 advises",
		short: "rows decided by an older robots.txt are counted, such as 36h or 7d",
		bind:  func(c *jobConfig) any { return ageOf(&c.maxAge) },
	},
	{
		name: "on-429", argument: "VERDICT", topic: rulesTopic, commands: readingRules, standard: "deny", words: []string{"deny", "allow"},
		short: "captures with status 429: deny or allow",
		bind: func(c *jobConfig) any {
			return oneOf(&c.policy.Allow429, word[bool]{"allow", true}, word[bool]{"deny", false})
		},
	},
	{
		name: "on-unresolved-redirect", argument: "VERDICT", topic: rulesTopic, commands: readingRules, standard: "allow", words: []string{"allow", "deny"},
		short: "captures that redirect to nowhere: allow or deny",
		bind: func(c *jobConfig) any {
			return oneOf(&c.policy.DenyUnresolved, word[bool]{"allow", false}, word[bool]{"deny", true})
		},
	},
	{
		name: "out", argument: "FILE", topic: outputTopic, commands: jobCommand, common: true, files: true, indifferent: true,
		short: "what to write: a file, a folder (an output for each input), or -", standard: "-, stdout",
		more: "Format by name: .arrow, .arrows, .parquet, .csv, .tsv, .jsonl, .txt (URLs only); text also with .gz or .zst.",
		bind: func(c *jobConfig) any { return &c.out },
	},
	{
		name: "out", argument: "PACK", topic: outputTopic, commands: compileCommand, files: true, indifferent: true,
		short: "the file or object to write, such as site.rules, or - for stdout",
		bind:  func(c *jobConfig) any { return &c.out },
	},
	{
		name: "out-format", argument: "NAME", topic: outputTopic, commands: jobCommand, words: formatNames(format.Format.Writable),
		short: "format of the outputs", standard: "by name",
		more: "arrow, arrows, parquet, csv, tsv, jsonl or text. On stdout csv for a list, jsonl for CDXJ, an Arrow stream for Arrow and Parquet, " +
			"else the input's format.",
		bind: func(c *jobConfig) any { return formatOf(&c.outFormat, format.Format.Writable) },
	},
	{
		name: "compression", argument: "NAME", topic: outputTopic, commands: jobCommand, standard: "zstd", words: []string{"zstd", "none", "lz4", "snappy"},
		short: "inside Arrow and Parquet: zstd, none, lz4 (Arrow), snappy (Parquet)",
		bind: func(c *jobConfig) any {
			return func(s string) error {
				c.hasCompression = true
				return oneOf(&c.compression, compressions...)(s)
			}
		},
	},
	{
		name: "recode", topic: outputTopic, commands: jobCommand,
		short: "decode and encode every column",
		more:  "By default Arrow to Arrow and Parquet to Parquet copy all columns as they are, when all of them come out and -compression is not given. With -emit that goes for row groups and record batches of which all rows come out; those of which some do are decoded.",
		bind:  func(c *jobConfig) any { return &c.recode },
	},
	{
		name: "emit", argument: "WHICH", topic: outputTopic, commands: jobCommand, common: true, standard: "all", words: []string{"all", "allowed", "denied", "unknown"},
		short: "rows that come out: all, allowed, denied or unknown",
		more:  "With several agents the first one's verdict decides.",
		bind: func(c *jobConfig) any {
			return oneOf(&c.emit, word[batch.Emit]{"all", batch.EmitAll}, word[batch.Emit]{"allowed", batch.EmitAllowed},
				word[batch.Emit]{"denied", batch.EmitDenied}, word[batch.Emit]{"unknown", batch.EmitUnknown})
		},
	},
	{
		name: "columns", argument: "WHICH", topic: outputTopic, commands: jobCommand, common: true, standard: "all", words: []string{"all", "url", "verdict"},
		short: "columns that come out: all, url (and verdicts) or verdict",
		more: "All of jsonl is the whole object in jsonl, and the URL in other formats; all of CDXJ is surt, timestamp and URL, in jsonl with the " +
			"object's keys.",
		bind: func(c *jobConfig) any {
			return func(s string) error {
				c.hasKeep = true
				return oneOf(&c.keep, word[batch.Keep]{"all", batch.KeepAll}, word[batch.Keep]{"url", batch.KeepURL},
					word[batch.Keep]{"verdict", batch.KeepNone})(s)
			}
		},
	},
	{
		name: "prefix", argument: "TEXT", topic: outputTopic, commands: jobCommand,
		short: "put before the names of the verdict columns",
		bind:  func(c *jobConfig) any { return &c.prefix },
	},
	{
		name: "explain", topic: outputTopic, commands: jobCommand, common: true,
		short: "add why: reason, rule, rule_line and rule_agent",
		bind:  func(c *jobConfig) any { return &c.explain },
	},
	{
		name: "with", argument: "NAMES", topic: outputTopic, commands: jobCommand, repeat: true,
		short: "add columns of what is known of the robots.txt, by commas",
		more: "crawl_delay, sitemaps, robots_status, robots_fetched_at, age. They are null where not known; a folder knows the first two " +
			"(robotsbatch help columns).",
		bind: func(c *jobConfig) any { return columnsOf(&c.with) },
	},
	{
		name: "max-invalid", argument: "N", topic: runningTopic, commands: jobCommand, standard: "any", indifferent: true,
		short: "rows without a verdict that are still success, or a share: 0.5%",
		bind:  func(c *jobConfig) any { return c.maxInvalid.set },
	},
	{
		name: "workers", argument: "N", topic: runningTopic, commands: jobCommand | compileCommand, standard: "the number of processors", indifferent: true,
		short: "how many batches to work on at once",
		more:  "At most 32 for each processor.",
		bind:  func(c *jobConfig) any { return countOf(&c.workers) },
	},
	{
		name: "batch-rows", argument: "N", topic: runningTopic, commands: jobCommand, standard: "65536",
		short: "most rows in a batch",
		bind:  func(c *jobConfig) any { return countOf(&c.batchRows) },
	},
	{
		name: "memory", argument: "SIZE", topic: runningTopic, commands: jobCommand | compileCommand, common: true, standard: "512MiB", indifferent: true,
		short: "for batches in flight and compiled rules",
		more:  "What compile cannot hold goes to temporary files (robotsbatch help memory).",
		bind:  func(c *jobConfig) any { return sizeOf(&c.memory, leastMemory) },
	},
	{
		name: "store-timeout", argument: "SPAN", topic: runningTopic, commands: readingRules | inspectCommand | verifyCommand, standard: "2m", indifferent: true,
		short: "how long an object store may send and take no byte",
		more:  "All attempts count together.",
		bind:  func(c *jobConfig) any { return ageOf(&c.storeTimeout) },
	},
	{
		name: "manifest", topic: runningTopic, commands: jobCommand, indifferent: true,
		short: "write what verify and -resume need beside -out FILE, too",
		more:  "It is called _FILE.manifest.jsonl; a folder always has one, _robotsbatch.manifest.jsonl.",
		bind:  func(c *jobConfig) any { return &c.manifest },
	},
	{
		name: "resume", topic: runningTopic, commands: jobCommand, common: true, indifferent: true,
		short: "do only what an earlier run has not done, or what has changed",
		more:  "An output is kept when inputs, rules, flags and program are the same, and it is what was written.",
		bind:  func(c *jobConfig) any { return &c.resume },
	},
	{
		name: "summary-json", argument: "FILE", topic: runningTopic, commands: jobCommand, files: true, indifferent: true,
		short: "write the summary as JSON, too",
		bind:  func(c *jobConfig) any { return &c.summaryJSON },
	},
	{
		name: "progress", argument: "WHEN", topic: runningTopic, commands: jobCommand, words: []string{"auto", "always", "never"}, indifferent: true,
		short: "auto, always or never", standard: "auto: when stderr is a terminal",
		bind: func(c *jobConfig) any {
			return oneOf(&c.progress, word[progressMode]{"auto", progressAuto},
				word[progressMode]{"always", progressAlways}, word[progressMode]{"never", progressNever})
		},
	},
	{
		name: "log", argument: "FORMAT", topic: runningTopic, commands: jobCommand | compileCommand, standard: "text", words: []string{"text", "json"}, indifferent: true,
		short: "messages on stderr as text or json",
		bind: func(c *jobConfig) any {
			return oneOf(&c.logJSON, word[bool]{"text", false}, word[bool]{"json", true})
		},
	},
	{
		name: "quiet", topic: runningTopic, commands: jobCommand | compileCommand, common: true, indifferent: true,
		short: "no progress and no summary",
		bind:  func(c *jobConfig) any { return &c.quiet },
	},
	{
		name: "quiet", topic: runningTopic, commands: verifyCommand, indifferent: true,
		short: "name only what is damaged",
		bind:  func(c *jobConfig) any { return &c.quiet },
	},
}
