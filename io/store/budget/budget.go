// Package budget is the account of a job's memory: what grows with the input is taken from
// it before it is filled.
//
// A job has a [Budget], and each of its outputs a [Queue] in it, in the order of the
// outputs. Each batch of an output has a [Grant], in the order of the batches. The oldest
// grant always gets what it asks for: the oldest of those under way in the oldest output.
// All others wait for it in the end, so nothing ever waits for what comes after it.
//
//	output 0   grant 7  grant 8  grant 9          the first in line is grant 7;
//	output 1   grant 0  grant 1                   when output 0 has none, grant 0 below
//	output 2   (waits to be admitted)
//
// Half of the memory is reserved for the first in line. Grants are admitted up to a quarter,
// which leaves room to encode what they are for, and large ones, which are a record batch that
// cannot be read in parts, up to the half. One that is larger still is admitted alone, in the
// oldest output. While an output waits, no younger one is admitted.
//
// Who waits in Take may have a worker that older work needs. So it does that work meanwhile
// ([Grant.Meanwhile]).
package budget

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Budget is an amount of memory that the outputs of a job share.
type Budget struct {
	mu      sync.Mutex
	changed sync.Cond // told when a call that waits may go on
	memory  int64     // bytes
	used    int64     // of memory, lent bytes included
	lent    int64     // of used
	queues  []*Queue  // in order, those that are not closed
}

// New returns a budget of these bytes.
func New(memory int64) *Budget {
	b := &Budget{memory: memory}
	b.changed.L = &b.mu
	return b
}

// Fault is nil, except in a test that refuses memory: then it returns the error, or nil to grant it.
var Fault func() error

// InjectedFault returns the error with which a test refuses memory now; nil in production. Nothing
// asks it for an output that is closed, whose reader may outlive its job.
func InjectedFault() error {
	if Fault == nil {
		return nil
	}
	return Fault()
}

// Queue is an output's place in a budget.
type Queue struct {
	budget  *Budget
	first   int         // number of its oldest grant
	next    int         // number that the next grant gets; there are none if it is first
	waits   bool        // to be admitted
	used    int64       // bytes of its grants, and of what those kept that have ended
	err     error       // why it gets nothing any more
	unwatch func() bool // stops watching the context
}

// Queue adds an output, after those that were added before. Once ctx has ended, it gets no
// memory, and its calls return ctx's error. It must be closed.
func (b *Budget) Queue(ctx context.Context) *Queue {
	q := &Queue{budget: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues = append(b.queues, q)
	q.unwatch = context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		q.err = context.Cause(ctx)
		b.changed.Broadcast()
	})
	return q
}

// Close gives back all memory of the output. Its grants must not be used afterwards.
func (q *Queue) Close() {
	q.unwatch()
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	q.err = cmp.Or(q.err, context.Canceled) // to a reader that did not end with its job
	b.used -= q.used
	b.queues = slices.DeleteFunc(b.queues, func(other *Queue) bool { return other == q })
	b.changed.Broadcast()
}

// Admit waits until a batch may begin with size bytes, and returns its grant, which holds
// them. It fails once the output's context has ended. One goroutine at a time may call it.
func (q *Queue) Admit(size int64) (*Grant, error) {
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	q.waits = true
	for q.err == nil && !q.mayBegin(size) {
		b.changed.Wait()
	}
	q.waits = false
	b.changed.Broadcast() // to younger outputs that wait
	if q.err != nil {
		return nil, q.err
	}
	if err := InjectedFault(); err != nil {
		return nil, err
	}
	g := &Grant{queue: q, number: q.next, held: size}
	q.next++
	q.add(size)
	return g, nil
}

// large is the share of the memory from which on a grant may begin in all that is not reserved.
const large = 32

// mayBegin reports whether a batch may begin with size bytes now.
func (q *Queue) mayBegin(size int64) bool {
	b := q.budget
	at := slices.Index(b.queues, q)
	switch {
	case size == 0: // a part of what has its memory already, and gives it back after the last part
		return true
	case slices.ContainsFunc(b.queues[:at], func(older *Queue) bool { return older.waits }):
		return false
	case b.used+size <= b.memory/4, size >= b.memory/large && b.used+size <= b.memory/2:
		return true
	}
	return at == 0 && !slices.ContainsFunc(b.queues, (*Queue).isBusy) // alone, whatever its size
}

