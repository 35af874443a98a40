package layout

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"robotsbatch/io/store/must"
)

// TestBoundsStay: the bounds in a page's header stay when the next pages are read.
func TestBoundsStay(t *testing.T) {
	const n = 3 * aheadSize / 64 // more than is read ahead at once
	number := func(id int16, v int64) Raw { return IntField(id, RawI32, v) }
	bound := func(i int) []byte { return fmt.Appendf(nil, "bound %06d", i) }
	var data []byte
	for i := range n {
		known := AppendRaw(nil, []Raw{TextField(5, bound(i+1)), TextField(6, bound(i))})
		head := AppendRaw(nil, []Raw{number(1, 1), number(2, int64(Plain)), number(3, int64(RLE)), number(4, int64(RLE)), {ID: 5, Kind: RawStruct, Value: known}})
		data = append(AppendRaw(data, []Raw{number(1, int64(DataPage)), number(2, 4), number(3, 4), {ID: 5, Kind: RawStruct, Value: head}}), 1, 2, 3, 4)
	}
	s := NewStream(bytes.NewReader(data), &Chunk{Type: Int32, Pages: Range{Length: int64(len(data))}}, 1<<20)
	var pages []Page
	var buffer []byte
	for s.More() {
		p, err := s.Next()
		if err == nil {
			buffer = slices.Grow(buffer[:0], p.StoredSize())[:p.StoredSize()]
			err = s.Body(&p, buffer)
		}
		must.Do(t, err)
		pages = append(pages, p)
	}
	must.Need(t, len(pages) == n, "%d pages, want %d", len(pages), n)
	for i, p := range pages {
		must.Need(t, bytes.Equal(p.Low, bound(i)) && bytes.Equal(p.High, bound(i+1)), "page %d: %q to %q", i, p.Low, p.High)
	}
}
