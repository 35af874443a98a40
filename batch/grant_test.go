package batch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// greedy is a source of batches of one row, and a sink that takes memory for
// them in steps, all while it keeps count.
type greedy struct {
	textSink
	pieces      int
	size, wants int64 // of a piece; and what the sink takes for it
	kept        []int64
	next        int

	used, most atomic.Int64
}

type greedyPiece struct {
	*greedy
	number int
}

func (g *greedy) Next(context.Context) (Piece, error) {
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

func (p greedyPiece) Decode() (*Batch, error) {
	p.add(p.size)
	return &Batch{URLs: urls("http://a.example/")}, nil
}

func (g *greedy) add(n int64) {
	used := g.used.Add(n)
	for most := g.most.Load(); used > most && !g.most.CompareAndSwap(most, used); most = g.most.Load() {
	}
}

func (g *greedy) Encode(b *Batch, v *Verdicts) (Chunk, error) {
	for taken := int64(0); taken < g.wants; taken += 10 {
		if err := b.Grant.Take(10); err != nil {
			return nil, err
		}
		g.add(10)
		time.Sleep(10 * time.Microsecond) // so that others come in between
	}
	return g.textSink.Encode(b, v)
}

func (g *greedy) Write(c Chunk) error {
	g.add(-g.wants - g.size)
	return g.textSink.Write(c)
}

// What is in flight stays within the memory, whatever sinks want, and no batch
// waits for one that comes after it.
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
			if _, err := Run(context.Background(), g, g, table(t, bodies, "*"), Options{Workers: workers, Memory: 1000}); err != nil {
				t.Fatal(err)
			}
			if most := g.most.Load(); most > test.most || g.Len() != 2*g.pieces {
				t.Errorf("%s, %d workers: %d octets at once, and %q", test.name, workers, most, g.String())
			}
		}
	}
}

// What pieces share is taken until the last of them was written.
func TestMemoryOfSharingPieces(t *testing.T) {
	l, stop := newLedger(t.Context(), 100)
	defer stop()
	first, err := l.admit(80)
	if err != nil {
		t.Fatal(err)
	}
	first.end(70)
	second, err := l.admit(5)
	if err != nil || l.used != 75 {
		t.Fatalf("%d octets in use, %v", l.used, err)
	}
	second.end(-70)
	if l.used != 0 {
		t.Errorf("in the end %d octets are in use", l.used)
	}
}

// Who waits for memory hears that the job is over.
func TestMemoryOfCancelledJob(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	l, stop := newLedger(ctx, 100)
	defer stop()
	for range 2 {
		if _, err := l.admit(10); err != nil {
			t.Fatal(err)
		}
	}
	over := errors.New("over")
	waited := make(chan error)
	go func() {
		_, err := l.admit(90)
		waited <- err
	}()
	go func() { waited <- (&Grant{ledger: l, number: 1}).Take(90) }()
	cancel(over)
	for range 2 {
		if err := <-waited; !errors.Is(err, over) {
			t.Errorf("error %v", err)
		}
	}
	if err := (*Grant)(nil).Take(1 << 60); err != nil {
		t.Errorf("without a ledger: %v", err)
	}
}
