package outputs

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"iter"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/compress"
)

// Table is an output with rows that the program makes, such as the tables of the command export. No
// row of an input is copied to it.
type Table struct {
	Options *Options
	Target  Target
	// First stands for an input, and says which columns the rows have.
	First  *frontier.Source
	Stdout io.Writer
	// BatchMemory is the most bytes that encoding a batch may take.
	BatchMemory int64
	// Run says how rows are made and which of them are written.
	Run batch.Options
	// Release, if not nil, ends the claim of the output; see [Claim].
	Release func()

	dropped bool // rows are not written
}

// DroppedTable returns a Table whose rows are made and counted, but not written.
func DroppedTable(run batch.Options) *Table {
	return &Table{Options: new(Options), Run: run, dropped: true}
}

// Close ends the claim of the output.
func (t *Table) Close() {
	if t.Release != nil {
		t.Release()
	}
}

// Rows writes records as a table. name is the table's in errors. Before the output appears, Rows
// calls unchanged, whose error discards the output.
func (t *Table) Rows(ctx context.Context, name string, rows iter.Seq2[arrow.Record, error], unchanged func() error) (batch.Stats, error) {
	source := tableio.NewRecords(name, rows)
	defer source.Close() // also what makes the rows, when the output fails
	return t.Write(ctx, source, func() batch.Evaluator { return tableio.NoVerdicts{} }, unchanged)
}

// Text writes a list, compressed as the output's name says. each makes the lines, and calls visit with
// one after the other.
func (t *Table) Text(ctx context.Context, each func(visit func(line []byte) error) error) error {
	w, err := t.Target.Create(ctx, t.Stdout)
	if err != nil {
		return err
	}
	codec, _ := compress.ByName(t.Target.Name())
	packed, err := compress.NewWriter(w, codec)
	if err != nil {
		w.Abort()
		return option.Errorf("%s: %w", option.Out, err)
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
		return option.Errorf("%s: %w", option.Out, err)
	}
	return nil
}

// Write evaluates the rows of src and writes them. Before the output appears, Write calls
// unchanged, whose error discards the output. A dropped table evaluates the rows and writes nothing.
func (t *Table) Write(ctx context.Context, src batch.Source, newEvaluator func() batch.Evaluator, unchanged func() error) (batch.Stats, error) {
	sink := batch.Discard
	if !t.dropped {
		w, err := t.Target.Create(ctx, t.Stdout)
		if err != nil {
			return batch.Stats{}, err
		}
		if sink, err = t.Options.NewSink(t.Target, t.First, t.BatchMemory, w); err != nil {
			w.Abort()
			return batch.Stats{}, err
		}
	}
	return batch.Run(ctx, src, Checked(sink, unchanged), newEvaluator, t.Run)
}
