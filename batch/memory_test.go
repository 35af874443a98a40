package batch_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/io/store/must"
)

// greedy is a source of batches of one row, and a sink that takes memory for them in steps.
// It counts what is in use.
type greedy struct {
	textSink
	pieces      int
	size, wants int64 // size of a piece, and what the sink takes for it
	kept        []int64
	next        int

	used, most atomic.Int64
}

type greedyPiece struct {
	*greedy
	number int
}

func (g *greedy) Next(context.Context) (batch.Piece, error) {
	if g.next == g.pieces {
		return (&listSource{}).Next(context.Background())
	}
	g.next++
	return greedyPiece{g, g.next - 1}, nil
}

func (p greedyPiece) Name() string { return fmt.Sprint("piece ", p.number) }
func (p greedyPiece) Size() int64  { return p.size }
func (p greedyPiece) Kept() int64 {
	if p.kept == nil {
		return 0
	}
	return p.kept[p.number]
}

func (p greedyPiece) Decode() (*batch.Batch, error) {
	p.add(p.size)
	return &batch.Batch{URLs: batchtest.URLs("http://a.example/")}, nil
}

func (g *greedy) add(n int64) {
	used := g.used.Add(n)
	for most := g.most.Load(); used > most && !g.most.CompareAndSwap(most, used); most = g.most.Load() {
	}
}

func (g *greedy) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	for taken := int64(0); taken < g.wants; taken += 10 {
		if err := b.Grant.Take(10); err != nil {
			return nil, err
		}
		g.add(10)
		time.Sleep(10 * time.Microsecond) // gives other goroutines a chance to run
	}
	return g.textSink.Encode(b, v)
}

func (g *greedy) Write(c batch.Chunk) error {
	g.add(-g.wants - g.size)
	return g.textSink.Write(c)
}

// TestMemoryInFlight: the memory in use stays within the limit, however much sinks want,
// and no batch waits for a later one.
func TestMemoryInFlight(t *testing.T) {
	for _, test := range []struct {
		name              string
		size, wants, most int64
	}{
		{"small", 10, 10, 1000},
		{"large outputs", 10, 500, 1000},
		{"a quarter each", 250, 100, 1000},
		{"one batch is half of the memory", 500, 500, 1000},
		{"one batch is too large", 2000, 0, 2000},
	} {
		for _, workers := range []int{1, 2, 8} {
			g := &greedy{pieces: 50, size: test.size, wants: test.wants}
			must.Get(batch.Run(context.Background(), g, g, evaluators(batchtest.Table(t, bodies, "*"), evaluate.Options{}), batch.Options{Workers: workers, Memory: 1000}))(t)
			most := g.most.Load()
			must.Be(t, most <= test.most && g.Len() == 2*g.pieces, "%s, %d workers: %d bytes at once, and %q", test.name, workers, most, g.String())
		}
	}
}

// hooks is a sink that does something first.
type hooks struct {
	textSink
	encode func(*batch.Batch) error
	write  func()
}

func (h *hooks) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	if err := h.encode(b); err != nil {
		return nil, err
	}
	return h.textSink.Encode(b, v)
}

func (h *hooks) Write(c batch.Chunk) error {
	h.write()
	return h.textSink.Write(c)
}

// TestWaitingWorker: the only worker waits for memory that it gets once older work is done,
// which nobody else can do.
func TestWaitingWorker(t *testing.T) {
	newEvaluator := evaluators(batchtest.Table(t, bodies, "*"), evaluate.Options{})
	pieces := func(n int) *greedy { return &greedy{pieces: n, size: 10} }
	t.Run("for a batch that is written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			lane := batch.NewPool(newEvaluator, batch.Options{Workers: 1, Memory: 1000}).Lane(t.Context())
			defer lane.Close()
			var first *batch.Batch
			done := false
			_, err := lane.Run(pieces(2), &hooks{
				encode: func(b *batch.Batch) error {
					if first == nil {
						first = b
						return nil
					}
					return b.Grant.Take(600)
				},
				write: func() {
					if time.Sleep(time.Microsecond); !done { // the worker waits by now
						over := make(chan struct{})
						first.Start(func() { close(over) })
						<-over
						done = true
					}
				},
			}, nil)
			must.Be(t, err == nil && done, "error %v, done: %v", err, done)
		})
	})
	t.Run("for an older output", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pool := batch.NewPool(newEvaluator, batch.Options{Workers: 1, Memory: 1000})
			old, young := pool.Lane(t.Context()), pool.Lane(t.Context())
			defer old.Close()
			defer young.Close()
			gate, failed := make(chan struct{}), make(chan error)
			none := func() {}
			go func() {
				<-gate
				_, err := old.Run(pieces(1), &hooks{encode: func(b *batch.Batch) error { return b.Grant.Take(600) }, write: none}, nil)
				failed <- err
			}()
			go func() {
				_, err := young.Run(pieces(1), &hooks{encode: func(b *batch.Batch) error {
					close(gate)
					time.Sleep(time.Microsecond) // the older output's batch waits for a worker then
					return b.Grant.Take(600)
				}, write: none}, nil)
				failed <- err
			}()
			for range 2 {
				must.Do(t, <-failed)
			}
		})
	})
}
