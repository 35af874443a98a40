package hosts

import (
	"bytes"
	"sync/atomic"

	"robotsbatch/batch"
	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/urls"
)

// maxAuthority is the most bytes of a host's authority. A DNS name has at most 255 (RFC
// 1035 §2.3.4).
const maxAuthority = 2048

// Waiting counts rows by authority.
type Waiting struct {
	counter *runs.Counter
	// invalid counts the rows that have no authority.
	invalid atomic.Int64
}

// NewWaiting returns a Waiting that uses about that many bytes of memory, and puts its
// temporary files into folder.
func NewWaiting(memory int64, folder string) *Waiting {
	return &Waiting{counter: runs.NewCounter(memory, folder)}
}

// Invalid returns how many rows have no authority.
func (w *Waiting) Invalid() int64 { return w.invalid.Load() }

// Close removes temporary files.
func (w *Waiting) Close() { w.counter.Close() }

// NewEvaluator returns a batch.Evaluator that only counts rows and sets no verdicts.
func (w *Waiting) NewEvaluator() batch.Evaluator {
	return &evaluator{waiting: w, rows: make(map[string]int64)}
}

// evaluator counts the rows of batches for one worker.
type evaluator struct {
	waiting *Waiting
	scratch urls.Scratch
	rows    map[string]int64 // by authority, of a batch
	last    []byte           // the authority of the row before
	run     int64            // its rows that are not in the map yet
}

// Evaluate implements batch.Evaluator.
func (e *evaluator) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	rows := b.URLs.Len()
	v.Reset(rows, batch.Want{})
	invalid := int64(0)
	for row := range rows {
		if b.URLs.Null(row) {
			invalid++
			continue
		}
		url := urls.Trim(b.URLs.Value(row))
		key, _, err := e.scratch.SplitAuthority(url)
		if err != nil || len(key) > maxAuthority || urls.HasLineByte(url) {
			invalid++
			continue
		}
		if !bytes.Equal(key, e.last) {
			e.endRun()
			e.last = append(e.last[:0], key...)
		}
		e.run++
	}
	e.endRun()
	e.waiting.invalid.Add(invalid)
	for authority, n := range e.rows {
		if err := e.waiting.counter.Add([]byte(authority), n); err != nil {
			return err
		}
	}
	clear(e.rows)
	return nil
}

// endRun adds the rows of the run, e.run, to those of its authority, e.last.
func (e *evaluator) endRun() {
	if e.run > 0 {
		e.rows[string(e.last)] += e.run
	}
	e.run = 0
}
