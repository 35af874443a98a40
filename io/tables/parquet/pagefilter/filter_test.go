package pagefilter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/decode"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	m.Run()
}

// testLimit is what a page may have decompressed.
const testLimit = 64 << 20

// Codecs of Parquet.
var (
	snappy, _ = layout.CodecOf(compress.Snappy)
	zstd, _   = layout.CodecOf(compress.Zstd)
	gzip, _   = layout.CodecOf(compress.Gzip)
	brotli, _ = layout.CodecOf(compress.Brotli)
)

// entry is a value with its levels, or a null.
type entry struct {
	repetition, definition byte
	value                  []byte // as PLAIN has it, a boolean as a byte, a text without its length
}

// shape is of what kind the pages of a test are.
type shape struct {
	physical layout.Type
	nesting  int // 0 required, 1 optional, 2 a list that may be null of values that may be
	encoding layout.Encoding
	codec    layout.Codec
	version2 bool
}

func (s shape) String() string {
	return fmt.Sprintf("type=%d/nesting=%d/encoding=%d/%v/version2=%t", s.physical, s.nesting, s.encoding, s.codec, s.version2)
}

// node is the column as decode knows it.
func (s shape) node() *columns.Node {
	leaf := &columns.Node{Name: "x", Type: s.physical, Length: 5, FieldID: -1}
	top := leaf
	if s.nesting > 0 {
		leaf.Repetition = layout.Optional
	}
	if s.nesting > 1 {
		repeated := &columns.Node{Name: "list", Repetition: layout.Repeated, Type: layout.NoType, FieldID: -1, Children: []*columns.Node{leaf}}
		top = &columns.Node{Name: "x", Repetition: layout.Optional, Type: layout.NoType, FieldID: -1, Children: []*columns.Node{repeated}}
	}
	columns.SetLevels([]*columns.Node{top})
	return leaf
}

func (s shape) column() *Column {
	n := s.node()
	c := &Column{
		Leaf: layout.Leaf{MaxDefinition: int(n.MaxDefinition), MaxRepetition: int(n.MaxRepetition)},
		Type: s.physical, Codec: s.codec, Compress: s.codec.Compressor(0),
	}
	if s.physical != layout.ByteArray {
		c.Width = n.Width()
	}
	return c
}

// kind is that of pages of data.
func (s shape) kind() layout.PageKind {
	if s.version2 {
		return layout.DataPageV2
	}
	return layout.DataPage
}

// dictionary reports whether values are indices.
func (s shape) dictionary() bool {
	return s.encoding == layout.RLEDictionary || s.encoding == layout.PlainDictionary
}

// shapes are all that there are.
func shapes() (all []shape) {
	both := []layout.Encoding{layout.Plain, layout.RLEDictionary, layout.PlainDictionary}
	encodings := map[layout.Type][]layout.Encoding{
		layout.Boolean:           {layout.Plain, layout.RLE},
		layout.Int32:             append(both, layout.DeltaBinaryPacked, layout.ByteStreamSplit),
		layout.Int64:             append(both, layout.DeltaBinaryPacked, layout.ByteStreamSplit),
		layout.Int96:             both,
		layout.Float:             append(both, layout.ByteStreamSplit),
		layout.Double:            append(both, layout.ByteStreamSplit),
		layout.ByteArray:         append(both, layout.DeltaLengthByteArray, layout.DeltaByteArray),
		layout.FixedLenByteArray: append(both, layout.DeltaByteArray, layout.ByteStreamSplit),
	}
	for physical := layout.Boolean; physical <= layout.FixedLenByteArray; physical++ {
		for nesting := range 3 {
			for _, encoding := range encodings[physical] {
				for _, codec := range []layout.Codec{layout.Uncompressed, snappy, zstd} {
					for _, version2 := range []bool{false, true} {
						all = append(all, shape{physical, nesting, encoding, codec, version2})
					}
				}
			}
		}
	}
	for _, codec := range []layout.Codec{gzip, brotli} {
		all = append(all, shape{layout.ByteArray, 1, layout.Plain, codec, false}, shape{layout.ByteArray, 2, layout.RLEDictionary, codec, true})
	}
	return all
}

// entries returns random ones: so many rows, of which some are alike. long is the most
// bytes that a text has.
func (s shape) entries(rng *rand.Rand, rows, long int) (all []entry) {
	n := s.node()
	nulls := rng.IntN(3)
	value := func(repetition byte) entry {
		if n.MaxDefinition > 0 && rng.IntN(4) < nulls {
			return entry{repetition: repetition, definition: n.MaxDefinition - 1}
		}
		size := n.Width()
		if s.physical == layout.ByteArray {
			size = rng.IntN(long + 1)
		}
		e := entry{repetition, n.MaxDefinition, make([]byte, size)}
		for i := range e.value {
			e.value[i] = "abc"[rng.IntN(3)]
		}
		if s.physical == layout.Boolean {
			e.value[0] &= 1
		}
		return e
	}
	for range rows {
		if s.nesting < 2 {
			all = append(all, value(0))
			continue
		}
		switch of := rng.IntN(4); of {
		case 0, 1: // null, or empty
			all = append(all, entry{definition: byte(of)})
		default:
			all = append(all, value(0))
			for range rng.IntN(5) {
				all = append(all, value(1))
			}
		}
	}
	return all
}

