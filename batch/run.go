package batch

import (
	"context"
	"fmt"
	"io"

	"github.com/alitto/pond/v2"

	"robotsbatch/io/store/panics"
)

// Run evaluates everything that src has and writes it to sink, in order. Each
// worker has an evaluator of its own, which newEvaluator makes. It closes sink at
// the end, or aborts it: when Run returns an error, sink has left nothing behind.
// It does not close src.
//
// Run ends early when ctx is cancelled, with ctx's error. When it returns an
// error, a call of src.Next that ignores its context may still be running: then
// src must not be closed.
func Run(ctx context.Context, src Source, sink Sink, newEvaluator func() Evaluator, o Options) (Stats, error) {
	o = o.withDefaults()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	memory, stop := newLedger(ctx, o.Memory)
	defer stop()
	j := &job{
		src: src, sink: sink, options: o,
		memory:  memory,
		slots:   make(chan *slot, 2*o.Workers),
		workers: make(chan *worker, o.Workers),
	}
	for range o.Workers {
		j.workers <- &worker{evaluator: newEvaluator()}
	}
	// At most the slots in the channel and the one that is being written are
	// under way, so the pool's queue never makes its submitter wait.
	pool := pond.NewPool(o.Workers, pond.WithQueueSize(cap(j.slots)+2))
	go j.read(ctx, pool)
	err := j.write(ctx)
	if err != nil {
		cancel(err)
		sink.Abort()
	}
	pool.StopAndWait()
	if err != nil {
		return j.stats, err
	}
	if err = j.total(); err == nil {
		err = sink.Close()
	}
	if err != nil {
		sink.Abort()
	}
	return j.stats, err
}

// job is the state of one Run.
type job struct {
	src     Source
	sink    Sink
	options Options

	memory  *ledger
	slots   chan *slot   // in the order of the pieces
	workers chan *worker // idle

	stats Stats
}

// worker is what a task needs for itself.
type worker struct {
	evaluator   Evaluator
	verdicts    Verdicts
	authorities authorities
}

// evaluate sets the worker's verdicts, and counts them.
func (w *worker) evaluate(b *Batch, emit Emit) (Stats, error) {
	v := &w.verdicts
	if err := w.evaluator.Evaluate(b, v); err != nil {
		return Stats{}, err
	}
	v.selectRows(emit)
	w.authorities.add(v)
	return statsOf(b, v), nil
}

// slot is a piece on its way through the workers, and a place in the order.
type slot struct {
	piece Piece
	grant *Grant // its memory

	done  chan struct{} // closed when what follows is set
	chunk Chunk
	stats Stats
	err   error
}

// read hands the source's pieces to the workers. An error of the source takes
// its place in the order, too.
func (j *job) read(ctx context.Context, pool pond.Pool) {
	defer close(j.slots)
	for {
		piece, err := j.next(ctx)
		if err == io.EOF { // a wrapped one is something else that ended too early
			return
		}
		s := &slot{piece: piece, err: err, done: make(chan struct{})}
		if s.err == nil {
			s.grant, s.err = j.memory.admit(piece.Size())
		}
		select {
		case j.slots <- s:
		case <-ctx.Done():
			return
		}
		if s.err != nil {
			close(s.done)
			return
		}
		if err := pool.Go(func() { j.work(ctx, s) }); err != nil {
			s.err = err // the task never ran, so nobody else touches the slot
			close(s.done)
			return
		}
	}
}

// next is the source's Next with a panic of the source's made an error.
func (j *job) next(ctx context.Context) (piece Piece, err error) {
	defer panics.Recover(&err, func(p any) error { return fmt.Errorf("reading: %w", panics.As(panics.Bug)(p)) })
	return j.src.Next(ctx)
}

// work takes a slot's piece from its bytes to a chunk.
func (j *job) work(ctx context.Context, s *slot) {
	defer close(s.done)
	if s.err = context.Cause(ctx); s.err != nil {
		return
	}
	w := <-j.workers
	defer func() { j.workers <- w }()
	if err := j.process(s, w); err != nil {
		s.err = fmt.Errorf("%s: %w", s.piece.Name(), err)
	}
}

func (j *job) process(s *slot, w *worker) (err error) {
	defer panics.Recover(&err, panics.As(panics.Bug))
	b, err := s.piece.Decode()
	if err != nil {
		return err
	}
	if b.Release != nil {
		defer b.Release()
	}
	b.Grant = s.grant
	if err := b.Grant.Take(b.Undeclared); err != nil {
		return err
	}
	if s.stats, err = w.evaluate(b, j.options.Emit); err != nil {
		return err
	}
	if err := b.Grant.Take(w.verdicts.textBytes()); err != nil {
		return err
	}
	s.chunk, err = j.sink.Encode(b, &w.verdicts)
	return err
}

// write writes the chunks in order until the slots end or one has failed.
func (j *job) write(ctx context.Context) error {
	for {
		var s *slot
		var more bool
		select {
		case s, more = <-j.slots:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !more {
			return context.Cause(ctx)
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if s.err != nil {
			return s.err
		}
		if err := j.sink.Write(s.chunk); err != nil {
			return err
		}
		kept := int64(0)
		if sharing, ok := s.piece.(Sharing); ok {
			kept = sharing.Kept()
		}
		s.grant.end(kept)
		j.stats.add(&s.stats)
		if j.options.Progress != nil {
			j.options.Progress(j.stats)
		}
	}
}

// total adds the authorities, which only the workers together know. All are idle
// by now. Of a job without batches an empty one tells how many agents there are.
func (j *job) total() error {
	var all authorities
	for range j.options.Workers {
		w := <-j.workers
		if j.stats.Agents == nil {
			empty, err := w.evaluate(&Batch{}, EmitAll)
			if err != nil {
				return err
			}
			j.stats.add(&empty)
		}
		all.merge(&w.authorities)
	}
	j.stats.Authorities, j.stats.WithoutRobots = all.count()
	return nil
}
