package tables

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// NewRecord returns a record of these columns, which it retains. It panics if a column's type is not
// that in the schema. But metadata of inner fields, such as a map's keys, which the library compares for some
// types, may differ: the column then gets the schema's type.
func NewRecord(schema *arrow.Schema, columns []*array.Data, rows int64) arrow.Record {
	arrays := make([]arrow.Array, len(columns))
	for i, d := range columns {
		dt := schema.Field(i).Type
		onlyMetadataDiffers := !arrow.TypeEqual(d.DataType(), dt) && d.DataType().String() == dt.String()
		if onlyMetadataDiffers && dt.ID() != arrow.DICTIONARY { // NewData would drop a dictionary's values
			d = array.NewData(dt, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
			defer d.Release()
		}
		arrays[i] = array.MakeFromData(d)
		defer arrays[i].Release()
	}
	return array.NewRecord(schema, arrays, rows)
}

// WithDictionaries returns rows, which [Maker.Gather] made of source, with the types and dictionaries of source: of a
// dictionary array, Gather makes only the indices. The caller releases the result.
func WithDictionaries(rows, source *array.Data) *array.Data {
	if _, ok := Storage(source.DataType()).(*arrow.DictionaryType); ok {
		return array.NewDataWithDictionary(source.DataType(), rows.Len(), rows.Buffers(), rows.NullN(), rows.Offset(), source.Dictionary().(*array.Data))
	}
	children := make([]arrow.ArrayData, len(rows.Children()))
	for i, child := range rows.Children() {
		whole := WithDictionaries(child.(*array.Data), source.Children()[i].(*array.Data))
		defer whole.Release()
		children[i] = whole
	}
	return array.NewData(source.DataType(), rows.Len(), rows.Buffers(), children, rows.NullN(), rows.Offset())
}

// MapOf returns the type of maps with these fields of keys and values. sorted says that each map has its keys in order.
func MapOf(key, value arrow.Field, sorted bool) *arrow.MapType {
	dt := arrow.MapOfWithMetadata(key.Type, key.Metadata, value.Type, value.Metadata)
	dt.SetItemNullable(value.Nullable)
	dt.KeysSorted = sorted
	return dt
}

// Release releases arrays.
func Release(columns []*array.Data) {
	for _, column := range columns {
		column.Release()
	}
}

// Concatenate returns one array of type dt, which all parts have, with the values of the parts. It releases the parts.
// The caller releases the result.
func Concatenate(dt arrow.DataType, parts []*array.Data, mem memory.Allocator) (*array.Data, error) {
	if dt == arrow.DataType(CodedLists) && len(parts) > 0 { // the library unifies no dictionaries of lists
		return joinCoded(parts, mem), nil
	}
	arrays := make([]arrow.Array, len(parts))
	for i, part := range parts {
		arrays[i] = array.MakeFromData(part) // it retains part
		part.Release()
		defer arrays[i].Release()
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

// SizeOf returns the number of bytes in an array's buffers, its children's included, its dictionary's not.
func SizeOf(d arrow.ArrayData) (size int64) {
	for _, buffer := range d.Buffers() {
		if buffer != nil {
			size += int64(buffer.Len())
		}
	}
	for _, child := range d.Children() {
		size += SizeOf(child)
	}
	return size
}
