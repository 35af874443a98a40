package tables

import (
	"slices"
	"sort"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Maker makes arrays: of rows of others, and of columns to add.
//
// An array that it gathers has only the rows that are kept: no offset, and no values that no
// row refers to. So the library's writer never sees slices, some of which it writes wrongly.
// Buffers are copied, or shared if all of one is needed. Arrays must have been checked.
type Maker struct {
	Memory memory.Allocator
	// Share allows using whole buffers without a copy.
	Share bool
	// Most is the most bytes of a column of texts that is added.
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
	case *arrow.BinaryType, *arrow.StringType:
		offsets, runs := gatherOffsets[int32](g, d, runs, n)
		return finish(buffers(offsets, g.fixed(d, 2, 1, runs)))
	case *arrow.LargeBinaryType, *arrow.LargeStringType:
		offsets, runs := gatherOffsets[int64](g, d, runs, n)
		return finish(buffers(offsets, g.fixed(d, 2, 1, runs)))
	case arrow.BinaryViewDataType:
		return finish(g.views(d, runs, n))
	case *arrow.ListType, *arrow.MapType:
		offsets, runs := gatherOffsets[int32](g, d, runs, n)
		return finish(buffers(offsets), g.child(d, 0, runs))
	case *arrow.LargeListType:
		offsets, runs := gatherOffsets[int64](g, d, runs, n)
		return finish(buffers(offsets), g.child(d, 0, runs))
	case *arrow.ListViewType:
		views, runs := gatherListViews[int32](g, d, runs, n)
		return finish(views, g.child(d, 0, runs))
	case *arrow.LargeListViewType:
		views, runs := gatherListViews[int64](g, d, runs, n)
		return finish(views, g.child(d, 0, runs))
	case *arrow.FixedSizeListType:
		values := make(Rows, len(runs))
		for i, r := range runs {
			values[i] = Run{r.Low * int(dt.Len()), r.High * int(dt.Len())}
		}
		return finish(nil, g.child(d, 0, values))
	case *arrow.StructType:
		return finish(nil, g.children(d, runs)...)
	case *arrow.SparseUnionType:
		return finish(buffers(g.fixed(d, 1, 1, runs)), g.children(d, runs)...)
	case *arrow.DenseUnionType:
		offsets, children := g.denseUnion(d, dt, runs, n)
		return finish(buffers(g.fixed(d, 1, 1, runs), offsets), children...)
	case *arrow.RunEndEncodedType:
		return finish(nil, g.runEndEncoded(d, runs)...)
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

func (g Maker) child(d *array.Data, i int, runs Rows) arrow.ArrayData {
	return g.Gather(d.Children()[i].(*array.Data), runs)
}

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

// whole returns buffer i without a copy if sharing is allowed and the runs cover all
// its values, which take that many bits and are followed by zeros alone; otherwise nil. The
// result keeps the underlying memory alive.
func (g Maker) whole(d *array.Data, i, bits int, runs Rows) *memory.Buffer {
	if n := int(bufferLen(d, i)); !g.Share || len(runs) != 1 || runs[0].Low != 0 || 8*n < bits || n > (bits+7)/8+maxPadding || !ZeroFrom(bufferBytes(d, i), bits) {
		return nil
	}
	d.Buffers()[i].Retain()
	return d.Buffers()[i]
}

// ZeroFrom reports whether all bits from one on are 0.
func ZeroFrom(b []byte, bit int) bool {
	if bit%8 > 0 && b[bit/8]>>(bit%8) > 0 {
		return false
	}
	for _, c := range b[(bit+7)/8:] {
		if c != 0 {
			return false
		}
	}
	return true
}

// bits copies bits, n in all.
func (g Maker) bits(bitmap []byte, runs Rows, n int) *memory.Buffer {
	buffer, to := allocate[uint8](g, int(bitutil.BytesForBits(int64(n))))
	copyBits(to, bitmap, runs)
	return buffer
}

// validity copies the validity bitmap, if there is one in use.
func (g Maker) validity(d *array.Data, runs Rows, n int) (*memory.Buffer, int) {
	if !mayBeNull(d) {
		return nil, 0
	}
	if whole := g.whole(d, 0, n, runs); whole != nil {
		return g.orNone(whole, n)
	}
	return g.orNone(g.bits(bufferBytes(d, 0), runs, n), n)
}

// validBits copies a validity bitmap; it returns nil if no row is null.
func (g Maker) validBits(bitmap []byte, runs Rows, n int) (*memory.Buffer, int) {
	return g.orNone(g.bits(bitmap, runs, n), n)
}

// orNone returns a validity bitmap and how many of the n rows are null; the bitmap is
// nil if none is.
func (g Maker) orNone(buffer *memory.Buffer, n int) (*memory.Buffer, int) {
	nulls := n - bitutil.CountSetBits(buffer.Bytes(), 0, n)
	if nulls == 0 {
		buffer.Release()
		return nil, 0
	}
	return buffer, nulls
}

// fixed copies values of width bytes of buffer i.
func (g Maker) fixed(d *array.Data, i, width int, runs Rows) *memory.Buffer {
	if whole := g.whole(d, i, 8*runs.Count()*width, runs); whole != nil {
		return whole
	}
	buffer := g.alloc(runs.Count() * width)
	to, from := buffer.Bytes(), bufferBytes(d, i)
	for _, r := range runs {
		to = to[copy(to, from[r.Low*width:r.High*width]):]
	}
	return buffer
}

// gatherOffsets returns the n rows' offsets, from 0, and the runs of their values.
func gatherOffsets[T int32 | int64](g Maker, d *array.Data, runs Rows, n int) (*memory.Buffer, Rows) {
	from := arrow.GetData[T](bufferBytes(d, 1))
	if whole := g.whole(d, 1, 8*(n+1)*int(unsafe.Sizeof(T(0))), runs); whole != nil {
		if from[0] == 0 {
			return whole, Rows(nil).Add(0, int(from[n]))
		}
		whole.Release()
	}
	buffer, to := allocate[T](g, n+1)
	var values Rows
	at, last := 1, T(0)
	for _, r := range runs {
		base := from[r.Low]
		for _, offset := range from[r.Low+1 : r.High+1] {
			to[at] = last + offset - base
			at++
		}
		last = to[at-1]
		values = values.Add(int(base), int(from[r.High]))
	}
	return buffer, values
}

// Places are parts of a buffer, or the values of an array, to which others refer: in any
// order, and some of them more than once.
type Places struct {
	runs   Rows
	begins []int // where each begins among what is referred to
	last   int   // the one that was found last
}

// Add adds the bytes or values from low to high-1.
func (p *Places) Add(low, high int) { p.runs = p.runs.Add(low, high) }

// Len returns the number of parts: those that were added, until Arrange joins them.
func (p *Places) Len() int { return len(p.runs) }

// Arrange sorts the parts and joins those that overlap or touch. It comes after Add and
// before Rows and Find.
func (p *Places) Arrange() {
	byLow := func(x, y Run) int { return x.Low - y.Low }
	if !slices.IsSortedFunc(p.runs, byLow) {
		slices.SortFunc(p.runs, byLow)
	}
	joined := p.runs[:0]
	for _, r := range p.runs {
		if last := len(joined) - 1; last >= 0 && r.Low <= joined[last].High {
			joined[last].High = max(joined[last].High, r.High)
		} else {
			joined = append(joined, r)
		}
	}
	p.runs, p.begins = joined, make([]int, len(joined))
	at := 0
	for i, r := range joined {
		p.begins[i] = at
		at += r.High - r.Low
	}
}

// Rows returns the parts in order.
func (p *Places) Rows() Rows { return p.runs }

// Find returns where a byte or value that was added lies among all that were.
func (p *Places) Find(at int) int {
	if r := p.runs[p.last]; at < r.Low || at >= r.High {
		p.last = sort.Search(len(p.runs), func(i int) bool { return p.runs[i].High > at })
	}
	return p.begins[p.last] + at - p.runs[p.last].Low
}

// gatherListViews returns the rows' offsets and sizes, and the runs of their values.
func gatherListViews[T int32 | int64](g Maker, d *array.Data, runs Rows, n int) ([]*memory.Buffer, Rows) {
	fromOffsets, fromSizes := arrow.GetData[T](bufferBytes(d, 1)), arrow.GetData[T](bufferBytes(d, 2))
	var parts Places
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			if fromSizes[i] > 0 {
				parts.Add(int(fromOffsets[i]), int(fromOffsets[i])+int(fromSizes[i]))
			}
		}
	}
	parts.Arrange()
	offsets, toOffsets := allocate[T](g, n)
	sizes, toSizes := allocate[T](g, n)
	at := 0
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			if fromSizes[i] > 0 {
				toOffsets[at], toSizes[at] = T(parts.Find(int(fromOffsets[i]))), fromSizes[i]
			}
			at++
		}
	}
	return buffers(offsets, sizes), parts.runs
}

