package budget

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"robotsbatch/io/store/must"
)

func admit(t *testing.T, q *Queue, size int64) *Grant {
	t.Helper()
	return must.Get(q.Admit(size))(t)
}

// TestMemoryOfSharingPieces: memory that pieces share is held until the last of them is
// written.
func TestMemoryOfSharingPieces(t *testing.T) {
	b := New(100)
	q := b.Queue(t.Context())
	admit(t, q, 80).End(70)
	second := admit(t, q, 5)
	must.Need(t, b.used == 75, "%d bytes in use", b.used)
	second.End(-70)
	must.Equal(t, b.used, 0, "in the end", "bytes are in use")
	admit(t, q, 80).End(70)
	if q.Close(); b.used != 0 {
		t.Errorf("once the output is closed %d bytes are in use", b.used)
	}
	must.Is(t, must.Err(q.Admit(1)), context.Canceled, "closed output")
}

// TestMemoryOfCancelledJob: a goroutine that waits for memory learns when the job ends.
func TestMemoryOfCancelledJob(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	q := New(100).Queue(ctx)
	admit(t, q, 10)
	second := admit(t, q, 10)
	over := errors.New("over")
	waited := make(chan error)
	go func() {
		_, err := q.Admit(90)
		waited <- err
	}()
	go func() { waited <- second.Take(90) }()
	cancel(over)
	for range 2 {
		must.Is(t, <-waited, over)
	}
	err := (*Grant)(nil).Take(1 << 60)
	must.Be(t, err == nil, "without a budget: %v", err)
}

// TestOlderOutputFirst: a younger output takes what an older one does not need, and waits
// while that waits. The oldest always gets what it asks for.
func TestOlderOutputFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		old, young := b.Queue(t.Context()), b.Queue(t.Context())
		y := admit(t, young, 20)
		var o *Grant
		go func() { o = admit(t, old, 60) }()
		synctest.Wait()
		must.Need(t, o == nil, "a large grant was admitted beside others")
		var y2 *Grant
		go func() { y2 = admit(t, young, 1) }()
		synctest.Wait()
		must.Need(t, y2 == nil, "a younger output was admitted while an older one waits")
		must.Do(t, y.Take(70))
		y.End(0)
		synctest.Wait()
		must.Need(t, o != nil && y2 == nil, "admitted: the older one %v, the younger one %v", o != nil, y2 != nil)
		must.Do(t, o.Take(40))
		o.End(0)
		synctest.Wait()
		must.Need(t, y2 != nil, "the younger output was not admitted in the end")
		done := false
		third := admit(t, young, 4)
		go func() { _ = third.Take(60); done = true }()
		synctest.Wait()
		must.Need(t, !done, "a grant got more than half of the memory, which is the first one's")
		y2.End(0)
		synctest.Wait()
		must.Need(t, done, "the first in line did not get what it asked for")
		third.End(0)
		// Large grants may begin in the half that is not reserved, small ones in a quarter, and
		// only the oldest output that is open may exceed the half.
		large := admit(t, old, 40)
		y2 = nil
		go func() { y2 = admit(t, young, 2) }()
		synctest.Wait()
		must.Need(t, y2 == nil, "a small grant was admitted beyond a quarter")
		large.End(0)
		synctest.Wait()
		y2.End(0)
		y2 = nil
		go func() { y2 = admit(t, young, 51) }()
		synctest.Wait()
		must.Need(t, y2 == nil, "a large grant of a younger output was admitted")
		old.Close()
		synctest.Wait()
		must.Need(t, y2 != nil, "it was not admitted when the older output was closed")
		y2.End(0)
		young.Close()
	})
}

// TestTry: who can do without gets what is free: the first in line all of the memory, others
// half of it.
func TestTry(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := New(100).Queue(ctx)
	first, second := admit(t, q, 10), admit(t, q, 10)
	for i, try := range []struct {
		g    *Grant
		n    int64
		want bool
	}{{second, 31, false}, {second, 30, true}, {first, 51, false}, {first, 50, true}, {second, 1, false}, {nil, 1 << 60, true}} {
		must.Equal(t, try.g.Try(try.n), try.want, i, try.n, "more bytes")
	}
	first.End(0)
	cancel()
	_, err := q.Admit(1)
	must.Be(t, err != nil && !second.Try(1), "an output that is given up gets memory: %v", err)
}

// TestLend: what is lent is half of the memory at most, in turns, and grants wait for it unless
// they are first in line.
func TestLend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		q := b.Queue(t.Context())
		first, second := admit(t, q, 10), admit(t, q, 10)
		back := b.Lend(1000)
		must.Need(t, b.used == 70 && b.lent == 50, "%d bytes in use, of which %d are lent", b.used, b.lent)
		must.Do(t, first.Take(40))
		var lent, taken atomic.Bool
		go func() {
			again := b.Lend(1)
			lent.Store(true)
			again()
		}()
		synctest.Wait()
		go func() {
			if err := second.Take(1); err != nil {
				t.Error(err)
			}
			taken.Store(true)
		}()
		synctest.Wait()
		must.Be(t, !lent.Load() && !taken.Load(), "lent %v, taken %v although half of the memory is lent", lent.Load(), taken.Load())
		back()
		first.End(0)
		synctest.Wait()
		must.Be(t, lent.Load() && taken.Load() && b.lent == 0 && b.used == 11,
			"lent %v, taken %v; %d bytes in use, of which %d are lent", lent.Load(), taken.Load(), b.used, b.lent)
		q.Close()
	})
}
