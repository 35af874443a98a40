package tableio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/tables"
)

// findExtra returns the column whose name is the value of the option by; nowhere if the name is empty. holds reports
// whether a type is acceptable, and wanted names such types in the error.
func findExtra(schema *arrow.Schema, name string, by option.Name, holds func(arrow.DataType) bool, wanted string) (place, error) {
	if name == "" {
		return nowhere, nil
	}
	columns := ColumnsOf(schema)
	found, err := findPlace(schema, name, func(name string) (int, error) { return columns.Extra(name, by) })
	if err == nil && !holds(found.dataType) {
		err = option.Errorf("column %q is of type %s: %s takes one of %s (the columns are %s)", name, found.dataType, by, wanted, columns)
	}
	return found, err
}

// isNumber reports whether the values of a column of type dt are integers or floats.
func isNumber(dt arrow.DataType) bool {
	id := valueType(dt).ID()
	return arrow.IsInteger(id) || arrow.IsFloating(id)
}

// valueType returns the type of the values of a column of type dt, which may be an extension, a dictionary, run-end
// encoded, or several of these.
func valueType(dt arrow.DataType) arrow.DataType {
	switch dt := tables.Storage(dt).(type) {
	case *arrow.DictionaryType:
		return valueType(dt.ValueType)
	case *arrow.RunEndEncodedType:
		return valueType(dt.Encoded())
	default:
		return dt
	}
}

// numberSize is the number of bytes of a number or a time in a batch.
const numberSize = 8

// TakeExtra sets b.Times and b.Weights, if Locate was asked for them, from a table with b's
// rows, and adds their size to b.Undeclared. The arrays must have been checked.
func (l *Location) TakeExtra(b *batch.Batch, table arrow.Record) error {
	if l.time.column >= 0 {
		var err error
		if b.Times, err = times(array.MakeFromData(l.time.valuesOf(table))); err != nil {
			return fmt.Errorf("column %q: %w", l.time.name, err)
		}
		b.Undeclared += numberSize * table.NumRows()
	}
	if l.weight.column < 0 {
		return nil
	}
	mem := memory.NewGoAllocator() // its memory lives as long as it is referenced
	d := tables.Plain(l.weight.valuesOf(table), mem)
	defer d.Release()
	weights, err := tables.NumbersOf(d)
	if err != nil {
		return fmt.Errorf("column %q: %w", l.weight.name, err)
	}
	b.Weights = batch.Numbers{Ints: weights.Ints, Unsigned: weights.Unsigned, Floats: weights.Floats, Validity: weights.Validity, ValidityOffset: weights.ValidityOffset}
	b.Undeclared += numberSize * table.NumRows()
	return nil
}