// views returns the rows' views, and the used part of each buffer that they point
// into.
func (g Maker) views(d *array.Data, runs Rows, n int) []*memory.Buffer {
	from := arrow.GetData[arrow.ViewHeader](bufferBytes(d, 1))
	used := make([]Places, len(d.Buffers())-2)
	header, to := allocate[arrow.ViewHeader](g, n)
	at := 0
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			if !isNull(d, i) {
				view := from[i]
				to[at] = view
				if !view.IsInline() {
					used[view.BufferIndex()].Add(int(view.BufferOffset()), int(view.BufferOffset())+view.Len())
				}
			}
			at++
		}
	}
	all := buffers(header)
	index := make([]int32, len(used))
	for i := range used {
		if used[i].Len() > 0 {
			used[i].Arrange()
			index[i] = int32(len(all) - 1)
			all = append(all, g.fixed(d, 2+i, 1, used[i].runs))
		}
	}
	for i := range to {
		if view := &to[i]; !view.IsInline() {
			old := view.BufferIndex()
			view.SetIndexOffset(index[old], int32(used[old].Find(int(view.BufferOffset()))))
		}
	}
	return all
}

// denseUnion returns the rows' offsets and the values that they point to.
func (g Maker) denseUnion(d *array.Data, dt *arrow.DenseUnionType, runs Rows, n int) (*memory.Buffer, []arrow.ArrayData) {
	codes, from := arrow.GetData[arrow.UnionTypeCode](bufferBytes(d, 1)), arrow.GetData[int32](bufferBytes(d, 2))
	child := unionChildren(dt)
	used := make([]Places, len(d.Children()))
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			used[child[codes[i]]].Add(int(from[i]), int(from[i])+1)
		}
	}
	for i := range used {
		used[i].Arrange()
	}
	offsets, to := allocate[int32](g, n)
	at := 0
	for _, r := range runs {
		for i := r.Low; i < r.High; i++ {
			to[at] = int32(used[child[codes[i]]].Find(int(from[i])))
			at++
		}
	}
	children := make([]arrow.ArrayData, len(used))
	for i := range used {
		children[i] = g.child(d, i, used[i].runs)
	}
	return offsets, children
}

