package main

import (
	"os"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/store/blob"
)

// judging is the configuration of what judges rows: the main job and pipe.
type judging struct {
	config.Input
	config.Rules
	config.Columns
	config.Output

	weight        string // the column that is summed up; empty for none
	compareNewest bool   // counts what the newest rules say as well
	maxInvalid    cli.Allowance
	summaryJSON   string
	reportFile    string // HTML
	manifest      bool
	resume        bool
	sharding
	progress console.When
}

func newJudging() judging {
	return judging{Input: config.NewInput(), Rules: config.NewRules(), Output: config.Output{Out: blob.Stdio}, maxInvalid: cli.Unlimited}
}

// weighedInputs are the formats for which -weight holds.
var weighedInputs = &cli.Formats{Names: []string{"arrow", "arrows", "parquet", "csv", "tsv", "jsonl", "cdxj"}, Of: "inputs"}

// Flags implements cli.Config.
func (c *job) Flags() cli.Flags {
	return slices.Concat(c.Input.Flags(), c.Rules.Flags(), c.Output.Flags(), c.Columns.Flags(), cli.Flags{
		{
			Name: "max-invalid", Argument: "N", Topic: config.RunningTopic, Standard: "any", Indifferent: true,
			Short: "rows without a verdict that still count as success, or a share: 0.5%",
			Value: c.maxInvalid.Set,
		},
	}, c.Running.Flags(), cli.Flags{
		{
			Name: "weight", Argument: "COLUMN", Topic: config.RunningTopic,
			For:   weighedInputs,
			Short: "add up a column of numbers by agent and verdict",
			More: "A column of a table or csv, or a key of jsonl and CDXJ, such as the length of a page. The sums are in the summary " +
				"(robotsbatch help summary).",
			Value: &c.weight,
		},
		{
			Name: "compare-newest", Topic: config.RunningTopic,
			Short: "also count what the newest rules say, with -as-of column:NAME",
			More: "The summary and the report count rows by both verdicts, with -weight also its sums; the outputs do not change " +
				"(robotsbatch help history).",
			Value: &c.compareNewest,
		},
		{
			Name: "manifest", Topic: config.RunningTopic, Indifferent: true,
			Short: "also write a manifest beside -out FILE, for verify and -resume",
			More:  "It is called _FILE.manifest.jsonl; a folder always has one, _robotsbatch.manifest.jsonl.",
			Value: &c.manifest,
		},
		{
			Name: "resume", Topic: config.RunningTopic, Common: true, Indifferent: true,
			Short: "skip outputs that an earlier run completed, unless something changed",
			More:  "An output is kept if inputs, rules, flags, program and the output itself are unchanged.",
			Value: &c.resume,
		},
		{
			Name: "shard", Argument: "I/N", Topic: config.RunningTopic, Indifferent: true,
			Short: "do one of N shards of the job, counted from 0",
			More: "-out is a folder that all shards share. Inputs are dealt by name; a single Arrow or Parquet file by record batch or row group. " +
				"What an earlier run of the shard completed is kept, as with -resume. auto takes I from the environment of an array job, and N from -shards " +
				"(robotsbatch help arrays).",
			Value: &c.which,
		},
		{
			Name: "shards", Argument: "N", Topic: config.RunningTopic, Indifferent: true,
			Short: "number of shards, for -shard auto",
			Value: cli.Count(&c.sharding.count),
		},
		{
			Name: "summary-json", Argument: "FILE", Topic: config.RunningTopic, Files: true, Indifferent: true,
			Short: "also write the summary as JSON",
			Value: &c.summaryJSON,
		},
		{
			Name: "report", Argument: "FILE", Topic: config.RunningTopic, Files: true, Indifferent: true,
			Short: "write a page for people, such as report.html",
			More: "Verdicts, reasons, the hosts and rules that deny most, ages and throughput, in one HTML file that loads nothing " +
				"(robotsbatch help report).",
			Value: &c.reportFile,
		},
		{
			Name: "progress", Argument: "WHEN", Topic: config.RunningTopic, Words: []string{"auto", "always", "never"}, Indifferent: true,
			Short: "auto, always or never", Standard: "auto: when stderr is a terminal",
			More: "With -log json, a line every 10 seconds wherever stderr goes (robotsbatch help progress).",
			Value: cli.OneOf(&c.progress, cli.Word[console.When]{Name: "auto", Value: console.Auto},
				cli.Word[console.When]{Name: "always", Value: console.Always}, cli.Word[console.When]{Name: "never", Value: console.Never}),
		},
	}, c.MessageFlags())
}

// check finds what is wrong with the flags together, and fills in defaults.
func (c *job) check() error {
	if err := c.checkJudging(); err != nil {
		return err
	}
	if c.AsOfColumn == "" && c.compareNewest {
		return option.Usagef("-compare-newest compares with the rules of the rows' own times: name their column with -as-of column:NAME")
	}
	switch {
	case len(c.In) == 0 && c.FilesFrom == "":
		return option.Usagef("-in is missing: name a file, a folder or - for stdin")
	case c.Out == "":
		return option.Usagef("-out is empty: name a file, a folder or - for stdout")
	case slices.Contains(c.In, blob.Stdio) && slices.Contains(c.Sources, blob.Stdio):
		return option.Usagef("stdin is read twice: name - only once")
	case c.summaryJSON == "-":
		return option.Usagef("-summary-json takes a file: stdout is for data")
	case c.reportFile == "-":
		return option.Usagef("-report takes a file: stdout is for data")
	case c.reportFile != "" && (c.reportFile == c.Out || c.reportFile == c.summaryJSON):
		return option.Usagef("-report and another flag name the same file %s", c.reportFile)
	case c.summaryJSON != "" && c.summaryJSON == c.Out:
		return option.Usagef("-summary-json and -out name the same file %s", c.Out)
	}
	for flag, names := range map[string][]*string{"in": config.Pointers(c.In), "out": {&c.Out}, "files-from": {&c.FilesFrom}, "summary-json": {&c.summaryJSON}, "report": {&c.reportFile}} {
		if err := config.ResolveNames(flag, names...); err != nil {
			return err
		}
	}
	if most := min(c.BatchMemory()/2, 1<<30); c.MaxLine > most {
		return option.Usagef("-max-line %s is more than a batch may have: with this -memory it is at most %s", cli.SizeText(c.MaxLine), cli.SizeText(most))
	}
	if c.Out == "/dev/stdout" {
		c.Out = "-"
	}
	if c.resume && slices.Contains(c.Sources, blob.Stdio) {
		return option.Usagef("-resume cannot tell whether stdin has the same rules: name a file with -rules")
	}
	if c.Out == "-" && (c.manifest || c.resume) {
		return option.Usagef("-manifest and -resume need an -out that stays: name a file or a folder")
	}
	if err := c.checkShard(os.Getenv); err != nil {
		return err
	}
	if c.shard == nil && blob.IsURL(c.Out) && (c.manifest || c.resume) {
		return option.Usagef("-manifest and -resume need an -out on this machine: %s is in an object store", blob.Shown(c.Out))
	}
	if err := c.Name(c.AgentNames(), c.writing().WantsText()); err != nil {
		return err
	}
	c.SetWork()
	return nil
}

// checkJudging finds what is wrong with the flags of rules and agents.
func (c *job) checkJudging() error {
	added, err := c.AddAgents()
	if err != nil {
		return err
	}
	c.given["agents"] = append(c.given["agents"], added...) // for -resume: the list, wherever it lies
	if err := c.Rules.Check(); err != nil {
		return err
	}
	return c.CheckTimes()
}
