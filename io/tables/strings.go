package tables

import (
	"errors"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// Strings are the texts of a column where they lie: value i is Data[Offsets[i]:Offsets[i+1]].
// Exactly one of Offsets32 and Offsets64 is not nil.
type Strings struct {
	Offsets32 []int32
	Offsets64 []int64
	Data      []byte
	// Validity has a bit a row, the lowest of a byte first, 0 for null, from bit
	// ValidityOffset on; nil means that there is no null.
	Validity       []byte
	ValidityOffset int
	// Indices, unless nil, has the index of each row's value; that of a null row may be anything. If it is nil, row i has
	// value i.
	Indices []int32
}

// StringsOf returns the texts of a checked array of strings or bytes, or of a dictionary of
// these, in its memory. Of views it makes a copy, of at most limit bytes besides those in the views.
func StringsOf(d *array.Data, limit int64) (Strings, error) {
	if _, ok := Storage(d.DataType()).(*arrow.DictionaryType); ok {
		return dictionaryColumn(d, limit)
	}
	return stringColumn(d, limit)
}

// stringColumn returns the texts of an array of strings or bytes.
func stringColumn(d *array.Data, limit int64) (column Strings, err error) {
	switch Storage(d.DataType()).ID() {
	case arrow.STRING, arrow.BINARY:
		column.Offsets32, err = valueOffsets[int32](d)
		column.Data = bufferBytes(d, dataBuffer)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		column.Offsets64, err = valueOffsets[int64](d)
		column.Data = bufferBytes(d, dataBuffer)
	default:
		column, err = viewColumn(d, limit)
	}
	if mayBeNull(d) {
		column.Validity, column.ValidityOffset = bufferBytes(d, validityBuffer), d.Offset()
	}
	return column, err
}

// dictionaryColumn returns the texts of a dictionary array: those of the dictionary, with the rows' indices into
// them.
func dictionaryColumn(d *array.Data, limit int64) (Strings, error) {
	dictionary := d.Dictionary().(*array.Data)
	column, err := stringColumn(dictionary, limit)
	if err != nil {
		return column, err
	}
	if column.Indices, err = indices(d); err != nil {
		return column, err
	}
	switch {
	case mayBeNull(dictionary):
		column.Validity, column.ValidityOffset = dictionaryValidity(d, column.Indices, dictionary), 0
	case mayBeNull(d):
		column.Validity, column.ValidityOffset = bufferBytes(d, validityBuffer), d.Offset()
	}
	return column, nil
}

// valueOffsets returns the offsets of an array's values, one more than there are values, in its memory.
func valueOffsets[T int32 | int64](d *array.Data) ([]T, error) {
	if d.Len() == 0 { // such an array may have no offset at all
		return []T{0}, nil
	}
	offsets, err := values[T](d, offsetBuffer, d.Offset()+d.Len()+1)
	if err != nil {
		return nil, err
	}
	return offsets[d.Offset():], nil
}

// bufferBytes returns the bytes of buffer i, nil if there are none.
func bufferBytes(d *array.Data, i int) []byte {
	if bufferLen(d, i) == 0 {
		return nil
	}
	return d.Buffers()[i].Bytes()
}

// viewColumn returns copies of the values of an array of views. limit is as in StringsOf.
func viewColumn(d *array.Data, limit int64) (Strings, error) {
	views, err := values[arrow.ViewHeader](d, viewBuffer, d.Offset()+d.Len())
	if err != nil {
		return Strings{}, err
	}
	column := Strings{Offsets64: make([]int64, 1, d.Len()+1)}
	for i := d.Offset(); i < len(views); i++ {
		view := &views[i]
		switch {
		case isNull(d, i):
		case view.IsInline():
			column.Data = append(column.Data, view.InlineBytes()...)
		default:
			if int64(len(column.Data))+int64(view.Len()) > limit {
				return Strings{}, TooLarge("its strings take more than %d bytes", limit)
			}
			from := d.Buffers()[dataBuffer+view.BufferIndex()].Bytes()[view.BufferOffset():]
			column.Data = append(column.Data, from[:view.Len()]...)
		}
		column.Offsets64 = append(column.Offsets64, int64(len(column.Data)))
	}
	return column, nil
}

// dictionaryValidity returns the validity bitmap of a dictionary array's texts: 0 for a row that is null, or whose entry
// in the dictionary is.
func dictionaryValidity(d *array.Data, indices []int32, dictionary *array.Data) []byte {
	bits := make([]byte, bitutil.BytesForBits(int64(len(indices))))
	for i, index := range indices {
		if !isNull(d, d.Offset()+i) && !isNull(dictionary, dictionary.Offset()+int(index)) {
			bitutil.SetBit(bits, i)
		}
	}
	return bits
}

// indexType has the functions for dictionary arrays with indices of one type.
type indexType struct {
	check   func(d *array.Data, end int, limit uint64) error
	convert func(d *array.Data) ([]int32, error)
}

// indexTypeOf returns the indexType of T.
func indexTypeOf[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64]() indexType {
	return indexType{checkIndices[T], convertIndices[T]}
}

// indexTypes has the functions for each type of indices.
var indexTypes = map[arrow.Type]indexType{
	arrow.INT8: indexTypeOf[int8](), arrow.INT16: indexTypeOf[int16](), arrow.INT32: indexTypeOf[int32](), arrow.INT64: indexTypeOf[int64](),
	arrow.UINT8: indexTypeOf[uint8](), arrow.UINT16: indexTypeOf[uint16](), arrow.UINT32: indexTypeOf[uint32](), arrow.UINT64: indexTypeOf[uint64](),
}

// indices returns the rows' indices into a dictionary as 32-bit numbers, 0 where a row is null.
func indices(d *array.Data) ([]int32, error) {
	return indexTypes[Storage(d.DataType()).(*arrow.DictionaryType).IndexType.ID()].convert(d)
}

// convertIndices is indices for an array with indices of type T.
func convertIndices[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](d *array.Data) ([]int32, error) {
	from, err := values[T](d, valueBuffer, d.Offset()+d.Len())
	if err != nil {
		return nil, err
	}
	to := make([]int32, d.Len())
	for i := range to {
		index := from[d.Offset()+i]
		if isNull(d, d.Offset()+i) {
			continue
		}
		if uint64(index) > math.MaxInt32 {
			return nil, errors.New("the dictionary has more than 2,147,483,647 entries")
		}
		to[i] = int32(index)
	}
	return to, nil
}
