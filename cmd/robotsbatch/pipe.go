package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"robotsbatch/batch"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/frontier"
	"robotsbatch/io/pipe"
)

// pipeMode is how other programs use this one.
var pipeMode = cli.Command{
	Name: "pipe", Set: pipeCommand,
	Usage: []string{"pipe -rules RULES [-agent NAME] [flags] < STREAM > STREAM"},
	About: "answers an Arrow stream on stdin with one on stdout, batch by batch, for programs that use robotsbatch as a child.",
	Details: "The schema goes out before a batch is read. Each batch has one answer, which is written and flushed when all of the batch was " +
		"read, so a client without threads may write a batch, read its answer, and go on. The stream must have its end marker, and the answer " +
		"has one if nothing failed. Nothing is written to stderr but one line when it fails (robotsbatch help pipes).",
	Examples: []string{
		"pipe -rules site.rules -agent CCBot < in.arrows > out.arrows",
		"pipe -rules site.rules -columns verdict < in.arrows > out.arrows",
	},
	Exits: []cli.Exit{
		{Status: "0", Meaning: "done, also when the reader of the answer had enough before the end"},
		{Status: "1", Meaning: "failed; the answer has no end marker"},
		{Status: "2", Meaning: "wrong use"},
		{Status: "75", Meaning: retryStatus},
		{Status: "129, 130, 143", Meaning: stoppedStatus},
	},
}

// runPipe answers a stream.
func runPipe(ctx context.Context, args []string, s streams) int {
	c, err := parsePipe(args)
	if errors.Is(err, flag.ErrHelp) {
		return printCommandHelp(s, &pipeMode)
	}
	log := newConsole(s.err, false, !c.verbose).of("pipe")
	log.oneLine = !c.verbose
	switch {
	case err != nil:
	case isTerminal(s.in):
		err = usageErrorf("pipe reads an Arrow stream from stdin, which is a terminal: see robotsbatch help pipe")
	case isTerminal(s.out):
		err = usageErrorf("pipe writes an Arrow stream to stdout, and Arrow on a terminal is unreadable: see robotsbatch help pipe")
	}
	if err != nil {
		return log.fail(err)
	}
	limitHeap(c.memory)
	j := &job{jobConfig: c, s: s, log: log}
	err = j.pipe(blob.WithTimeout(ctx, c.storeTimeout), time.Now())
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("stopped (%w)", context.Cause(ctx))
	}
	if err != nil {
		return log.fail(err)
	}
	return exitDone
}

// parsePipe reads the arguments. The flags before a mistake are set.
func parsePipe(args []string) (*jobConfig, error) {
	c := newConfig()
	fs := program.FlagSet(&pipeMode, c)
	if err := cli.Parse(fs, args); err != nil {
		return c, err
	}
	if err := c.addAgents(); err != nil {
		return c, err
	}
	if err := c.rulesConfig.check(); err != nil {
		return c, err
	}
	if err := c.checkTimes(); err != nil {
		return c, err
	}
	switch {
	case fs.NArg() > 0:
		return c, usageErrorf("unexpected argument %q: pipe reads stdin; robotsbatch -in reads files", blob.Shown(fs.Arg(0)))
	case slices.Contains(c.folders, blob.Stdio):
		return c, usageErrorf("stdin has the URLs: name a file or a folder with -rules")
	}
	c.workers = min(c.workers, mostWorkers*runtime.GOMAXPROCS(0))
	return c, c.nameColumns()
}

// pipe opens the rules and answers the stream.
func (j *job) pipe(ctx context.Context, started time.Time) error {
	if err := j.reserveMemory(nil); err != nil {
		return err
	}
	found, err := j.find(ctx, j.ruleUse(), j.log)
	if err != nil {
		return err
	}
	if j.rules, err = j.openRules(ctx, found, j.log); err != nil {
		return err
	}
	defer j.rules.Close()
	if err := j.openTimelines(); err != nil {
		return err
	}
	input := frontier.Input{Path: blob.Stdio}
	j.summary = newSummary(j.jobConfig, []frontier.Input{input})
	stats, err := pipe.Run(ctx, j.s.in, j.s.out, j.newEvaluator, pipe.Options{
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
