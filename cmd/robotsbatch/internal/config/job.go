package config

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
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
)

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

// Limits say how many rows without a right answer still are success; the zero value, any number.
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

// Check returns an error for flags that do not go together, and sets defaults. given has the
// values, by name, of the flags that decide about the outputs' bytes; Check adds the agents of
// -agents.
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
	if err := c.checkShard(os.Getenv); err != nil {
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

// checkFiles returns an error for names of inputs and outputs that are missing, equal or
// invalid, and resolves file:// URLs.
func (c *Job) checkFiles() error {
	if err := cmp.Or(c.ReadOnce(c.Sources...), c.Input.Check()); err != nil {
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

// CheckJudging returns an error for flags of rules and agents that do not go together. It adds
// the agents of -agents to given.
func (c *Job) CheckJudging(ctx context.Context, given map[string][]string) error {
	if err := c.Rules.Check(ctx); err != nil {
		return err
	}
	given["agents"] = append(given["agents"], c.Added...) // for -resume: the list, wherever it lies
	return c.checkTimes()
}

// checkShard sets c.Shard from -shard. environment returns variables of the environment, which
// -shard auto/N reads.
func (c *Job) checkShard(environment func(string) string) (err error) {
	if c.Shard, err = manifest.ParseShard(c.which, environment); err != nil {
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

// Deal returns the inputs of the shard, dealt by their names. A single input is divided
// instead: part is what the shard reads of it. Without shards it returns all inputs.
func (c *Job) Deal(inputs []frontier.Input) (mine []frontier.Input, part batch.Part, err error) {
	if c.Shard == nil {
		return inputs, part, nil
	}
	names := make([]string, len(inputs))
	for i, in := range inputs {
		if in.Path == blob.Stdio {
			return nil, part, option.Usagef("%s cannot divide stdin: name files with %s", option.Shard, option.In)
		}
		names[i] = in.Stem
	}
	dealt := c.Shard.Deal(names) // which also records the names, for the manifest
	if len(inputs) == 1 {
		return inputs, batch.Part{Index: c.Shard.Index, Count: c.Shard.Count}, nil
	}
	for _, number := range dealt {
		mine = append(mine, inputs[number])
	}
	return mine, part, nil
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
	if s.Combined = c.combinedName(); s.Combined != "" {
		agents = append([]string{s.Combined}, agents...)
	}
	s.Agents = cli.Map(agents, func(agent string) report.Agent { return report.Agent{Agent: agent} })
	if c.Weight != "" {
		s.Weigh(c.Weight)
	}
	return s
}
