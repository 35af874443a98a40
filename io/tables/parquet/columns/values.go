package columns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/io/tables"
)

var errLongStrings = &tables.LimitError{What: "its values have more than 2 GiB in one batch", Help: tables.FewerRows}

// values sets the values of leaf l of node n: for each entry of e that has one, its value in d, converted from
// Arrow's type to Parquet's physical type. They share d's memory if nothing is converted or left out.
func (s *Shredder) values(l *Leaf, n *Node, d *array.Data, e *entries) error {
	switch dt := tables.Storage(d.DataType()).(type) {
	case *arrow.NullType:
		return nil
	case *arrow.BooleanType:
		return s.booleans(l, d, e)
	case *arrow.Int8Type:
		return convert(s, l, e, elements[int8](d, 1), widened[int8])
	case *arrow.Int16Type:
		return convert(s, l, e, elements[int16](d, 1), widened[int16])
	case *arrow.Uint8Type:
		return convert(s, l, e, elements[uint8](d, 1), widened[uint8])
	case *arrow.Uint16Type:
		return convert(s, l, e, elements[uint16](d, 1), widened[uint16])
	case *arrow.Date64Type:
		return convert(s, l, e, elements[arrow.Date64](d, 1), wholeDays)
	case *arrow.Time32Type:
		if dt.Unit == arrow.Second {
			return convert(s, l, e, elements[int32](d, 1), func(v int32) (int32, error) { return milliseconds[int32](int64(v), math.MaxInt32) })
		}
	case *arrow.TimestampType:
		if dt.Unit == arrow.Second {
			return convert(s, l, e, elements[int64](d, 1), func(v int64) (int64, error) { return milliseconds[int64](v, math.MaxInt64) })
		}
	case arrow.DecimalType:
		return s.decimals(l, d, dt.Layout().Buffers[1].ByteWidth, int(n.Length), e)
	case *arrow.StringType, *arrow.BinaryType:
		return byteArrays(s, l, e, elements[int32](d, 1), d)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return byteArrays(s, l, e, elements[int64](d, 1), d)
	case arrow.BinaryViewDataType:
		return s.views(l, d, e)
	case *arrow.FixedSizeBinaryType:
		if dt.ByteWidth == 0 { // see storedType: they become byte arrays, which are empty
			return byteArrays(s, l, e, make([]int32, d.Offset()+d.Len()+1), d)
		}
	}
	return s.fixed(l, d, n.Width(), e)
}

// count returns how many entries have a value.
func (e *entries) count() int {
	if e.index == nil {
		return e.n
	}
	n := 0
	for range e.values {
		n++
	}
	return n
}

// fixed sets l to the values of width bytes, unchanged.
func (s *Shredder) fixed(l *Leaf, d *array.Data, width int, e *entries) error {
	from := elements[byte](d, 1)
	if e.index == nil {
		l.Fixed = from[e.low*width : (e.low+e.n)*width]
		return nil
	}
	l.Fixed = s.Memory.Allocate(e.count() * width)
	to := l.Fixed
	for at := range e.values {
		to = to[copy(to, from[at*width:(at+1)*width]):]
	}
	return nil
}

// booleans sets l to booleans of a byte each.
func (s *Shredder) booleans(l *Leaf, d *array.Data, e *entries) error {
	from := elements[byte](d, 1)
	l.Fixed = s.Memory.Allocate(e.count())
	to := 0
	for at := range e.values {
		l.Fixed[to] = from[at>>3] >> (at & 7) & 1
		to++
	}
	return nil
}

// convert sets l to the entries' values in from, each converted by as. T has the width of Parquet's type.
func convert[F arrow.FixedWidthType, T int32 | int64](s *Shredder, l *Leaf, e *entries, from []F, as func(F) (T, error)) error {
	width := binary.Size(T(0))
	l.Fixed = s.Memory.Allocate(e.count() * width)
	to := l.Fixed
	for at := range e.values {
		v, err := as(from[at])
		if err != nil {
			return err
		}
		if width == 4 {
			binary.LittleEndian.PutUint32(to, uint32(v))
		} else {
			binary.LittleEndian.PutUint64(to, uint64(v))
		}
		to = to[width:]
	}
	return nil
}

