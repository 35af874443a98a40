package encoding

import (
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Page is the values of a page, from which some are taken. It uses its memory for one page
// after another.
type Page struct {
	Values
	// Indices are the indices of the values in the dictionary, if the page has indices: then Values has none.
	Indices []uint32

	scheme     *scheme // of the page's encoding; nil before Open
	boolean    bool
	present    int     // number of values
	dictionary *Values // of the indices; nil without indices
	bits       int     // of an index
	before     Decoder // of the page that was opened before in the chunk

	decoded       []byte  // memory of Data
	kept          []byte  // memory of gather
	numbers, more []int64 // memory of lengths and integers that are written
	indices       []int32 // memory of indices that are written
	newIndex      []int32 // see Append
}

// maxDecoded is the most bytes that the byte arrays of a page may have decoded: in DELTA_BYTE_ARRAY
// each may be as long as the one before, for a byte.
const maxDecoded = 64 << 20

// Begin must be called before the first page of each chunk.
func (p *Page) Begin() { p.before = nil }

// Open decodes the values of a page into p, whose memory it uses again. b.Values must not change while the
// page is used. b.Before is ignored: p keeps the decoder of the page that it opened before.
func (p *Page) Open(b Body) (err error) {
	b.Before, p.before = p.before, nil
	p.Values = Values{Width: b.Width, Begins: p.Begins[:0]}
	p.boolean, p.present, p.dictionary = b.Type == layout.Boolean, b.Present, nil
	if p.scheme, err = b.scheme(); err != nil {
		return err
	}
	d, err := p.scheme.open(&b)
	if err != nil {
		return err
	}
	if undecoded, ok := d.(interface{ setPage(*Page) error }); ok { // not decoded: p refers to the values in b
		return undecoded.setPage(p)
	}
	room := b.Present * b.Width // exact for numbers, a first guess for the other types
	if b.Type == layout.ByteArray || b.Type == layout.FixedLenByteArray {
		room = len(b.Values)
	}
	p.before, p.Data = d, grow(p.decoded, room)
	if b.Width == 0 {
		p.Begins = append(grow(p.Begins, b.Present+1), 0)
	}
	for left := b.Present; left > 0 && err == nil; left -= block {
		err = d.Next(&p.Values, min(left, block), maxDecoded)
	}
	if p.decoded = p.Data; err != nil { // its memory is kept after an error, too
		return err
	}
	return d.Done()
}

// SizeOf returns about how many bytes of memory it takes to write the values from low to high-1: the bytes of the values,
// or four for each index.
func (p *Page) SizeOf(low, high int) int {
	if p.dictionary != nil {
		return 4 * (high - low)
	}
	return p.Place(high) - p.Place(low)
}

// Value returns value i as PLAIN stores it, byte arrays without their length. It aliases the page or its
// dictionary.
func (p *Page) Value(i int) []byte {
	if p.dictionary != nil {
		return p.dictionary.Value(int(p.Indices[i]))
	}
	return p.Values.Value(i)
}

// Append appends runs of values in the page's encoding. For a page of indices, newIndex replaces each index,
// and bitWidth is the number of bits of a new one, here and in later calls until Open. A negative new index
// is an error: the caller found that no kept row uses that entry. If newIndex is nil, indices do not change,
// and bitWidth is not used. A page that was not opened has the entries of a dictionary, and is written in
// PLAIN.
func (p *Page) Append(dst []byte, runs []tables.Run, newIndex []int32, bitWidth int) ([]byte, error) {
	if p.scheme == nil { // entries of a dictionary
		return p.appendRuns(dst, runs), nil
	}
	if p.newIndex = newIndex; newIndex != nil {
		p.bits = bitWidth
	}
	return p.scheme.write(p, dst, runs)
}

// gather returns the data of runs of values, valid until the next call.
func (p *Page) gather(runs []tables.Run) []byte {
	p.kept = p.appendRuns(p.kept[:0], runs)
	return p.kept
}

// appendRuns appends the data of runs of values unchanged, byte arrays with their lengths in PLAIN.
func (p *Page) appendRuns(dst []byte, runs []tables.Run) []byte {
	size := 0
	for _, r := range runs {
		size += p.Place(r.High) - p.Place(r.Low)
	}
	dst = slices.Grow(dst, size)
	for _, r := range runs {
		dst = append(dst, p.Data[p.Place(r.Low):p.Place(r.High)]...)
	}
	return dst
}

// Release drops the page's memory, but for what the next page in DELTA_BYTE_ARRAY needs.
func (p *Page) Release() { *p = Page{before: p.before} }

// Memory returns the size in bytes of each buffer that the page keeps.
func (p *Page) Memory() []int {
	return []int{4 * cap(p.Begins), 4 * cap(p.Indices), cap(p.decoded), cap(p.kept), 8 * cap(p.numbers), 8 * cap(p.more), 4 * cap(p.indices)}
}

// Needs returns the most bytes that the buffers of a [Page] take together for a page p with n values, of
// which at most most are written at a time. It is 0 for an encoding that Open refuses.
func Needs(t layout.Type, width int, p *layout.Page, n, most int64) int64 {
	b := Body{Encoding: p.Encoding, Type: t}
	s, err := b.scheme()
	if err != nil {
		return 0
	}
	return s.needs(size{t, int64(width), n, most, int64(p.Uncompressed)})
}
