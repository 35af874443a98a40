package main

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"syscall"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/pipe"
	"robotsbatch/io/store/blob"
)

// pipeHelp is how other programs use this one.
var pipeHelp = cli.Command{
	Name: "pipe", Set: pipeCommand,
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
		usageExit,
		retryExit,
		stoppedExit,
	},
}

func pipeDefaults(c *jobConfig) { c.oneLine = true }

// pipe answers a stream.
func (c *call) pipe(ctx context.Context) (status int, err error) {
	started := time.Now()
	if err := c.checkPipe(); err != nil {
		return 0, err
	}
	limitHeap(c.memory)
	j := &job{call: c}
	return exitDone, j.pipe(ctx, started)
}

// checkPipe finds what is wrong with the flags together.
func (c *call) checkPipe() error {
	if err := c.addAgents(); err != nil {
		return err
	}
	if err := c.rulesConfig.check(); err != nil {
		return err
	}
	if err := c.checkTimes(); err != nil {
		return err
	}
	if err := c.refuseOperands("pipe reads stdin; robotsbatch -in reads files"); err != nil {
		return err
	}
	switch {
	case slices.Contains(c.folders, blob.Stdio):
		return option.Usagef("stdin has the URLs: name a file or a folder with -rules")
	case console.IsTerminal(c.s.in):
		return option.Usagef("pipe reads an Arrow stream from stdin, which is a terminal: see robotsbatch help pipe")
	case console.IsTerminal(c.s.out):
		return option.Usagef("pipe writes an Arrow stream to stdout, and Arrow on a terminal is unreadable: see robotsbatch help pipe")
	}
	c.workers = min(c.workers, mostWorkers*runtime.GOMAXPROCS(0))
	return c.nameColumns()
}

// pipe opens the rules and answers the stream.
func (j *job) pipe(ctx context.Context, started time.Time) error {
	if err := j.reserveMemory(nil); err != nil {
		return err
	}
	var err error
	if j.rules, err = j.findRules(ctx, j.ruleUse()); err != nil {
		return err
	}
	defer j.rules.Close()
	if err := j.openTimelines(); err != nil {
		return err
	}
	input := frontier.Input{Path: blob.Stdio}
	j.summary = newSummary(j.jobConfig, []frontier.Input{input})
	stats, err := pipe.Run(ctx, j.s.in, blob.Rows(j.s.out), j.newEvaluator, pipe.Options{
		Name: input.Name(), URLColumn: j.urlColumn, Beside: batch.Beside{Time: j.asOfColumn}, Keep: j.keep, Verdicts: j.columns, Emit: j.emit,
		Workers: j.workers, Memory: j.flightMemory(), Check: j.rules.Unchanged,
	})
	if errors.Is(err, syscall.EPIPE) {
		j.summary.Complete = false // the answer's reader has what it wanted
	} else if err != nil {
		return err
	}
	j.summary.Add(blob.Stdio, &stats)
	return j.finish(started, nil)
}
