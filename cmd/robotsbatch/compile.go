package main

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/cmd/robotsbatch/internal/heap"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/report"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/blob"
)

// compileHelp is the command compile.
var compileHelp = &cli.Command{
	Name: "compile", New: func() cli.Config {
		c := &compileCommand{call: newCall(), Rules: config.NewRules()}
		c.Running.Memory, c.Running.Workers = rulepack.DefaultBuildMemory, runtime.GOMAXPROCS(0)
		return c
	},
	Usage: []string{"compile -rules RULES [-rules RULES...] -out PACK [flags]"},
	About: "makes a rule pack: one file with the compiled rules of many hosts, which the main job maps instead of reading robots.txt " +
		"files or captures.",
	Details: "A pack holds the rules for every agent: you choose -agent when you use it. From captures it keeps those that decide, with " +
		"status and time. The same files give the same bytes. With -update a pack of captures takes in newer ones.",
	Examples: []string{"compile -rules robots -out site.rules", `compile -rules "crawl/*.warc.gz" -out crawl.rules`, `compile -update old.rules -rules "new/*.warc.gz" -out new.rules`},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done"},
		{Status: "1", Meaning: "failed; no file is left half-written, and a previous pack stays"},
		usageExit, retryExit, stoppedExit,
	},
}

// compileCommand is its configuration.
type compileCommand struct {
	call
	config.Rules
	out string
}

// Flags implements cli.Config.
func (c *compileCommand) Flags() cli.Flags {
	history := cli.Flag{
		Name: "history", Topic: config.RulesTopic,
		Short: "keep what captures say at every time, for -as-of",
		More:  "See robotsbatch help history.",
		Value: &c.History,
	}
	return slices.Concat(c.PlainFlags().Without("agent", "agents").Saying("as-of", "put into the pack what held at this time: ignore later captures").Before("as-of", history), cli.Flags{{
		Name: "out", Argument: "PACK", Topic: config.OutputTopic, Files: true, Unrecorded: true, Value: &c.out,
		Short: "the file or object to write, such as site.rules, or - for stdout",
	}, {
		Name: "update", Argument: "PACK", Topic: config.RulesTopic, Files: true, Unrecorded: true, Value: &c.Update,
		Short: "add captures to those of this rule pack, as if all were compiled at once",
		More: "The first -rules adds to the captures of the pack's first, and so on; folders are named again. -history, -assume, -profile and " +
			"-robots-limit must be the pack's (robotsbatch help compile).",
	}, {
		Name: "partitions", Argument: "N", Topic: config.OutputTopic, Unrecorded: true, Value: cli.Count(&c.Partitions),
		Short: "make N packs, each for a part of the hosts",
		More: "They are called site-00003-of-00016.rules. The hash of a host's authority decides its part, as explain -partitions says. The rules are read N " +
			"times (robotsbatch help compile).",
	}}, c.Running.Flags().Without("batch-rows"))
}

// check adds the operands to -rules and returns an error for flags that do not go together. It
// also limits the workers.
func (c *compileCommand) check(ctx context.Context) error {
	c.Sources = append(c.Sources, c.operands...)
	switch {
	case len(c.Sources) == 0:
		return option.Usagef("%s is missing: name a folder of robots.txt files, or captures", option.Rules)
	case c.out == "":
		return option.Usagef("%s is missing: name the rule pack to write, such as site.rules", option.Out)
	case c.Partitions > 1 && (c.out == blob.Stdio || slices.Contains(c.Sources, blob.Stdio)):
		return option.Usagef("%s makes several packs and reads the rules again for each: name files with %s and %s", option.Partitions, option.Out, option.Rules)
	case c.Partitions > 1 && c.Update != "":
		return option.Usagef("%s makes one pack: leave out %s", option.Update, option.Partitions)
	case c.out == blob.Stdio && console.IsTerminal(c.s.out):
		return option.Usagef("a rule pack on a terminal is unreadable: name a file with %s", option.Out)
	}
	if err := cmp.Or(config.ResolveNames(option.Update, &c.Update), config.ResolveNames(option.Out, &c.out)); err != nil {
		return err
	}
	c.LimitWorkers()
	return c.CheckOneTime(ctx)
}

// left implements command.
func (c *compileCommand) left() option.Message { return leftText(c.out) }

// execute makes a rule pack, or one for each of -partitions.
func (c *compileCommand) execute(ctx context.Context) (status int, err error) {
	ctx = c.showProgress(ctx, c.out == blob.Stdio)
	c.fitMemory(nil) // packs are read one after the other
	defer heap.Hold(c.Running.Memory)()
	for c.Partition = range max(1, c.Partitions) {
		out := c.out
		if c.Partitions > 1 {
			out = rulepack.PartitionName(c.out, c.Partition, c.Partitions)
		}
		made, err := c.compile(ctx, out)
		if err != nil {
			return 0, err
		}
		made.Seconds = c.seconds()
		c.log.Info(made.Text(blob.Shown(out)), "done", "summary", made)
	}
	return exitDone, nil
}

// compile makes the pack out for the hosts of c.Partition, and returns what it has.
func (c *compileCommand) compile(ctx context.Context, out string) (*report.Compiled, error) {
	found, err := c.find(ctx, &c.Rules, option.Out.With(out))
	if err != nil {
		return nil, err
	}
	release, err := outputs.Claim(out, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	made, err := found.Compile(ctx, out)
	if err != nil {
		return nil, err
	}
	if c.Partition == 0 { // what was read of captures is the same for each
		c.sayCaptured(made.Captured)
	}
	return report.NewCompiled(made, cli.Version()), nil
}
