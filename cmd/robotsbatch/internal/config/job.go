package config

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/usage"
)

// What a command line says of rows: those that are read, those that are written, and the columns
// of verdicts.

// leastLine is the least that the longest line of an input may be.
const leastLine = 1 << 10

// Input is what a command line says of lists and tables of URLs.
type Input struct {
	In        []string
	FilesFrom string
	Reading   frontier.Options
	others    []string // what else the command reads, from Check
	// replaced is [blob.Replaced] of the inputs that Resolve found, and of FilesFrom.
	replaced func(out string) string
}

// Flags returns the flags for inputs.
func (c *Input) Flags() cli.Flags {
	return cli.Flags{{
		Name: "in", Argument: "FILE", Topic: InputTopic, Common: true, Repeat: true, Files: true, Unrecorded: true, Value: &c.In,
		Short: "list or table of URLs: a file, a folder, a quoted pattern, - for stdin",
		More: "A list has a URL a line; csv and tsv have a header; jsonl, crawl indexes (CDXJ, CDX), Arrow and Parquet; text also as .gz and .zst. " +
			"In a pattern ** stands for any number of folders. Objects: s3://BUCKET/KEY, gs://, azblob://, a folder with a slash at its end " +
			"(robotsbatch help stores). The flag may be left out before a name.",
	}, {
		Name: "files-from", Rare: true, Argument: "FILE", Topic: InputTopic, Files: true, Unrecorded: true, Value: &c.FilesFrom,
		Short: "file with more names of inputs, one a line; - for stdin",
	}, {
		Name: "in-format", Rare: true, Argument: "NAME", Topic: InputTopic, Value: oneFormat(&c.Reading.Format, format.Format.Readable),
		Short: "format of the inputs", Standard: "by the first bytes, then by name",
		More: cli.InWords(format.Names(format.Format.Readable), "or") + "; arrows is an Arrow stream; csv and tsv are known by name or by a header that names the URL column.",
	}, {
		Name: "url-column", Argument: "NAME", Topic: InputTopic, Common: true, For: namedInputs, Value: &c.Reading.URLColumn,
		Short: "column, or key of jsonl, with the URLs", Standard: "url",
		More: "Without a column url: one in other case, such as URL; then url_protocol, url_host_name, url_port, url_path and url_query of Arrow " +
			"and Parquet put together; then a table's only column of strings. metadata.url is the field url of a struct, or in jsonl of an inner object.",
	}, {
		Name: "delimiter", Rare: true, Argument: "CHAR", Topic: InputTopic, For: delimitedInputs, Value: cli.Separator(&c.Reading.Separator),
		Short: "field separator of csv and tsv, such as \";\" or tab", Standard: "found in the csv header",
	}, {
		Name: "max-line", Rare: true, Argument: "SIZE", Topic: InputTopic, Standard: "1MiB", For: textInputs, Value: cli.Size(&c.Reading.MaxLine, leastLine),
		Short: "longest line of text, or row of csv",
	}, {
		Name: "accept-truncated", Rare: true, Topic: InputTopic, Unrecorded: true, Value: &c.Reading.AcceptTruncated,
		Short: "accept a truncated input and use what is there",
		More:  "The summary counts those rows. A Parquet file needs its end.",
	}}
}

// CheckSpared returns an error if one of the outputs out would replace an input or the list of
// inputs. It may be called after Resolve.
func (c *Input) CheckSpared(out ...option.Given) error {
	for _, o := range out {
		switch c.replaced(o.Value) {
		case "":
		case c.FilesFrom:
			return option.Usagef("%s would replace the list of %s: choose another name", o.Name.With(blob.Shown(o.Value)), option.FilesFrom)
		default:
			return option.Usagef("%s would replace an input: choose another name", o.Name.With(blob.Shown(o.Value)))
		}
	}
	return nil
}

// HasInputs reports whether -in or -files-from is given.
func (c *Input) HasInputs() bool { return len(c.In) > 0 || c.FilesFrom != "" }

// Check returns an error if no input is named, one by an invalid URL, or stdin more than once among
// these and others, which are also read.
func (c *Input) Check(others ...string) error {
	if !c.HasInputs() {
		return option.Usagef("%s is missing: name a file, a folder or - for stdin", option.In)
	}
	c.others = others
	return cmp.Or(StdinOnce(c.In, []string{c.FilesFrom}, others), ResolveNames(option.In, pointers(c.In)...), ResolveNames(option.FilesFrom, &c.FilesFrom))
}

