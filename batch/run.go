package batch

import (
	"context"
	"errors"
	"fmt"
	"io"

	"robotsbatch/io/store/panics"
)

// Run evaluates everything that src has and writes it to sink, in order, on a pool of its
// own; see [Lane.Run].
func Run(ctx context.Context, src Source, sink Sink, newEvaluator func() Evaluator, o Options) (Stats, error) {
	pool := NewPool(newEvaluator, o)
	defer pool.Close()
	lane := pool.Lane(ctx)
	defer lane.Close()
	return lane.Run(src, sink, o.Progress)
}

// Run evaluates everything that src has and writes it to sink, in order, and returns the
// statistics. It closes sink at the end, or aborts it: when Run returns an error, sink has left
// nothing behind. It does not close src. progress, if not nil, is as Options.Progress.
//
// Run ends early when the lane's context is cancelled, with its error. When it returns an
// error, a call of src.Next that ignores its context may still be running.
func (l *Lane) Run(src Source, sink Sink, progress func(Stats)) (Stats, error) {
	j := &job{
		Lane: l, src: src, sink: sink, progress: progress,
		slots: make(chan *slot, ahead*l.pool.options.Workers),
	}
	go j.read()
	err := j.write()
	if err != nil {
		l.cancel(err) // the work that is under way
	}
	if err == errLimit {
		err = nil
	}
	if err != nil {
		sink.Abort()
	}
	l.wait()
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

// ahead is the number of batches for each worker that may wait for an older one, if the memory
// has room for them: a row group is written when all its batches are done.
const ahead = 64

// job is the state of one Run.
type job struct {
	*Lane
	src      Source
	sink     Sink
	progress func(Stats)

	slots       chan *slot            // in the order of the pieces
	authorities freeList[authorities] // of the batches so far, each for one goroutine at a time; total merges them
	stats       Stats                 // of the batches that are written
}

// evaluate sets the worker's verdicts to those of a batch, selects the rows that are written,
// and returns the batch's statistics, without authorities. Rows after the limit have no verdict
// and are not selected.
func (j *job) evaluate(w *worker, b *Batch, emit Emit) (Stats, error) {
	v, first := &w.verdicts, b.firstRows(j.pool.left.Load()) // with a limit, the one worker has batches in order
	if err := w.evaluator.Evaluate(&first, v); err != nil {
		return Stats{}, err
	}
	v.selectRows(emit)
	v.countOthers()
	a := j.authorities.take(func() *authorities { return new(authorities) })
	a.add(v)
	j.authorities.put(a)
	j.pool.left.Add(-int64(v.Rows))
	stats := statsOf(&first, v)
	v.extend(b)
	return stats, nil
}

// slot is a piece on its way through the workers, and a place in the order.
type slot struct {
	number    int // from 0 in its lane
	piece     Piece
	continues bool   // the piece before was Continued
	grant     *Grant // the piece's memory

	done  chan struct{} // closed when what follows is set
	chunk Chunk
	stats Stats
	err   error
}

// read hands the source's pieces to the workers until the limit is reached. An error of the
// source waits for its turn as pieces do.
func (j *job) read() {
	defer close(j.slots)
	continued := false
	for number := 0; continued || !j.pool.Full(); number++ {
		piece, err := j.next()
		if err == io.EOF { // a wrapped one is something else that ended too early
			return
		}
		s := &slot{number: number, piece: piece, continues: continued, err: err, done: make(chan struct{})}
		if s.err == nil {
			part, is := piece.(Continued)
			continued = is && part.Continued()
			if s.grant, s.err = j.memory.Admit(piece.Size()); s.err != nil {
				s.err = fmt.Errorf("%s: %w", piece.Name(), s.err)
			}
		}
		select {
		case j.slots <- s: // before the work, so that the writer sees slots in order
		case <-j.ctx.Done():
			return
		}
		if s.err != nil {
			close(s.done)
			return
		}
		if !j.start(number, func() { j.work(s) }) {
			return
		}
	}
}

// next is the source's Next with a panic of the source's made an error.
func (j *job) next() (piece Piece, err error) {
	defer panics.Recover(&err, func(p any) error { return fmt.Errorf("reading: %w", panics.As(panics.Bug)(p)) })
	return j.src.Next(j.ctx)
}

// work decodes, evaluates and encodes a slot's piece, and then closes s.done. If the piece has
// to wait for others it returns before; then work is called again.
func (j *job) work(s *slot) {
	// While the grant waits for memory, this goroutine does older work, which may need its worker.
	s.grant.Meanwhile = func() func() { return j.pool.takeBefore(task{lane: j.number, batch: s.number}) }
	if waiting, ok := s.piece.(Waiting); ok && j.ctx.Err() == nil {
		if !waiting.Ready(s.grant, func() { j.start(s.number, func() { j.work(s) }) }) {
			return // the next call of work may have begun
		}
	}
	defer func() {
		s.grant.Meanwhile = nil // before the writer has the grant
		close(s.done)
	}()
	if s.err = context.Cause(j.ctx); s.err != nil {
		return
	}
	w := j.pool.workers.take(j.pool.newWorker)
	if err := j.process(s, w); err != nil {
		s.err = fmt.Errorf("%s: %w", s.piece.Name(), err)
		return // a worker that failed halfway through a batch gets no other
	}
	j.pool.workers.put(w)
}

// process sets s.chunk and s.stats with a worker. It takes from s.grant the memory that the batch
// needs beyond the piece's size, and releases the batch. It makes a panic an error.
func (j *job) process(s *slot, w *worker) (err error) {
	defer panics.Recover(&err, panics.As(panics.Bug))
	b, err := s.piece.Decode()
	if err != nil {
		return err
	}
	if freeing, ok := s.piece.(Freeing); ok {
		defer func() {
			if err == nil {
				err = s.grant.Take(-freeing.Freed() - b.Undeclared) // gives back
			}
		}()
	}
	if b.Release != nil {
		defer b.Release()
	}
	b.Output, b.Grant = j.number, s.grant
	b.Start = func(do func()) { j.start(s.number, do) }
	if err := b.Grant.Take(b.Undeclared); err != nil {
		return err
	}
	if s.stats, err = j.evaluate(w, b, j.pool.options.Emit); err != nil {
		return err
	}
	if err := b.Grant.Take(w.verdicts.textBytes()); err != nil {
		return err
	}
	s.chunk, err = j.sink.Encode(b, &w.verdicts)
	return err
}

// errLimit says that there are rows after the limit.
var errLimit = errors.New("there are more rows than were asked for")

// write writes the chunks in order and adds their statistics. It returns the first error of a
// slot or of the sink, the cause if the context ends, and errLimit, which is no failure, at the
// first slot after the limit.
func (j *job) write() error {
	for {
		var s *slot
		select {
		case s = <-j.slots:
		case <-j.ctx.Done():
		}
		if s == nil { // j.slots is closed, or the context has ended
			return context.Cause(j.ctx) // nil unless it has
		}
		if !s.continues && j.pool.written.Load() >= j.pool.options.Limit {
			return errLimit // not within what the sink writes as a whole
		}
		select {
		case <-s.done:
		case <-j.ctx.Done():
			return context.Cause(j.ctx)
		}
		if s.err != nil {
			return s.err
		}
		if err := j.sink.Write(s.chunk); err != nil {
			return err
		}
		s.grant.End(Kept(s.piece) + Kept(s.chunk))
		j.stats.add(&s.stats)
		j.pool.written.Add(s.stats.Rows)
		if j.progress != nil {
			j.progress(j.stats)
		}
	}
}

// Kept returns what the method Kept of a piece or a chunk returns: the number of bytes that remain taken
// after its batch was written, negative for the last of several that share memory. It returns 0 for a
// piece or chunk without that method.
func Kept(part any) int64 {
	if shares, ok := part.(sharing); ok {
		return shares.Kept()
	}
	return 0
}

// total completes the statistics when all workers are idle: with the authorities, which only
// the workers together know, and in a job without batches with the agents of an empty batch.
func (j *job) total() error {
	if j.stats.Agents == nil {
		w := j.pool.workers.take(j.pool.newWorker)
		empty, err := j.evaluate(w, &Batch{}, EmitAll)
		j.pool.workers.put(w)
		if err != nil {
			return err
		}
		j.stats.add(&empty)
	}
	var all authorities
	for _, a := range j.authorities.free {
		all.merge(a)
	}
	j.stats.Authorities, j.stats.WithoutRobots = all.count()
	return nil
}