// pages are those of a column.
type pages struct {
	shape
	entries []entry
	data    []byte
	chunk   layout.Chunk
	// Entries of the dictionary, and the dictionary's page.
	dictionary map[string]int32
	head       []byte
	trimmed    bool // the dictionary has what the rows that stay use, and no more
}

// encodePages writes entries as pages, cut at random.
func encodePages(rng *rand.Rand, s shape, entries []entry) *pages {
	p := &pages{shape: s, entries: entries}
	if s.dictionary() {
		p.addDictionary()
	}
	p.data = bytes.Clone(p.head)
	var last []byte // of DELTA_BYTE_ARRAY
	for begin := 0; begin < len(entries); {
		end := begin + 1 + rng.IntN(len(entries))
		for s.version2 && end < len(entries) && entries[end].repetition > 0 {
			end++
		}
		end = min(end, len(entries))
		p.data = p.appendPage(p.data, entries[begin:end], &last)
		begin = end
	}
	p.chunk = layout.Chunk{Type: s.physical, Codec: s.codec, Values: int64(len(entries)), Pages: layout.Range{Length: int64(len(p.data))}}
	return p
}

func (p *pages) addDictionary() {
	p.dictionary = make(map[string]int32)
	var values [][]byte
	for _, e := range p.entries {
		if _, there := p.dictionary[string(e.value)]; e.definition == p.node().MaxDefinition && !there {
			p.dictionary[string(e.value)] = int32(len(values))
			values = append(values, e.value)
		}
	}
	plain := appendPlain(nil, p.physical, values)
	body := plain
	if compress := p.codec.Compressor(0); compress != nil {
		body = compress(nil, plain)
	}
	header := []layout.Raw{
		layout.IntField(1, layout.RawI32, int64(layout.DictionaryPage)),
		layout.IntField(2, layout.RawI32, int64(len(plain))),
		layout.IntField(3, layout.RawI32, int64(len(body))),
		{ID: 7, Kind: layout.RawStruct, Value: layout.AppendRaw(nil, []layout.Raw{
			layout.IntField(1, layout.RawI32, int64(len(values))), layout.IntField(2, layout.RawI32, int64(layout.Plain)),
		})},
	}
	p.head = append(layout.AppendRaw(nil, header), body...)
}

func (p *pages) appendPage(dst []byte, entries []entry, last *[]byte) []byte {
	n := p.node()
	head := layout.Page{Kind: p.kind(), Values: len(entries), Encoding: p.encoding}
	var repetition, definition, plain []byte
	var values [][]byte
	for _, e := range entries {
		repetition, definition = append(repetition, e.repetition), append(definition, e.definition)
		if e.repetition == 0 {
			head.Rows++
		}
		if e.definition == n.MaxDefinition {
			values = append(values, e.value)
		} else {
			head.Nulls++
		}
	}
	if n.MaxRepetition > 0 {
		plain = layout.AppendLevels(plain, repetition, len(entries), 0, n.MaxRepetition, !p.version2)
		head.RepetitionBytes = int64(len(plain))
	}
	if n.MaxDefinition > 0 {
		plain = layout.AppendLevels(plain, definition, len(entries), n.MaxDefinition, n.MaxDefinition, !p.version2)
		head.DefinitionBytes = int64(len(plain)) - head.RepetitionBytes
	}
	plain = p.appendValues(plain, values, last)
	var packed []byte
	dst, _ = head.AppendPage(dst, plain, &packed, p.codec.Compressor(0))
	return dst
}

func appendPlain(dst []byte, physical layout.Type, values [][]byte) []byte {
	if physical == layout.Boolean {
		return layout.AppendBits(dst, bytes.Join(values, nil))
	}
	for _, v := range values {
		if physical == layout.ByteArray {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
		}
		dst = append(dst, v...)
	}
	return dst
}

func (p *pages) appendValues(dst []byte, values [][]byte, last *[]byte) []byte {
	var numbers, more []int64
	var rest []byte
	switch p.encoding {
	case layout.RLE:
		return layout.AppendLevels(dst, bytes.Join(values, nil), len(values), 0, 1, true)
	case layout.RLEDictionary, layout.PlainDictionary:
		width, indices := 0, make([]int32, len(values))
		for len(p.dictionary)>>width > 0 {
			width++
		}
		for i, v := range values {
			indices[i] = p.dictionary[string(v)]
		}
		return layout.AppendHybrid(append(dst, byte(width)), indices, width)
	case layout.DeltaBinaryPacked:
		for _, v := range values {
			if len(v) == 4 {
				numbers = append(numbers, int64(int32(binary.LittleEndian.Uint32(v))))
			} else {
				numbers = append(numbers, int64(binary.LittleEndian.Uint64(v)))
			}
		}
		return encoding.AppendDeltas(dst, numbers, p.node().Width())
	case layout.DeltaLengthByteArray:
		for _, v := range values {
			numbers = append(numbers, int64(len(v)))
		}
		return append(encoding.AppendDeltas(dst, numbers, 4), bytes.Join(values, nil)...)
	case layout.DeltaByteArray:
		for _, v := range values {
			shared := 0
			for shared < min(len(v), len(*last)) && v[shared] == (*last)[shared] {
				shared++
			}
			numbers, more = append(numbers, int64(shared)), append(more, int64(len(v)-shared))
			rest = append(rest, v[shared:]...)
			*last = v
		}
		return append(encoding.AppendDeltas(encoding.AppendDeltas(dst, numbers, 4), more, 4), rest...)
	case layout.ByteStreamSplit:
		for i := range p.node().Width() {
			for _, v := range values {
				dst = append(dst, v[i])
			}
		}
		return dst
	}
	return appendPlain(dst, p.physical, values)
}

