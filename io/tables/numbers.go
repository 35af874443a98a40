package tables

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/float16"
)

// Numbers are the numbers of a column, one for each row. One of Ints and Floats is nil, and the other has them.
type Numbers struct {
	Ints []int64
	// Unsigned says that Ints are the bits of 64-bit numbers without a sign.
	Unsigned bool
	Floats   []float64
	// Validity and ValidityOffset are as in Strings.
	Validity       []byte
	ValidityOffset int
}

// integers has for each type of integers, dates and timestamps the function that returns an array's values.
var integers = map[arrow.Type]func(d *array.Data) ([]int64, error){
	arrow.DATE32: converted[int32, int64], arrow.DATE64: inPlace[int64], arrow.TIMESTAMP: inPlace[int64],
	arrow.INT8: converted[int8, int64], arrow.INT16: converted[int16, int64], arrow.INT32: converted[int32, int64], arrow.INT64: inPlace[int64],
	arrow.UINT8: converted[uint8, int64], arrow.UINT16: converted[uint16, int64], arrow.UINT32: converted[uint32, int64], arrow.UINT64: inPlace[int64],
}

// NumbersOf returns the values of a checked array of integers, floats, dates or timestamps. Those of 64 bits lie in the
// array's memory, others are copies.
func NumbersOf(d *array.Data) (n Numbers, err error) {
	if mayBeNull(d) {
		n.Validity, n.ValidityOffset = bufferBytes(d, validityBuffer), d.Offset()
	}
	id := Storage(d.DataType()).ID()
	switch read := integers[id]; {
	case read != nil:
		n.Unsigned = id == arrow.UINT64
		n.Ints, err = read(d)
	case id == arrow.FLOAT32:
		n.Floats, err = converted[float32, float64](d)
	case id == arrow.FLOAT64:
		n.Floats, err = inPlace[float64](d)
	case id == arrow.FLOAT16:
		var halves []float16.Num
		halves, err = inPlace[float16.Num](d)
		n.Floats = make([]float64, len(halves))
		for i, half := range halves {
			n.Floats[i] = float64(half.Float32())
		}
	default:
		err = fmt.Errorf("values of type %s are not numbers", d.DataType())
	}
	return n, err
}

// inPlace returns an array's values, in its memory. It never returns nil, so that one field of Numbers is not nil even if
// there are no rows.
func inPlace[T int64 | float64 | float16.Num | int8 | int16 | int32 | uint8 | uint16 | uint32 | float32](d *array.Data) ([]T, error) {
	all, err := values[T](d, valueBuffer, d.Offset()+d.Len())
	if err != nil || len(all) == 0 {
		return []T{}, err
	}
	return all[d.Offset():], nil
}

// converted returns an array's values, each converted to a wider type.
func converted[From int8 | int16 | int32 | uint8 | uint16 | uint32 | float32, To int64 | float64](d *array.Data) ([]To, error) {
	from, err := inPlace[From](d)
	to := make([]To, len(from))
	for i, value := range from {
		to[i] = To(value)
	}
	return to, err
}
