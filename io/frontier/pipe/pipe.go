package pipe

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/arrowipc"
)

// Options of a pipe.
type Options struct {
	// Name of the input for errors, such as "stdin".
	Name string
	// URLColumn is the column with the URLs; for the default see [arrowipc.Options].
	URLColumn string
	// Extra names columns that are read besides the URLs.
	Extra batch.ExtraColumns
	// Keep says which columns of the input are written, before Verdicts.
	Keep     batch.Keep
	Verdicts []batch.VerdictColumn
	// Emit says which rows are written.
	Emit batch.Emit
	// Workers is the most batches that are in memory and evaluated at a time. With one, a batch is
	// read only after the previous answer was written. 0 means 1.
	Workers int
	// Memory is the most bytes of all batches together; one batch may take half of it.
	// 0 means batch.DefaultMemory.
	Memory int64
	// Check, if not nil, is called before an answer, and before the end marker, is written. If
	// it fails, neither is written.
	Check func() error
}

// Run reads the stream in and writes the answers to out. newEvaluator returns an evaluator for
// a worker. Run returns the statistics of the batches that were answered. After an error, or
// the end of ctx, a read of in may still be running.
func Run(ctx context.Context, in io.Reader, out io.Writer, newEvaluator func() batch.Evaluator, o Options) (batch.Stats, error) {
	o.Workers, o.Memory = cmp.Or(max(o.Workers, 0), 1), cmp.Or(max(o.Memory, 0), batch.DefaultMemory)
	src, err := open(ctx, in, &o)
	if err != nil {
		return batch.Stats{}, err
	}
	w := &bufferedOutput{Writer: bufio.NewWriterSize(out, outputBuffer)}
	inner, err := newSink(w, src, &o)
	if err == nil {
		err = w.Flush() // the schema
	}
	if err != nil {
		return batch.Stats{}, fmt.Errorf("%s: %w", o.Name, err)
	}
	if o.Check == nil {
		o.Check = func() error { return nil }
	}
	slots := make(chan struct{}, o.Workers)
	stats, err := batch.Run(ctx, boundedSource{src, slots}, &boundedSink{Sink: inner, out: w, slots: slots, check: o.Check}, newEvaluator,
		batch.Options{Emit: o.Emit, Workers: o.Workers, Memory: o.Memory})
	if err == nil {
		err = src.Close()
	}
	return stats, err
}

// open opens the stream and waits for its schema. If ctx ends first, a read of in may still be
// running. BatchRows has no limit, because each batch of the client has one answer.
func open(ctx context.Context, in io.Reader, o *Options) (*arrowipc.Source, error) {
	type result struct {
		src *arrowipc.Source
		err error
	}
	opened := make(chan result, 1)
	go func() {
		// StopAtEnd, because a client may keep the stream open after its end marker.
		src, err := arrowipc.OpenStream(in, arrowipc.Options{
			Name: o.Name, URLColumn: o.URLColumn, Extra: o.Extra, Keep: o.Keep, BatchRows: math.MaxInt32, Memory: o.Memory / 2, StopAtEnd: true,
		})
		opened <- result{src, err}
	}()
	select {
	case r := <-opened:
		return r.src, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// newSink returns the sink of the answers, which writes their schema to w. Columns are copied
// without decoding if they can be.
func newSink(w *bufferedOutput, src *arrowipc.Source, o *Options) (batch.Sink, error) {
	options := arrowipc.SinkOptions{ // one batch may take half of the memory
		Layout: batch.Layout{Keep: o.Keep, URLColumn: src.URLColumn(), Verdicts: o.Verdicts, Memory: o.Memory / 2},
		Schema: src.Schema(), Stream: true, OneToOne: true, Selects: o.Emit != batch.EmitAll,
	}
	const several = false
	if o.Keep != batch.KeepNone && src.CanPassThrough(options.Stream, several) {
		if err := src.PassThrough(nil, options.Selects); err != nil {
			return nil, err
		}
		options.From = src
	}
	return arrowipc.NewSink(w, options)
}

// outputBuffer is the number of bytes of an answer that are collected to be written at once.
const outputBuffer = 64 << 10

// bufferedOutput is the answer as a blob.Writer. What was written cannot be taken back.
type bufferedOutput struct{ *bufio.Writer }

// Close implements blob.Writer.
func (w *bufferedOutput) Close() error { return w.Flush() }

// Abort implements blob.Writer.
func (w *bufferedOutput) Abort() {}

// boundedSource takes a slot for each batch before it reads it, and waits if none is free. There are as many
// as batches may be in memory; boundedSink frees one when it has written the answer.
type boundedSource struct {
	*arrowipc.Source
	slots chan struct{}
}

// Next implements batch.Source. It waits until a slot is free.
func (s boundedSource) Next(ctx context.Context) (batch.Piece, error) {
	select {
	case s.slots <- struct{}{}:
		return s.Source.Next(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// boundedSink flushes each answer, and then frees the slot of its batch: see boundedSource.
type boundedSink struct {
	batch.Sink
	out   *bufferedOutput
	slots chan struct{}
	check func() error // Options.Check
}

// Write implements batch.Sink. It writes and flushes an answer, and lets another batch be
// read.
func (s *boundedSink) Write(c batch.Chunk) error {
	err := s.check() // also here: a client may use each answer at once, and never ask for the end marker
	if err == nil {
		err = s.Sink.Write(c)
	}
	if err == nil {
		err = s.out.Flush()
	}
	<-s.slots
	return err
}

// Close implements batch.Sink. It calls the check first, because Sink.Close writes the end
// marker.
func (s *boundedSink) Close() error {
	if err := s.check(); err != nil {
		return err
	}
	return s.Sink.Close()
}
