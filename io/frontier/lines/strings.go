package lines

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
)

// Strings is a column of strings that a decoder fills: it appends a row's bytes to
// Data, then calls End or Null. All rows together must have less than 2 GiB.
type Strings struct {
	Data     []byte
	offsets  []int32 // where the rows begin in Data, and where the last one ends
	validity []byte  // a bit for each row, clear for a null; empty until there is one
	nulls    int
	most     int // the most rows, as Reset was told
}

// Reset empties the column, for at most that many rows. It reuses the memory.
func (s *Strings) Reset(rows int) {
	if cap(s.offsets) < rows+1 {
		s.offsets = make([]int32, 0, rows+1)
	}
	s.Data, s.offsets = s.Data[:0], append(s.offsets[:0], 0)
	s.validity, s.nulls, s.most = s.validity[:0], 0, rows
}

// End ends a row that has a value.
func (s *Strings) End() { s.offsets = append(s.offsets, int32(len(s.Data))) }

// Null ends a row that is null.
func (s *Strings) Null() {
	if s.nulls == 0 {
		for range (s.most + 7) / 8 {
			s.validity = append(s.validity, 0xFF)
		}
	}
	row := s.Len()
	s.validity[row>>3] &^= 1 << (row & 7)
	s.nulls++
	s.End()
}

// Len is the number of rows so far.
func (s *Strings) Len() int { return len(s.offsets) - 1 }

// Column returns the rows. They are valid until Reset.
func (s *Strings) Column() batch.Column {
	c := batch.Column{Offsets32: s.offsets, Data: s.Data}
	if s.nulls > 0 {
		c.Validity = s.validity
	}
	return c
}

// Record returns columns, at least one and all of the same length, as a record of strings. It
// shares their memory.
func Record(schema *arrow.Schema, columns []*Strings) arrow.Record {
	arrays := make([]arrow.Array, len(columns))
	for i, column := range columns {
		arrays[i] = column.array()
	}
	record := array.NewRecord(schema, arrays, int64(columns[0].Len()))
	for _, a := range arrays {
		a.Release()
	}
	return record
}

// array returns the rows as an Arrow array that shares their memory.
func (s *Strings) array() arrow.Array {
	buffers := []*memory.Buffer{
		nil,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(s.offsets)),
		memory.NewBufferBytes(s.Data),
	}
	if s.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(s.validity)
	}
	data := array.NewData(arrow.BinaryTypes.String, s.Len(), buffers, nil, s.nulls, 0)
	defer data.Release()
	return array.NewStringData(data)
}

// StringSchema returns the schema of nullable columns of strings with these names.
func StringSchema(names ...string) *arrow.Schema {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}