// keep returns a column's rows of which some stay, and the entries of these.
func (p *pages) keep(stays func(row int) bool) (*Selection, []entry) {
	n := 0
	for _, e := range p.entries {
		if e.repetition == 0 {
			n++
		}
	}
	rows, row := NewSelection(n), -1
	var kept []entry
	for _, e := range p.entries {
		if e.repetition == 0 {
			if row++; stays(row) {
				rows.Keep(row, row+1)
			}
		}
		if stays(row) {
			kept = append(kept, e)
		}
	}
	return rows, kept
}

// filter filters the pages, and compares what is written with what Filter says of it.
func (p *pages) filter(f *Filter, rows *Selection) (out []byte, err error) {
	c := p.column()
	f.Begin()
	if p.trimmed {
		if out, err = p.trim(f, c, rows); err != nil {
			return nil, err
		}
	} else {
		out = bytes.Clone(p.head)
	}
	err = p.each(c, rows, func(page *layout.Page, plain []byte, part Part) error {
		if kept, _ := part.Count(); kept == 0 && page.Encoding != layout.DeltaByteArray {
			return nil
		}
		before := len(out)
		var pages []layout.Written
		if out, pages, err = f.Page(out, Source{c, page, plain, true, part}); err != nil {
			return err
		}
		return p.check(out[before:], pages)
	})
	return out, err
}

// each calls do with each page of data.
func (p *pages) each(c *Column, rows *Selection, do func(*layout.Page, []byte, Part) error) error {
	row := 0
	for data := p.data; len(data) > 0; {
		page, err := layouttest.NextPage(data, &p.chunk, testLimit)
		if err != nil {
			return err
		}
		data = data[page.StoredSize():]
		switch {
		case page.Kind == layout.DictionaryPage:
			if c.Dictionary == nil {
				plain, err := page.Open(func(n int) []byte { return make([]byte, n) }, p.codec)
				if err == nil {
					c.Dictionary, err = NewDictionary(c, &page)
				}
				if err != nil {
					return err
				}
				c.Dictionary.used = len(c.Dictionary.numbers)
				if err := c.Dictionary.Read(c, &page, plain); err != nil {
					return err
				}
			}
			continue
		case page.Kind != layout.DataPage && page.Kind != layout.DataPageV2, page.Values == 0: // who calls Page skips them
			continue
		}
		plain, err := page.Open(func(n int) []byte { return make([]byte, n) }, p.codec)
		if err != nil {
			return err
		}
		part := Part{Selection: rows, First: row, N: page.Values}
		if c.Leaf.MaxRepetition > 0 {
			if part.N, part.Continues, err = page.CountRows(plain, c.Leaf); err != nil {
				return err
			}
		}
		if row += part.N; row > rows.Len() || part.Continues && part.First == 0 {
			return errPartRows // as who calls this checks
		}
		if err := do(&page, plain, part); err != nil {
			return err
		}
	}
	return nil
}

// trim returns the dictionary's page with the entries that the rows that stay use.
func (p *pages) trim(f *Filter, c *Column, rows *Selection) ([]byte, error) {
	head, err := layouttest.NextPage(p.data, &p.chunk, testLimit)
	if err != nil {
		return nil, err
	}
	plain, err := head.Open(func(n int) []byte { return make([]byte, n) }, p.codec)
	if err == nil {
		c.Dictionary, err = NewDictionary(c, &head)
	}
	if err != nil {
		return nil, err
	}
	used := c.Dictionary
	err = p.each(c, rows, func(page *layout.Page, plain []byte, part Part) error {
		return used.Add(f, Source{c, page, plain, true, part})
	})
	if err == nil {
		err = used.Read(c, &head, plain)
	}
	if err != nil {
		return nil, err
	}
	if used.Full() {
		return bytes.Clone(p.head), nil
	}
	out, pages, err := f.Dictionary([]byte("before"), Source{Column: c, Page: &head, Plain: plain, Rereads: true})
	if err != nil {
		return nil, err
	}
	out, page := out[len("before"):], pages[0]
	written, err := layouttest.NextPage(out, &p.chunk, testLimit)
	if err != nil || written.Kind != layout.DictionaryPage || page.Size != len(out) || page.Uncompressed != len(written.Header)+written.Uncompressed || page.Values != written.Values || page.Values != max(1, used.used) {
		return nil, errFilter(fmt.Sprintf("it says %+v of a dictionary that is %+v, %v", page, written, err))
	}
	return out, nil
}

