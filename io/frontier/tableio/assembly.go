package tableio

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/tables"
)

// Assembly joins the verdict columns of a record batch or row group that several
// workers evaluate in pieces, and knows which rows are selected. All rows come in one
// result, however much memory they take together.
type Assembly struct {
	parts   []assembled
	missing atomic.Int64 // the number of pieces that were not added yet
	mixed   atomic.Bool  // a piece was added of which only some rows are selected
}

// assembled is a piece of an Assembly.
type assembled struct {
	rows, selected int             // number of all rows, and of selected ones
	bitmap         []byte          // with a 1 for selected rows; nil if all or none are selected
	shares         [][]*array.Data // the verdict columns of selected rows, for one share after another
	urls           *array.Data     // of selected rows; nil if they were not kept
}

// NewVerdicts returns the output of the verdict columns alone, for an Assembly. names
// are those of the input's columns that come before them; none may be that of a verdict column.
func NewVerdicts(layout batch.Layout, names []string, mem memory.Allocator) (*Output, error) {
	if err := batch.CheckNames(names, layout.Verdicts); err != nil {
		return nil, err
	}
	layout.Keep = batch.KeepNone
	return NewOutput(layout, nil, mem)
}

// NewAssembly returns an Assembly of this number of pieces.
func NewAssembly(pieces int) *Assembly {
	a := &Assembly{parts: make([]assembled, pieces)}
	a.missing.Store(int64(pieces))
	return a
}

// Add makes the verdict columns of a piece with o, which must come from NewVerdicts, and keeps them until
// Columns is called. size is the number of bytes that it has taken from the batch's grant for all that it
// keeps. last says that this was the last piece: then the other methods may be called.
//
// urls, which may be nil, is the piece's URL column. From the first piece on of which only some rows are
// selected, Add keeps the URLs of selected rows: to decode them again for the output would add up to 24 % to
// a job.
func (a *Assembly) Add(o *Output, piece int, b *batch.Batch, v *batch.Verdicts, urls *array.Data) (size int64, last bool, err error) {
	part := assembled{rows: v.Rows, selected: v.SelectedRows}
	if 0 < part.selected && part.selected < part.rows {
		a.mixed.Store(true)
		part.bitmap = bytes.Clone(v.Selected)
		size += int64(len(part.bitmap))
	}
	if urls != nil && part.selected > 0 && a.mixed.Load() {
		part.urls = tables.Maker{Memory: o.mem}.Gather(urls, part.runs())
		size += tables.SizeOf(part.urls)
	}
	err = o.Shares(b, v, func(share *Share) error {
		columns, err := share.Columns()
		if err != nil {
			return err
		}
		part.shares = append(part.shares, columns)
		for _, column := range columns {
			size += verdictSize(column)
		}
		return nil
	})
	if err == nil {
		err = b.Grant.Take(size)
	}
	if err != nil {
		tables.Release(slices.Concat(part.shares...))
		if part.urls != nil {
			part.urls.Release()
		}
		return 0, false, err
	}
	a.parts[piece] = part
	return size, a.missing.Add(-1) == 0, nil
}

// Selected returns the number of selected rows of all pieces.
func (a *Assembly) Selected() (n int) {
	for i := range a.parts {
		n += a.parts[i].selected
	}
	return n
}

// EachSelected calls do for each run of selected rows, from low to high-1. Rows are counted through all pieces.
func (a *Assembly) EachSelected(do func(low, high int)) {
	row := 0
	for i := range a.parts {
		for _, r := range a.parts[i].runs() {
			do(row+r.Low, row+r.High)
		}
		row += a.parts[i].rows
	}
}

// AllSelected returns the selected rows, counted through all pieces.
func (a *Assembly) AllSelected() (all tables.Rows) {
	a.EachSelected(func(low, high int) { all = all.Add(low, high) })
	return all
}

// runs returns the selected rows of the piece.
func (p *assembled) runs() tables.Rows {
	switch {
	case p.selected == 0:
		return nil
	case p.bitmap == nil:
		return tables.Rows(nil).Add(0, p.rows)
	}
	return tables.RowsOf(p.bitmap, p.rows)
}

// URLs returns the URLs of all selected rows, or nil if not all were kept. The caller
// releases them. It is called once.
func (a *Assembly) URLs(mem memory.Allocator) (*array.Data, error) {
	var parts []*array.Data
	all := true
	for i := range a.parts {
		if part := &a.parts[i]; part.urls != nil {
			parts = append(parts, part.urls)
			part.urls = nil
		} else if part.selected > 0 {
			all = false
		}
	}
	if !all || len(parts) == 0 {
		tables.Release(parts)
		return nil, nil
	}
	return tables.Concatenate(parts[0].DataType(), parts, mem)
}

// Columns returns the verdict columns of all selected rows, which the caller releases. o is that of
// Add. It is called once.
func (a *Assembly) Columns(o *Output) (columns []*array.Data, err error) {
	parts := make([][]*array.Data, o.schema.NumFields()) // of each column
	for i := range a.parts {
		for _, share := range a.parts[i].shares {
			for column, part := range share {
				parts[column] = append(parts[column], part)
			}
		}
		a.parts[i].shares = nil
	}
	size := int64(0)
	for i, field := range o.made.Fields() {
		column, err := tables.Concatenate(field.Type, parts[i], o.mem)
		if parts[i] = nil; err != nil { // Concatenate has released these parts
			tables.Release(slices.Concat(append(parts, columns)...))
			return nil, columnError(field.Name, err)
		}
		columns = append(columns, column)
		size += verdictSize(column)
	}
	if most := o.layout.MemoryLimit(); size > most {
		tables.Release(columns)
		return nil, option.Errorf("the verdict columns of a record batch or row group take more than %d bytes: raise %s, or use %s", most, option.Memory, option.Compression.With("zstd"))
	}
	return columns, nil
}

// verdictSize returns the number of bytes in a verdict column's buffers. Its dictionary counts as well, because no other
// column has it.
func verdictSize(d *array.Data) int64 {
	if d.DataType() == arrow.DataType(tables.CodedLists) {
		return tables.SizeOf(d) + tables.SizeOf(d.Dictionary())
	}
	return tables.SizeOf(d)
}
