package batch

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/alitto/pond/v2"

	"robotsbatch/io/store/budget"
)

// Grant is what a batch may take of its job's memory.
type Grant = budget.Grant

// Pool has the workers and the memory that the outputs of a job share. Work on an older
// output goes first, and in an output that on an older batch.
type Pool struct {
	options      Options
	budget       *budget.Budget
	newEvaluator func() Evaluator
	tasks        pond.Pool
	lanes        int
	left         atomic.Int64 // rows up to Options.Limit that are not decided yet
	written      atomic.Int64 // rows

	mu    sync.Mutex // also guards Lane.over
	queue []task     // in order

	// workers may be more than Options.Workers: a goroutine that waits for memory does other tasks.
	workers freeList[worker]
}

// worker is what evaluating a batch needs, for one goroutine at a time.
type worker struct {
	evaluator Evaluator
	verdicts  Verdicts
}

// NewPool returns a pool of o.Workers workers and o.Memory bytes, which must be closed. Each
// worker has an evaluator of its own. newEvaluator makes it, and is called by one goroutine
// at a time.
func NewPool(newEvaluator func() Evaluator, o Options) *Pool {
	o = o.withDefaults()
	p := &Pool{options: o, budget: o.Budget, newEvaluator: newEvaluator, tasks: pond.NewPool(o.Workers)}
	p.left.Store(o.Limit)
	return p
}

// Full reports whether the rows up to Options.Limit are decided.
func (p *Pool) Full() bool { return p.left.Load() == 0 }

// Close ends the pool's goroutines. All lanes must have been closed.
func (p *Pool) Close() { p.tasks.StopAndWait() }

// Lane is the way of one output through a pool.
type Lane struct {
	pool   *Pool
	number int // from 0 in the order of Pool.Lane
	memory *budget.Queue
	ctx    context.Context
	cancel context.CancelCauseFunc
	busy   sync.WaitGroup // tasks under way
	over   bool           // no task may start any more
}

// Lane returns the lane of one more output, whose work goes after that of the lanes before it.
// The caller closes the lane. When ctx ends, its work stops. One goroutine at a time may call
// Lane.
func (p *Pool) Lane(ctx context.Context) *Lane {
	l := &Lane{pool: p, number: p.lanes}
	p.lanes++
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.memory = p.budget.Queue(l.ctx)
	return l
}

// Close gives back what the lane holds of the pool.
func (l *Lane) Close() {
	l.cancel(nil)
	l.memory.Close()
}

// task is work on a batch.
type task struct {
	lane, batch int
	do          func()
}

// before reports whether a task goes before another: by lane, then by batch.
func (t task) before(other task) bool {
	return t.lane < other.lane || t.lane == other.lane && t.batch < other.batch
}

// start queues do, work on a batch of the lane, given by its number, for the pool's workers. It
// returns false, and does nothing, after wait.
func (l *Lane) start(batch int, do func()) bool {
	p := l.pool
	p.mu.Lock()
	if l.over {
		p.mu.Unlock()
		return false
	}
	l.busy.Add(1)
	t := task{l.number, batch, func() { defer l.busy.Done(); do() }}
	at := sort.Search(len(p.queue), func(i int) bool { return t.before(p.queue[i]) })
	p.queue = slices.Insert(p.queue, at, t)
	p.mu.Unlock()
	p.tasks.Go(func() { // it does what is first by then; a goroutine that waits for memory may have done t
		if do := p.takeBefore(task{lane: math.MaxInt}); do != nil {
			do()
		}
	})
	p.budget.Wake() // the goroutines that wait for memory: one may do t
	return true
}

// wait keeps new tasks of the lane from starting, and waits for those that were started.
func (l *Lane) wait() {
	l.pool.mu.Lock()
	l.over = true
	l.pool.mu.Unlock()
	l.busy.Wait()
}

// takeBefore removes the first task from the queue and returns its do, if that task goes before another
// one; else it returns nil.
func (p *Pool) takeBefore(other task) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 || !p.queue[0].before(other) {
		return nil
	}
	t := p.queue[0]
	p.queue = slices.Delete(p.queue, 0, 1)
	return t.do
}

func (p *Pool) newWorker() *worker { return &worker{evaluator: p.newEvaluator()} }

// freeList has values that no goroutine uses. Its zero value is empty.
type freeList[T any] struct {
	mu   sync.Mutex
	free []*T
}

// take removes a value and returns it, or one that newValue makes if there is none. newValue is called
// by one goroutine at a time.
func (l *freeList[T]) take(newValue func() *T) *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return newValue()
	}
	value := l.free[last]
	l.free = l.free[:last]
	return value
}

func (l *freeList[T]) put(value *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, value)
}