// errFilter says that Filter wrote something else than it says.
type errFilter string

func (e errFilter) Error() string { return string(e) }

func (p *pages) check(out []byte, pages []layout.Written) error {
	c := p.column()
	for _, said := range pages {
		page, err := layouttest.NextPage(out, &p.chunk, testLimit)
		if err != nil {
			return errFilter("what it wrote: " + err.Error())
		}
		plain, err := page.Open(func(n int) []byte { return make([]byte, n) }, p.codec)
		if err != nil {
			return errFilter("what it wrote: " + err.Error())
		}
		out = out[page.StoredSize():]
		is := layout.Written{
			Size: page.StoredSize(), Uncompressed: len(page.Header) + page.Uncompressed,
			Values: page.Values, Rows: page.Values, Encoding: page.Encoding, Kind: page.Kind,
		}
		if c.Leaf.MaxRepetition > 0 {
			is.Rows, is.Continues, err = page.CountRows(plain, c.Leaf)
		}
		if err == nil {
			is.Nulls, err = page.CountNulls(plain, c.Leaf)
		}
		if err != nil || !reflect.DeepEqual(is, said) {
			return errFilter(fmt.Sprintf("it says %+v of a page that is %+v, %v", said, is, err))
		}
	}
	if len(out) > 0 {
		return errFilter(fmt.Sprintf("it wrote %d bytes behind its pages", len(out)))
	}
	return nil
}

// decoded reads a column's pages.
func (p *pages) decoded(data []byte, values, rows int) (columns.Leaf, error) {
	chunk := p.chunk
	chunk.Values, chunk.Pages = int64(values), layout.Range{Length: int64(len(data))}
	reader, err := decode.NewReader(bytes.NewReader(data), &chunk, p.node(), testLimit)
	if err != nil {
		return columns.Leaf{}, err
	}
	part, err := reader.Next(rows)
	if err == nil {
		err = reader.Done()
	}
	if err != nil {
		return columns.Leaf{}, err
	}
	return part.Decode()
}

// differs tells how what was read differs from entries.
func (p *pages) differs(leaf *columns.Leaf, want []entry) string {
	n := p.node()
	var repetition, definition, values []byte
	offsets := []int32{0}
	for _, e := range want {
		repetition, definition = append(repetition, e.repetition), append(definition, e.definition)
		if e.definition == n.MaxDefinition {
			values = append(values, e.value...)
			offsets = append(offsets, int32(len(values)))
		}
	}
	if leaf.Definitions == nil {
		leaf.Definitions = bytes.Repeat([]byte{n.MaxDefinition}, leaf.N)
	}
	got := leaf.Fixed
	if p.physical == layout.ByteArray {
		got = leaf.Data
		if fmt.Sprint(leaf.Offsets) != fmt.Sprint(offsets) {
			return fmt.Sprintf("texts begin at %v, want %v", leaf.Offsets, offsets)
		}
	}
	switch {
	case leaf.N != len(want) || !bytes.Equal(leaf.Definitions, definition):
		return fmt.Sprintf("levels %v, want %v", leaf.Definitions, definition)
	case n.MaxRepetition > 0 && !bytes.Equal(leaf.Repetitions, repetition):
		return fmt.Sprintf("levels %v, want %v", leaf.Repetitions, repetition)
	case !bytes.Equal(got, values):
		return fmt.Sprintf("values %q, want %q", got, values)
	}
	return ""
}

// What is left of pages has the rows that stay, for every type, encoding and codec: they
// are what decoding all of them and leaving rows out gives.
func TestPage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var f Filter // whose memory all use
	for _, s := range shapes() {
		t.Run(s.String(), func(t *testing.T) {
			for round := range must.Short(4, 12) {
				p := encodePages(rng, s, s.entries(rng, 1+rng.IntN([]int{3, 40, 600}[round%3]), 30))
				density := rng.Float64()
				var stays [600]bool
				for i := range stays {
					stays[i] = rng.Float64() < density
				}
				if round < 3 {
					stays[0] = true
				}
				rows, want := p.keep(func(row int) bool { return stays[row] })
				p.trimmed = s.dictionary() && round%2 == 0
				out := must.Get(p.filter(&f, rows))(t)
				leaf := must.Get(p.decoded(out, len(want), rows.Count(0, rows.Len())))(t)
				difference := p.differs(&leaf, want)
				must.Need(t, difference == "", "%d rows: %s", rows.Len(), difference)
			}
		})
	}
}