// runEndEncoded returns the rows' run ends and values. Selected rows of one run
// become one run.
func (g Maker) runEndEncoded(d *array.Data, runs Rows) []arrow.ArrayData {
	ends, err := runEnds(d)
	if err != nil {
		panic(err) // the array was not checked
	}
	var newEnds []int64
	var values Rows
	rows := int64(0)
	for _, r := range runs {
		p := sort.Search(len(ends), func(i int) bool { return ends[i] > int64(r.Low) })
		for low := int64(r.Low); low < int64(r.High); p++ {
			high := min(ends[p], int64(r.High))
			rows += high - low
			low = high
			if len(values) > 0 && values[len(values)-1].High == p+1 {
				newEnds[len(newEnds)-1] = rows
				continue
			}
			newEnds = append(newEnds, rows)
			values = values.Add(p, p+1)
		}
	}
	return []arrow.ArrayData{g.runEnds(newEnds, d.Children()[0].DataType()), g.child(d, 1, values)}
}

// runEnds returns run ends as an array of integers of type dt.
func (g Maker) runEnds(ends []int64, dt arrow.DataType) arrow.ArrayData {
	var buffer *memory.Buffer
	switch dt.ID() {
	case arrow.INT16:
		buffer = narrow[int16](g, ends)
	case arrow.INT32:
		buffer = narrow[int32](g, ends)
	default:
		buffer = narrow[int64](g, ends)
	}
	return newData(dt, len(ends), buffers(nil, buffer), nil, 0)
}

func narrow[T int16 | int32 | int64](g Maker, from []int64) *memory.Buffer {
	buffer, to := allocate[T](g, len(from))
	for i, v := range from {
		to[i] = T(v)
	}
	return buffer
}