// StdinOnce returns an error if stdin is named more than once in lists of what is read.
func StdinOnce(lists ...[]string) error {
	if named := slices.DeleteFunc(slices.Concat(lists...), func(name string) bool { return !IsStdin(name) }); len(named) > 1 {
		return option.Usagef("stdin is read twice: name - only once")
	}
	return nil
}

// IsStdin reports whether a name is one of stdin's.
func IsStdin(name string) bool {
	return slices.Contains([]string{blob.Stdio, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, name)
}

// Resolve returns the inputs that -in and -files-from name, in that order, and those of a folder
// or a pattern in the order of their names. It returns an error for an input that is named twice, and
// for one that an output of out would replace, and keeps the inputs for later calls of CheckSpared.
func (c *Input) Resolve(ctx context.Context, stdin io.Reader, out ...option.Given) ([]frontier.Input, error) {
	c.Reading.Stdin = stdin
	names := c.In
	if c.FilesFrom != "" {
		listed, err := frontier.ReadNames(ctx, c.FilesFrom, stdin)
		if err == nil {
			err = cmp.Or(StdinOnce(c.In, []string{c.FilesFrom}, c.others, listed), ResolveNames(option.FilesFrom, pointers(listed)...))
		}
		if err != nil {
			return nil, option.Errorf("%s: %w", option.FilesFrom, err)
		}
		names = append(names[:len(names):len(names)], listed...)
	}
	var inputs []frontier.Input
	taken := make(map[string]bool)
	for _, name := range names {
		found, err := frontier.Expand(ctx, name)
		if err != nil {
			return nil, option.Errorf("%s %w", option.In, err)
		}
		for _, in := range found {
			path := in.Path
			if !blob.IsURL(path) {
				path, _ = filepath.Abs(path) // as it is where there is no working folder
			}
			if taken[path] {
				return nil, option.Usagef("%s is named twice, and its rows would count twice: name it once", in.Name())
			}
			taken[path] = true
		}
		inputs = append(inputs, found...)
	}
	if len(inputs) == 0 {
		return nil, option.Errorf("%s names no input", option.FilesFrom.With(c.FilesFrom))
	}
	paths := cli.Map(inputs, func(in frontier.Input) string { return in.Path })
	c.replaced = blob.Replaced(append(paths, c.FilesFrom)...)
	return inputs, c.CheckSpared(out...)
}

// Output is what a command line says of outputs.
type Output struct{ outputs.Options }

// NewOutput is the output as it is without flags.
func NewOutput() Output { return Output{outputs.Options{Out: blob.Stdio, Inside: compress.Zstd}} }

// Flags are those of outputs with the columns of inputs.
func (c *Output) Flags() cli.Flags {
	return cli.Flags{{
		Name: "out", Argument: "FILE", Topic: OutputTopic, Common: true, Files: true, Unrecorded: true, Value: &c.Out,
		Short: "what to write: a file, a folder (an output for each input), or -", Standard: "-, stdout",
		More: "Format by name: .arrow, .arrows, .parquet, .csv, .tsv, .jsonl, .txt (URLs only); text also with .gz or .zst.",
	}, {
		Name: "out-format", Rare: true, Argument: "NAME", Topic: OutputTopic, Value: oneFormat(&c.Format, format.Format.Writable),
		Short: "format of the outputs", Standard: "by name",
		More: cli.InWords(format.Names(format.Format.Writable), "or") + ". On stdout csv for a list or CDX, jsonl for CDXJ, an Arrow stream for Arrow and Parquet, " +
			"else the input's format.",
	}, {
		Name: "compression", Rare: true, Argument: "NAME", Topic: OutputTopic, Standard: "zstd", For: packedOutputs, Value: cli.Choice{Words: cli.Names(compressions), Set: c.setCompression},
		Short: "inside Arrow and Parquet: " + shownCompressions(),
		More:  "zstd:LEVEL compresses Parquet at a level from 1 to 22, as the zstd program does; zstd alone means 3. Every column is then decoded and encoded, which Arrow to Arrow and Parquet to Parquet need not by default.",
	}}
}

// TableFlags are the flags for the output of a command that makes a table of its own, without columns
// of an input.
func (c *Output) TableFlags() cli.Flags {
	f := c.Flags()
	out, named := &f[0], &f[1]
	out.Short, out.Standard = "the table to write: a file, an object, or -", "-, stdout, as csv"
	out.More = "Format by name: .parquet, .arrow, .arrows, .csv, .tsv, .jsonl; text also with .gz or .zst."
	named.Short, named.More, named.Value = "format of the table", "", oneFormat(&c.Format, isTable)
	return f
}

// compressions are the values of -compression, without levels.
var compressions = cli.WordsOf(format.Compressions()...)

// setCompression sets the compression inside outputs, and that columns are encoded with it. s is
// a name, or zstd:LEVEL.
func (c *Output) setCompression(s string) (err error) {
	c.Encode = true
	if level, leveled := strings.CutPrefix(s, "zstd:"); leveled {
		if c.Level, err = strconv.Atoi(level); err != nil || c.Level < 1 || c.Level > 22 {
			return fmt.Errorf("%q is not a level of zstd, from 1 to 22", level)
		}
		s = "zstd"
	}
	return cli.OneOf(&c.Inside, compressions...).Set(s)
}

// shownCompressions lists the compressions for help. After one that only Arrow or only Parquet has, it
// names that format.
func shownCompressions() string {
	shown := cli.Names(compressions)
	for i, w := range compressions {
		if !slices.Contains(format.Parquet.Inside(), w.Value) {
			shown[i] += " (Arrow)"
		} else if !slices.Contains(format.Arrow.Inside(), w.Value) {
			shown[i] += " (Parquet)"
		}
	}
	return strings.Join(shown, ", ")
}

// mostColumns is the most agents that have columns of their own unless -agents-as asks for
// them.
const mostColumns = 32

// agentsAs is how the verdicts on several agents are written.
type agentsAs int

const (
	agentsByNumber agentsAs = iota // in columns, if they are no more than mostColumns
	agentsInColumns
	agentsInList
	anyAgentDenied
	allAgentsDenied
)

// The values of -agents-as and -emit.
var (
	agentsAsWords = []cli.Word[agentsAs]{
		{Name: "columns", Value: agentsInColumns}, {Name: "list", Value: agentsInList}, {Name: "any-denied", Value: anyAgentDenied}, {Name: "all-denied", Value: allAgentsDenied},
	}
	emits = []cli.Word[batch.Emit]{
		{Name: "all", Value: batch.EmitAll},
		{Name: "allowed", Value: batch.EmitAllowed},
		{Name: "denied", Value: batch.EmitDenied},
		{Name: "unknown", Value: batch.EmitUnknown},
		{Name: "permitted", Value: batch.EmitPermitted},
		{Name: "unpermitted", Value: batch.EmitUnpermitted},
	}
)

// Columns is what a command line says of rows with verdicts.
type Columns struct {
	Emit     batch.Emit
	Keep     batch.Keep
	agentsAs agentsAs
	prefix   string
	Explain  bool
	Uses     []usage.Use
	With     []*batch.ColumnKind
	// Verdicts are the columns to write, which NameColumns finds from the other fields and the agents.
	Verdicts []batch.VerdictColumn
}

// Flags returns the flags for rows and verdict columns.
func (c *Columns) Flags() cli.Flags {
	return cli.Flags{{
		Name: "emit", Argument: "WHICH", Topic: OutputTopic, Common: true, Standard: "all", Value: cli.OneOf(&c.Emit, emits...),
		Short: "rows to write: all, allowed, denied, unknown, permitted, unpermitted",
		More: "With several agents, allowed means that every agent may fetch, denied that at least one may not, unknown the rest. " +
			"permitted are the allowed rows for which no -use is false, or stated in a form that cannot be read; unpermitted are all others.",
	}, {
		Name: "columns", Argument: "WHICH", Topic: OutputTopic, Common: true, Standard: "all", For: tableOutputs,
		Short: "columns to write: all, url (and verdicts) or verdict",
		More: "All of jsonl is the whole object in jsonl, and the URL in other formats; all of CDXJ is surt, timestamp and URL, in jsonl with the " +
			"object's keys.",
		Value: cli.OneOf(&c.Keep, cli.Word[batch.Keep]{Name: "all", Value: batch.KeepAll}, cli.Word[batch.Keep]{Name: "url", Value: batch.KeepURL},
			cli.Word[batch.Keep]{Name: "verdict", Value: batch.KeepNone}),
	}, {
		Name: "agents-as", Argument: "WHAT", Topic: OutputTopic, Standard: "columns, up to 32 agents", Value: cli.OneOf(&c.agentsAs, agentsAsWords...),
		Short: "several agents: columns, list (denied_agents), any-denied or all-denied",
		More: "any-denied and all-denied give one verdict, allowed, and denied_by, the denied agents. With -explain the rule is that of the first " +
			"agent with this verdict; with a list, -emit treats a row as denied if any agent is.",
	}, {
		Name: "prefix", Rare: true, Argument: "TEXT", Topic: OutputTopic,
		Short: "prefix for the names of the verdict columns",
		Value: func(s string) error { // which may be empty
			c.prefix = s
			return nil
		},
	}, {
		Name: "explain", Topic: OutputTopic, Common: true, For: tableOutputs, Value: &c.Explain,
		Short: "add the reason: " + cli.InWords(batch.ExplainingNames(), "and"),
	}, {
		Name: "use", Argument: "NAMES", Topic: OutputTopic, Repeat: true, Value: addEach(&c.Uses, usage.ParseUses),
		Short: "add whether a use of what was fetched is allowed, by commas",
		More: "train-ai, ai-use, search (Content-Usage, a draft) add use_train_ai and so on; signal:ai-train, signal:ai-input, signal:search, signal:use (Content-Signal) " +
			"add signal_ai_train and so on. Null where nothing is said, and where the row may not be fetched (robotsbatch help usage).",
	}, {
		Name: "with", Argument: "NAMES", Topic: OutputTopic, Repeat: true, For: tableOutputs,
		Short: "add columns about the robots.txt, separated by commas",
		More: strings.Join(batch.WithNames(), ", ") + ". They are null if not known; a " +
			"folder has no status and no time (robotsbatch help columns).",
		Value: addEach(&c.With, func(name string) ([]*batch.ColumnKind, error) {
			kind, err := batch.ParseWith(name)
			return []*batch.ColumnKind{kind}, err
		}),
	}}
}

// StatedUsesFlag returns the flag -use of commands about what sites state. It adds the uses to dst.
func StatedUsesFlag(dst *[]usage.Use) cli.Flag {
	return cli.Flag{
		Name: "use", Argument: "NAMES", Topic: OutputTopic, Common: true, Repeat: true,
		Short: "what sites state of uses of what is fetched, by commas",
		More: "train-ai, ai-use, search (Content-Usage, a draft), signal:ai-train, signal:ai-input, signal:search, signal:use (Content-Signal). survey adds a " +
			"column for each, and counts them with -as in place of what is denied, diff compares them (robotsbatch help usage).",
		Value: addEach(dst, usage.ParseUses),
	}
}

// NameColumns sets c.Verdicts for these agents. text says that the output is a list of URLs, which
// has no columns. It returns an error for flags that do not go together.
func (c *Columns) NameColumns(agents []string, text bool) (err error) {
	if c.agentsAs == agentsByNumber && len(agents) > mostColumns {
		return option.Usagef("%d agents make %d columns: take %s for one verdict and a list of denied agents, %s for the list alone, or %s for all columns",
			len(agents), len(agents), option.AgentsAs.With("any-denied"), option.AgentsAs.With("list"), option.AgentsAs.With("columns"))
	}
	emitsByUse := c.Emit == batch.EmitPermitted || c.Emit == batch.EmitUnpermitted
	if len(c.Uses) > 0 && !emitsByUse && text {
		return option.Usagef("%s adds columns, and text has URLs only: choose another %s, or %s", option.Use, option.OutFormat, option.Emit.With("permitted"))
	}
	if emitsByUse && len(c.Uses) == 0 {
		return option.Usagef("%s is about what may be used: say for what with %s, such as %s", option.Emit.With(c.emitName()), option.Use, option.Use.With(usage.TrainingName))
	}
	var kinds []*batch.ColumnKind
	for _, use := range c.Uses {
		kinds = append(kinds, batch.UseKinds(use, c.Explain)...)
	}
	c.Verdicts, err = batch.VerdictColumns(batch.ColumnOptions{
		Agents: agents, Combined: c.Combined() != batch.CombineNone, ListOnly: c.agentsAs == agentsInList,
		Explain: c.Explain, With: append(kinds, c.With...), Prefix: c.prefix,
	})
	return err
}

// Combined returns how the verdicts of several agents are combined into one. With -agents-as
// list, a row counts as denied if any agent is denied.
func (c *Columns) Combined() batch.Combine {
	return map[agentsAs]batch.Combine{
		agentsInList: batch.CombineAnyDenied, anyAgentDenied: batch.CombineAnyDenied, allAgentsDenied: batch.CombineAllDenied,
	}[c.agentsAs]
}

// emitName returns the value of -emit.
func (c *Columns) emitName() string { return cli.NameOf(emits, c.Emit) }

// Job is what a command line says of a job that judges rows.
type Job struct {
	Input
	Rules
	Columns
	Output
	Limits

	First       int64  // rows over all inputs that are judged; 0 for all
	Weight      string // the column that is summed up; empty for none
	SummaryJSON string
	ReportFile  string // HTML
	Manifest    bool
	Resume      bool
	DryRun      bool

	// Shard is the one that is done; nil for all of the job.
	Shard *manifest.Shard
	which string // -shard
}

// Limits say with how many rows without an answer the job is still a success. The zero value is any
// number.
type Limits struct{ MaxInvalid, MaxNoRobots cli.Allowance }

// Flags returns the flags -max-invalid and -max-no-robots.
func (c *Limits) Flags() cli.Flags {
	return cli.Flags{{
		Name: "max-invalid", Argument: "N", Topic: RunningTopic, Standard: "any", Unrecorded: true, Value: c.MaxInvalid.Set,
		Short: "rows without a verdict that still count as success, or a share: 0.5%",
	}, {
		Name: "max-no-robots", Argument: "N", Topic: RunningTopic, Standard: "any", Unrecorded: true, Value: c.MaxNoRobots.Set,
		Short: "rows of hosts of which nothing is known that still count as success, or a share: 5%",
		More: "The rows with reason no_robots or no_capture_yet, whatever their verdict, before -emit. More are likely the wrong rules, " +
			"or half of them: the job ends with status 3.",
	}}
}

// weighedInputs are the formats for which -weight holds.
var weighedInputs = &cli.Formats{Names: format.Names(func(f format.Format) bool { return isTable(f) || f.HasObjects() }), Of: "inputs"}

// Flags returns the flags of the main job, with those of r.
func (c *Job) Flags(r *Running) cli.Flags {
	shown := []string{"progress", "log", "quiet"} // which are last in the help
	return slices.Concat(c.Input.Flags(), c.Rules.Flags(), c.Output.Flags(), c.Columns.Flags(), c.Limits.Flags(), r.Flags().Without(shown...), cli.Flags{{
		Name: "weight", Rare: true, Argument: "COLUMN", Topic: RunningTopic, For: weighedInputs, Value: &c.Weight,
		Short: "add up a column of numbers by agent and verdict",
		More: "A column of a table or csv, or a key of jsonl and CDXJ, such as the length of a page. The sums are in the summary " +
			"(robotsbatch help summary).",
	}, {
		Name: "limit", Rare: true, Argument: "N", Topic: RunningTopic, Value: cli.Count(&c.First),
		Short: "judge only the first N rows of all inputs: a try before a long job",
		More: "Everything counts these rows alone, and outputs after them are not written. One worker does it, and there is no manifest, so it does not go with " +
			"-resume, -manifest, -shard or -weight.",
	}, {
		Name: "manifest", Rare: true, Topic: RunningTopic, Unrecorded: true, Value: &c.Manifest,
		Short: "also write a manifest beside -out FILE, for verify and -resume",
		More:  "It is called _FILE.manifest.jsonl; a folder always has one, _robotsbatch.manifest.jsonl.",
	}, {
		Name: "resume", Topic: RunningTopic, Common: true, Unrecorded: true, Value: &c.Resume,
		Short: "skip outputs that an earlier run completed, unless something changed",
		More:  "An output is kept if inputs, rules, flags, program and the output itself are unchanged. For an -out in an object store give -shard 0/1 instead.",
	}, {
		Name: "shard", Argument: "I/N", Topic: RunningTopic, Unrecorded: true, Value: &c.which,
		Short: "do one of N shards of the job, counted from 0",
		More: "-out is a folder that all shards share. Inputs are dealt in the order of their names; a single Arrow or Parquet file by record batch or row group. " +
			"What an earlier run of the shard completed is kept, as with -resume. auto/N takes I from the environment of an array job " +
			"(robotsbatch help arrays).",
	}, {
		Name: "summary-json", Argument: "FILE", Topic: RunningTopic, Files: true, Unrecorded: true, Value: &c.SummaryJSON,
		Short: "also write the summary as JSON",
	}, {
		Name: "report", Argument: "FILE", Topic: RunningTopic, Files: true, Unrecorded: true, Value: &c.ReportFile,
		Short: "write a page for people, such as report.html",
		More: "Verdicts, reasons, the hosts and rules that deny most, and ages, in one HTML file that loads nothing " +
			"(robotsbatch help report).",
	}, {
		Name: "dry-run", Rare: true, Topic: RunningTopic, Unrecorded: true, Value: &c.DryRun,
		Short: "say what the job would read, by what and with what, and write nothing",
		More:  "Inputs and their size, format and columns of the first, rules, agents as they are understood, outputs.",
	}}, r.Flags().Only(shown...))
}

// Check returns an error for flags that do not go together, and sets defaults. given has, by
// name, the values of the flags that change what outputs contain. Check adds the agents of -agents to it.
func (c *Job) Check(ctx context.Context, r *Running, given map[string][]string) error {
	if err := c.CheckJudging(ctx, given); err != nil {
		return err
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	if c.Out == "/dev/stdout" {
		c.Out = "-"
	}
	if err := c.checkShard(); err != nil {
		return err
	}
	most := min(r.BatchMemory()/2, 1<<30)
	switch {
	case int64(c.Reading.MaxLine) > most:
		return option.Usagef("%s is more than a batch may have: with this %s it is at most %s", option.MaxLine.With(cli.SizeText(int64(c.Reading.MaxLine))), option.Memory, cli.SizeText(most))
	case c.Resume && slices.Contains(c.Sources, blob.Stdio): // as with -shard
		return option.Usagef("%s and %s cannot tell whether stdin has the same rules: name a file with %s", option.Resume, option.Shard, option.Rules)
	case c.Out == "-" && (c.Manifest || c.Resume):
		return option.Usagef("%s and %s need an %s that stays: name a file or a folder", option.Manifest, option.Resume, option.Out)
	case c.Shard == nil && blob.IsURL(c.Out) && (c.Manifest || c.Resume):
		return option.Usagef("%s and %s need an %s on this machine, and %s is in an object store: a folder there (with a slash at its end) has a manifest, and goes on from it, with %s",
			option.Manifest, option.Resume, option.Out, blob.Shown(c.Out), option.Shard.With("0/1"))
	}
	if err := cmp.Or(c.checkLimit(), c.NameColumns(c.AgentNames(), c.WantsText())); err != nil {
		return err
	}
	r.SetWork()
	if c.First > 0 { // which are counted in order
		r.Workers = 1
	}
	return nil
}

// checkFiles resolves file:// URLs, and returns an error for names of inputs and outputs that are
// missing, invalid, or given for two.
func (c *Job) checkFiles() error {
	if err := c.Input.Check(c.Sources...); err != nil {
		return err
	}
	switch {
	case c.SummaryJSON == "-":
		return option.Usagef("%s takes a file: stdout is for data", option.SummaryJSON)
	case c.ReportFile == "-":
		return option.Usagef("%s takes a file: stdout is for data", option.Report)
	case strings.ToLower(filepath.Ext(c.ReportFile)) == ".pdf":
		return option.Usagef("%s is a page in HTML, which a browser also prints as PDF: name it report.html", option.Report.With(c.ReportFile))
	case manifest.IsName(c.SummaryJSON):
		return option.Usagef("%s is the name of a manifest: choose another name", option.SummaryJSON.With(c.SummaryJSON))
	case manifest.IsName(c.ReportFile):
		return option.Usagef("%s is the name of a manifest: choose another name", option.Report.With(c.ReportFile))
	case c.ReportFile != "" && filepath.Clean(c.ReportFile) == filepath.Clean(c.SummaryJSON):
		return option.Usagef("%s and %s name the same file %s", option.Report, option.SummaryJSON, c.ReportFile)
	}
	return cmp.Or(ResolveNames(option.Out, &c.Out), ResolveNames(option.SummaryJSON, &c.SummaryJSON), ResolveNames(option.Report, &c.ReportFile))
}

// checkLimit returns an error if -limit is given with a flag that needs all rows.
func (c *Job) checkLimit() error {
	for _, other := range []struct {
		name  option.Name
		given bool
	}{{option.Shard, c.Shard != nil}, {option.Resume, c.Resume}, {option.Manifest, c.Manifest}, {option.Weight, c.Weight != ""}} {
		if c.First > 0 && other.given {
			return option.Usagef("%s is about all rows, and %s leaves most of them out: leave out one of them", other.name, option.Limit)
		}
	}
	return nil
}

// CheckJudging is the part of Check that concerns rules, agents and times.
func (c *Job) CheckJudging(ctx context.Context, given map[string][]string) error {
	if err := c.Rules.Check(ctx); err != nil {
		return err
	}
	given["agents"] = append(given["agents"], c.Added...) // for -resume: the list, wherever it lies
	if c.AsOfColumn == "" && (c.BeforeFirst != access.BeforeAsMissing || c.EverDenied) {
		return option.Usagef("%s and %s are about the times of rows: name their column with %s", option.Assume.With(beforeFirst), option.EverDenied, option.AsOf.With("column:NAME"))
	}
	c.History = c.AsOfColumn != ""
	return nil
}

// checkShard sets c.Shard from -shard, which needs a folder of outputs and rules that can be read again.
func (c *Job) checkShard() (err error) {
	if c.Shard, err = manifest.ParseShard(c.which, os.Getenv); err != nil {
		return &option.UsageError{Err: err}
	}
	if c.Shard == nil {
		return nil
	}
	if !outputs.IsFolder(c.Out) {
		return option.Usagef("%s needs an %s that is a folder: its name ends with a slash, or it is there", option.Shard, option.Out)
	}
	c.Resume = true
	return c.CheckReread(option.Shard)
}

// Deal returns the inputs of c.Shard. A single input is in all shards, and part is what this one
// reads of it. Without shards Deal returns all inputs.
func (c *Job) Deal(inputs []frontier.Input) (mine []frontier.Input, part batch.Part, err error) {
	if c.Shard == nil {
		return inputs, part, nil
	}
	if slices.ContainsFunc(inputs, func(in frontier.Input) bool { return in.Path == blob.Stdio }) {
		return nil, part, option.Usagef("%s cannot divide stdin: name files with %s", option.Shard, option.In)
	}
	names := cli.Map(inputs, func(in frontier.Input) string { return in.Stem })
	numbers := c.Shard.Deal(names) // which also records the names, for the manifest
	if len(inputs) == 1 {
		return inputs, batch.Part{Index: c.Shard.Index, Count: c.Shard.Count}, nil
	}
	return cli.Map(numbers, func(number int) frontier.Input { return inputs[number] }), part, nil
}

// NewSummary returns the summary of a job on these inputs that has judged no row yet.
func (c *Job) NewSummary(inputs []frontier.Input) *report.Summary {
	s := &report.Summary{Version: cli.Version(), Complete: true, Profile: c.Profile.String(), Outputs: []string{}}
	s.Inputs, s.Rules = cli.Map(inputs, frontier.Input.Name), cli.Map(c.Sources, blob.Shown)
	s.Missing, s.BeforeFirst = cli.NameOf(missings, c.Missing), cli.NameOf(firsts, c.BeforeFirst)
	s.MaxAgeSeconds, s.Limit = int64(c.MaxAge/time.Second), c.First
	if c.Emit != batch.EmitAll {
		s.Emit = c.emitName()
	}
	if s.AsOfColumn = c.AsOfColumn; c.AsOfColumn == "" && !c.AsOf.IsZero() {
		s.AsOf = &c.AsOf
	}
	agents := c.AgentChains()
	s.Combined = map[batch.Combine]string{batch.CombineAnyDenied: "any-denied", batch.CombineAllDenied: "all-denied"}[c.Combined()]
	if s.Combined != "" {
		agents = append([]string{s.Combined}, agents...)
	}
	s.Agents = cli.Map(agents, func(agent string) report.Agent { return report.Agent{Agent: agent} })
	if c.Weight != "" {
		s.Weigh(c.Weight)
	}
	return s
}
