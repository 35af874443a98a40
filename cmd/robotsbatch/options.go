package main

import (
	"strings"

	"robotsbatch/batch"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier/format"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// Parts of a help text that flags are in.
const (
	inputTopic   = "Input"
	rulesTopic   = "Rules"
	outputTopic  = "Output"
	runningTopic = "Running"
)

const (
	jobCommand cli.Set = 1 << iota
	explainCommand
	compileCommand
	inspectCommand
	verifyCommand
	pipeCommand
	exportCommand
	mergeCommand
	surveyCommand
	statsCommand
	hashCommand
	lintCommand
	hostsCommand
	diffCommand

	readingRules = evaluating | compileCommand | exporting | hostsCommand | statsCommand
	evaluating   = jobCommand | explainCommand | pipeCommand
	// exporting commands write tables of what rules have.
	exporting = exportCommand | surveyCommand
	// tabling commands write tables with verdicts.
	tabling = jobCommand | pipeCommand
	// readingURLs commands read lists and tables of URLs.
	readingURLs = jobCommand | hostsCommand | diffCommand
	// ownTables commands write a table that is no input's.
	ownTables = exporting | hostsCommand | diffCommand
)

const outputFormats = "outputs"

// Formats for which flags hold.
var (
	delimitedInputs = &cli.Formats{Names: []string{"csv", "tsv"}, Of: "inputs"}
	textInputs      = &cli.Formats{Names: []string{"text", "csv", "tsv", "jsonl", "cdxj", "cdx"}, Of: "inputs"}
	namedInputs     = &cli.Formats{Names: []string{"arrow", "arrows", "parquet", "csv", "tsv", "jsonl"}, Of: "inputs"}
	weighedInputs   = &cli.Formats{Names: []string{"arrow", "arrows", "parquet", "csv", "tsv", "jsonl", "cdxj"}, Of: "inputs"}
	binaryOutputs   = &cli.Formats{Names: []string{"arrow", "arrows", "parquet"}, Of: outputFormats}
	packedOutputs   = &cli.Formats{Names: binaryOutputs.Names, Of: outputFormats, Else: "text is compressed when the name of -out ends in .zst or .gz"}
	tableOutputs    = &cli.Formats{Names: formatNames(isTableFormat), Of: outputFormats, Else: "text has URLs only"}
	captureRules    = &cli.Formats{Names: []string{"captures"}, Of: "and what is compiled of them"}
)

// flagTable is all that is said of flags: parsing, the help texts, the man page and
// the completions of shells come from it. -accept-truncated is indifferent, because it
// decides only about outputs of truncated inputs, which are marked.
var flagTable = []cli.Flag[jobConfig]{
	{
		Name: "in", Argument: "FILE", Topic: inputTopic, Commands: readingURLs, Common: true, Repeat: true, Files: true, Indifferent: true,
		Short: "list or table of URLs: a file, a folder, a quoted pattern, - for stdin",
		More: "A list has a URL a line; csv and tsv have a header; jsonl, crawl indexes (CDXJ, CDX), Arrow and Parquet; text also as .gz and .zst. " +
			"In a pattern ** stands for any number of folders. Objects: s3://BUCKET/KEY, gs://, azblob://, a folder with a slash at its end " +
			"(robotsbatch help stores).",
		Bind: func(c *jobConfig) any { return cli.Append(&c.in) },
	},
	{
		Name: "files-from", Argument: "FILE", Topic: inputTopic, Commands: readingURLs, Files: true, Indifferent: true,
		Short: "file with more names of inputs, one a line; - for stdin",
		Bind:  func(c *jobConfig) any { return &c.filesFrom },
	},
	{
		Name: "in-format", Argument: "NAME", Topic: inputTopic, Commands: readingURLs | statsCommand, Words: formatNames(format.Format.Readable),
		Short: "format of the inputs", Standard: "by the first bytes, then by name",
		More: "arrow, arrows (stream), parquet, csv, tsv, jsonl, cdxj, cdx or text; csv and tsv are known by name alone.",
		Bind: func(c *jobConfig) any { return formatOf(&c.inFormat, format.Format.Readable) },
	},
	{
		Name: "url-column", Argument: "NAME", Topic: inputTopic, Commands: tabling | hostsCommand | diffCommand, Common: true,
		For:   namedInputs,
		Short: "column, or key of jsonl, with the URLs", Standard: "url",
		More: "Without a column url: one in other case, such as URL; then url_protocol, url_host_name, url_port, url_path and url_query of Arrow " +
			"and Parquet put together; then a table's only column of strings.",
		Bind: func(c *jobConfig) any { return &c.urlColumn },
	},
	{
		Name: "delimiter", Argument: "CHAR", Topic: inputTopic, Commands: readingURLs,
		For:   delimitedInputs,
		Short: "field separator of csv and tsv, such as \";\" or tab", Standard: "found in the csv header",
		Bind: func(c *jobConfig) any { return cli.Separator(&c.separator) },
	},
	{
		Name: "max-line", Argument: "SIZE", Topic: inputTopic, Commands: readingURLs, Standard: "1MiB",
		For:   textInputs,
		Short: "longest line of text, or row of csv",
		Bind:  func(c *jobConfig) any { return cli.Size(&c.maxLine, leastLine) },
	},
	{
		Name: "accept-truncated", Topic: inputTopic, Commands: readingURLs, Indifferent: true,
		Short: "accept a truncated input and use what is there",
		More:  "The summary counts those rows. A Parquet file needs its end.",
		Bind:  func(c *jobConfig) any { return &c.acceptTruncated },
	},
	{
		Name: "rules", Argument: "RULES", Topic: rulesTopic, Commands: readingRules, Common: true, Repeat: true, Files: true, Indifferent: true,
		Short: "folder of robots.txt files named by host, rule pack, captures",
		More: "Files are called example.com, example.com.txt, example.com/robots.txt, with a port example.com_8443. Captures are WARC files or tables " +
			"(Arrow, Parquet, csv, tsv, jsonl) with url or authority, body, status, fetched_at, location, error: a file, a folder or a quoted pattern. " +
			"Of several -rules the first that knows an authority decides; redirects of captures lead into all captures. With -for it is a single robots.txt, or - for stdin.",
		Bind: func(c *jobConfig) any { return cli.Append(&c.folders) },
	},
	{
		Name: "agent", Argument: "NAME", Topic: rulesTopic, Commands: evaluating | surveyCommand | statsCommand | diffCommand, Common: true, Repeat: true,
		Short: "crawler's product token, such as CCBot", Standard: "*, the rules for everyone",
		More: "Several by commas are one agent, the most specific first: Googlebot-News,Googlebot. Each -agent has a verdict of its own.",
		Bind: func(c *jobConfig) any {
			return func(s string) error {
				chain, err := matcher.ParseChain(s)
				c.agents = append(c.agents, chain)
				return err
			}
		},
	},
	{
		Name: "agents", Argument: "FILE", Topic: rulesTopic, Commands: tabling | surveyCommand | explainCommand | statsCommand, Files: true, Indifferent: true,
		Short: "file with many agents: one a line, or the JSON of ai.robots.txt",
		More:  "They follow those of -agent. The file may have comments (#) and chains (robotsbatch help agents).",
		Bind:  func(c *jobConfig) any { return &c.agentsFile },
	},
	{
		Name: "for", Argument: "HOST", Topic: rulesTopic, Commands: readingRules | diffCommand,
		Short: "host that the single robots.txt in -rules belongs to",
		More:  "example.com means http and https; https://example.com means https alone.",
		Bind:  func(c *jobConfig) any { return &c.forHost },
	},
	{
		Name: "allow-no-rules", Topic: rulesTopic, Commands: readingRules | diffCommand,
		Short: "go on if -rules contains no rules, which is otherwise an error",
		More:  "All verdicts then follow -missing.",
		Bind:  func(c *jobConfig) any { return &c.allowNoRules },
	},
	{
		Name: "profile", Argument: "NAME", Topic: rulesTopic, Commands: readingRules, Standard: "rfc9309", Words: []string{"rfc9309", "google"},
		Short: "how to read a robots.txt: as rfc9309 says, or as google's parser does",
		More:  "A rule pack keeps the profile and the -robots-limit that it was compiled with.",
		Bind:  func(c *jobConfig) any { return cli.OneOf(&c.profile, profiles...) },
	},
	{
		Name: "robots-limit", Argument: "SIZE", Topic: rulesTopic, Commands: readingRules | diffCommand, Standard: "500KiB, the least there is",
		Short: "read this much of a robots.txt",
		Bind:  func(c *jobConfig) any { return cli.Size(&c.limit, robotstxt.DefaultLimit) },
	},
	{
		Name: "fetch-list", Argument: "FILE", Topic: rulesTopic, Commands: readingRules &^ hostsCommand, Files: true, Indifferent: true,
		Short: "robots.txt files that were requested: hosts in it without any capture are unreachable",
		More: "A URL or host a line, as the command hosts writes it. Crawlers such as wget write no record if a host refuses the connection. " +
			"Without the list such a host is allowed, because nothing is known about it; with the list it is denied, as RFC 9309 asks.",
		Bind: func(c *jobConfig) any { return &c.fetchList },
	},
	{
		Name: "missing", Argument: "VERDICT", Topic: rulesTopic, Commands: evaluating | diffCommand, Standard: "allow", Words: []string{"allow", "deny", "null"},
		Short: "verdict if no robots.txt is known for a host: allow, deny or null",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.missing, missings...)
		},
	},
	{
		Name: "as-of", Argument: "TIME", Topic: rulesTopic, Commands: (readingRules | diffCommand) &^ hostsCommand, Standard: "the newest fetch",
		Short: "judge as of this time: ignore later captures, measure ages up to it",
		More: "2026-03-01T12:00:00Z, or a day, meaning its end. In the main job and pipe column:NAME decides each row by what was known at its own time: " +
			"timestamps, dates, seconds, 14 digits or text. A pack knows earlier times only if compiled with -history (robotsbatch help history).",
		Bind: func(c *jobConfig) any { return cli.TimeOrColumn(&c.asOf, &c.asOfColumn) },
	},
	{
		Name: "before-first", Rare: true, Argument: "WHAT", Topic: rulesTopic, Commands: jobCommand | pipeCommand, Standard: "missing", Words: []string{"missing", "use"},
		Short: "rows older than the first capture: missing (follow -missing), or use it",
		More:  "Needs -as-of column:NAME.",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.beforeFirst, cli.Word[bool]{Name: "missing", Value: false}, cli.Word[bool]{Name: "use", Value: true})
		},
	},
	{
		Name: "ever-denied", Topic: rulesTopic, Commands: jobCommand | pipeCommand,
		Short: "also deny rows that were denied at any later time",
		More:  "Needs -as-of column:NAME.",
		Bind:  func(c *jobConfig) any { return &c.everDenied },
	},
	{
		Name: "history", Topic: rulesTopic, Commands: compileCommand,
		Short: "keep what captures say at every time, for -as-of",
		More:  "See robotsbatch help history.",
		Bind:  func(c *jobConfig) any { return &c.history },
	},
	surveyHistory, surveyChanges,
	{
		Name: "max-age", Argument: "SPAN", Topic: rulesTopic, Commands: evaluating, Standard: "24h, as RFC 9309 advises",
		Short: "count rows decided by a robots.txt older than this, such as 36h or 7d",
		Bind:  func(c *jobConfig) any { return cli.Age(&c.maxAge) },
	},
	{
		Name: "as-of", Argument: "TIME", Topic: rulesTopic, Commands: hostsCommand, Standard: "now",
		Short: "judge as of this time: ignore later captures, measure ages up to it",
		More:  "2026-03-01T12:00:00Z, or a day, meaning its end.",
		Bind:  func(c *jobConfig) any { return cli.Time(&c.asOf) },
	},
	{
		Name: "max-age", Argument: "SPAN", Topic: rulesTopic, Commands: hostsCommand, Common: true, Standard: "24h, as RFC 9309 advises",
		Short: "an older robots.txt is stale, such as 36h or 7d",
		Bind:  func(c *jobConfig) any { return cli.Age(&c.maxAge) },
	},
	{
		Name: "on-429", Rare: true, Argument: "VERDICT", Topic: rulesTopic, Commands: readingRules | diffCommand, Standard: "deny", Words: []string{"deny", "allow"},
		For:   captureRules,
		Short: "captures with status 429: deny or allow",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.policy.Allow429, cli.Word[bool]{Name: "allow", Value: true}, cli.Word[bool]{Name: "deny", Value: false})
		},
	},
	{
		Name: "on-unresolved-redirect", Rare: true, Argument: "VERDICT", Topic: rulesTopic, Commands: readingRules | diffCommand, Standard: "allow", Words: []string{"allow", "deny"},
		For:   captureRules,
		Short: "captures whose redirects end nowhere: allow or deny",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.policy.DenyUnresolved, cli.Word[bool]{Name: "allow", Value: false}, cli.Word[bool]{Name: "deny", Value: true})
		},
	},
	{
		Name: "out", Argument: "FILE", Topic: outputTopic, Commands: jobCommand, Common: true, Files: true, Indifferent: true,
		Short: "what to write: a file, a folder (an output for each input), or -", Standard: "-, stdout",
		More: "Format by name: .arrow, .arrows, .parquet, .csv, .tsv, .jsonl, .txt (URLs only); text also with .gz or .zst.",
		Bind: func(c *jobConfig) any { return &c.out },
	},
	{
		Name: "out", Argument: "PACK", Topic: outputTopic, Commands: compileCommand, Files: true, Indifferent: true,
		Short: "the file or object to write, such as site.rules, or - for stdout",
		Bind:  func(c *jobConfig) any { return &c.out },
	},
	tableFlag,
	statsFlags[0],
	statsFlags[1],
	statsFlags[2],
	diffAgainst, diffOldProfile, diffNewProfile, diffOut,
	{
		Name: "out", Argument: "FILE", Topic: outputTopic, Commands: ownTables &^ diffCommand, Common: true, Files: true, Indifferent: true,
		Short: "the table to write: a file, an object, or -", Standard: "-, stdout, as csv",
		More: "Format by name: .parquet, .arrow, .arrows, .csv, .tsv, .jsonl; text also with .gz or .zst.",
		Bind: func(c *jobConfig) any { return &c.out },
	},
	{
		Name: "out-format", Argument: "NAME", Topic: outputTopic, Commands: ownTables, Words: formatNames(isTableFormat),
		Short: "format of the table", Standard: "by name",
		Bind: func(c *jobConfig) any { return formatOf(&c.outFormat, isTableFormat) },
	},
	{
		Name: "out-format", Argument: "NAME", Topic: outputTopic, Commands: jobCommand, Words: formatNames(format.Format.Writable),
		Short: "format of the outputs", Standard: "by name",
		More: inWords(format.Names(format.Format.Writable), "or") + ". On stdout csv for a list, jsonl for CDXJ, an Arrow stream for Arrow and Parquet, " +
			"else the input's format.",
		Bind: func(c *jobConfig) any { return formatOf(&c.outFormat, format.Format.Writable) },
	},
	{
		Name: "compression", Argument: "NAME", Topic: outputTopic, Commands: jobCommand | ownTables, Standard: "zstd", Words: wordsOf(compressions),
		For:   packedOutputs,
		Short: "inside Arrow and Parquet: zstd, none, lz4 (Arrow), snappy (Parquet)",
		More:  "zstd:LEVEL compresses Parquet at a level from 1 to 22, as the zstd program does; zstd alone means 3.",
		Bind: func(c *jobConfig) any {
			return func(s string) error {
				c.hasCompression = true
				name, level, leveled := strings.Cut(s, ":")
				if leveled && name == "zstd" {
					if err := zstdLevel(&c.level, level); err != nil {
						return err
					}
					s = name
				}
				return cli.OneOf(&c.compression, compressions...)(s)
			}
		},
	},
	{
		Name: "recode", Rare: true, Topic: outputTopic, Commands: jobCommand,
		For:   binaryOutputs,
		Short: "decode and encode every column",
		More:  "By default Arrow to Arrow and Parquet to Parquet copy all columns as they are, when all rows are written and -compression is not given. With -emit, record batches that keep some of their rows are decoded, and row groups filtered page by page.",
		Bind:  func(c *jobConfig) any { return &c.recode },
	},
	{
		Name: "emit", Argument: "WHICH", Topic: outputTopic, Commands: tabling, Common: true, Standard: "all", Words: wordsOf(emits),
		Short: "rows to write: all, allowed, denied, unknown or permitted",
		More: "With several agents, allowed means that every agent may fetch, denied that at least one may not, unknown the rest. " +
			"permitted are the allowed rows for which no -use is false.",
		Bind: func(c *jobConfig) any { return cli.OneOf(&c.emit, emits...) },
	},
	{
		Name: "columns", Argument: "WHICH", Topic: outputTopic, Commands: tabling, Common: true, Standard: "all", Words: []string{"all", "url", "verdict"},
		For:   tableOutputs,
		Short: "columns to write: all, url (and verdicts) or verdict",
		More: "All of jsonl is the whole object in jsonl, and the URL in other formats; all of CDXJ is surt, timestamp and URL, in jsonl with the " +
			"object's keys.",
		Bind: func(c *jobConfig) any {
			return func(s string) error {
				c.hasKeep = true
				return cli.OneOf(&c.keep, cli.Word[batch.Keep]{Name: "all", Value: batch.KeepAll}, cli.Word[batch.Keep]{Name: "url", Value: batch.KeepURL},
					cli.Word[batch.Keep]{Name: "verdict", Value: batch.KeepNone})(s)
			}
		},
	},
	{
		Name: "combine", Argument: "HOW", Topic: outputTopic, Commands: tabling, Words: []string{"any-denied", "all-denied"},
		Short: "one verdict for all agents: denied when any-denied, or all-denied",
		More:  "The column allowed holds it, denied_by lists the denied agents. -explain gives the rule for the first agent with this verdict.",
		Bind:  func(c *jobConfig) any { return cli.OneOf(&c.combine, combineWords...) },
	},
	{
		Name: "agents-as", Argument: "WHAT", Topic: outputTopic, Commands: tabling, Standard: "columns, up to 32 agents", Words: []string{"columns", "list"},
		Short: "write several agents as columns, or as one list, denied_agents",
		More:  "With a list, -emit treats a row as denied if any agent is.",
		Bind:  func(c *jobConfig) any { return cli.OneOf(&c.agentsAs, agentsAsWords...) },
	},
	{
		Name: "prefix", Argument: "TEXT", Topic: outputTopic, Commands: tabling,
		Short: "prefix for the names of the verdict columns",
		Bind:  func(c *jobConfig) any { return &c.prefix },
	},
	{
		Name: "explain", Topic: outputTopic, Commands: tabling, Common: true,
		For:   tableOutputs,
		Short: "add the reason: " + inWords(batch.ExplainingNames(), "and"),
		Bind:  func(c *jobConfig) any { return &c.explain },
	},
	{
		Name: "use", Argument: "NAMES", Topic: outputTopic, Commands: tabling, Repeat: true,
		Short: "add whether a use of what was fetched is allowed, by commas",
		More: "train-ai, ai-use, search (Content-Usage, a draft) add use_train_ai and so on; signal:ai-train, signal:ai-input, signal:search, signal:use (Content-Signal) " +
			"add signal_ai_train and so on. Null where nothing is said, and where the row may not be fetched (robotsbatch help usage).",
		Bind: func(c *jobConfig) any { return usesOf(&c.uses) },
	},
	{
		Name: "use", Argument: "NAMES", Topic: outputTopic, Commands: surveyCommand | statsCommand | diffCommand, Common: true, Repeat: true,
		Short: "what sites state of uses of what is fetched, by commas",
		More: "train-ai, ai-use, search (Content-Usage, a draft), signal:ai-train, signal:ai-input, signal:search, signal:use (Content-Signal). survey adds a " +
			"column for each, stats counts them in place of what is denied, diff compares them (robotsbatch help usage).",
		Bind: func(c *jobConfig) any { return usesOf(&c.uses) },
	},
	{
		Name: "with", Argument: "NAMES", Topic: outputTopic, Commands: tabling, Repeat: true,
		For:   tableOutputs,
		Short: "add columns about the robots.txt, separated by commas",
		More: strings.Join(batch.WithNames(), ", ") + ". They are null if not known; a " +
			"folder has no status and no time (robotsbatch help columns).",
		Bind: func(c *jobConfig) any { return columnsOf(&c.with) },
	},
	{
		Name: "json", Topic: outputTopic, Commands: explainCommand,
		Short: "JSON for programs: an object for each URL, on a line of its own",
		Bind:  func(c *jobConfig) any { return &c.json },
	},
	{
		Name: "max-invalid", Argument: "N", Topic: runningTopic, Commands: jobCommand, Standard: "any", Indifferent: true,
		Short: "rows without a verdict that still count as success, or a share: 0.5%",
		Bind:  func(c *jobConfig) any { return c.maxInvalid.Set },
	},
	{
		Name: "workers", Argument: "N", Topic: runningTopic, Commands: jobCommand | compileCommand | ownTables, Standard: "the number of processors", Indifferent: true,
		Short: "batches to work on at once",
		More:  "At most 32 for each processor.",
		Bind:  func(c *jobConfig) any { return cli.Count(&c.workers) },
	},
	{
		Name: "workers", Argument: "N", Topic: runningTopic, Commands: pipeCommand, Standard: "1", Indifferent: true,
		Short: "batches to work on at once",
		More:  "With one, a batch is read once the previous answer is written. At most 32 for each processor.",
		Bind:  func(c *jobConfig) any { return cli.Count(&c.workers) },
	},
	{
		Name: "batch-rows", Rare: true, Argument: "N", Topic: runningTopic, Commands: jobCommand | ownTables, Standard: "65536",
		Short: "most rows in a batch",
		Bind:  func(c *jobConfig) any { return cli.Count(&c.batchRows) },
	},
	{
		Name: "memory", Argument: "SIZE", Topic: runningTopic, Commands: tabling | compileCommand | ownTables | statsCommand, Common: true, Standard: "512MiB", Indifferent: true,
		Short: "for batches in flight and compiled rules",
		More:  "What compile cannot hold goes to temporary files (robotsbatch help memory).",
		Bind:  func(c *jobConfig) any { return cli.Size(&c.memory, leastMemory) },
	},
	{
		Name: "store-timeout", Rare: true, Argument: "SPAN", Topic: runningTopic, Commands: readingRules | inspectCommand | verifyCommand | mergeCommand | lintCommand | diffCommand, Standard: "2m", Indifferent: true,
		Short: "give up when an object store has been silent this long",
		More:  "This covers all attempts together.",
		Bind:  func(c *jobConfig) any { return cli.Age(&c.storeTimeout) },
	},
	{
		Name: "weight", Argument: "COLUMN", Topic: runningTopic, Commands: jobCommand,
		For:   weighedInputs,
		Short: "add up a column of numbers by agent and verdict",
		More: "A column of a table or csv, or a key of jsonl and CDXJ, such as the length of a page. The sums are in the summary " +
			"(robotsbatch help summary).",
		Bind: func(c *jobConfig) any { return &c.weight },
	},
	{
		Name: "compare-newest", Topic: runningTopic, Commands: jobCommand,
		Short: "also count what the newest rules say, with -as-of column:NAME",
		More: "The summary and the report count rows by both verdicts, with -weight also its sums; the outputs do not change " +
			"(robotsbatch help history).",
		Bind: func(c *jobConfig) any { return &c.compareNewest },
	},
	{
		Name: "manifest", Topic: runningTopic, Commands: jobCommand, Indifferent: true,
		Short: "also write a manifest beside -out FILE, for verify and -resume",
		More:  "It is called _FILE.manifest.jsonl; a folder always has one, _robotsbatch.manifest.jsonl.",
		Bind:  func(c *jobConfig) any { return &c.manifest },
	},
	{
		Name: "resume", Topic: runningTopic, Commands: jobCommand, Common: true, Indifferent: true,
		Short: "skip outputs that an earlier run completed, unless something changed",
		More:  "An output is kept if inputs, rules, flags, program and the output itself are unchanged.",
		Bind:  func(c *jobConfig) any { return &c.resume },
	},
	{
		Name: "partitions", Argument: "N", Topic: outputTopic, Commands: compileCommand, Indifferent: true,
		Short: "make N packs, each for a part of the hosts",
		More: "They are called site-00003-of-00016.rules. The hash of an authority decides its part, as robotsbatch hash prints it. The rules are read N " +
			"times (robotsbatch help compile).",
		Bind: func(c *jobConfig) any { return cli.Count(&c.partitions) },
	},
	{
		Name: "partitions", Argument: "N", Topic: rulesTopic, Commands: hashCommand, Indifferent: true,
		Short: "also print the partition, one of N",
		Bind:  func(c *jobConfig) any { return cli.Count(&c.partitions) },
	},
	{
		Name: "shard", Argument: "I/N", Topic: runningTopic, Commands: jobCommand, Indifferent: true,
		Short: "do one of N shards of the job, counted from 0",
		More: "-out is a folder that all shards share. Inputs are dealt by name; a single Arrow or Parquet file by record batch or row group. " +
			"What an earlier run of the shard completed is kept, as with -resume. auto takes I from the environment of an array job, and N from -shards " +
			"(robotsbatch help arrays).",
		Bind: func(c *jobConfig) any { return &c.which },
	},
	{
		Name: "shards", Argument: "N", Topic: runningTopic, Commands: jobCommand, Indifferent: true,
		Short: "number of shards, for -shard auto",
		Bind:  func(c *jobConfig) any { return cli.Count(&c.sharding.count) },
	},
	{
		Name: "summary-json", Argument: "FILE", Topic: runningTopic, Commands: jobCommand, Files: true, Indifferent: true,
		Short: "also write the summary as JSON",
		Bind:  func(c *jobConfig) any { return &c.summaryJSON },
	},
	{
		Name: "report", Argument: "FILE", Topic: runningTopic, Commands: jobCommand, Files: true, Indifferent: true,
		Short: "write a page for people, such as report.html",
		More: "Verdicts, reasons, the hosts and rules that deny most, ages and throughput, in one HTML file that loads nothing " +
			"(robotsbatch help report).",
		Bind: func(c *jobConfig) any { return &c.reportFile },
	},
	{
		Name: "progress", Argument: "WHEN", Topic: runningTopic, Commands: jobCommand, Words: []string{"auto", "always", "never"}, Indifferent: true,
		Short: "auto, always or never", Standard: "auto: when stderr is a terminal",
		More: "With -log json, a line every 10 seconds wherever stderr goes (robotsbatch help progress).",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.progress, cli.Word[console.When]{Name: "auto", Value: console.Auto},
				cli.Word[console.When]{Name: "always", Value: console.Always}, cli.Word[console.When]{Name: "never", Value: console.Never})
		},
	},
	{
		Name: "log", Argument: "FORMAT", Topic: runningTopic, Commands: jobCommand | compileCommand | ownTables | mergeCommand | pipeCommand | explainCommand | lintCommand, Standard: "text", Words: []string{"text", "json"}, Indifferent: true,
		Short: "messages on stderr as text or json",
		Bind: func(c *jobConfig) any {
			return cli.OneOf(&c.logJSON, cli.Word[bool]{Name: "text", Value: false}, cli.Word[bool]{Name: "json", Value: true})
		},
	},
	{
		Name: "quiet", Topic: runningTopic, Commands: jobCommand | compileCommand | ownTables | mergeCommand, Common: true, Indifferent: true,
		Short: "show neither progress nor summary",
		Bind:  func(c *jobConfig) any { return &c.quiet },
	},
	{
		Name: "verbose", Topic: runningTopic, Commands: pipeCommand, Indifferent: true,
		Short: "warnings and a summary on stderr",
		Bind:  func(c *jobConfig) any { return &c.verbose },
	},
	{
		Name: "verbose", Topic: runningTopic, Commands: verifyCommand, Indifferent: true,
		Short: "also a line for each intact file",
		Bind:  func(c *jobConfig) any { return &c.verbose },
	},
	{
		Name: "quiet", Topic: runningTopic, Commands: verifyCommand, Indifferent: true,
		Short: "name only what is damaged, missing or unfinished",
		Bind:  func(c *jobConfig) any { return &c.quiet },
	},
}
