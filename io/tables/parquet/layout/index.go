package layout

import (
	"errors"
	"fmt"
	"io"
)

// MaxIndex is the most bytes that an index may have: some millions of pages.
const MaxIndex = 64 << 20

// OffsetIndex says where the data pages of a chunk lie.
type OffsetIndex struct{ Pages []PageLocation }

// fields implements structure for OffsetIndex.
func (x *OffsetIndex) fields(t *thrift) { structures(t, 1, required, &x.Pages) }

// PageLocation says where a page lies, and which row it begins with.
type PageLocation struct{ Offset, Size, Row int64 }

// fields implements structure for PageLocation.
func (l *PageLocation) fields(t *thrift) {
	i64(t, 1, required, &l.Offset)
	i32(t, 2, required, &l.Size)
	i64(t, 3, required, &l.Row)
}

// ColumnIndex says of each data page of a chunk whether it has nothing but nulls, which bounds its
// other values have, and how many nulls there are, if Nulls is not nil.
type ColumnIndex struct {
	NullPages []bool
	Low, High [][]byte
	Order     int32 // of the bounds: 1 for ascending, 2 for descending
	Nulls     []int64
}

// fields implements structure for ColumnIndex. A boolean in a list is a byte, and the list has the kind thriftTrue or, by
// some writers, thriftFalse.
func (x *ColumnIndex) fields(t *thrift) {
	list(t, 1, thriftTrue, required, &x.NullPages, func(kind byte, v *bool) {
		switch {
		case !t.writing && kind > thriftFalse:
			t.fail()
		case !t.writing:
			*v = t.byte() == thriftTrue
		case *v:
			t.data = append(t.data, thriftTrue)
		default:
			t.data = append(t.data, thriftFalse)
		}
	})
	texts(t, 2, required, &x.Low)
	texts(t, 3, required, &x.High)
	i32(t, 4, required, &x.Order)
	numbers(t, 5, RawI64, optional(x.Nulls != nil), &x.Nulls)
}

// PageCount is the number of pages of a kind that have an encoding.
type PageCount struct {
	Kind     PageKind
	Encoding Encoding
	Count    int32
}

// fields implements structure for PageEncodingStats.
func (c *PageCount) fields(t *thrift) {
	i32(t, 1, required, &c.Kind)
	i32(t, 2, required, &c.Encoding)
	i32(t, 3, required, &c.Count)
}

// CheckIndexes reads a chunk's offset index and column index, if it has them, and checks that they have equally
// many pages. This program reads neither to find pages, but other readers do.
func (f *File) CheckIndexes(r io.ReaderAt, c *Chunk) error {
	var offsets OffsetIndex
	if err := f.ReadIndex(r, c.OffsetIndex, &offsets); err != nil {
		return fmt.Errorf("its offset index: %w", err)
	}
	var x ColumnIndex
	err := f.ReadIndex(r, c.ColumnIndex, &x)
	hasBoth := c.OffsetIndex.Length > 0 && c.ColumnIndex.Length > 0
	for _, n := range []int{len(x.NullPages), len(x.Low), len(x.High)} {
		if pages := len(offsets.Pages); err == nil && hasBoth && n != pages {
			err = fmt.Errorf("damaged: it has %d pages where the offset index has %d", n, pages)
		}
	}
	if err != nil {
		return fmt.Errorf("its column index: %w", err)
	}
	return nil
}

// ReadIndex reads the structure s at a range of the file, if the range is not empty.
func (f *File) ReadIndex(r io.ReaderAt, at Range, s structure) error {
	if at.Length <= 0 {
		return nil
	}
	if at.Offset < int64(len(Magic)) || at.Length > MaxIndex || at.Offset > f.End-at.Length {
		return errors.New("damaged: it lies outside of the file's data")
	}
	data := make([]byte, at.Length)
	if err := ReadAt(r, data, at.Offset); err != nil {
		return err
	}
	_, err := Read(data, s)
	return err
}
