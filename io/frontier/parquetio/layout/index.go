package layout

import (
	"errors"
	"fmt"
	"io"
)

// maxIndex is the most bytes that an index may have: some millions of pages.
const maxIndex = 64 << 20

var errIndexRange = errors.New("damaged: it lies outside of the file's data")

// CheckIndexes reads the offset index and the column index of a chunk, where it has
// them. Nothing that this program reads depends on them, but other readers do.
func (f *File) CheckIndexes(r io.ReaderAt, c *Chunk) error {
	pages := -1
	if c.offsetIndex.Length > 0 {
		err := f.readIndex(r, c.offsetIndex, offsetIndexRequired, func(t *thrift, id int16, kind byte) {
			if id != 1 {
				t.skip(kind)
				return
			}
			pages = 0
			t.structures(kind, func() {
				pages++
				t.structure(locationRequired, func(_ int16, kind byte) { t.skip(kind) })
			})
		})
		if err != nil {
			return fmt.Errorf("its offset index: %w", err)
		}
	}
	if c.columnIndex.Length <= 0 {
		return nil
	}
	err := f.readIndex(r, c.columnIndex, columnIndexRequired, func(t *thrift, id int16, kind byte) {
		if id > 3 {
			t.skip(kind)
			return
		}
		entries := 0
		t.list(kind, func(kind byte) {
			entries++
			t.skipElement(kind)
		})
		if t.err == nil && pages >= 0 && entries != pages {
			t.err = fmt.Errorf("damaged: it has %d pages where the offset index has %d", entries, pages)
		}
	})
	if err != nil {
		return fmt.Errorf("its column index: %w", err)
	}
	return nil
}

// readIndex reads the one structure that a range has.
func (f *File) readIndex(r io.ReaderAt, at Range, required fieldSet, field func(t *thrift, id int16, kind byte)) error {
	if at.Offset < int64(len(Magic)) || at.Length > maxIndex || at.Offset > f.End-at.Length {
		return errIndexRange
	}
	data := make([]byte, at.Length)
	if err := ReadAt(r, data, at.Offset); err != nil {
		return err
	}
	t := &thrift{data: data}
	t.structure(required, func(id int16, kind byte) { field(t, id, kind) })
	return t.err
}
