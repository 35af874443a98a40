package tableio

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/store/panics"
	"robotsbatch/io/tables"
)

// Share is some of a batch's rows, whose columns are made at once: all selected rows, unless that takes
// too much memory.
type Share struct {
	output   *Output
	batch    *batch.Batch
	verdicts *batch.Verdicts // of the batch
	rows     tables.Rows     // in the batch
	mem      *granted
}

// Shares calls encode for the selected rows of a batch, in order: once for all or, if
// that takes more than an eighth of the layout's memory, for each half, and so on.
// Without rows it makes no call, unless [Output.KeepEmpty] was called. The memory of the share's
// allocator goes back to the batch's grant when encode returns. Shares stops at an error of encode, and
// with an error when all shares together exceed the layout's limit before compression.
func (o *Output) Shares(b *batch.Batch, v *batch.Verdicts, encode func(*Share) error) error {
	rows := tables.Rows(nil).Add(0, v.Rows)
	if v.Selected != nil {
		rows = tables.RowsOf(v.Selected, v.Rows)
	}
	if rows.Count() == 0 && !o.empty {
		return nil
	}
	taken := int64(0)
	return Worded(o.shares(b, v, rows, &taken, encode))
}

// shares is Shares for some of the rows. *taken is the number of bytes that all shares have taken so far, to which it
// adds. A single row may take a fourth of the memory, because it cannot be halved.
func (o *Output) shares(b *batch.Batch, v *batch.Verdicts, rows tables.Rows, taken *int64, encode func(*Share) error) error {
	n := rows.Count()
	most := o.layout.MemoryLimit() / 8 // beyond this, call returns tables.ErrMost
	if n <= 1 {
		most *= 2
	}
	s := &Share{output: o, batch: b, verdicts: v, rows: rows, mem: &granted{Allocator: o.mem, grant: b.Grant, left: most}}
	err := s.call(encode)
	if err == nil {
		*taken += s.mem.taken
		if limit := o.layout.PlainLimit(); *taken > limit {
			err = option.Errorf("its rows take more than %d bytes as they are written: lower %s, or raise %s", limit, option.BatchRows, option.Memory)
		}
	}
	if n <= 1 || !errors.Is(err, tables.ErrMost) { // done, or halves would fail as well
		return err
	}
	first, second := halves(rows, n/2)
	if err := o.shares(b, v, first, taken, encode); err != nil {
		return err
	}
	return o.shares(b, v, second, taken, encode)
}

// call calls encode, and gives its memory back to the grant. If the share's allocator has panicked, it returns the
// allocator's error.
func (s *Share) call(encode func(*Share) error) (err error) {
	defer func() { err = errors.Join(err, s.mem.grant.Take(-s.mem.taken)) }()
	defer panics.Recover(&err, refusalOf)
	return encode(s)
}

// halves returns the first n of the rows, and the others.
func halves(rows tables.Rows, n int) (first, second tables.Rows) {
	for i, r := range rows {
		if n < r.High-r.Low {
			first = append(first, rows[:i]...).Add(r.Low, r.Low+n)
			second = append(tables.Rows(nil).Add(r.Low+n, r.High), rows[i+1:]...)
			return first, second
		}
		n -= r.High - r.Low
	}
	return rows, nil
}

// refusal is the panic value of a share's allocator, which cannot return an error.
type refusal struct{ error }

// refusalOf returns the error of a share's allocator from the value that it has panicked with, and nil
// from that of any other panic.
func refusalOf(panicked any) error {
	if r, ok := panicked.(refusal); ok {
		return r.error
	}
	return nil
}

// granted is an allocator with a limit that takes its memory from a batch's grant.
type granted struct {
	memory.Allocator
	grant       *batch.Grant
	left, taken int64 // bytes that are left of the limit, and bytes taken from the grant
}

// take takes n bytes of the limit and of the grant, or panics with a refusal.
func (g *granted) take(n int64) {
	if g.left -= n; g.left < 0 {
		panic(refusal{tables.ErrMost})
	}
	if err := g.grant.Take(n); err != nil {
		panic(refusal{err})
	}
	g.taken += n
}

// Allocate implements memory.Allocator.
func (g *granted) Allocate(size int) []byte {
	g.take(int64(size))
	return g.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (g *granted) Reallocate(size int, b []byte) []byte {
	g.take(int64(max(0, size-len(b))))
	return g.Allocator.Reallocate(size, b)
}

// Memory returns the share's allocator. It panics when it exceeds its limit, and [Output.Shares] then
// recovers.
func (s *Share) Memory() memory.Allocator { return s.mem }

// Columns returns the columns of the output for the share's rows, as arrays without offsets. They
// may share the batch's memory: the caller releases them before the batch. A dictionary array,
// also one inside another array, becomes an array of its indices; [Share.Record] keeps the
// dictionary.
func (s *Share) Columns() ([]*array.Data, error) {
	o := s.output
	maker := tables.Maker{Memory: s.mem, Most: s.mem.left}
	sharing := maker
	sharing.Share = true
	columns, err := o.inputColumns(s.batch, s.verdicts.Rows, sharing, s.rows)
	if err != nil {
		return nil, err
	}
	for _, verdict := range o.layout.Verdicts {
		column, err := s.verdictColumn(maker, verdict)
		if err != nil {
			tables.Release(columns)
			return nil, err
		}
		columns = append(columns, column)
	}
	return columns, nil
}

// Record returns the columns that Columns returns as a table, with the batch's dictionaries. It may
// share the batch's memory: the caller releases it before the batch.
func (s *Share) Record() (arrow.Record, error) {
	columns, err := s.Columns()
	if err != nil {
		return nil, err
	}
	defer tables.Release(columns)
	inputs, err := s.output.Inputs(s.batch)
	if err != nil {
		return nil, err
	}
	for i, input := range inputs {
		whole := tables.WithDictionaries(columns[i], input)
		columns[i].Release()
		columns[i] = whole
	}
	return tables.NewRecord(s.output.made, columns, int64(s.rows.Count())), nil
}
