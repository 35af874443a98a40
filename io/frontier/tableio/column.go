package tableio

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
)

// findURLs returns the index of the column with the URLs: what [format.Columns.URL]
// finds, or the only string column.
func findURLs(schema *arrow.Schema, name string) (int, error) {
	columns := columnsOf(schema)
	found, err := columns.URL(name)
	if err != nil {
		return 0, cmp.Or(within(schema, name), err)
	}
	if found >= 0 {
		if field := schema.Field(found); !holdsURLs(field.Type, true) {
			return 0, option.Errorf("column %q is of type %s, which holds no URLs: name another one with %s (the columns are %s)", field.Name, field.Type, option.URLColumn, columns)
		}
		return found, nil
	}
	only := -1
	for i, field := range schema.Fields() {
		if !holdsURLs(field.Type, false) {
			continue
		}
		if only >= 0 {
			return 0, option.Errorf("which column has the URLs? There is no \"url\", and more than one of strings: name one of %s with %s", columns, option.URLColumn)
		}
		only = i
	}
	if only < 0 {
		return 0, option.Errorf("no column has strings: name the one with the URLs with %s (the columns are %s)", option.URLColumn, columns)
	}
	return only, nil
}

// within returns an error for a name with dots that is a field of a column; nil for any other.
func within(schema *arrow.Schema, name string) error {
	outer, field, _ := strings.Cut(name, ".")
	for _, i := range schema.FieldIndices(outer) {
		if dt, ok := Storage(schema.Field(i).Type).(*arrow.StructType); ok && field != "" {
			if _, ok := dt.FieldIdx(strings.SplitN(field, ".", 2)[0]); ok {
				return fmt.Errorf(`%q lies within the column %q, and such names are for jsonl: make it a column, such as duckdb -c "copy (select %s as %s, * from 'in.parquet') to 'out.parquet'"`,
					name, outer, name, name[strings.LastIndexByte(name, '.')+1:])
			}
		}
	}
	return nil
}

// columnsOf returns the names of a schema's columns, with their types.
func columnsOf(schema *arrow.Schema) format.Columns {
	c := format.Columns{Type: func(i int) string { return schema.Field(i).Type.String() }}
	for _, field := range schema.Fields() {
		c.Names = append(c.Names, field.Name)
	}
	return c
}

// holdsURLs reports whether a column of that type can hold URLs: strings, binary
// values if those count, or a dictionary of such.
func holdsURLs(dt arrow.DataType, binary bool) bool {
	dt = Storage(dt)
	if dictionary, ok := dt.(*arrow.DictionaryType); ok {
		dt = Storage(dictionary.ValueType)
	}
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return binary
	}
	return false
}

// URLs returns the strings of a checked array. It copies only views, up to limit bytes.
func URLs(d *array.Data, limit int64) (column batch.Column, err error) {
	if dictionary, ok := Storage(d.DataType()).(*arrow.DictionaryType); ok {
		column, err = dictionaryColumn(d, dictionary.IndexType, limit)
	} else {
		column, err = stringColumn(d, limit)
	}
	if err == nil {
		err = column.Validate()
	}
	return column, err
}

// stringColumn returns the values of an array of strings.
func stringColumn(d *array.Data, limit int64) (column batch.Column, err error) {
	switch Storage(d.DataType()).ID() {
	case arrow.STRING, arrow.BINARY:
		column.Offsets32, err = valueOffsets[int32](d)
		column.Data = bufferBytes(d, 2)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		column.Offsets64, err = valueOffsets[int64](d)
		column.Data = bufferBytes(d, 2)
	default:
		column, err = viewColumn(d, limit)
	}
	if mayBeNull(d) {
		column.Validity, column.ValidityOffset = bufferBytes(d, 0), d.Offset()
	}
	return column, err
}