// A large page of a flat column is cut into several, at rows; the page of a list is not.
func TestPageCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, s := range []shape{
		{layout.ByteArray, 1, layout.Plain, snappy, false},
		{layout.ByteArray, 0, layout.DeltaLengthByteArray, layout.Uncompressed, true},
		{layout.Int64, 1, layout.Plain, layout.Uncompressed, false},
		{layout.ByteArray, 2, layout.Plain, snappy, false},
	} {
		t.Run(s.String(), func(t *testing.T) {
			var last []byte
			p := encodePages(rng, s, s.entries(rng, 600, 30_000))
			if s.physical == layout.Int64 {
				p = encodePages(rng, s, s.entries(rng, 600_000, 0))
			}
			p.data = p.appendPage(nil, p.entries, &last) // in one page
			rows, want := p.keep(func(row int) bool { return row%7 != 3 })
			out := must.Get(p.filter(&Filter{}, rows))(t)
			count, largest := 0, 0
			for rest := out; len(rest) > 0; count++ {
				page := must.Get(layouttest.NextPage(rest, &p.chunk, testLimit))(t)
				largest = max(largest, page.Uncompressed)
				rest = rest[page.StoredSize():]
			}
			cut := s.nesting < 2
			must.Be(t, cut == (count > 1) && (!cut || largest <= 2*pieceSize), "%d pages of up to %d bytes", count, largest)
			leaf := must.Get(p.decoded(out, len(want), rows.Count(0, rows.Len())))(t)
			must.Equal(t, p.differs(&leaf, want), "", "other values")
		})
	}
}

// Where little is left out of a large page, its zstd frame or Snappy block is cut; where more goes, it is
// compressed again.
func TestPageCutBody(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 3 * 4 {
		s := shape{layout.ByteArray, i / 4, layout.Plain, []layout.Codec{zstd, snappy}[i/2%2], i%2 > 0}
		p := encodePages(rng, s, s.entries(rng, 4000, 300))
		p.data = p.appendPage(nil, p.entries, new([]byte))
		for _, every := range []int{2, 500} {
			rows, want := p.keep(func(row int) bool { return row%every != 1 })
			compressed := 0
			f, c := &Filter{}, p.column()
			c.Compress = func(dst, src []byte) []byte {
				compressed++
				return s.codec.Compressor(0)(dst, src)
			}
			page := must.Get(layouttest.NextPage(p.data, &p.chunk, testLimit))(t)
			plain := must.Get(page.Open(func(n int) []byte { return make([]byte, n) }, s.codec))(t)
			out, pages, err := f.Page([]byte("before"), Source{c, &page, plain, true, Part{Selection: rows, N: rows.Len()}})
			if err == nil {
				err = p.check(out[6:], pages)
			}
			must.Need(t, err == nil, "%v, one in %d: %v", s, every, err)
			must.Equal(t, compressed > 0, every == 2, s, "one in", every, "it was compressed", compressed, "times")
			leaf := must.Get(p.decoded(out[6:], len(want), rows.Count(0, rows.Len())))(t)
			must.Equal(t, p.differs(&leaf, want), "", s, "one in", every, "other values")
		}
	}
}

// A Snappy page whose values all are copies of what is left out would grow more than there is memory for. It
// is compressed again.
func TestPageCutGrows(t *testing.T) {
	const n, leftOut, length = 1 << 16, 4000, 64
	rng := rand.New(rand.NewPCG(7, 8))
	row := make([]byte, 8*leftOut)
	for i := range row {
		row[i] = byte(rng.Uint32())
	}
	plain := bytes.Repeat(row, n/leftOut+1)[:8*n]
	block := append(binary.AppendUvarint(nil, 8*n), 61<<2, byte(len(row)-1), byte((len(row)-1)>>8))
	block = append(block, row...)
	for at := len(row); at < len(plain); at += length {
		block = binary.LittleEndian.AppendUint32(append(block, (length-1)<<2|3), uint32(at-at%len(row))) // a copy
	}
	head := layout.Page{Kind: layout.DataPage, Values: n, Encoding: layout.Plain}
	data, _ := head.AppendPage(nil, plain, new([]byte), func(dst, _ []byte) []byte { return append(dst, block...) })
	p := &pages{shape: shape{layout.Int64, 0, layout.Plain, snappy, false}, chunk: layout.Chunk{Type: layout.Int64, Codec: snappy, Values: n}}
	page := must.Get(layouttest.NextPage(data, &p.chunk, testLimit))(t)
	opened := must.Get(page.Open(func(n int) []byte { return make([]byte, n) }, snappy))(t)
	c, compressed := p.column(), 0
	c.Compress = func(dst, src []byte) []byte {
		compressed++
		return snappy.Compressor(0)(dst, src)
	}
	rows := NewSelection(n)
	rows.Keep(leftOut, n)
	_, _, err := (&Filter{}).Page(nil, Source{c, &page, opened, true, Part{Selection: rows, N: n}})
	must.Do(t, err)
	must.Equal(t, compressed, 1)
}

