package tableio

import (
	"slices"

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
func (l *Location) TakeExtra(b *batch.Batch, table arrow.Record) (err error) {
	if l.time.column >= 0 {
		if b.Times, err = times(l.time.valuesOf(table)); err != nil {
			return columnError(l.time.name, err)
		}
		b.Undeclared += numberSize * table.NumRows()
	}
	if l.weight.column >= 0 {
		d := tables.Plain(l.weight.valuesOf(table), memory.NewGoAllocator()) // its memory lives as long as it is referenced
		defer d.Release()
		if b.Weights, err = numbersOf(d); err != nil {
			return columnError(l.weight.name, err)
		}
		b.Undeclared += numberSize * table.NumRows()
	}
	return nil
}

// numbersOf returns the numbers of a checked array in its memory, as [tables.NumbersOf] does.
func numbersOf(d *array.Data) (batch.Numbers, error) {
	n, err := tables.NumbersOf(d)
	return batch.Numbers{Ints: n.Ints, Unsigned: n.Unsigned, Floats: n.Floats, Validity: n.Validity, ValidityOffset: n.ValidityOffset}, err
}

// holdsTimes reports whether a column of type dt can hold times. Floats of less than 64 bits cannot: today's seconds
// since 1970 have more bits than they hold exactly.
func holdsTimes(dt arrow.DataType) bool {
	dt = valueType(dt)
	switch dt.ID() {
	case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64, arrow.FLOAT64, arrow.NULL:
		return true
	}
	return arrow.IsInteger(dt.ID()) || isText(dt)
}

// maxText is the most bytes of strings that are copied; only views need a copy.
const maxText = 1 << 30

// times returns the times of a column's rows for batch.Batch.Times: in seconds since 1970, or
// batch.NoTime for null and for values that are no times. A timestamp is a moment whatever its zone; without
// a zone it is in UTC. A date means its end. Numbers are converted by batch.SecondsOf and strings by
// batch.ParseSeconds. The array must have been checked, and holdsTimes must be true of its type.
func times(d *array.Data) ([]int64, error) {
	if isText(d.DataType()) { // strings, and a dictionary of them: TimesOf parses equal rows once
		column, err := URLs(d, maxText)
		if err != nil {
			return nil, err
		}
		return batch.TimesOf(&column), nil
	}
	plain := tables.Plain(d, memory.DefaultAllocator)
	defer plain.Release()
	if plain != d { // it was a dictionary, or had run ends
		return times(plain)
	}
	seconds := slices.Repeat([]int64{batch.NoTime}, d.Len())
	if tables.Storage(d.DataType()).ID() == arrow.NULL {
		return seconds, nil
	}
	numbers, err := numbersOf(d)
	if err != nil {
		return nil, err
	}
	convert := converter(d.DataType())
	for row := range seconds {
		switch {
		case numbers.Null(row):
		case numbers.Floats != nil:
			seconds[row] = batch.SecondsOf(batch.Whole(numbers.Floats[row]))
		case numbers.Unsigned && numbers.Ints[row] < 0: // too large for an int64
		default:
			seconds[row] = convert(numbers.Ints[row])
		}
	}
	return seconds, nil
}

// secondsADay is the number of seconds of a day.
const secondsADay = 24 * 60 * 60

// converter returns the function that converts integers of a column of type dt to seconds since 1970.
func converter(dt arrow.DataType) func(int64) int64 {
	switch dt := tables.Storage(dt).(type) {
	case *arrow.TimestampType:
		return secondsOf[dt.Unit]
	case *arrow.Date32Type:
		return func(days int64) int64 { return batch.EndOfDay(days * secondsADay) }
	case *arrow.Date64Type: // in milliseconds
		return func(n int64) int64 { return batch.EndOfDay(floorDiv(n, 1000*secondsADay) * secondsADay) }
	}
	return batch.SecondsOf
}

// secondsOf has for each unit the function that converts a timestamp to seconds. One for each divides by a constant,
// which is faster.
var secondsOf = [...]func(int64) int64{
	arrow.Second:      batch.Within,
	arrow.Millisecond: func(n int64) int64 { return batch.Within(floorDiv(n, 1e3)) },
	arrow.Microsecond: func(n int64) int64 { return batch.Within(floorDiv(n, 1e6)) },
	arrow.Nanosecond:  func(n int64) int64 { return floorDiv(n, 1e9) },
}

// floorDiv returns n/d rounded down.
func floorDiv(n, d int64) int64 {
	quotient := n / d
	if n%d < 0 {
		quotient--
	}
	return quotient
}