// dictionaryColumn returns the values of a dictionary of strings with indices
// into them.
func dictionaryColumn(d *array.Data, indexType arrow.DataType, limit int64) (batch.Column, error) {
	dictionary := d.Dictionary().(*array.Data)
	column, err := stringColumn(dictionary, limit)
	if err != nil {
		return column, err
	}
	if column.Indices, err = indices(d, indexType); err != nil {
		return column, err
	}
	switch {
	case mayBeNull(dictionary):
		column.Validity, column.ValidityOffset = dictionaryValidity(d, column.Indices, dictionary), 0
	case mayBeNull(d):
		column.Validity, column.ValidityOffset = bufferBytes(d, 0), d.Offset()
	}
	return column, nil
}

// valueOffsets returns the offsets of an array's values: one more than values.
func valueOffsets[T int32 | int64](d *array.Data) ([]T, error) {
	if d.Len() == 0 {
		return []T{0}, nil
	}
	offsets, err := values[T](d, 1, d.Offset()+d.Len()+1)
	if err != nil {
		return nil, err
	}
	return offsets[d.Offset():], nil
}

// bufferBytes returns buffer i, nil when there is none.
func bufferBytes(d *array.Data, i int) []byte {
	if bufferLen(d, i) == 0 {
		return nil
	}
	return d.Buffers()[i].Bytes()
}

// viewColumn copies the values of an array of views.
func viewColumn(d *array.Data, limit int64) (batch.Column, error) {
	views, err := values[arrow.ViewHeader](d, 1, d.Offset()+d.Len())
	if err != nil {
		return batch.Column{}, err
	}
	column := batch.Column{Offsets64: make([]int64, 1, d.Len()+1)}
	for i := d.Offset(); i < len(views); i++ {
		view := &views[i]
		switch {
		case isNull(d, i):
		case view.IsInline():
			column.Data = append(column.Data, view.InlineBytes()...)
		default:
			if int64(len(column.Data))+int64(view.Len()) > limit {
				return batch.Column{}, option.Errorf("its strings take more than %d bytes: raise %s", limit, option.Memory)
			}
			from := d.Buffers()[2+view.BufferIndex()].Bytes()[view.BufferOffset():]
			column.Data = append(column.Data, from[:view.Len()]...)
		}
		column.Offsets64 = append(column.Offsets64, int64(len(column.Data)))
	}
	return column, nil
}

// dictionaryValidity returns a bitmap of the rows that are not null and do not refer to
// a null in the dictionary.
func dictionaryValidity(d *array.Data, indices []int32, dictionary *array.Data) []byte {
	bits := make([]byte, bitutil.BytesForBits(int64(len(indices))))
	for i, index := range indices {
		if !isNull(d, d.Offset()+i) && !isNull(dictionary, dictionary.Offset()+int(index)) {
			bitutil.SetBit(bits, i)
		}
	}
	return bits
}

// indices returns dictionary indices as 32-bit numbers, 0 where a row is null.
func indices(d *array.Data, dt arrow.DataType) ([]int32, error) {
	switch dt.ID() {
	case arrow.INT8:
		return convertIndices[int8](d)
	case arrow.UINT8:
		return convertIndices[uint8](d)
	case arrow.INT16:
		return convertIndices[int16](d)
	case arrow.UINT16:
		return convertIndices[uint16](d)
	case arrow.INT32:
		return convertIndices[int32](d)
	case arrow.UINT32:
		return convertIndices[uint32](d)
	case arrow.INT64:
		return convertIndices[int64](d)
	default:
		return convertIndices[uint64](d)
	}
}

func convertIndices[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](d *array.Data) ([]int32, error) {
	from, err := values[T](d, 1, d.Offset()+d.Len())
	if err != nil {
		return nil, err
	}
	to := make([]int32, d.Len())
	for i := range to {
		index := from[d.Offset()+i]
		if isNull(d, d.Offset()+i) {
			continue
		}
		if uint64(index) > math.MaxInt32 {
			return nil, errors.New("the dictionary has more than 2,147,483,647 entries")
		}
		to[i] = int32(index)
	}
	return to, nil
}
