package tables

import (
	"bytes"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Maker makes arrays: it gathers some rows of checked arrays, and makes columns to add.
//
// An array that it gathers has no offset, and no values but those of its rows: nothing of a row that is left out gets
// into an output.
type Maker struct {
	Memory memory.Allocator
	// Share says that a gathered array may share those buffers of its source that it needs whole. Otherwise all buffers
	// are copied: a job that encodes a table again then takes up to 1.18 times the processor time.
	Share bool
	// Most is the most bytes that the values of a column that is added may have.
	Most int64
}

// Gather returns an array of some rows of a checked array, which may be in any order. A dictionary array becomes an
// array of its indices: see [WithDictionaries]. Values to which several rows refer, as views may, are copied once. The
// caller releases the result.
func (m Maker) Gather(d *array.Data, rows Rows) *array.Data {
	n := rows.Count()
	runs := rows.moved(d.Offset()) // counted from the buffers' beginning
	validity, nulls := m.validity(d, runs, n)
	finish := func(buffers []*memory.Buffer, children ...arrow.ArrayData) *array.Data {
		return newData(d.DataType(), n, append([]*memory.Buffer{validity}, buffers...), children, nulls)
	}
	switch dt := Storage(d.DataType()).(type) {
	case *arrow.NullType:
		return array.NewData(d.DataType(), n, []*memory.Buffer{nil}, nil, n, 0)
	case *arrow.DictionaryType:
		width := dt.IndexType.Layout().Buffers[valueBuffer].ByteWidth
		indices := m.fixed(d, valueBuffer, width, runs)
		return newData(dt.IndexType, n, []*memory.Buffer{validity, indices}, nil, nulls)
	case *arrow.BooleanType:
		if shared := m.shared(d, valueBuffer, n, runs); shared != nil {
			return finish(buffers(shared))
		}
		return finish(buffers(m.bits(bufferBytes(d, valueBuffer), runs, n)))
	case arrow.BinaryViewDataType:
		return finish(m.views(d, runs, bytesOf(validity)))
	case arrow.BinaryDataType:
		offsets, runs := m.offsets(d, dt.Layout().Buffers[offsetBuffer].ByteWidth, runs, n)
		return finish(buffers(offsets, m.fixed(d, dataBuffer, 1, runs)))
	case *arrow.ListType, *arrow.MapType, *arrow.LargeListType:
		offsets, runs := m.offsets(d, dt.Layout().Buffers[offsetBuffer].ByteWidth, runs, n)
		return finish(buffers(offsets), m.child(d, 0, runs))
	case *arrow.ListViewType, *arrow.LargeListViewType:
		views, runs := m.listViews(d, dt.Layout().Buffers[offsetBuffer].ByteWidth, runs, bytesOf(validity))
		return finish(views, m.child(d, 0, runs))
	case *arrow.FixedSizeListType:
		return finish(nil, m.child(d, 0, runs.Times(int(dt.Len()))))
	case *arrow.StructType:
		return finish(nil, m.children(d, runs)...)
	case *arrow.SparseUnionType:
		return finish(buffers(m.fixed(d, codeBuffer, 1, runs)), m.children(d, runs)...)
	case *arrow.DenseUnionType:
		return m.denseUnion(d, dt, runs, n)
	case *arrow.RunEndEncodedType:
		return finish(nil, m.runEnds(d, dt.RunEnds(), runs)...)
	default:
		return finish(buffers(m.fixed(d, valueBuffer, dt.Layout().Buffers[valueBuffer].ByteWidth, runs)))
	}
}

// buffers returns a list of buffers. One that an array lacks, such as a validity bitmap, is nil.
func buffers(b ...*memory.Buffer) []*memory.Buffer { return b }

// newData returns an array that takes over the buffers and children: the caller no longer releases them.
func newData(dt arrow.DataType, n int, buffers []*memory.Buffer, children []arrow.ArrayData, nulls int) *array.Data {
	data := array.NewData(dt, n, buffers, children, nulls, 0)
	memory.ReleaseBuffers(buffers)
	for _, child := range children {
		child.Release()
	}
	return data
}

// child gathers runs of values of child i.
func (m Maker) child(d *array.Data, i int, runs Rows) arrow.ArrayData {
	return m.Gather(d.Children()[i].(*array.Data), runs)
}

// children gathers runs of values of all children, which have a value for each of the array's.
func (m Maker) children(d *array.Data, runs Rows) []arrow.ArrayData {
	children := make([]arrow.ArrayData, len(d.Children()))
	for i := range children {
		children[i] = m.child(d, i, runs)
	}
	return children
}

// alloc returns a buffer of size bytes, which may have any content.
func (m Maker) alloc(size int) *memory.Buffer {
	buffer := memory.NewResizableBuffer(m.Memory)
	buffer.Resize(size)
	return buffer
}

// allocate returns a buffer of n zero elements, and the elements.
func allocate[T arrow.FixedWidthType | arrow.ViewHeader](m Maker, n int) (*memory.Buffer, []T) {
	buffer := m.alloc(n * int(unsafe.Sizeof(*new(T))))
	clear(buffer.Bytes())
	return buffer, arrow.GetData[T](buffer.Bytes())
}

// IsPadding reports whether rest, the bytes after a buffer's values, are taken for padding: at most 64, and all 0. Other
// bytes may be values of rows that are left out.
func IsPadding(rest []byte) bool {
	const most = 64
	return len(rest) <= most && len(bytes.TrimLeft(rest, "\x00")) == 0
}

// shared returns buffer i, retained, if it has nothing but the values of the runs: they begin with
// its first bit, and only padding follows them. Otherwise, or if buffers must not be shared, it returns nil.
// bits is the number of bits that the values take.
func (m Maker) shared(d *array.Data, i, bits int, runs Rows) *memory.Buffer {
	if !m.Share || len(runs) != 1 || runs[0].Low != 0 {
		return nil
	}
	content, need := bufferBytes(d, i), (bits+7)/8
	endsWithin := bits%8 > 0 // a byte, whose other bits must be 0 as well
	if len(content) < need || !IsPadding(content[need:]) || endsWithin && content[need-1]>>(bits%8) > 0 {
		return nil
	}
	d.Buffers()[i].Retain()
	return d.Buffers()[i]
}

// bits returns a copy of these runs of a bitmap, which have n bits.
func (m Maker) bits(bitmap []byte, runs Rows, n int) *memory.Buffer {
	buffer, to := allocate[uint8](m, int(bitutil.BytesForBits(int64(n))))
	runs.CopyBits(to, bitmap)
	return buffer
}

// validity returns the validity bitmap of n gathered values, copied or shared, and the number of nulls. The bitmap is nil
// if there are none.
func (m Maker) validity(d *array.Data, runs Rows, n int) (*memory.Buffer, int) {
	if !mayBeNull(d) {
		return nil, 0
	}
	if shared := m.shared(d, validityBuffer, n, runs); shared != nil {
		return unlessAllValid(shared, n)
	}
	return unlessAllValid(m.bits(bufferBytes(d, validityBuffer), runs, n), n)
}

// unlessAllValid returns a validity bitmap of n rows, and the number of nulls. If there are none, it releases
// the bitmap and returns nil.
func unlessAllValid(bitmap *memory.Buffer, n int) (*memory.Buffer, int) {
	nulls := n - bitutil.CountSetBits(bitmap.Bytes(), 0, n)
	if nulls == 0 {
		bitmap.Release()
		return nil, 0
	}
	return bitmap, nulls
}

// fixed returns the values in buffer i of these runs, of width bytes each, copied or shared.
func (m Maker) fixed(d *array.Data, i, width int, runs Rows) *memory.Buffer {
	if shared := m.shared(d, i, 8*runs.Count()*width, runs); shared != nil {
		return shared
	}
	return m.copied(d, i, width, runs)
}

// copied returns a copy of the values in buffer i of these runs, of width bytes each. The caller may change it.
func (m Maker) copied(d *array.Data, i, width int, runs Rows) *memory.Buffer {
	buffer := m.alloc(runs.Count() * width)
	runs.CopyValues(buffer.Bytes(), bufferBytes(d, i), width)
	return buffer
}

// offsets returns the offsets of n gathered rows, which have width bytes each and begin with 0, and the runs of the
// array's values that the rows have.
func (m Maker) offsets(d *array.Data, width int, runs Rows, n int) (*memory.Buffer, Rows) {
	from := bufferBytes(d, offsetBuffer)
	if shared := m.shared(d, offsetBuffer, 8*(n+1)*width, runs); shared != nil {
		first, _ := CheckOffsets(from[:width], width) // no error: they were checked
		end, _ := CheckOffsets(from[n*width:][:width], width)
		if first == 0 {
			return shared, Rows(nil).Add(0, end)
		}
		shared.Release()
	}
	buffer := m.alloc((n + 1) * width)
	return buffer, runs.MoveOffsets(buffer.Bytes(), from, width)
}

// listViews returns the gathered rows' offsets and sizes, of width bytes each, and the runs of the array's values that the
// rows have. valid is the gathered rows' validity.
func (m Maker) listViews(d *array.Data, width int, runs Rows, valid Valid) ([]*memory.Buffer, Rows) {
	offsets, sizes := m.copied(d, offsetBuffer, width, runs), m.copied(d, sizeBuffer, width, runs)
	values, err := valid.MoveLists(offsets.Bytes(), sizes.Bytes(), width)
	mustBeChecked(err)
	return buffers(offsets, sizes), values
}

// mustBeChecked panics with an error, unless it is nil: a checked array does not have it.
func mustBeChecked(err error) {
	if err != nil {
		panic(err)
	}
}

// views returns the gathered rows' views, and then the buffers of bytes to which they refer, with those bytes alone.
// valid is the gathered rows' validity.
func (m Maker) views(d *array.Data, runs Rows, valid Valid) []*memory.Buffer {
	all := buffers(m.copied(d, viewBuffer, arrow.ViewHeaderSizeBytes, runs))
	used, err := valid.MoveViews(all[0].Bytes(), len(d.Buffers())-dataBuffer)
	mustBeChecked(err)
	for i, bytes := range used {
		if bytes != nil {
			all = append(all, m.fixed(d, dataBuffer+i, 1, bytes))
		}
	}
	return all
}

// denseUnion gathers n rows of a dense union, with the values to which they refer. A code has one byte, and an offset
// has 4.
func (m Maker) denseUnion(d *array.Data, dt *arrow.DenseUnionType, runs Rows, n int) *array.Data {
	codes, offsets := m.fixed(d, codeBuffer, 1, runs), m.copied(d, unionOffsetBuffer, 4, runs)
	used, err := MoveUnion(codes.Bytes(), offsets.Bytes(), dt.TypeCodes())
	mustBeChecked(err)
	children := make([]arrow.ArrayData, len(used))
	for i := range used {
		children[i] = m.child(d, i, used[i])
	}
	return newData(d.DataType(), n, buffers(nil, codes, offsets), children, 0) // a union has no nulls of its own
}

// runEnds returns the children of gathered rows of a run-end encoded array: the ends, of type dt, and the values. Rows of
// one run remain one run.
func (m Maker) runEnds(d *array.Data, dt arrow.DataType, runs Rows) []arrow.ArrayData {
	ends, width := d.Children()[0].(*array.Data), dt.(arrow.FixedWidthDataType).Bytes()
	buffer := m.alloc(runs.Count() * width)
	from := bufferBytes(ends, 1)[ends.Offset()*width:][:ends.Len()*width]
	values, err := runs.MoveRunEnds(buffer.Bytes(), from, width, d.Offset()+d.Len())
	mustBeChecked(err)
	made := values.Count()
	buffer.Resize(made * width)
	return []arrow.ArrayData{newData(dt, made, buffers(nil, buffer), nil, 0), m.child(d, 1, values)}
}

// bytesOf returns a buffer's bytes, nil for none.
func bytesOf(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}
