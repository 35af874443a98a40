package evaluate

import (
	"slices"
	"sync"
	"time"

	"robotsbatch/batch"
)

// FirstTime is the time of the first row of a job that has one. Evaluators of any goroutine
// may be watched for it.
type FirstTime struct {
	mu      sync.Mutex
	found   bool
	output  int
	row     int64
	seconds int64
}

// Time returns the time; ok is false if no row had one.
func (f *FirstTime) Time() (t time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Unix(f.seconds, 0).UTC(), f.found
}

// Watch returns an evaluator that does what e does, and records the first time of the batches,
// by output, then by row.
func (f *FirstTime) Watch(e batch.Evaluator) batch.Evaluator { return &timeWatch{e, f} }

// timeWatch finds the first time of the batches that an evaluator evaluates.
type timeWatch struct {
	batch.Evaluator
	first *FirstTime
}

// Evaluate implements batch.Evaluator.
func (w *timeWatch) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	err := w.Evaluator.Evaluate(b, v)
	at := slices.IndexFunc(b.Times, func(t int64) bool { return t > batch.TooFine }) // TooFine and NoTime are less than all times
	if at < 0 || err != nil {
		return err
	}
	w.first.mu.Lock()
	defer w.first.mu.Unlock()
	f, row := w.first, b.FirstRow+int64(at)
	if !f.found || b.Output < f.output || b.Output == f.output && row < f.row {
		f.found, f.output, f.row, f.seconds = true, b.Output, row, b.Times[at]
	}
	return nil
}
