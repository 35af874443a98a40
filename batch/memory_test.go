package batch_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/batch/internal/batchtest"
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
	tests := []struct {
		name        string
		size, wants int64
		most        int64
	}{
		{"small", 10, 10, 1000},
		{"large outputs", 10, 500, 1000},
		{"a quarter each", 250, 100, 1000},
		{"one batch is half of the memory", 500, 500, 1000},
		{"one batch is too large", 2000, 0, 2000},
	}
	for _, test := range tests {
		for _, workers := range []int{1, 2, 8} {
			g := &greedy{pieces: 50, size: test.size, wants: test.wants}
			if _, err := batch.Run(context.Background(), g, g, evaluators(batchtest.Table(t, bodies, "*"), evaluate.Options{}), batch.Options{Workers: workers, Memory: 1000}); err != nil {
				t.Fatal(err)
			}
			if most := g.most.Load(); most > test.most || g.Len() != 2*g.pieces {
				t.Errorf("%s, %d workers: %d bytes at once, and %q", test.name, workers, most, g.String())
			}
		}
	}
}
