package tableio

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/tables"
)

// FindExtra finds the columns that are read besides the URLs. schema must be the one
// given to Locate. Afterwards Columns returns these columns too.
func (l *Location) FindExtra(schema *arrow.Schema, extra batch.ExtraColumns) (err error) {
	if extra.Weight != "" {
		if l.weight, err = findExtra(schema, extra.Weight, option.Weight, isNumber, "integers or floats"); err != nil {
			return err
		}
	}
	if extra.Time != "" {
		l.time, err = findExtra(schema, extra.Time, option.AsOf, holdsTimes, "timestamps, dates, seconds or text")
	}
	return err
}

// findExtra returns the index of the column that an option names. holds reports whether
// its type is acceptable.
func findExtra(schema *arrow.Schema, name string, by option.Name, holds func(arrow.DataType) bool, wanted string) (int, error) {
	columns := columnsOf(schema)
	found, err := columns.Extra(name, by)
	if err != nil {
		return -1, cmp.Or(within(schema, name), err)
	}
	if dt := schema.Field(found).Type; !holds(dt) {
		return -1, option.Errorf("column %q is of type %s: %s takes one of %s (the columns are %s)", name, dt, by, wanted, columns)
	}
	return found, nil
}

// isNumber reports whether values are integers or floats, also if dictionary or run-end encoded.
func isNumber(dt arrow.DataType) bool {
	switch dt := tables.Storage(dt).(type) {
	case *arrow.DictionaryType:
		return isNumber(dt.ValueType)
	case *arrow.RunEndEncodedType:
		return isNumber(dt.Encoded())
	default:
		return arrow.IsInteger(dt.ID()) || arrow.IsFloating(dt.ID())
	}
}

// numberSize is the size of a number or a time in bytes.
const numberSize = 8

// TakeExtra sets b's columns besides the URLs from a table with b's rows. The arrays
// must have been checked.
func (l *Location) TakeExtra(b *batch.Batch, table arrow.Record) error {
	if l.time >= 0 {
		var err error
		if b.Times, err = times(table.Column(l.time)); err != nil {
			return fmt.Errorf("column %q: %w", table.ColumnName(l.time), err)
		}
		b.Undeclared += numberSize * table.NumRows()
	}
	if l.weight < 0 {
		return nil
	}
	mem := memory.NewGoAllocator() // its memory lives as long as it is referenced
	d := tables.Plain(table.Column(l.weight).Data().(*array.Data), mem)
	defer d.Release()
	weights, err := tables.NumbersOf(d)
	if err != nil {
		return fmt.Errorf("column %q: %w", table.ColumnName(l.weight), err)
	}
	b.Weights = batch.Numbers{Ints: weights.Ints, Unsigned: weights.Unsigned, Floats: weights.Floats, Validity: weights.Validity, ValidityOffset: weights.ValidityOffset}
	b.Undeclared += numberSize * table.NumRows()
	return nil
}

// withExtra returns the URLs' columns and those of FindExtra, each once.
func (l *Location) withExtra(columns []int) []int {
	if l.weight >= 0 && !slices.Contains(columns, l.weight) {
		columns = append(columns, l.weight)
	}
	if l.time >= 0 && !slices.Contains(columns, l.time) {
		columns = append(columns, l.time)
	}
	return columns
}
