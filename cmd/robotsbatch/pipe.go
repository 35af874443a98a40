package main

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/pipe"
	"robotsbatch/io/store/blob"
)

// pipeHelp is how other programs use this one.
var pipeHelp = &cli.Command{
	Name: "pipe", New: func() cli.Config {
		c := &pipeCommand{*newJob()}
		c.OneLine = true
		return c
	},
	Usage: []string{"pipe -rules RULES [-agent NAME] [flags] < STREAM > STREAM"},
	About: "reads an Arrow stream on stdin and writes one to stdout, batch by batch, for programs that run robotsbatch as a child process.",
	Details: "The schema is written before a batch is read. Each batch has one answer, written and flushed as soon as the whole batch was " +
		"read, so a client without threads can write a batch, read its answer, and go on. The input must end with its end marker; the answer " +
		"has one if nothing failed. A failure writes one line to stderr (robotsbatch help pipe).",
	Examples: []string{
		"pipe -rules site.rules -agent CCBot < in.arrows > out.arrows",
		"pipe -rules site.rules -columns verdict < in.arrows > out.arrows",
	},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, even if the reader of the answer closed it early"},
		{Status: "1", Meaning: "failed; the answer has no end marker"},
		usageExit, retryExit, stoppedExit,
	},
}

// pipeCommand is a job that reads stdin and writes stdout.
type pipeCommand struct{ job }

// Flags implements cli.Config.
func (c *pipeCommand) Flags() cli.Flags {
	running := c.Running.Flags().Only("workers", "memory", "store-timeout", "log")
	workers := &running[0]
	workers.Standard, workers.More = "1", "With one, a batch is read once the previous answer is written. "+workers.More
	return slices.Concat(c.Input.Flags().Only("url-column"), c.Rules.Flags(), c.Columns.Flags(), running, cli.Flags{c.VerboseFlag("warnings and a summary on stderr")})
}

// check returns an error for flags and streams that do not go together.
func (c *pipeCommand) check(ctx context.Context) error {
	if err := c.CheckJudging(ctx, c.given); err != nil {
		return err
	}
	switch {
	case len(c.operands) > 0:
		return option.Usagef("unexpected argument %q: pipe reads stdin; robotsbatch %s reads files", blob.Shown(c.operands[0]), option.In)
	case slices.Contains(c.Sources, blob.Stdio):
		return option.Usagef("stdin has the URLs: name a file or a folder with %s", option.Rules)
	case console.IsTerminal(c.s.in):
		return option.Usagef("pipe reads an Arrow stream from stdin, which is a terminal: see robotsbatch help pipe")
	case console.IsTerminal(c.s.out):
		return option.Usagef("pipe writes an Arrow stream to stdout, and Arrow on a terminal is unreadable: see robotsbatch help pipe")
	}
	c.LimitWorkers()
	return c.NameColumns(c.AgentNames(), false) // an Arrow stream is no text
}

// execute opens the rules and writes the verdicts on a stream of batches.
func (c *pipeCommand) execute(ctx context.Context) (status int, err error) {
	c.limitMemory(c.Sources)
	if err := c.reserveMemory(nil, 1); err != nil {
		return 0, err
	}
	c.setWanted()
	if c.rules, err = c.findRules(ctx, &c.Rules); err != nil {
		return 0, err
	}
	defer c.rules.Close()
	if err := c.openTimelines(); err != nil {
		return 0, err
	}
	input := frontier.Input{Path: blob.Stdio}
	c.summary = c.NewSummary([]frontier.Input{input})
	stats, err := pipe.Run(ctx, c.s.in, blob.Rows(c.s.out), c.newEvaluator, pipe.Options{
		Name: input.Name(), URLColumn: c.Reading.URLColumn, Extra: batch.ExtraColumns{Time: c.AsOfColumn}, Keep: c.Keep, Verdicts: c.Verdicts, Emit: c.Emit,
		Workers: c.Workers, Memory: c.FlightMemory(), Check: c.rules.Unchanged,
	})
	if errors.Is(err, syscall.EPIPE) {
		c.summary.Complete = false // the answer's reader has what it wanted
	} else if err != nil {
		return 0, err
	}
	c.summary.Add(blob.Stdio, &stats)
	return exitDone, c.finish(nil)
}