// isBusy reports whether the output has a grant.
func (q *Queue) isBusy() bool { return q.first < q.next }

// add adds n bytes to what the output holds.
func (q *Queue) add(n int64) {
	q.used += n
	q.budget.used += n
}

// isFirst reports whether the grant with that number is the oldest grant of the oldest output
// that has any.
func (q *Queue) isFirst(number int) bool {
	for _, other := range q.budget.queues {
		if other == q {
			return number == q.first
		}
		if other.isBusy() {
			return false
		}
	}
	return false
}

// Lendable returns the most bytes that Lend lends: half of the memory.
func (b *Budget) Lendable() int64 { return b.memory / 2 }

// Lend takes n bytes, or Lendable if that is less, until back is called. It is for work that a
// batch needs but that has no grant. It waits until at most Lendable bytes are lent. A caller
// that has borrowed must not wait for memory, nor borrow more.
func (b *Budget) Lend(n int64) (back func()) {
	n = min(n, b.Lendable())
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.lent+n > b.Lendable() {
		b.changed.Wait()
	}
	b.lent += n
	b.used += n
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.lent -= n
		b.used -= n
		b.changed.Broadcast()
	}
}

// Grant is what a batch may take of its job's memory. A nil Grant sets no limit.
type Grant struct {
	// Meanwhile, if it is set, returns what the goroutine in Take may do while it waits; nil
	// for nothing. It must not use the budget, but what it returns may.
	Meanwhile func() func()

	queue  *Queue
	number int
	held   int64
}

// Wake makes all goroutines that wait in Take call Meanwhile again.
func (b *Budget) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed.Broadcast()
}

// Try takes n more bytes if at most half of the memory is then used, or all of it for the
// oldest grant. It reports whether it did.
func (g *Grant) Try(n int64) bool {
	if g == nil {
		return true
	}
	q := g.queue
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	most := b.memory / 2
	if q.isFirst(g.number) {
		most = b.memory
	}
	if q.err != nil || b.used+n > most || InjectedFault() != nil {
		return false
	}
	q.add(n)
	g.held += n
	return true
}

// Take waits until the batch may have n bytes more, and takes them; a negative n gives bytes
// back. The error is that of the output's context, which has ended.
func (g *Grant) Take(n int64) error {
	if g == nil || n == 0 {
		return nil
	}
	q := g.queue
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	for q.err == nil && n > 0 && b.used+n > b.memory/2 && !q.isFirst(g.number) {
		var work func()
		if g.Meanwhile != nil {
			work = g.Meanwhile()
		}
		if work == nil {
			b.changed.Wait()
			continue
		}
		b.mu.Unlock() // work may use the budget
		work()
		b.mu.Lock()
	}
	if q.err != nil {
		return q.err
	}
	if n > 0 {
		if err := InjectedFault(); err != nil {
			return err
		}
	}
	q.add(n)
	g.held += n
	if n < 0 {
		b.changed.Broadcast()
	}
	return nil
}

// End ends the output's oldest grant and gives back its bytes, except kept: those are given
// back by a later grant, with a negative Take, or when the output is closed.
func (g *Grant) End(kept int64) {
	q := g.queue
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	q.add(kept - g.held)
	q.first++
	b.changed.Broadcast()
}

// MemoryError says that a part of an input is larger than the memory that it may take.
// Who set the limits knows by what factor to raise them: Need / Limit.
type MemoryError struct {
	// What is too large, such as "a page".
	What string
	// Need is how many bytes it takes, and Limit how many it may take.
	Need, Limit int64
}

// Error implements error.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s takes %d bytes of memory, and may take %d", e.What, e.Need, e.Limit)
}

// Enough returns how many bytes of memory would have been enough for a job that had memory
// bytes.
func (e *MemoryError) Enough(memory int64) int64 {
	if e.Limit <= 0 {
		return memory
	}
	return int64(float64(memory)*float64(e.Need)/float64(e.Limit)) + 1
}
