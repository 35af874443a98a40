package textcolumn

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

// Fits reports whether a column of a file is read here: flat text or bytes.
func Fits(c *columns.Column, f *layout.File) bool {
	switch c.Field.Type.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
	default:
		return false
	}
	if len(c.Leaves) != 1 {
		return false
	}
	leaf := f.Leaves[c.Leaves[0].Leaf]
	e := &f.Schema[leaf.Element]
	return fits(e, leaf)
}

// Array returns the rows as an array of type dt, without a copy of the texts.
func (run *Run) Array(dt arrow.DataType) *array.Data {
	buffers := []*memory.Buffer{nil, nil, memory.NewBufferBytes(run.Strings.Data)}
	if run.Nulls > 0 {
		buffers[0] = memory.NewBufferBytes(run.Strings.Validity)
	}
	switch dt.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		wide := make([]int64, len(run.Strings.Offsets32))
		for i, offset := range run.Strings.Offsets32 {
			wide[i] = int64(offset)
		}
		buffers[1] = memory.NewBufferBytes(arrow.GetBytes(wide))
	default:
		buffers[1] = memory.NewBufferBytes(arrow.GetBytes(run.Strings.Offsets32))
	}
	return array.NewData(dt, len(run.Strings.Offsets32)-1, buffers, nil, run.Nulls, 0)
}