// A page with so many nulls that the levels of all are more than there is memory for is not cut, but written as
// several.
func TestPageCutNulls(t *testing.T) {
	const n, present = mostLevels + 1, 1 << 16
	levels := make([]byte, n)
	for i := range present {
		levels[i] = 1
	}
	plain := append(layout.AppendLevels(nil, levels, n, 1, 1, true), make([]byte, 4*present)...)
	for _, codec := range []layout.Codec{zstd, snappy} {
		head := layout.Page{Kind: layout.DataPage, Values: n, Encoding: layout.Plain}
		data, _ := head.AppendPage(nil, plain, new([]byte), codec.Compressor(0))
		p := &pages{shape: shape{layout.Int32, 1, layout.Plain, codec, false}, chunk: layout.Chunk{Type: layout.Int32, Codec: codec, Values: n}}
		page := must.Get(layouttest.NextPage(data, &p.chunk, testLimit))(t)
		rows := NewSelection(n)
		rows.Keep(1, n)
		_, pages, err := (&Filter{}).Page(nil, Source{p.column(), &page, plain, true, Part{Selection: rows, N: n}})
		must.Do(t, err)
		must.Equal(t, len(pages) > 1, true, codec)
	}
}

// A page whose body cannot be cut is compressed again, which is counted for zstd.
func TestPageCutRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for codec, notes := range map[layout.Codec]string{zstd: "1 times: " + zstdcut.ErrUnsupported.Error(), snappy: ""} {
		s := shape{layout.ByteArray, 0, layout.Plain, codec, false}
		p := encodePages(rng, s, s.entries(rng, 4000, 300))
		p.data = p.appendPage(nil, p.entries, new([]byte))
		rows, want := p.keep(func(row int) bool { return row%500 != 1 })
		f, c := &Filter{}, p.column()
		c.Refusals = new(zstdcut.Refusals)
		page := must.Get(layouttest.NextPage(p.data, &p.chunk, testLimit))(t)
		plain := must.Get(page.Open(func(n int) []byte { return make([]byte, n) }, s.codec))(t)
		if codec == zstd {
			page.Body = append(bytes.Clone(page.Body), "\x50\x2a\x4d\x18\x00\x00\x00\x00"...) // a skippable frame
		} else {
			page.Body = page.Body[:len(page.Body)/2]
		}
		out, _, err := f.Page(nil, Source{c, &page, plain, true, Part{Selection: rows, N: rows.Len()}})
		must.Do(t, err)
		leaf := must.Get(p.decoded(out, len(want), rows.Count(0, rows.Len())))(t)
		must.Equal(t, p.differs(&leaf, want), "")
		got := strings.Join(c.Refusals.Notes(), "; ")
		must.Be(t, strings.HasSuffix(got, notes) && (notes != "" || got == ""), "%v: notes %q", codec, got)
	}
}

// Whatever is damaged in a page, it is an error, or what is written can be read as well as
// what was.
func TestPageHostile(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var f Filter
	failed, readable := 0, 0
	for _, s := range shapes() {
		if s.codec == snappy || s.codec == zstd {
			continue // what is damaged in there is the codec's to find, as the few of gzip and brotli show
		}
		p := encodePages(rng, s, s.entries(rng, 40, 8))
		rows, _ := p.keep(func(row int) bool { return row%3 != 1 })
		sound := p.data
		for range must.Short(40, 300) {
			p.data = bytes.Clone(sound)
			at := len(p.head) + rng.IntN(len(sound)-len(p.head))
			if p.trimmed = s.dictionary() && rng.IntN(2) == 0; p.trimmed {
				at = rng.IntN(len(sound))
			}
			p.data[at] ^= 1 << rng.IntN(8)
			p.data = withoutChecksums(p.data, &p.chunk)
			out, err := p.filter(&f, rows)
			wrong, ours := err.(errFilter)
			must.Need(t, !ours, "%v: byte %d: %v", s, at, wrong)
			if err != nil {
				failed++
				continue
			}
			values := 0
			for rest := out; len(rest) > 0; {
				page := must.Get(layouttest.NextPage(rest, &p.chunk, testLimit))(t)
				if page.Kind != layout.DictionaryPage {
					values += page.Values
				}
				rest = rest[page.StoredSize():]
			}
			if _, err := p.decoded(p.data, len(p.entries), rows.Len()); err != nil {
				continue
			}
			readable++
			_, err = p.decoded(out, values, rows.Count(0, rows.Len()))
			must.Be(t, err == nil, "%v: byte %d: what is written cannot be read: %v", s, at, err)
		}
	}
	must.Be(t, failed != 0 && readable != 0, "%d errors, and %d columns that could be read", failed, readable)
}

// withoutChecksums removes the checksums of pages, which would find all damage; it gives
// up where a header is damaged.
func withoutChecksums(data []byte, chunk *layout.Chunk) (out []byte) {
	for len(data) > 0 {
		fields, rest, err := layout.ReadRaw(data)
		if err != nil {
			return append(out, data...)
		}
		size, there := 0, false
		kept := fields[:0]
		for _, field := range fields {
			if field.ID == 3 && field.Kind == layout.RawI32 {
				size, there = int(field.Int()), true
			}
			if field.ID != 4 {
				kept = append(kept, field)
			}
		}
		if !there || size < 0 || size > len(rest) {
			return append(out, data...)
		}
		out = append(layout.AppendRaw(out, kept), rest[:size]...)
		data = rest[size:]
	}
	return out
}

