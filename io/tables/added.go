package tables

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Most columns that are added have few different values. They are made of these values and an index: row i has value
// index[i], or null if that is negative. The caller releases the columns.

// ErrMost is returned for a column whose values take more than Maker.Most bytes.
var ErrMost = &LimitError{What: "a row takes more memory than it may", Help: MoreMemory}

// Booleans returns a boolean column, whose index has 0 for false, 1 for true, and a negative number for null.
func (m Maker) Booleans(index []int32) *array.Data {
	validity, nulls := m.indexValidity(index)
	return newData(arrow.FixedWidthTypes.Boolean, len(index), buffers(validity, m.atLeast(index, 1)), nil, nulls)
}

// Fixed returns a column of type dt, whose values are stored as T: row i has values[index[i]], converted, or null if the
// index is negative.
func Fixed[F int64 | float64, T int32 | int64 | float64](m Maker, dt arrow.DataType, values []F, index []int32, convert func(F) T) *array.Data {
	validity, nulls := m.indexValidity(index)
	buffer, to := allocate[T](m, len(index))
	for row, i := range index {
		if i >= 0 {
			to[row] = convert(values[i])
		}
	}
	return newData(dt, len(index), buffers(validity, buffer), nil, nulls)
}

// Bits returns a boolean column of these rows of two bitmaps: values, and valid, which has a 0 for null.
func (m Maker) Bits(values, valid []byte, rows Rows) *array.Data {
	n := rows.Count()
	validity, nulls := unlessAllValid(m.bits(valid, rows, n), n)
	return newData(arrow.FixedWidthTypes.Boolean, n, buffers(validity, m.bits(values, rows, n)), nil, nulls)
}

// indexValidity returns the validity bitmap of a column with this index, and the number of nulls. The bitmap is nil if
// there are none.
func (m Maker) indexValidity(index []int32) (*memory.Buffer, int) {
	return unlessAllValid(m.atLeast(index, 0), len(index))
}

// atLeast returns a bitmap of the rows, with a 1 for those whose index is least or more.
func (m Maker) atLeast(index []int32, least int32) *memory.Buffer {
	buffer, bits := allocate[uint8](m, (len(index)+7)/8)
	for i, value := range index {
		if value >= least {
			bits[i>>3] |= 1 << (i & 7)
		}
	}
	return buffer
}

// checkSize returns ErrMost if a column cannot have this number of bytes of values, because of Most or because its
// offsets have 32 bits.
func (m Maker) checkSize(bytes int64) error {
	if bytes > min(m.Most, math.MaxInt32) {
		return ErrMost
	}
	return nil
}

// Texts returns a utf8 column: row i has texts[index[i]], or null if the index is negative.
func (m Maker) Texts(texts []string, index []int32) (*array.Data, error) {
	total := int64(0)
	for _, i := range index {
		if i >= 0 {
			total += int64(len(texts[i]))
		}
	}
	if err := m.checkSize(total); err != nil {
		return nil, err
	}
	validity, nulls := m.indexValidity(index)
	offsetBuffer, offsets := allocate[int32](m, len(index)+1)
	data := m.alloc(int(total))
	to, at := data.Bytes(), 0 // at: the end of the texts so far
	for row, i := range index {
		if i >= 0 {
			at += copy(to[at:], texts[i])
		}
		offsets[row+1] = int32(at)
	}
	return newData(arrow.BinaryTypes.String, len(index), buffers(validity, offsetBuffer, data), nil, nulls), nil
}

// Strings returns a utf8 column of these rows of s.
func (m Maker) Strings(s *Strings, rows Rows) (*array.Data, error) {
	total, nulls := int64(0), 0 // bytes of texts, and null rows
	for _, r := range rows {
		for i := r.Low; i < r.High; i++ {
			if s.null(i) {
				nulls++
			} else {
				total += int64(len(s.value(i)))
			}
		}
	}
	if err := m.checkSize(total); err != nil {
		return nil, err
	}
	n := rows.Count()
	var validity *memory.Buffer
	if nulls > 0 {
		validity = m.bits(s.Validity, rows.moved(s.ValidityOffset), n)
	}
	offsetBuffer, offsets := allocate[int32](m, n+1)
	data := m.alloc(int(total))
	to, at, next := data.Bytes(), 0, 1 // at: the end of the texts so far; next: index of the next offset
	for _, r := range rows {
		for i := r.Low; i < r.High; i++ {
			if !s.null(i) {
				at += copy(to[at:], s.value(i))
			}
			offsets[next] = int32(at)
			next++
		}
	}
	return newData(arrow.BinaryTypes.String, n, buffers(validity, offsetBuffer, data), nil, nulls), nil
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
