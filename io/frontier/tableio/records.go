package tableio

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
)

// Records is a [batch.Source] of generated records, for tables without URLs. Their
// batches have no verdicts; see [NoVerdicts].
type Records struct {
	name string

	mu    sync.Mutex // Close may be called during Next
	next  func() (arrow.Record, error, bool)
	stop  func()
	index int   // of the next record
	row   int64 // number of its first row
}

// NewRecords returns a source of the records that made yields, up to its first error. name is
// the table's name in messages.
func NewRecords(name string, made iter.Seq2[arrow.Record, error]) *Records {
	s := &Records{name: name}
	s.next, s.stop = iter.Pull2(made)
	return s
}

// Next implements batch.Source.
func (s *Records) Next(ctx context.Context) (batch.Piece, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	record, err, ok := s.next()
	if !ok {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	p := &recordPiece{name: s.name, record: record, index: s.index, row: s.row}
	s.index++
	s.row += record.NumRows()
	return p, nil
}

// Close implements batch.Source. It waits for a Next that is running.
func (s *Records) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	return nil
}

// recordPiece is a record on its way to a sink.
type recordPiece struct {
	name   string
	record arrow.Record
	index  int
	row    int64 // number of the first row
}

// Name implements batch.Piece.
func (p *recordPiece) Name() string { return fmt.Sprintf("%s: batch %d", p.name, p.index) }

// Size implements batch.Piece. It counts the whole memory of buffers, of which builders leave a part empty.
func (p *recordPiece) Size() int64 {
	size := int64(0)
	for _, column := range p.record.Columns() {
		for _, buffer := range column.Data().Buffers() {
			if buffer != nil {
				size += int64(buffer.Cap())
			}
		}
	}
	return size
}

// Decode implements batch.Piece.
func (p *recordPiece) Decode() (*batch.Batch, error) {
	b := &batch.Batch{Input: p.name, Index: p.index, FirstRow: p.row, Table: p.record, Release: p.record.Release}
	for i, field := range p.record.Schema().Fields() {
		if field.Name != urlName { // sinks of text take the values of this column from b.URLs
			continue
		}
		var err error
		if b.URLs, err = URLs(p.record.Column(i).Data().(*array.Data), math.MaxInt64); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// NoVerdicts is a [batch.Evaluator] for tables without URLs: it only counts the rows.
type NoVerdicts struct{}

// Evaluate implements batch.Evaluator.
func (NoVerdicts) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	rows := 0
	if record, ok := b.Table.(arrow.Record); ok {
		rows = int(record.NumRows())
	}
	v.Reset(rows, batch.Want{}) // no agents
	return nil
}
