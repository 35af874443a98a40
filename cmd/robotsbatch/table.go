package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/cmd/robotsbatch/internal/cli"
	"robotsbatch/cmd/robotsbatch/internal/config"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/frontier/tables"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// Commands that write a table of their own, which has no input's columns.

// tableCommand is the configuration of a command that writes a table of what rules have.
type tableCommand struct {
	call
	config.Rules
	config.Output
}

func newTable() tableCommand {
	return tableCommand{newCall(), config.NewRules(), config.Output{Out: blob.Stdio}}
}

// checkTable finds what is wrong with the flags about the table that a command writes, and
// fills in defaults.
func (c *tableCommand) checkTable(command *cli.Command) error {
	if c.Out == "" && command != diffHelp {
		return option.Usagef("-out is empty: name a file, or - for stdout")
	}
	if err := config.ResolveNames("out", &c.Out); err != nil {
		return err
	}
	if outputs.IsFolder(c.Out) {
		return option.Usagef("-out %s is a folder: name a file, such as %s.parquet", blob.Shown(c.Out), command.Name)
	}
	if c.Outputs().WantsText() && command != hostsHelp {
		return option.Usagef("-out %s: a list of URLs has no columns: use .parquet, .arrow, .csv, .tsv or .jsonl", blob.Shown(c.Out))
	}
	c.SetWork()
	return nil
}

// refuseOperands is the error for operands where there can be none. instead says what to
// give.
func (c *call) refuseOperands(instead string) error {
	if len(c.operands) == 0 {
		return nil
	}
	return option.Usagef("unexpected argument %q: %s", blob.Shown(c.operands[0]), instead)
}

// tableOutput is an output that is open.
type tableOutput struct {
	c      *tableCommand
	target outputs.Target
	first  *frontier.Source // what says which columns there are
	// emit, keep and verdicts say which rows and columns of an input come along.
	emit     batch.Emit
	keep     batch.Keep
	verdicts []batch.VerdictColumn
	release  func()
}

// openTable finds out how the output is written, and claims it, before anything takes
// long. The caller closes it.
func (c *tableCommand) openTable(schema *arrow.Schema) (*tableOutput, error) {
	limitHeap(c.Memory)
	t, err := c.Outputs().Target(outputs.Output{Path: c.Out}, &frontier.Source{Format: format.CSV})
	if err == nil {
		err = c.TableFlags().CheckFormat(c.given, config.OfOutputs, t.Format.String())
	}
	if err != nil {
		return nil, err
	}
	if err := c.refuseTerminal(t); err != nil {
		return nil, err
	}
	release, err := outputs.Claim(c.Out)
	if err != nil {
		return nil, outError(c.Out, err)
	}
	return &tableOutput{c: c, target: t, first: &frontier.Source{Schema: schema}, release: release}, nil
}

func (o *tableOutput) close() { o.release() }

// layout is how the output is written, with the columns that its rows have.
func (o *tableOutput) layout() *outputs.Options {
	l := o.c.Outputs()
	l.Keep, l.Verdicts = o.keep, o.verdicts
	return l
}

// writeRows writes a table that rows has.
func (o *tableOutput) writeRows(ctx context.Context, name string, rows iter.Seq2[arrow.Record, error], unchanged func() error) (batch.Stats, error) {
	source := tables.NewRecords(name, rows)
	defer source.Close() // also what makes the rows, when the output fails
	return o.write(ctx, source, func() batch.Evaluator { return tables.NoVerdicts{} }, unchanged)
}

// writeText writes a list, of which each gives the lines.
func (o *tableOutput) writeText(ctx context.Context, each func(visit func(line []byte) error) error) error {
	w, err := o.c.create(ctx, o.target)
	if err != nil {
		return err
	}
	codec, _ := compress.ByName(o.target.Name())
	packed, err := compress.NewWriter(w, codec)
	if err != nil {
		w.Abort()
		return fmt.Errorf("-out: %w", err)
	}
	buffered := bufio.NewWriter(packed)
	err = each(func(line []byte) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		_, _ = buffered.Write(line)
		return buffered.WriteByte('\n') // has the error of both
	})
	if err == nil {
		err = buffered.Flush()
	}
	err = cmp.Or(err, packed.Close())
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		w.Abort()
		return fmt.Errorf("-out: %w", err)
	}
	return nil
}

// write writes all that src has. unchanged is asked at the end, before the output
// appears. Without -out the rows are made, and nothing is written.
func (o *tableOutput) write(ctx context.Context, src batch.Source, newEvaluator func() batch.Evaluator, unchanged func() error) (batch.Stats, error) {
	sink := batch.Discard
	if o.c.Out != "" {
		w, err := o.c.create(ctx, o.target)
		if err != nil {
			return batch.Stats{}, err
		}
		if sink, err = o.layout().NewSink(o.target, o.first, o.c.BatchMemory(), w); err != nil {
			w.Abort()
			return batch.Stats{}, err
		}
	}
	sink = outputs.Checked(sink, unchanged)
	return batch.Run(ctx, src, sink, newEvaluator, batch.Options{Emit: o.emit, Workers: o.c.Workers, Memory: o.c.FlightMemory()})
}
