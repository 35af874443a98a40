package tables

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// FieldOf returns field i of a checked array of structs: a value for each struct, null where the struct is. It is
// valid as long as outer, whose memory it shares but for a validity bitmap if structs may be null. A field with
// run ends is then decoded, because it has no bitmap of its own.
func FieldOf(outer *array.Data, i int) *array.Data {
	from := outer.Offset()
	d := array.NewSliceData(outer.Children()[i], int64(from), int64(from+outer.Len())).(*array.Data)
	if !mayBeNull(outer) {
		return d
	}
	if _, encoded := Storage(d.DataType()).(*arrow.RunEndEncodedType); encoded {
		d = Plain(d, memory.NewGoAllocator())
	}
	if d.DataType().ID() == arrow.NULL {
		return d
	}
	n, at := int64(d.Len()), int64(d.Offset())
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
