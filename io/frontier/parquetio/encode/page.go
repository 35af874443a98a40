package encode

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"robotsbatch/io/frontier/parquetio/layout"
)

// PageHeader is the header of a page of data, of version 1 or 2, or of a dictionary.
type PageHeader struct {
	Kind layout.PageKind
	// Values, Nulls and Rows are how many entries the page has, how many of those are
	// null, and how many rows begin in it.
	Values, Nulls, Rows int
	Encoding            int32
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
		switch h.Kind {
		case layout.DictionaryPage:
			t.dictionaryHeader(h.Values, h.Encoding)
			return
		case layout.DataPage:
			t.dataHeader(h.Values, h.Encoding)
			return
		}
		t.structure(8, func() {
			t.i32(1, int32(h.Values))
			t.i32(2, int32(h.Nulls))
			t.i32(3, int32(h.Rows))
			t.i32(4, h.Encoding)
			t.i32(5, int32(h.DefinitionBytes))
			t.i32(6, int32(h.RepetitionBytes))
			t.bool(7, compressed)
		})
	})
	return t.b
}

// dictionaryHeader writes DictionaryPageHeader.
func (t *thrift) dictionaryHeader(values int, encoding int32) {
	t.structure(7, func() {
		t.i32(1, int32(values))
		t.i32(2, encoding)
	})
}

// dataHeader writes DataPageHeader.
func (t *thrift) dataHeader(values int, encoding int32) {
	t.structure(5, func() {
		t.i32(1, int32(values))
		t.i32(2, encoding)
		t.i32(3, encodingRLE)
		t.i32(4, encodingRLE)
	})
}

// AppendHybrid appends numbers of width bits as runs of equal ones and groups of eight
// that are packed.
func AppendHybrid(dst []byte, values []int32, width int) []byte {
	return appendHybrid(dst, values, width)
}

// AppendBits appends bytes that are 0 or 1 as bits.
func AppendBits(dst, values []byte) []byte { return appendBits(dst, values) }

// AppendLevels appends a page's n levels, up to most, if counted behind their length.
// levels is nil when all are level.
func AppendLevels(dst, levels []byte, n int, level, most byte, counted bool) []byte {
	begin := len(dst)
	dst = appendLevels(dst, levels, n, level, most)
	if !counted {
		dst = append(dst[:begin], dst[begin+4:]...)
	}
	return dst
}

// Numbers in a block and in a miniblock of AppendDeltas.
const (
	deltaBlock = 128
	deltaMini  = 32
)

// AppendDeltas appends integers of width bytes, 4 or 8, in DELTA_BINARY_PACKED.
func AppendDeltas(dst []byte, values []int64, width int) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaBlock/deltaMini)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	if len(values) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, narrow(values[0], width))
	for i := 1; i < len(values); i += deltaBlock {
		dst = appendDeltaBlock(dst, values[i-1:min(i+deltaBlock, len(values))], width)
	}
	return dst
}

// narrow is an integer as one of width bytes has it: differences may overflow.
func narrow(v int64, width int) int64 {
	if width == 4 {
		return int64(int32(v))
	}
	return v
}

// appendDeltaBlock appends the differences between values.
func appendDeltaBlock(dst []byte, values []int64, width int) []byte {
	var deltas [deltaBlock]uint64
	n := len(values) - 1
	least := narrow(values[1]-values[0], width)
	for i := range n {
		d := narrow(values[i+1]-values[i], width)
		deltas[i], least = uint64(d), min(least, d)
	}
	dst = binary.AppendVarint(dst, least)
	widths := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for mini := 0; mini*deltaMini < n; mini++ {
		part := deltas[mini*deltaMini : min((mini+1)*deltaMini, n)]
		all := uint64(0)
		for i := range part {
			part[i] -= uint64(least)
			if width == 4 {
				part[i] &= 1<<32 - 1
			}
			all |= part[i]
		}
		w := bits.Len64(all)
		dst[widths+mini] = byte(w)
		dst = appendPacked64(dst, part, w)
	}
	return dst
}

// appendPacked64 packs a miniblock of numbers, the lowest bit first.
func appendPacked64(dst []byte, values []uint64, width int) []byte {
	begin := len(dst)
	for range deltaMini / 8 * width {
		dst = append(dst, 0)
	}
	out, bit := dst[begin:], 0
	for _, v := range values {
		for left := width; left > 0; {
			n := min(8-bit&7, left)
			out[bit>>3] |= byte(v) << (bit & 7)
			v >>= n
			bit += n
			left -= n
		}
	}
	return dst
}