// An encoding that its type does not have is an error, and so is a row too many.
func TestPageErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	s := shape{layout.Int32, 0, layout.Plain, layout.Uncompressed, false}
	p := encodePages(rng, s, s.entries(rng, 9, 0))
	rows, _ := p.keep(func(row int) bool { return row != 4 })
	for _, test := range []struct {
		name  string
		wrong func(c *Column, page *layout.Page, part *Part)
		want  string
	}{
		{"none", func(*Column, *layout.Page, *Part) {}, ""},
		{"deltas of texts", func(_ *Column, page *layout.Page, _ *Part) { page.Encoding = layout.DeltaLengthByteArray }, "encoding 6"},
		{"levels as an encoding", func(_ *Column, page *layout.Page, _ *Part) { page.Encoding = layout.RLE }, "encoding 3"},
		{"an encoding to come", func(_ *Column, page *layout.Page, _ *Part) { page.Encoding = 77 }, "encoding 77"},
		{"another width", func(c *Column, _ *layout.Page, _ *Part) { c.Width = 8 }, "not as many"},
		{"no dictionary", func(_ *Column, page *layout.Page, _ *Part) { page.Encoding = layout.RLEDictionary }, "damaged"},
		{"a row too few", func(_ *Column, _ *layout.Page, part *Part) { part.N-- }, "rows"},
		{"a row too many", func(_ *Column, _ *layout.Page, part *Part) { part.First++ }, "rows"},
	} {
		var last []byte
		data := p.appendPage(nil, p.entries, &last)
		page := must.Get(layouttest.NextPage(data, &p.chunk, testLimit))(t)
		c, part := p.column(), Part{Selection: rows, N: rows.Len()}
		test.wrong(c, &page, &part)
		_, _, err := (&Filter{}).Page(nil, Source{c, &page, page.Body, true, part})
		must.Be(t, (err == nil) == (test.want == "") && (err == nil || strings.Contains(err.Error(), test.want)), "%s: %v", test.name, err)
	}
}

// A page of a list begins in the middle of a row, or not, as its part says.
func TestPageContinues(t *testing.T) {
	s := shape{layout.Int32, 2, layout.Plain, layout.Uncompressed, false}
	entries := func(repetitions ...byte) (all []entry) {
		for _, repetition := range repetitions {
			all = append(all, entry{repetition, s.node().MaxDefinition, make([]byte, 4)})
		}
		return all
	}
	for _, test := range []struct {
		name    string
		entries []entry
		part    Part
		want    string
	}{
		{"in a row", entries(1, 0), Part{First: 1, N: 1, Continues: true}, ""},
		{"an entry in a row", entries(1), Part{First: 1, Continues: true}, ""},
		{"in a row before the first", entries(1, 0), Part{N: 1, Continues: true}, "rows"},
		{"in a row that is not said", entries(1, 0), Part{First: 1, N: 1}, "rows"},
		{"at a row", entries(0, 1), Part{N: 1}, ""},
		{"at a row that is said to continue", entries(0, 1), Part{First: 1, N: 1, Continues: true}, "rows"},
		{"a row too many", entries(0, 0), Part{N: 1}, "rows"},
	} {
		p := &pages{shape: s}
		p.chunk = layout.Chunk{Type: s.physical, Codec: s.codec, Values: int64(len(test.entries))}
		page := must.Get(layouttest.NextPage(p.appendPage(nil, test.entries, new([]byte)), &p.chunk, testLimit))(t)
		test.part.Selection = NewSelection(2)
		test.part.Selection.Keep(0, 2)
		_, pages, err := (&Filter{}).Page(nil, Source{p.column(), &page, page.Body, true, test.part})
		must.Be(t, (err == nil) == (test.want == "") && (err == nil || strings.Contains(err.Error(), test.want)), "%s: %v", test.name, err)
		must.Be(t, err != nil || pages[0].Values == len(test.entries) && pages[0].Continues == test.part.Continues, "%s: %+v", test.name, pages)
	}
}

// Memory that is counted for a page is no less than what filtering it takes.
func TestMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	check := func(s shape, f *Filter, c *Column, page *layout.Page, taken int) {
		taken += cap(f.repetition) + cap(f.definition) + cap(f.plain) + cap(f.packed) + 16*cap(f.entries) + 16*cap(f.values)
		for _, size := range f.page.Memory() {
			taken += size
		}
		counted := c.Memory(page)
		must.Be(t, int64(taken) <= counted, "%v: %d bytes, where %d were counted", s, taken, counted)
	}
	for _, s := range shapes() {
		if s.codec != layout.Uncompressed || s.version2 {
			continue
		}
		for _, every := range []int{2, 16} {
			var last []byte
			p := encodePages(rng, s, s.entries(rng, 5_000, 30))
			data := p.appendPage(nil, p.entries, &last)
			page := must.Get(layouttest.NextPage(data, &p.chunk, testLimit))(t)
			rows, _ := p.keep(func(row int) bool { return row%every != 1 })
			c := p.column()
			if s.dictionary() {
				must.Get(p.trim(&Filter{}, c, rows))(t)
				head := must.Get(layouttest.NextPage(p.data, &p.chunk, testLimit))(t)
				f := &Filter{}
				out, _, err := f.Dictionary(nil, Source{Column: c, Page: &head, Plain: head.Body, Rereads: true})
				must.Do(t, err)
				check(s, f, c, &head, cap(out))
				used := must.Get(NewDictionary(c, &head))(t)
				must.Equal(t, DictionaryMemory(&head), int64(4*cap(used.numbers)+cap(used.entries.Data)), s, "bytes for what is used")
			}
			f := &Filter{}
			out, _, err := f.Page(nil, Source{c, &page, page.Body, true, Part{Selection: rows, N: rows.Len()}})
			must.Do(t, err)
			check(s, f, c, &page, cap(out))
		}
	}
}

