package encode

import (
	"hash/crc32"

	"robotsbatch/io/frontier/parquetio/layout"
)

// PageHeader is the header of a page of data, of version 1 or 2, or of a dictionary.
type PageHeader struct {
	Kind layout.PageKind
	// Values, Nulls and Rows are how many entries the page has, how many of those are
	// null, and how many rows begin in it.
	Values, Nulls, Rows int
	Encoding            layout.Encoding
	// RepetitionBytes and DefinitionBytes are how many bytes of levels it begins with.
	RepetitionBytes, DefinitionBytes int
}

// Version2 reports whether the page is one of version 2, whose levels are not compressed.
func (h *PageHeader) Version2() bool { return h.Kind == layout.DataPageV2 }

// AppendPage appends a page whose body is plain, and returns how many bytes its header
// has. compress is nil where the body stays as it is; packed is memory for what it makes.
func (h *PageHeader) AppendPage(dst, plain []byte, packed *[]byte, compress func(dst, src []byte) []byte) ([]byte, int) {
	body := plain
	if compress != nil {
		*packed = (*packed)[:0]
		levels := 0
		if h.Version2() {
			levels = h.RepetitionBytes + h.DefinitionBytes
			*packed = append(*packed, plain[:levels]...)
		}
		*packed = compress(*packed, plain[levels:])
		body = *packed
	}
	begin := len(dst)
	dst = h.appendHeader(dst, body, len(plain), compress != nil)
	return append(dst, body...), len(dst) - begin
}

// MostHeader is the most bytes that a header has.
const MostHeader = 96

// Header returns the header of a page whose body is compressed already, and has so many
// bytes before that.
func (h *PageHeader) Header(body []byte, plain int) []byte {
	return h.appendHeader(make([]byte, 0, MostHeader), body, plain, true)
}

func (h *PageHeader) appendHeader(dst, body []byte, plain int, compressed bool) []byte {
	t := &thrift{b: dst}
	t.in(func() {
		t.i32(1, int32(h.Kind))
		t.i32(2, int32(plain))
		t.i32(3, int32(len(body)))
		t.i32(4, int32(crc32.ChecksumIEEE(body)))
		t.structure([...]int16{layout.DataPage: 5, layout.DictionaryPage: 7, layout.DataPageV2: 8}[h.Kind], func() {
			t.i32(1, int32(h.Values))
			if h.Version2() {
				t.i32(2, int32(h.Nulls))
				t.i32(3, int32(h.Rows))
				t.i32(4, int32(h.Encoding))
				t.i32(5, int32(h.DefinitionBytes))
				t.i32(6, int32(h.RepetitionBytes))
				t.bool(7, compressed)
				return
			}
			t.i32(2, int32(h.Encoding))
			if h.Kind == layout.DataPage {
				t.i32(3, int32(layout.RLE))
				t.i32(4, int32(layout.RLE))
			}
		})
	})
	return t.b
}
