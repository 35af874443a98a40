package tables

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Plain returns a checked array with a value for each row in place of a dictionary or run ends; d itself, retained, if it
// has neither. Children of the values stay encoded. The caller releases the result.
func Plain(d *array.Data, mem memory.Allocator) *array.Data {
	var plain *array.Data
	switch Storage(d.DataType()).(type) {
	case *arrow.DictionaryType:
		plain = Maker{Memory: mem}.decodeDictionary(d)
	case *arrow.RunEndEncodedType:
		plain = Maker{Memory: mem}.decodeRunEnds(d)
	default:
		d.Retain()
		return d
	}
	defer plain.Release()
	return Plain(plain, mem) // the values may be encoded again
}

// decodeRunEnds returns the values of a run-end encoded array, one for each row. The caller releases them.
func (m Maker) decodeRunEnds(d *array.Data) *array.Data {
	ends, err := runEnds(d)
	mustBeChecked(err)
	values := d.Children()[1].(*array.Data)
	chosen := make(Rows, 0, d.Len()) // the index of each row's value
	run := 0                         // that has the row
	for row := d.Offset(); row < d.Offset()+d.Len(); row++ {
		for ends[run] <= int64(row) {
			run++
		}
		chosen = append(chosen, Run{run, run + 1})
	}
	rows := m.Gather(values, chosen)
	defer rows.Release()
	return WithDictionaries(rows, values)
}

// decodeDictionary returns the entries to which the rows of a dictionary array refer, one for each row: null if the row
// or its entry is null. The caller releases them.
func (m Maker) decodeDictionary(d *array.Data) *array.Data {
	dictionary := d.Dictionary().(*array.Data)
	if _, ok := Storage(dictionary.DataType()).(*arrow.RunEndEncodedType); ok {
		dictionary = m.decodeRunEnds(dictionary) // Gather would keep run ends, whose type may be too small for the rows of d
		defer dictionary.Release()
	}
	valueType := dictionary.DataType()
	if dictionary.Len() == 0 { // all rows are null
		b := array.NewBuilder(m.Memory, valueType) // not MakeArrayOfNull, which knows no views
		defer b.Release()
		b.AppendNulls(d.Len())
		nulls := b.NewArray()
		defer nulls.Release()
		nulls.Data().Retain()
		return nulls.Data().(*array.Data)
	}
	chosen, err := indices(d)
	mustBeChecked(err)
	runs := make(Rows, len(chosen))
	for i, entry := range chosen {
		runs[i] = Run{int(entry), int(entry) + 1}
	}
	rows := m.Gather(dictionary, runs)
	defer rows.Release()
	values := WithDictionaries(rows, dictionary)
	defer values.Release()
	valid := dictionaryValidity(d, chosen, dictionary)
	nulls := d.Len() - bitutil.CountSetBits(valid, 0, d.Len())
	if nulls == 0 || valueType.ID() == arrow.NULL { // an array of nulls has no bitmap
		values.Retain()
		return values
	}
	return withValidity(values, valid, nulls)
}

// FieldOf returns field i of a checked array of structs: a value for each struct, null if the struct is null. It shares
// the memory of outer, and is valid as long as that. If structs may be null, it has a validity bitmap of its own, and a
// run-end encoded field, which cannot have one, is decoded.
func FieldOf(outer *array.Data, i int) *array.Data {
	from := outer.Offset()
	d := array.NewSliceData(outer.Children()[i], int64(from), int64(from+outer.Len())).(*array.Data)
	if !mayBeNull(outer) {
		return d
	}
	if _, encoded := Storage(d.DataType()).(*arrow.RunEndEncodedType); encoded {
		d = Plain(d, memory.NewGoAllocator())
	}
	if d.DataType().ID() == arrow.NULL { // such an array has no bitmap
		return d
	}
	n, at := int64(d.Len()), int64(d.Offset()) // the values stay where they lie, so the new bitmap begins with at unused bits
	valid := make([]byte, bitutil.BytesForBits(at+n))
	bitutil.CopyBitmap(bufferBytes(outer, 0), from, int(n), valid, int(at))
	if mayBeNull(d) {
		own := bufferBytes(d, validityBuffer)
		for i := at / 8; i < int64(len(valid)); i++ { // bitutil.BitmapAnd leaves the last byte out where rows end with it
			valid[i] &= own[i]
		}
	}
	return withValidity(d, valid, array.UnknownNullCount)
}

// withValidity returns an array with the values of d and another validity bitmap, with this number of nulls.
func withValidity(d *array.Data, valid []byte, nulls int) *array.Data {
	buffers := append([]*memory.Buffer{memory.NewBufferBytes(valid)}, d.Buffers()[validityBuffer+1:]...)
	changed := array.NewData(d.DataType(), d.Len(), buffers, d.Children(), nulls, d.Offset())
	changed.SetDictionary(d.Dictionary()) // nil unless the values are dictionary-encoded
	return changed
}
