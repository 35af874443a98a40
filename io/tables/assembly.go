package tables

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
)

// Assembly puts the verdict columns of a record batch or row group together whose rows
// are evaluated in several pieces, by several workers. What comes out is as large as
// what went in, while an [Output] may cut it.
type Assembly struct {
	parts   [][][]*array.Data // by piece and share
	missing atomic.Int64
}

// NewVerdicts returns the output of the verdict columns alone, for an Assembly. The
// input's columns, which come before them, have these names: none may be a verdict
// column's.
func NewVerdicts(layout batch.Layout, names []string, mem memory.Allocator) (*Output, error) {
	if err := batch.CheckNames(names, layout.Verdicts); err != nil {
		return nil, err
	}
	layout.Keep = batch.KeepNone
	return NewOutput(layout, nil, mem)
}

// NewAssembly is for so many pieces.
func NewAssembly(pieces int) *Assembly {
	a := &Assembly{parts: make([][][]*array.Data, pieces)}
	a.missing.Store(int64(pieces))
	return a
}

// Add makes the columns of a piece, with o, which is from NewVerdicts. It returns how
// many bytes they take until Columns is called, which it took from the batch's grant,
// and whether the piece was the last one that was missing: then Columns may be called.
func (a *Assembly) Add(o *Output, piece int, b *batch.Batch, v *batch.Verdicts) (size int64, last bool, err error) {
	var shares [][]*array.Data
	err = o.Shares(b, v, func(share *Share) error {
		columns, err := share.Columns()
		if err != nil {
			return err
		}
		shares = append(shares, columns)
		for _, column := range columns {
			size += sizeOf(column)
		}
		return nil
	})
	if err == nil {
		err = b.Grant.Take(size)
	}
	if err != nil {
		return 0, false, err
	}
	a.parts[piece] = shares
	return size, a.missing.Add(-1) == 0, nil
}

// Columns returns the verdict columns of all pieces. The caller releases them.
func (a *Assembly) Columns(o *Output) (columns []*array.Data, err error) {
	parts := slices.Concat(a.parts...)
	a.parts = nil
	size := int64(0)
	for i, field := range o.schema.Fields() {
		column, err := concatenate(field.Type, parts, i, o.mem)
		if err != nil {
			Release(columns)
			return nil, columnError(field.Name, err)
		}
		columns = append(columns, column)
		size += sizeOf(column)
	}
	if most := o.layout.MemoryLimit(); size > most {
		Release(columns)
		return nil, fmt.Errorf("the verdict columns of a record batch or row group take more than %d bytes: raise -memory, or use -recode", most)
	}
	return columns, nil
}

// concatenate makes one array of the parts' column i.
func concatenate(dt arrow.DataType, parts [][]*array.Data, i int, mem memory.Allocator) (*array.Data, error) {
	arrays := make([]arrow.Array, len(parts))
	for k, part := range parts {
		arrays[k] = array.MakeFromData(part[i])
		part[i].Release()
		defer arrays[k].Release()
	}
	var whole arrow.Array
	switch len(arrays) {
	case 0:
		whole = array.MakeArrayOfNull(mem, dt, 0)
	case 1:
		whole = arrays[0]
		whole.Retain()
	default:
		var err error
		if whole, err = array.Concatenate(arrays, mem); err != nil {
			return nil, err
		}
	}
	defer whole.Release()
	data := whole.Data().(*array.Data)
	data.Retain()
	return data, nil
}

// sizeOf is how many bytes an array's buffers take.
func sizeOf(d *array.Data) (size int64) {
	for _, buffer := range d.Buffers() {
		if buffer != nil {
			size += int64(buffer.Len())
		}
	}
	for _, child := range d.Children() {
		size += sizeOf(child.(*array.Data))
	}
	return size
}