// Each part of the memory of a page is counted once.
func TestMemoryParts(t *testing.T) {
	flat := layout.Leaf{}
	optional := layout.Leaf{MaxDefinition: 1}
	list := layout.Leaf{MaxDefinition: 3, MaxRepetition: 1}
	const most = pieceEntries * 5 / 4
	runs := func(n int64) int64 { return 2 * 16 * (n/2 + 1) * 9 / 4 } // of entries and of values
	for _, test := range []struct {
		name               string
		leaf               layout.Leaf
		kind               layout.PageKind
		values, size, want int64
	}{
		{"flat", flat, layout.DataPage, 1000, 4000, 2*4000 + runs(1000)},
		{"levels", optional, layout.DataPage, 1000, 4000, 2*4000 + runs(1000) + 1000},
		{"levels of a list", list, layout.DataPage, 1000, 4000, 2*4000 + runs(1000) + 2*1000},
		{"a dictionary and where texts begin", flat, layout.DictionaryPage, 1000, 4000, 2*4000 + runs(1000) + 5*1000},
		{"pieces", flat, layout.DataPage, 10 * most, 40 * most, 2*4*pieceSize + runs(most)},
		{"pieces of two long values", flat, layout.DataPage, 4, 8 * pieceSize, 2*4*pieceSize + runs(4)},
		{"one long value", flat, layout.DataPage, 1, 8 * pieceSize, 2*8*pieceSize + runs(1)},
		{"three long values", flat, layout.DataPage, 3, 24 * pieceSize, 2*16*pieceSize + runs(3)},
		{"a list, which is one piece", list, layout.DataPage, 10 * most, 40 * most, 2*40*most + runs(10*most) + 2*10*most},
		{"a large dictionary", flat, layout.DictionaryPage, 10 * most, 40 * most, 2*40*most + runs(10*most) + 5*10*most},
		{"no value", flat, layout.DataPage, 0, 8 * pieceSize, 2*8*pieceSize + runs(0)},
	} {
		c := &Column{Leaf: test.leaf, Type: layout.Int32, Width: 4}
		page := &layout.Page{Kind: test.kind, Values: int(test.values), Uncompressed: int(test.size)}
		must.Equal(t, c.Memory(page)-smallMemory, test.want, test.name, "bytes")
	}
	c := &Column{Type: layout.Int64, Width: 8}
	page := &layout.Page{Encoding: layout.DeltaBinaryPacked, Values: 1000, Uncompressed: 4000}
	must.Equal(t, c.Memory(page)-smallMemory, 2*4000+runs(1000)+encoding.Needs(c.Type, 8, page, 1000, 1000), "values to decode", "bytes")
}

// Bodies of pages are as hostile as they may be; see TestPageHostile. There is one seed for each
// encoding of a type: each costs the fuzzer as much as 1,000 executions before it mutates any.
func FuzzPage(f *testing.F) {
	rng := rand.New(rand.NewPCG(13, 14))
	all := shapes()
	for i, s := range all {
		if s.codec == layout.Uncompressed && s.nesting == int(s.encoding)%3 && s.version2 == (s.physical%2 == 0) {
			f.Add(uint16(i), uint16(9), uint16(0), encodePages(rng, s, s.entries(rng, 9, 8)).data)
		}
	}
	f.Fuzz(func(t *testing.T, kind, values, rows uint16, body []byte) {
		s := all[int(kind)%len(all)]
		p := &pages{shape: s, chunk: layout.Chunk{Type: s.physical, Codec: s.codec, Values: int64(values)}}
		head := layout.Page{Kind: s.kind(), Values: int(values), Rows: int(rows), Encoding: s.encoding}
		if s.version2 && s.nesting > 0 {
			head.DefinitionBytes = int64(int(rows) % (len(body) + 1))
		}
		var packed []byte
		p.data, _ = head.AppendPage(nil, body, &packed, s.codec.Compressor(0))
		stay := NewSelection(int(values))
		for i := range int(values) {
			if i%3 != 1 {
				stay.Keep(i, i+1)
			}
		}
		if _, err := p.filter(&Filter{}, stay); err != nil {
			wrong, ours := err.(errFilter)
			must.Need(t, !ours, "%v", wrong)
		}
	})
}
