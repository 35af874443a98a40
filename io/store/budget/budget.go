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
// Half of the memory is reserved for the first in line. Grants are admitted as long as a quarter is
// in use, which leaves room to encode their batches. Large ones are for record batches that cannot be
// read in parts: they are admitted up to the half. An even larger one is admitted alone, in the
// oldest output. While an output waits, no younger one is admitted.
//
// A goroutine that waits in Take may be a worker that older work needs. So it does that work meanwhile
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
	changed sync.Cond // signalled when a call that waits may go on
	memory  int64     // bytes
	used    int64     // of memory, lent bytes included
	lent    int64     // of used
	queues  []*Queue  // those that are not closed, the oldest first
}

// New returns a budget of these bytes.
func New(memory int64) *Budget {
	b := &Budget{memory: memory}
	b.changed.L = &b.mu
	return b
}

// Fault is nil, except in a test that has memory refused: then it returns the error of the next request, or nil to grant
// it.
var Fault func() error

// InjectedFault returns the error with which a test refuses memory now; nil in production. It is not called for an
// output that is closed, because its reader may outlive the test.
func InjectedFault() error {
	if Fault == nil {
		return nil
	}
	return Fault()
}

// Queue is an output's place in a budget.
type Queue struct {
	budget  *Budget
	first   int         // number of its oldest grant; next if it has none
	next    int         // number that its next grant gets
	waits   bool        // Admit waits
	used    int64       // bytes that its grants hold, and that ended grants kept
	err     error       // why it gets no more memory
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
	q.err = cmp.Or(q.err, context.Canceled) // for a reader that has not ended with its job, and still asks
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

// largeShare divides the memory: a grant of that part of it, or more, is large (see the package's comment).
const largeShare = 32

// mayBegin reports whether a batch may begin with size bytes now.
func (q *Queue) mayBegin(size int64) bool {
	b := q.budget
	if size == 0 { // a further part of what an earlier grant has the memory for
		return true
	}
	at := slices.Index(b.queues, q)
	if slices.ContainsFunc(b.queues[:at], func(older *Queue) bool { return older.waits }) {
		return false
	}
	most := b.memory / 4
	if size >= b.memory/largeShare {
		most = b.memory / 2
	}
	isAlone := at == 0 && !slices.ContainsFunc(b.queues, (*Queue).isBusy) // then it may have any size
	return b.used+size <= most || isAlone
}

// isBusy reports whether the output has a grant that has not ended.
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
// batch needs but that has no grant. It waits as long as more than Lendable bytes would be lent.
// Until it calls back, a caller must not wait for memory, nor borrow more.
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
	// Meanwhile, unless nil, is called while Take waits. It returns work for the waiting goroutine
	// to do; nil if there is none. It must not use the budget, but the work may.
	Meanwhile func() func()

	queue  *Queue
	number int   // in the queue
	held   int64 // bytes
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
	// Need is the number of bytes that it takes, and Limit the number that it may take.
	Need, Limit int64
}

// Error implements error.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s takes %d bytes of memory, and may take %d", e.What, e.Need, e.Limit)
}

// Enough returns the number of bytes of memory that would have been enough for a job that had memory
// bytes: its limits grow in proportion.
func (e *MemoryError) Enough(memory int64) int64 {
	if e.Limit <= 0 {
		return memory
	}
	return int64(float64(memory)*float64(e.Need)/float64(e.Limit)) + 1
}
