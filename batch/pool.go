package batch

import (
	"container/heap"
	"context"
	"sync"

	"github.com/alitto/pond/v2"

	"robotsbatch/io/store/budget"
)

// Grant is what a batch may take of its job's memory.
type Grant = budget.Grant

// Pool has the workers and the memory that the outputs of a job share. Work on an older
// output goes first, and in an output that on an older batch.
type Pool struct {
	options Options
	budget  *budget.Budget
	workers chan *worker // idle
	tasks   pond.Pool

	mu    sync.Mutex
	queue taskQueue
	lanes int
}

// worker is what a task needs for itself.
type worker struct {
	evaluator Evaluator
	verdicts  Verdicts
}

// NewPool returns a pool of o.Workers workers and o.Memory bytes, which must be closed. Each
// worker has an evaluator of its own, which newEvaluator makes.
func NewPool(newEvaluator func() Evaluator, o Options) *Pool {
	o = o.withDefaults()
	p := &Pool{options: o, budget: budget.New(o.Memory), workers: make(chan *worker, o.Workers), tasks: pond.NewPool(o.Workers)}
	for range o.Workers {
		p.workers <- &worker{evaluator: newEvaluator()}
	}
	return p
}

// Close ends the pool's goroutines. All lanes must have been closed.
func (p *Pool) Close() { p.tasks.StopAndWait() }

// Lane is the way of one output through a pool.
type Lane struct {
	pool   *Pool
	number int
	memory *budget.Queue
	ctx    context.Context
	cancel context.CancelCauseFunc
	busy   sync.WaitGroup // tasks under way
	over   bool           // no task may start any more
}

// Lane adds an output after those that were added before. It must be closed. It is given up
// when ctx ends.
func (p *Pool) Lane(ctx context.Context) *Lane {
	p.mu.Lock()
	defer p.mu.Unlock()
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

// task is work on a batch, or whatever else do does.
type task struct {
	lane, batch int
	do          func(*worker)
}

// taskQueue is a heap of tasks.
type taskQueue []task

func (q taskQueue) Len() int { return len(q) }
func (q taskQueue) Less(i, j int) bool {
	return q[i].lane < q[j].lane || q[i].lane == q[j].lane && q[i].batch < q[j].batch
}
func (q taskQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *taskQueue) Push(t any)   { *q = append(*q, t.(task)) }
func (q *taskQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = task{}
	*q = (*q)[:last]
	return t
}

// start has a worker do something for a batch of the lane. It returns false if it is too late.
func (l *Lane) start(batch int, do func(*worker)) bool {
	p := l.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.over {
		return false
	}
	l.busy.Add(1)
	heap.Push(&p.queue, task{l.number, batch, func(w *worker) { defer l.busy.Done(); do(w) }})
	p.tasks.Go(p.work)
	return true
}

// wait waits for the lane's tasks, after which no more start.
func (l *Lane) wait() {
	l.pool.mu.Lock()
	l.over = true
	l.pool.mu.Unlock()
	l.busy.Wait()
}

// work does the first task in line.
func (p *Pool) work() {
	w := <-p.workers
	defer func() { p.workers <- w }()
	p.mu.Lock()
	t := heap.Pop(&p.queue).(task)
	p.mu.Unlock()
	t.do(w)
}
