package tableio

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
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
	switch dt := Storage(dt).(type) {
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
	d := Plain(table.Column(l.weight).Data().(*array.Data), mem)
	defer d.Release()
	if err := numbers(&b.Weights, d); err != nil {
		return fmt.Errorf("column %q: %w", table.ColumnName(l.weight), err)
	}
	b.Undeclared += numberSize * table.NumRows()
	return nil
}

// numbers sets n to the values of an array of numbers. It copies only types of less
// than 64 bits.
func numbers(n *batch.Numbers, d *array.Data) (err error) {
	if mayBeNull(d) {
		n.Validity, n.ValidityOffset = bufferBytes(d, 0), d.Offset()
	}
	switch Storage(d.DataType()).ID() {
	case arrow.INT8:
		n.Ints, err = converted[int8, int64](d)
	case arrow.INT16:
		n.Ints, err = converted[int16, int64](d)
	case arrow.INT32:
		n.Ints, err = converted[int32, int64](d)
	case arrow.INT64:
		n.Ints, err = inPlace[int64](d)
	case arrow.UINT8:
		n.Ints, err = converted[uint8, int64](d)
	case arrow.UINT16:
		n.Ints, err = converted[uint16, int64](d)
	case arrow.UINT32:
		n.Ints, err = converted[uint32, int64](d)
	case arrow.UINT64:
		n.Unsigned = true
		n.Ints, err = inPlace[int64](d)
	case arrow.FLOAT32:
		n.Floats, err = converted[float32, float64](d)
	case arrow.FLOAT64:
		n.Floats, err = inPlace[float64](d)
	case arrow.FLOAT16:
		var halves []float16.Num
		halves, err = inPlace[float16.Num](d)
		n.Floats = make([]float64, len(halves))
		for i, half := range halves {
			n.Floats[i] = float64(half.Float32())
		}
	default:
		err = fmt.Errorf("values of type %s are not numbers", d.DataType())
	}
	return err
}

// inPlace returns an array's values, in its memory.
func inPlace[T int64 | float64 | float16.Num | int8 | int16 | int32 | uint8 | uint16 | uint32 | float32](d *array.Data) ([]T, error) {
	all, err := values[T](d, 1, d.Offset()+d.Len())
	if err != nil || len(all) == 0 {
		return []T{}, err
	}
	return all[d.Offset():], nil
}

// converted returns an array's values as wider ones.
func converted[From int8 | int16 | int32 | uint8 | uint16 | uint32 | float32, To int64 | float64](d *array.Data) ([]To, error) {
	from, err := inPlace[From](d)
	to := make([]To, len(from))
	for i, value := range from {
		to[i] = To(value)
	}
	return to, err
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