// widened returns v, for convert. The highest bit of an unsigned number does not become its sign.
func widened[F int8 | int16 | uint8 | uint16](v F) (int32, error) { return int32(v), nil }

// wholeDays converts a date in milliseconds to days. Milliseconds within a day are an error.
func wholeDays(v arrow.Date64) (int32, error) {
	const day = 86_400_000
	if v%day != 0 || v/day > math.MaxInt32 || v/day < math.MinInt32 {
		return 0, fmt.Errorf("the date64 %d is no whole day, which is what Parquet's dates are: write Arrow, or make it a timestamp", v)
	}
	return int32(v / day), nil
}

// milliseconds converts seconds to milliseconds, which must not exceed most.
func milliseconds[T int32 | int64](v, most int64) (T, error) {
	if v > most/1000 || v < -most/1000 {
		return 0, fmt.Errorf("%d seconds are too many for milliseconds, and Parquet has no seconds: write Arrow", v)
	}
	return T(v * 1000), nil
}

// decimals sets l to decimals of length bytes, the highest first. Those of d have width bytes, length or more, the lowest
// first. The bytes that are left out must only repeat the sign.
func (s *Shredder) decimals(l *Leaf, d *array.Data, width, length int, e *entries) error {
	values := elements[byte](d, 1)
	l.Fixed = s.Memory.Allocate(e.count() * length)
	to := l.Fixed
	for at := range e.values {
		value := values[at*width : (at+1)*width]
		sign := byte(int8(value[length-1]) >> 7)
		for _, high := range value[length:] {
			if high != sign {
				return errors.New("a decimal has more digits than its precision: write Arrow")
			}
		}
		for j := range length {
			to[j] = value[length-1-j]
		}
		to = to[length:]
	}
	return nil
}

// byteArrays sets l to byte arrays of d: array i is between offsets i and i+1. Their bytes are shared with d if
// the entries are neighbours.
func byteArrays[T int32 | int64](s *Shredder, l *Leaf, e *entries, offsets []T, d *array.Data) error {
	from := elements[byte](d, 2)
	if e.index == nil && e.n > 0 { // without entries, there may be no offset
		low, high := offsets[e.low], offsets[e.low+e.n]
		if int64(high-low) > math.MaxInt32 {
			return errLongStrings
		}
		l.Data = from[low:high]
		l.Offsets = s.numbers(e.n + 1)
		for i := range l.Offsets {
			l.Offsets[i] = int32(offsets[e.low+i] - low)
		}
		return nil
	}
	return s.gather(l, e, func(at int) []byte { return from[offsets[at]:offsets[at+1]] })
}

// views sets l to copies of the byte arrays of d, an array of views.
func (s *Shredder) views(l *Leaf, d *array.Data, e *entries) error {
	views := elements[arrow.ViewHeader](d, 1)
	return s.gather(l, e, func(at int) []byte {
		view := &views[at]
		if view.IsInline() {
			return view.InlineBytes()
		}
		from := d.Buffers()[2+view.BufferIndex()].Bytes()[view.BufferOffset():]
		return from[:view.Len()]
	})
}

// gather sets l to copies of byte arrays. value returns the byte array at an index of the array, and does not copy it.
func (s *Shredder) gather(l *Leaf, e *entries, value func(at int) []byte) error {
	total := 0
	for at := range e.values {
		if total += len(value(at)); total > math.MaxInt32 {
			return errLongStrings
		}
	}
	l.Data, l.Offsets = s.Memory.Allocate(total), s.numbers(e.count()+1)
	l.Offsets[0] = 0
	end, to := 0, 1
	for at := range e.values {
		end += copy(l.Data[end:], value(at))
		l.Offsets[to] = int32(end)
		to++
	}
	return nil
}
