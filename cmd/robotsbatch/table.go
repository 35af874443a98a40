package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/io/blob"
	"robotsbatch/io/format"
	"robotsbatch/io/frontier"
	"robotsbatch/io/outputs"
)

// Commands that write a table of their own, which has no input's columns.

// parseTable reads the arguments of such a command, whose flags may follow operands. The
// flags before a mistake are set.
func parseTable(command string, args []string) (*jobConfig, []string, error) {
	c := newConfig()
	if command == diffHelp.Name {
		c.out = "" // it may write none
	}
	operands, err := cli.ParseMixed(program.FlagSet(program.Command(command), c), args)
	if err != nil {
		return c, nil, err
	}
	if c.out == "" && command != diffHelp.Name {
		return c, nil, usageErrorf("-out is empty: name a file, or - for stdout")
	}
	if err := resolveNames("out", &c.out); err != nil {
		return c, nil, err
	}
	if outputs.IsFolder(c.out) {
		return c, nil, usageErrorf("-out %s is a folder: name a file, such as %s.parquet", blob.Shown(c.out), command)
	}
	if c.wantsText() {
		return c, nil, usageErrorf("-out %s: a list of URLs has no columns: use .parquet, .arrow, .csv, .tsv or .jsonl", blob.Shown(c.out))
	}
	if c.workers == 0 {
		c.workers = runtime.GOMAXPROCS(0)
	}
	c.workers = min(c.workers, mostWorkers*runtime.GOMAXPROCS(0))
	if c.batchRows == 0 {
		c.batchRows = defaultRows
	}
	return c, operands, nil
}

// endTable says what went wrong, and returns the exit status. A reader of the output that
// had enough is no mistake.
func (c *jobConfig) endTable(ctx context.Context, log *console, err error) int {
	switch {
	case err == nil || errors.Is(err, syscall.EPIPE):
		return exitDone
	case ctx.Err() != nil:
		err = fmt.Errorf("stopped (%w); nothing half-written is left", context.Cause(ctx))
	}
	return log.fail(err)
}

// tableOutput is an output that is open.
type tableOutput struct {
	c       *jobConfig
	s       streams
	target  target
	first   *frontier.Source // what says which columns there are
	emit    batch.Emit
	release func()
}

// openTable finds out how the output is written, and claims it, before anything takes
// long. The caller closes it.
func (c *jobConfig) openTable(ctx context.Context, s streams, schema *arrow.Schema) (*tableOutput, error) {
	limitHeap(c.memory)
	t, err := c.target(outputs.Output{Path: c.out}, &frontier.Source{Format: format.CSV})
	if err != nil {
		return nil, err
	}
	if t.path == blob.Stdio && t.format.IsBinary() && isTerminal(s.out) {
		return nil, errBinaryTerminal
	}
	release, err := outputs.Claim(c.out)
	if err != nil {
		return nil, fmt.Errorf("-out: %w", err)
	}
	return &tableOutput{c: c, s: s, target: t, first: &frontier.Source{Schema: schema}, release: release}, nil
}

func (o *tableOutput) close() { o.release() }

// write writes all that src has. unchanged is asked at the end, before the output
// appears. Without -out the rows are made, and nothing is written.
func (o *tableOutput) write(ctx context.Context, src batch.Source, newEvaluator func() batch.Evaluator, unchanged func() error) (batch.Stats, error) {
	sink := batch.Discard
	if o.c.out != "" {
		w, err := createTarget(ctx, o.s, o.target)
		if err != nil {
			return batch.Stats{}, err
		}
		if sink, err = o.c.encoder(o.target, o.first, false, w); err != nil {
			w.Abort()
			return batch.Stats{}, err
		}
	}
	sink = outputs.Checked(sink, unchanged)
	return batch.Run(ctx, src, sink, newEvaluator, batch.Options{Emit: o.emit, Workers: o.c.workers, Memory: o.c.flightMemory()})
}

// listOf names things for people.
func listOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
