package tables

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Columns to add are made by index: the value of row i is entry index[i] of some values, null where
// that is negative. The caller releases them.

// ErrMost says that a column takes more than Maker.Most bytes.
var ErrMost = &LimitError{What: "a row takes more memory than it may", Help: MoreMemory}

// Booleans returns a column of index: 0 for false, 1 for true, null where it is negative.
func (g Maker) Booleans(index []int32) *array.Data {
	valid, nulls := g.present(index)
	return newData(arrow.FixedWidthTypes.Boolean, len(index), buffers(valid, g.atLeast(index, 1)), nil, nulls)
}

// Fixed returns a column of type dt of the converted values of index, null where it is negative.
func Fixed[F int64 | float64, T int32 | int64 | float64](g Maker, dt arrow.DataType, values []F, index []int32, convert func(F) T) *array.Data {
	valid, nulls := g.present(index)
	buffer, to := allocate[T](g, len(index))
	for row, of := range index {
		if of >= 0 {
			to[row] = convert(values[of])
		}
	}
	return newData(dt, len(index), buffers(valid, buffer), nil, nulls)
}

// Bits returns a boolean column of some rows of two bitmaps: values, and valid, which has a 0 for null.
func (g Maker) Bits(values, valid []byte, rows Rows) *array.Data {
	n := rows.Count()
	validity, nulls := orNone(g.bits(valid, rows, n), n)
	return newData(arrow.FixedWidthTypes.Boolean, n, buffers(validity, g.bits(values, rows, n)), nil, nulls)
}

// present returns the validity bitmap of a column with this index, and the number of nulls. It is nil
// if there are none.
func (g Maker) present(index []int32) (*memory.Buffer, int) {
	return orNone(g.atLeast(index, 0), len(index))
}

// atLeast returns a bitmap with a bit for each row: 1 if its index is least or more.
func (g Maker) atLeast(index []int32, least int32) *memory.Buffer {
	buffer, bits := allocate[uint8](g, (len(index)+7)/8)
	for i, value := range index {
		if value >= least {
			bits[i>>3] |= 1 << (i & 7)
		}
	}
	return buffer
}

// checkSize returns ErrMost if the values of a column take more bytes than Most, or than 32-bit offsets
// reach.
func (g Maker) checkSize(bytes int64) error {
	if bytes > min(g.Most, math.MaxInt32) {
		return ErrMost
	}
	return nil
}

// Texts returns a utf8 column of the texts of index, null where it is negative.
func (g Maker) Texts(texts []string, index []int32) (*array.Data, error) {
	total := int64(0)
	for _, i := range index {
		if i >= 0 {
			total += int64(len(texts[i]))
		}
	}
	if err := g.checkSize(total); err != nil {
		return nil, err
	}
	valid, nulls := g.present(index)
	offsetBuffer, offsets := allocate[int32](g, len(index)+1)
	data := g.alloc(int(total))
	to, at := data.Bytes(), 0
	for row, i := range index {
		if i >= 0 {
			at += copy(to[at:], texts[i])
		}
		offsets[row+1] = int32(at)
	}
	return newData(arrow.BinaryTypes.String, len(index), buffers(valid, offsetBuffer, data), nil, nulls), nil
}

// Strings returns a utf8 column of some rows of s.
func (g Maker) Strings(s *Strings, runs Rows) (*array.Data, error) {
	total, nulls := int64(0), 0
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			if s.null(i) {
				nulls++
			} else {
				total += int64(len(s.value(i)))
			}
		}
	}
	if err := g.checkSize(total); err != nil {
		return nil, err
	}
	n := runs.Count()
	var valid *memory.Buffer
	if nulls > 0 {
		valid = g.bits(s.Validity, runs.moved(s.ValidityOffset), n)
	}
	offsetBuffer, offsets := allocate[int32](g, n+1)
	data := g.alloc(int(total))
	to, at, row := data.Bytes(), 0, 1
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			if !s.null(i) {
				at += copy(to[at:], s.value(i))
			}
			offsets[row] = int32(at)
			row++
		}
	}
	return newData(arrow.BinaryTypes.String, n, buffers(valid, offsetBuffer, data), nil, nulls), nil
}

// null reports whether row i is null.
func (s *Strings) null(i int) bool {
	i += s.ValidityOffset
	return s.Validity != nil && s.Validity[i>>3]>>(i&7)&1 == 0
}

// value returns the value of row i, which is not null.
func (s *Strings) value(i int) []byte {
	if s.Indices != nil {
		i = int(s.Indices[i])
	}
	if s.Offsets64 != nil {
		return s.Data[s.Offsets64[i]:s.Offsets64[i+1]]
	}
	return s.Data[s.Offsets32[i]:s.Offsets32[i+1]]
}
