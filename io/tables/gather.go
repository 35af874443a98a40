package tables

import (
	"bytes"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Maker makes arrays: of some rows of others, and of columns to add.
//
// An array that it gathers has these rows alone: no offset, and no values that no row refers to. So
// the library's writer never sees slices, some of which it writes wrongly. Arrays must have been
// checked.
type Maker struct {
	Memory memory.Allocator
	// Share says that a gathered array may share a buffer of which all is needed. Otherwise all buffers
	// are copied.
	Share bool
	// Most is the most bytes that the values of a column that is added may have.
	Most int64
}

// Gather returns some rows of an array. A dictionary array becomes an array of its indices: see
// WithDictionaries. Values to which several rows refer, as views may, are copied once. The
// caller releases the result.
func (g Maker) Gather(d *array.Data, rows Rows) *array.Data {
	n := rows.Count()
	runs := rows.moved(d.Offset()) // from the buffers' beginning
	validity, nulls := g.validity(d, runs, n)
	finish := func(buffers []*memory.Buffer, children ...arrow.ArrayData) *array.Data {
		return newData(d.DataType(), n, append([]*memory.Buffer{validity}, buffers...), children, nulls)
	}
	switch dt := Storage(d.DataType()).(type) {
	case *arrow.NullType:
		return array.NewData(d.DataType(), n, []*memory.Buffer{nil}, nil, n, 0)
	case *arrow.DictionaryType:
		width := dt.IndexType.Layout().Buffers[1].ByteWidth
		indices := g.fixed(d, 1, width, runs)
		return newData(dt.IndexType, n, []*memory.Buffer{validity, indices}, nil, nulls)
	case *arrow.BooleanType:
		if whole := g.whole(d, 1, n, runs); whole != nil {
			return finish(buffers(whole))
		}
		return finish(buffers(g.bits(bufferBytes(d, 1), runs, n)))
	case arrow.BinaryViewDataType:
		return finish(g.views(d, runs, bytesOf(validity)))
	case arrow.BinaryDataType:
		offsets, runs := g.offsets(d, dt.Layout().Buffers[1].ByteWidth, runs, n)
		return finish(buffers(offsets, g.fixed(d, 2, 1, runs)))
	case *arrow.ListType, *arrow.MapType, *arrow.LargeListType:
		offsets, runs := g.offsets(d, dt.Layout().Buffers[1].ByteWidth, runs, n)
		return finish(buffers(offsets), g.child(d, 0, runs))
	case *arrow.ListViewType, *arrow.LargeListViewType:
		views, runs := g.listViews(d, dt.Layout().Buffers[1].ByteWidth, runs, bytesOf(validity))
		return finish(views, g.child(d, 0, runs))
	case *arrow.FixedSizeListType:
		return finish(nil, g.child(d, 0, runs.Times(int(dt.Len()))))
	case *arrow.StructType:
		return finish(nil, g.children(d, runs)...)
	case *arrow.SparseUnionType:
		return finish(buffers(g.fixed(d, 1, 1, runs)), g.children(d, runs)...)
	case *arrow.DenseUnionType:
		return g.denseUnion(d, dt, runs, n)
	case *arrow.RunEndEncodedType:
		return finish(nil, g.runEnds(d, dt.RunEnds(), runs)...)
	default:
		return finish(buffers(g.fixed(d, 1, dt.Layout().Buffers[1].ByteWidth, runs)))
	}
}

func buffers(b ...*memory.Buffer) []*memory.Buffer { return b }

// newData returns array data that owns the buffers and children.
func newData(dt arrow.DataType, n int, buffers []*memory.Buffer, children []arrow.ArrayData, nulls int) *array.Data {
	data := array.NewData(dt, n, buffers, children, nulls, 0)
	memory.ReleaseBuffers(buffers)
	for _, child := range children {
		child.Release()
	}
	return data
}

// child returns the runs of values of child i. The runs count from its first value on, its offset apart.
func (g Maker) child(d *array.Data, i int, runs Rows) arrow.ArrayData {
	return g.Gather(d.Children()[i].(*array.Data), runs)
}

// children returns the runs of values of all children, which have a value for each of the array's.
func (g Maker) children(d *array.Data, runs Rows) []arrow.ArrayData {
	children := make([]arrow.ArrayData, len(d.Children()))
	for i := range children {
		children[i] = g.child(d, i, runs)
	}
	return children
}

// alloc returns a buffer of size bytes.
func (g Maker) alloc(size int) *memory.Buffer {
	buffer := memory.NewResizableBuffer(g.Memory)
	buffer.Resize(size)
	return buffer
}

// allocate returns a buffer of n zero elements, and the elements.
func allocate[T arrow.FixedWidthType | arrow.ViewHeader](g Maker, n int) (*memory.Buffer, []T) {
	buffer := g.alloc(n * int(unsafe.Sizeof(*new(T))))
	clear(buffer.Bytes())
	return buffer, arrow.GetData[T](buffer.Bytes())
}

// maxPadding is the most padding that usually follows a buffer's values.
const maxPadding = 64

// whole returns buffer i without a copy, or nil if it must be copied. bits is the number of bits that
// the values of the runs take. It may be shared if they are all that the buffer has: they begin with
// its first bit, and nothing but padding follows them.
func (g Maker) whole(d *array.Data, i, bits int, runs Rows) *memory.Buffer {
	if !g.Share || len(runs) != 1 || runs[0].Low != 0 {
		return nil
	}
	if n := int(bufferLen(d, i)); 8*n < bits || n > (bits+7)/8+maxPadding || !zeroFrom(bufferBytes(d, i), bits) {
		return nil
	}
	d.Buffers()[i].Retain()
	return d.Buffers()[i]
}

// zeroFrom reports whether all bits from one on are 0.
func zeroFrom(b []byte, bit int) bool {
	if bit%8 > 0 && b[bit/8]>>(bit%8) > 0 {
		return false
	}
	return len(bytes.TrimLeft(b[(bit+7)/8:], "\x00")) == 0
}

// bits copies runs of a bitmap, n bits in all.
func (g Maker) bits(bitmap []byte, runs Rows, n int) *memory.Buffer {
	buffer, to := allocate[uint8](g, int(bitutil.BytesForBits(int64(n))))
	runs.CopyBits(to, bitmap)
	return buffer
}

// validity copies the validity bitmap, and returns the number of nulls. The result is nil if there are
// none.
func (g Maker) validity(d *array.Data, runs Rows, n int) (*memory.Buffer, int) {
	if !mayBeNull(d) {
		return nil, 0
	}
	if whole := g.whole(d, 0, n, runs); whole != nil {
		return orNone(whole, n)
	}
	return orNone(g.bits(bufferBytes(d, 0), runs, n), n)
}

// orNone returns the validity bitmap of n rows, and the number of nulls. If there are none, it releases
// the bitmap and returns nil.
func orNone(bitmap *memory.Buffer, n int) (*memory.Buffer, int) {
	nulls := n - bitutil.CountSetBits(bitmap.Bytes(), 0, n)
	if nulls == 0 {
		bitmap.Release()
		return nil, 0
	}
	return bitmap, nulls
}

// fixed copies or shares runs of values of width bytes of buffer i.
func (g Maker) fixed(d *array.Data, i, width int, runs Rows) *memory.Buffer {
	if whole := g.whole(d, i, 8*runs.Count()*width, runs); whole != nil {
		return whole
	}
	return g.copied(d, i, width, runs)
}

// copied is fixed for a buffer that is changed: it is never shared.
func (g Maker) copied(d *array.Data, i, width int, runs Rows) *memory.Buffer {
	buffer := g.alloc(runs.Count() * width)
	runs.CopyValues(buffer.Bytes(), bufferBytes(d, i), width)
	return buffer
}

// offsets returns the n rows' offsets, which begin with 0, and the runs of their values.
func (g Maker) offsets(d *array.Data, width int, runs Rows, n int) (*memory.Buffer, Rows) {
	from := bufferBytes(d, 1)
	if whole := g.whole(d, 1, 8*(n+1)*width, runs); whole != nil {
		if zeroFrom(from[:width], 0) {
			end, _ := CheckOffsets(from[n*width:][:width], width) // it was checked
			return whole, Rows(nil).Add(0, end)
		}
		whole.Release()
	}
	buffer := g.alloc((n + 1) * width)
	return buffer, runs.MoveOffsets(buffer.Bytes(), from, width)
}

// listViews returns the rows' offsets and sizes, and the runs of their values.
func (g Maker) listViews(d *array.Data, width int, runs Rows, valid Valid) ([]*memory.Buffer, Rows) {
	offsets, sizes := g.copied(d, 1, width, runs), g.copied(d, 2, width, runs)
	values, err := valid.MoveLists(offsets.Bytes(), sizes.Bytes(), width)
	mustBeChecked(err)
	return buffers(offsets, sizes), values
}

// mustBeChecked panics if an array was not checked.
func mustBeChecked(err error) {
	if err != nil {
		panic(err)
	}
}

// views returns the buffers of views: the rows' views, and the used part of each buffer that they point
// into. valid is the rows' validity.
func (g Maker) views(d *array.Data, runs Rows, valid Valid) []*memory.Buffer {
	all := buffers(g.copied(d, 1, arrow.ViewHeaderSizeBytes, runs))
	used, err := valid.MoveViews(all[0].Bytes(), len(d.Buffers())-2)
	mustBeChecked(err)
	for i, bytes := range used {
		if bytes != nil {
			all = append(all, g.fixed(d, 2+i, 1, bytes))
		}
	}
	return all
}

// denseUnion returns the rows with the values that they point to.
func (g Maker) denseUnion(d *array.Data, dt *arrow.DenseUnionType, runs Rows, n int) *array.Data {
	codes, offsets := g.fixed(d, 1, 1, runs), g.copied(d, 2, 4, runs)
	used, err := MoveUnion(codes.Bytes(), offsets.Bytes(), dt.TypeCodes())
	mustBeChecked(err)
	children := make([]arrow.ArrayData, len(used))
	for i := range used {
		children[i] = g.child(d, i, used[i])
	}
	return newData(d.DataType(), n, buffers(nil, codes, offsets), children, 0)
}

// runEnds returns the children of rows with run ends of type dt: the ends and the values. Rows of one
// run remain one.
func (g Maker) runEnds(d *array.Data, dt arrow.DataType, runs Rows) []arrow.ArrayData {
	ends, width := d.Children()[0].(*array.Data), dt.(arrow.FixedWidthDataType).Bytes()
	buffer := g.alloc(runs.Count() * width)
	from := bufferBytes(ends, 1)[ends.Offset()*width:][:ends.Len()*width]
	values, err := runs.MoveRunEnds(buffer.Bytes(), from, width, d.Offset()+d.Len())
	mustBeChecked(err)
	made := values.Count()
	buffer.Resize(made * width)
	return []arrow.ArrayData{newData(dt, made, buffers(nil, buffer), nil, 0), g.child(d, 1, values)}
}

// bytesOf returns a buffer's bytes, nil for none.
func bytesOf(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}
