package batch

import (
	"context"
	"sync"
)

// ledger shares a job's memory among the batches in flight. The first in line
// always gets what it asks for: the others wait for it in the end. Half of the
// memory is reserved for it, so nothing ever waits for what comes after it.
//
// Pieces are admitted up to a quarter of the memory, which leaves room to encode
// them. A larger one is admitted alone.
type ledger struct {
	mu      sync.Mutex
	changed *sync.Cond
	memory  int64
	used    int64
	first   int   // number of the grant that is first in line
	last    int   // and of the one that comes next
	err     error // why nobody gets anything any more
}

func newLedger(ctx context.Context, memory int64) (l *ledger, stop func() bool) {
	l = &ledger{memory: memory}
	l.changed = sync.NewCond(&l.mu)
	return l, context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.err = context.Cause(ctx)
		l.changed.Broadcast()
	})
}

// Grant is what a batch may take of its job's memory. A nil Grant sets no limit.
type Grant struct {
	ledger *ledger
	number int
	held   int64
}

// admit waits until there is room for a piece of size bytes.
func (l *ledger) admit(size int64) (*Grant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && l.first < l.last && l.used+size > l.memory/4 {
		l.changed.Wait()
	}
	if l.err != nil {
		return nil, l.err
	}
	g := &Grant{ledger: l, number: l.last, held: size}
	l.last++
	l.used += size
	return g, nil
}

// Take waits until the batch may have n bytes more; a negative n gives bytes back.
// Its error is that of the job's context: the job is over. One goroutine at a time
// may call it.
func (g *Grant) Take(n int64) error {
	if g == nil || n == 0 {
		return nil
	}
	l := g.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.err == nil && n > 0 && g.number > l.first && l.used+n > l.memory/2 {
		l.changed.Wait()
	}
	if l.err != nil {
		return l.err
	}
	l.used += n
	g.held += n
	if n < 0 {
		l.changed.Broadcast()
	}
	return nil
}

// end gives back what the first in line holds, except kept bytes: a later grant
// gives those back with a negative number.
func (g *Grant) end(kept int64) {
	l := g.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used -= g.held - kept
	l.first++
	l.changed.Broadcast()
}
