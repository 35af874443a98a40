package parquetio

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/textcolumn"
)

// isText reports whether a column is flat text or bytes, which textcolumn reads
// directly into arrays.
func isText(c *columns.Column, f *layout.File) bool {
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
	return e.Type == layout.ByteArray && textcolumn.Fits(e, leaf)
}

// textArray returns a run as an array of type dt.
func textArray(run *textcolumn.Run, dt arrow.DataType) *array.Data {
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
