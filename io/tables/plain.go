package tables

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// PlainType returns a type with the values' types in place of dictionaries,
// also inside lists and structs. Dictionaries inside anything else are an
// error.
func PlainType(dt arrow.DataType) (arrow.DataType, error) {
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		return PlainType(dt.ValueType)
	case *arrow.ListType:
		field, err := plainField(dt.ElemField())
		return arrow.ListOfField(field), err
	case *arrow.StructType:
		fields := make([]arrow.Field, len(dt.Fields()))
		for i, field := range dt.Fields() {
			var err error
			if fields[i], err = plainField(field); err != nil {
				return nil, err
			}
		}
		return arrow.StructOf(fields...), nil
	}
	if hasDictionary(dt) {
		return nil, fmt.Errorf("dictionaries inside of %s", dt.Name())
	}
	return dt, nil
}

func plainField(field arrow.Field) (_ arrow.Field, err error) {
	field.Type, err = PlainType(field.Type)
	return field, err
}

// hasDictionary tells whether there are dictionaries in arrays of a type.
func hasDictionary(dt arrow.DataType) bool {
	dt = Storage(dt)
	if dt.ID() == arrow.DICTIONARY {
		return true
	}
	if nested, ok := dt.(arrow.NestedType); ok {
		for _, field := range nested.Fields() {
			if hasDictionary(field.Type) {
				return true
			}
		}
	}
	return false
}

// Plain returns an array of [PlainType] of the array's type, with the values
// that its dictionaries stand for. The array must have been checked. The
// caller releases what is returned.
func Plain(d *array.Data, mem memory.Allocator) *array.Data {
	if !hasDictionary(d.DataType()) {
		d.Retain()
		return d
	}
	if _, ok := d.DataType().(*arrow.DictionaryType); ok {
		values := gatherer{mem: mem}.look(d)
		defer values.Release()
		return Plain(values, mem)
	}
	dt, err := PlainType(d.DataType())
	if err != nil {
		panic(err) // the type was not asked for
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, child := range d.Children() {
		plain := Plain(child.(*array.Data), mem)
		defer plain.Release()
		children[i] = plain
	}
	return array.NewData(dt, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// look looks up the values of a dictionary array.
func (g gatherer) look(d *array.Data) *array.Data {
	dictionary := d.Dictionary().(*array.Data)
	valueType := dictionary.DataType()
	if dictionary.Len() == 0 { // all rows are null
		nulls := array.MakeArrayOfNull(g.mem, valueType, d.Len())
		defer nulls.Release()
		nulls.Data().Retain()
		return nulls.Data().(*array.Data)
	}
	rows, err := indices(d, Storage(d.DataType()).(*arrow.DictionaryType).IndexType)
	if err != nil {
		panic(err) // the array was not checked
	}
	runs := make([]run, len(rows))
	for i, row := range rows {
		runs[i] = run{int(row), int(row) + 1}
	}
	values := g.gather(dictionary, runs)
	defer values.Release()
	valid := dictionaryValidity(d, rows, dictionary)
	nulls := d.Len() - bitutil.CountSetBits(valid, 0, d.Len())
	if _, ok := Storage(valueType).(*arrow.DictionaryType); ok || nulls == 0 || valueType.ID() == arrow.NULL {
		values.Retain()
		return values
	}
	buffers := append([]*memory.Buffer{memory.NewBufferBytes(valid)}, values.Buffers()[1:]...)
	return array.NewData(valueType, d.Len(), buffers, values.Children(), nulls, 0)
}
