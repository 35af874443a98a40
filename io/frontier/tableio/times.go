package tableio

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/tables"
)

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
func times(a arrow.Array) ([]int64, error) {
	if extension, ok := a.(array.ExtensionArray); ok {
		a = extension.Storage()
	}
	data := a.Data().(*array.Data)
	if isText(data.DataType()) { // strings, and a dictionary of them: TimesOf parses equal rows once
		column, err := URLs(data, maxText)
		if err != nil {
			return nil, err
		}
		return batch.TimesOf(&column), nil
	}
	seconds := make([]int64, a.Len())
	switch a := a.(type) {
	case *array.Timestamp:
		fillTimes(seconds, a, a.TimestampValues(), secondsOf[a.DataType().(*arrow.TimestampType).Unit])
	case *array.Date32:
		fillTimes(seconds, a, a.Date32Values(), func(v arrow.Date32) int64 { return batch.EndOfDay(int64(v) * secondsADay) })
	case *array.Date64:
		fillTimes(seconds, a, a.Date64Values(), func(v arrow.Date64) int64 {
			return batch.EndOfDay(floorDiv(int64(v), 1000*secondsADay) * secondsADay)
		})
	case *array.Null:
		for row := range seconds {
			seconds[row] = batch.NoTime
		}
	case *array.Dictionary, *array.RunEndEncoded:
		plain := tables.Plain(data, memory.DefaultAllocator)
		defer plain.Release()
		values := array.MakeFromData(plain)
		defer values.Release()
		return times(values)
	default:
		numbers, err := tables.NumbersOf(data)
		if err != nil {
			return nil, err
		}
		if numbers.Floats != nil {
			fillTimes(seconds, a, numbers.Floats, func(v float64) int64 { return batch.SecondsOf(batch.Whole(v)) })
			break
		}
		fillTimes(seconds, a, numbers.Ints, func(v int64) int64 {
			if numbers.Unsigned && v < 0 { // too large for an int64
				return batch.NoTime
			}
			return batch.SecondsOf(v)
		})
	}
	return seconds, nil
}

// secondsADay is the number of seconds of a day.
const secondsADay = 24 * 60 * 60

// secondsOf has for each unit the function that converts a timestamp to seconds. One for each divides by a constant,
// which is faster.
var secondsOf = [...]func(arrow.Timestamp) int64{
	arrow.Second:      func(v arrow.Timestamp) int64 { return batch.Within(int64(v)) },
	arrow.Millisecond: func(v arrow.Timestamp) int64 { return batch.Within(floorDiv(int64(v), 1e3)) },
	arrow.Microsecond: func(v arrow.Timestamp) int64 { return batch.Within(floorDiv(int64(v), 1e6)) },
	arrow.Nanosecond:  func(v arrow.Timestamp) int64 { return floorDiv(int64(v), 1e9) },
}

// fillTimes sets each row's time to seconds of its value, and to batch.NoTime if it is null in a. values are those of a.
func fillTimes[T any](times []int64, a arrow.Array, values []T, seconds func(T) int64) {
	nulls := a.NullBitmapBytes() != nil
	for row := range times {
		if nulls && a.IsNull(row) {
			times[row] = batch.NoTime
		} else {
			times[row] = seconds(values[row])
		}
	}
}

// floorDiv returns n/d rounded down.
func floorDiv(n, d int64) int64 {
	quotient := n / d
	if n%d < 0 {
		quotient--
	}
	return quotient
}
