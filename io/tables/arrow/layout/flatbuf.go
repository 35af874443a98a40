package layout

import (
	"encoding/binary"
	"fmt"
)

// maxMetadata is the most bytes the metadata of one message may have: a
// schema, or a record batch's list of some hundred thousand columns.
const maxMetadata = 64 << 20

// flat reads a flatbuffer and checks every position before reading it.
// The Arrow library's generated readers trust metadata, but it is input like any other.
//
// The first error is kept; after it everything reads as absent. A budget limits the
// bytes that are read in all: several references may lead to one table, so that a
// small buffer of such tables would be read as a huge tree.
type flat struct {
	Buf    []byte
	budget int   // bytes that may still be read
	err    error // the first; who reads must look at it at the end
}

// Table is one table of a flatbuffer. Its fields are named by their slots, as the format's .fbs files number
// them.
type Table struct {
	Flat   *flat
	Pos    int    // of the table in Flat.Buf
	vtable []byte // where its fields are; nil for a table that is absent or damaged
}

// fail keeps an error, unless there is one already.
func (f *flat) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("damaged metadata: "+format, args...)
	}
}

// spend takes n bytes of the budget.
func (f *flat) spend(n int) {
	if f.budget -= n; f.budget < 0 {
		f.fail("it is read over and over: too many references")
	}
}

// at returns the n bytes from pos on. Outside the buffer it fails and returns n zeros, so callers pass a small n
// or one that [Table.vector] has checked.
func (f *flat) at(pos, n int) []byte {
	if f.err != nil || pos < 0 || pos > len(f.Buf)-n {
		f.fail("offset %d lies outside its %d bytes", pos, len(f.Buf))
		return make([]byte, n)
	}
	return f.Buf[pos : pos+n]
}

// uint32 returns the number at pos.
func (f *flat) uint32(pos int) uint32 { return binary.LittleEndian.Uint32(f.at(pos, 4)) }

// int64 returns the number at pos.
func (f *flat) int64(pos int) int64 { return int64(binary.LittleEndian.Uint64(f.at(pos, 8))) }

// target returns the position to which the reference at pos leads. References only lead forward, so every walk
// ends.
func (f *flat) target(pos int) int {
	to := int64(pos) + int64(f.uint32(pos))
	if to > int64(len(f.Buf)) {
		f.fail("reference at %d leads outside", pos)
		return 0
	}
	return int(to)
}

// Root returns the buffer's outermost table.
func (f *flat) Root() Table { return f.Table(f.target(0)) }

// Table returns the table at pos.
func (f *flat) Table(pos int) Table {
	vpos := int64(pos) - int64(int32(f.uint32(pos))) // a table begins with the distance back to its layout, the vtable
	if vpos < 0 || vpos > int64(len(f.Buf)) {
		f.fail("table at %d has its layout outside", pos)
		return Table{Flat: f}
	}
	head := f.at(int(vpos), 4)
	// A layout begins with its size and that of the table.
	vsize, size := int(binary.LittleEndian.Uint16(head)), int(binary.LittleEndian.Uint16(head[2:]))
	hasLayout := vsize >= 4 && vsize%2 == 0 && int(vpos) <= len(f.Buf)-vsize
	if fits := size >= 4 && pos <= len(f.Buf)-size; !hasLayout || !fits {
		f.fail("table at %d does not fit", pos)
	}
	f.spend(size + 64) // what is made of a table takes more memory than its bytes
	if f.err != nil {
		return Table{Flat: f}
	}
	return Table{Flat: f, Pos: pos, vtable: f.Buf[vpos : int(vpos)+vsize]}
}

// Field returns the position of a field of width bytes, or 0 if it is absent. The field
// may end beyond the size in the table's layout: Go's flatbuffers library shares a
// layout among tables whose fields start at the same offsets, although their last
// fields differ in width.
func (t Table) Field(slot, width int) int {
	entry := 4 + 2*slot // after the sizes of the layout and of the table, of 2 bytes each
	if entry+2 > len(t.vtable) {
		return 0
	}
	offset := int(binary.LittleEndian.Uint16(t.vtable[entry:]))
	if offset == 0 {
		return 0
	}
	if offset < 4 || t.Pos+offset+width > len(t.Flat.Buf) {
		t.Flat.fail("field %d of the table at %d does not fit", slot, t.Pos)
		return 0
	}
	return t.Pos + offset
}

// number returns a scalar field of size bytes, which has a sign unless it is one byte; missing if it is absent.
func (t Table) number(slot, size, missing int) int64 {
	pos := t.Field(slot, size)
	if pos == 0 {
		return int64(missing)
	}
	field := t.Flat.at(pos, size)
	switch size {
	case 1:
		return int64(field[0])
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(field)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(field)))
	}
	return int64(binary.LittleEndian.Uint64(field))
}

// Uint8 returns a field of one byte, 0 if it is absent.
func (t Table) Uint8(slot int) uint8 { return uint8(t.number(slot, 1, 0)) }

// int16 returns a field of two bytes, 0 if it is absent.
func (t Table) int16(slot int) int16 { return int16(t.number(slot, 2, 0)) }

// int64 returns a field of eight bytes, 0 if it is absent.
func (t Table) int64(slot int) int64 { return t.number(slot, 8, 0) }

// Table returns the table that a field refers to, and whether it is there and intact.
func (t Table) Table(slot int) (Table, bool) {
	pos := t.Field(slot, referenceSize)
	if pos == 0 {
		return Table{Flat: t.Flat}, false
	}
	sub := t.Flat.Table(t.Flat.target(pos))
	return sub, t.Flat.err == nil
}

// vector returns the position of the first element of a vector field and the number of its elements, of
// width bytes each and all inside the buffer; 0 and 0 if it is absent. Strings are vectors of bytes.
func (t Table) vector(slot, width int) (pos, n int) {
	ref := t.Field(slot, referenceSize)
	if ref == 0 {
		return 0, 0
	}
	return t.Flat.elements(t.Flat.target(ref), width)
}

// elements returns the position of the first element of the vector at head, and the number of elements, of width
// bytes each and all inside the buffer; 0 and 0 once fail was called.
func (f *flat) elements(head, width int) (pos, n int) {
	count := int64(f.uint32(head))
	pos = head + 4
	if f.err != nil || count > int64(len(f.Buf)-pos)/int64(width) {
		f.fail("vector at %d does not fit", head)
		return 0, 0
	}
	f.spend(int(count) * width)
	if f.err != nil {
		return 0, 0
	}
	return pos, int(count)
}

// structs returns the elements of a vector of structs of size bytes. read reads the one at a position.
func structs[T any](t Table, slot, size int, read func(pos int) T) []T {
	pos, n := t.vector(slot, size)
	list := make([]T, n)
	for i := range list {
		list[i] = read(pos + size*i)
	}
	return list
}

// Tables calls visit for each table of a vector, until fail is called.
func (t Table) Tables(slot int, visit func(Table)) {
	pos, n := t.vector(slot, referenceSize)
	for i := 0; i < n && t.Flat.err == nil; i++ {
		if element := t.Flat.Table(t.Flat.target(pos + referenceSize*i)); t.Flat.err == nil {
			visit(element)
		}
	}
}

// NewFlat returns a reader of the flatbuffer buf. Its budget suffices to read all bytes once, and maxMetadata more.
func NewFlat(buf []byte) *flat { return &flat{Buf: buf, budget: maxMetadata + len(buf)} }

// text returns a string field, "" when it is absent.
func (t Table) text(slot int) string {
	pos, n := t.vector(slot, 1)
	return string(t.Flat.at(pos, n))
}
