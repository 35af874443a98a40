package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"robotsbatch/io/store/budget"
)

// maxHeaderSize is the most bytes that a page's header has, long statistics
// included.
const maxHeaderSize = 16 << 20

// PageKind is what a page has, by the format's number.
type PageKind int32

// The kinds of pages.
const (
	DataPage PageKind = iota
	IndexPage
	DictionaryPage
	DataPageV2
)

// Encoding is how values or levels are written, by the format's number.
type Encoding int32

// The encodings.
const (
	Plain                Encoding = 0
	PlainDictionary      Encoding = 2
	RLE                  Encoding = 3
	BitPacked            Encoding = 4
	DeltaBinaryPacked    Encoding = 5
	DeltaLengthByteArray Encoding = 6
	DeltaByteArray       Encoding = 7
	RLEDictionary        Encoding = 8
	ByteStreamSplit      Encoding = 9
)

// Page is a page of a column as it lies in the file.
type Page struct {
	// Header and Body are its bytes, which alias the chunk's.
	Header, Body []byte
	Kind         PageKind
	// Values is the number of its values, nulls included; of a dictionary, how
	// many entries.
	Values int
	// Nulls is the number of null values, and Rows that of the rows that begin in
	// the page; -1 where the header does not say it.
	Nulls, Rows int
	// Statistics are those of the header. Page.Nulls, which a header of version 2 also sets, replaces
	// its Nulls.
	Statistics
	// Encoding is that of the values, the others those of the levels.
	Encoding, Definition, Repetition Encoding
	// Uncompressed is the number of bytes that the body has decompressed, by the header.
	Uncompressed int
	// RepetitionBytes and DefinitionBytes are the bytes of levels with which the body of a page of version
	// 2 begins, and which are not compressed.
	RepetitionBytes, DefinitionBytes int64

	compressed  int64 // bytes of Body, by the header
	stored      bool  // the body is not compressed, whatever the column's codec is
	hasHeader   bool  // PageHeader has the structure of the page's kind
	hasChecksum bool
	checksum    int32 // of Body
}

// fields implements structure for PageHeader, which has one more structure, by the kind of the page.
func (p *Page) fields(t *thrift) {
	i32(t, 1, required, &p.Kind)
	i32(t, 2, required, &p.Uncompressed)
	i32(t, 3, required, &p.compressed)
	i32(t, 4, present, &p.checksum)
	headers := [...]int16{DataPage: 5, DictionaryPage: 7, DataPageV2: 8} // the fields that have them
	if p.Kind >= 0 && int(p.Kind) < len(headers) && p.Kind != IndexPage {
		t.nested(headers[p.Kind], present, (*pageData)(p))
	}
	p.hasChecksum = t.saw(4)
}

// pageData is a page's DataPageHeader, DataPageHeaderV2 or DictionaryPageHeader.
type pageData Page

// fields implements structure for the page's DataPageHeader, DataPageHeaderV2 or DictionaryPageHeader.
func (p *pageData) fields(t *thrift) {
	p.hasHeader = p.hasHeader || t.ended // in the last pass over a structure that is there
	i32(t, 1, required, &p.Values)
	if p.Kind == DataPageV2 {
		compressed := !p.stored // as an earlier pass read it; true if none did
		i32(t, 2, required, &p.Nulls)
		i32(t, 3, required, &p.Rows)
		i32(t, 4, required, &p.Encoding)
		i32(t, 5, required, &p.DefinitionBytes)
		i32(t, 6, required, &p.RepetitionBytes)
		t.boolean(7, present, &compressed)
		p.stored, p.Definition, p.Repetition = !compressed, RLE, RLE
		return
	}
	i32(t, 2, required, &p.Encoding)
	if p.Kind == DataPage {
		i32(t, 3, required, &p.Definition)
		i32(t, 4, required, &p.Repetition)
		t.nested(5, absent, &p.Statistics)
	}
}

// Written is what is known of a page that was written.
type Written struct {
	Size, Uncompressed int // with its header
	// Values is the number of its entries, Nulls that of the null ones, and Rows that of the
	// rows that begin in it.
	Values, Rows, Nulls int
	Encoding            Encoding
	Kind                PageKind
	// Continues says that it begins in the middle of a row.
	Continues bool
	// Bounds are those of its values, nil where nobody knows them.
	Bounds Bounds
}

// Bounds are the least and the greatest of some values, as statistics have them, or bounds
// of those; nil where there are none.
type Bounds struct{ Low, High []byte }

// readHeader reads the header with which data begins. It aliases data.
func readHeader(data []byte) (Page, error) {
	p := &Page{Nulls: -1, Rows: -1, Kind: -1, Statistics: Statistics{Nulls: -1}} // not known, unless the header says it
	rest, err := Read(data, p)
	if err != nil {
		return *p, fmt.Errorf("a page's header: %w", err)
	}
	if nulls := p.Statistics.Nulls; nulls >= 0 && nulls <= int64(p.Values) {
		p.Nulls = int(nulls)
	}
	p.Header = data[:len(data)-len(rest)]
	return *p, nil
}

// checkHeader checks the sizes that the header says. left is the number of bytes of the chunk after the header. limit
// is as in [NewStream].
func (p *Page) checkHeader(left int64, chunk *Chunk, limit int64) error {
	codec := chunk.Codec
	p.stored = p.stored && !chunk.flagIgnored
	levels, uncompressed := p.RepetitionBytes+p.DefinitionBytes, int64(p.Uncompressed)
	switch {
	case p.compressed < 0 || p.compressed > left:
		return errors.New("damaged: a page reaches beyond its column")
	case p.RepetitionBytes < 0 || p.DefinitionBytes < 0 || levels > p.compressed || levels > uncompressed:
		return errors.New("damaged: a page's levels reach beyond it")
	case !p.hasHeader && p.Kind != IndexPage || p.Values < 0:
		return errors.New("damaged: a page's header does not say what it has")
	case p.compressed+uncompressed > 2*limit:
		return &budget.MemoryError{What: "a page", Need: p.compressed + uncompressed, Limit: 2 * limit}
	}
	if p.stored || p.Kind == IndexPage {
		codec = Uncompressed
	}
	if uncompressed-levels > codec.most(int(p.compressed-levels)) {
		return errPageSize
	}
	return nil
}

// AppendPage appends a page with the body plain, compressed by compress unless that is nil, and returns the
// size of its header. p's Kind, Values, Nulls, Rows, Encoding and bytes of levels describe it. *packed is
// scratch memory for the compressed body.
func (p *Page) AppendPage(dst, plain []byte, packed *[]byte, compress func(dst, src []byte) []byte) ([]byte, int) {
	body := plain
	if compress != nil {
		levels := p.PlainLevels()
		*packed = compress(append((*packed)[:0], plain[:levels]...), plain[levels:])
		body = *packed
	}
	begin := len(dst)
	dst = p.AppendHeader(dst, body, len(plain), compress != nil)
	return append(dst, body...), len(dst) - begin
}

// MostHeader is the most bytes of a header that AppendHeader writes.
const MostHeader = 96

// AppendHeader appends the header of a page with a body, compressed or not, that has plain bytes decompressed. p
// describes it as in AppendPage.
func (p *Page) AppendHeader(dst, body []byte, plain int, compressed bool) []byte {
	head := *p
	head.compressed, head.Uncompressed, head.checksum = int64(len(body)), plain, int32(crc32.ChecksumIEEE(body))
	head.stored, head.Definition, head.Repetition = !compressed, RLE, RLE
	return Append(dst, &head)
}

// StoredSize returns the number of bytes that the page has in the file. Its body need not be read yet.
func (p *Page) StoredSize() int { return len(p.Header) + int(p.compressed) }

// Stored reports whether the header says that the body is not compressed, although those of other pages of the chunk
// may be.
func (p *Page) Stored() bool { return p.stored }

// PlainLevels returns the bytes of levels at the beginning of the body that are never compressed: 0 except in
// version 2.
func (p *Page) PlainLevels() int {
	if p.Kind != DataPageV2 {
		return 0
	}
	return int(p.RepetitionBytes + p.DefinitionBytes)
}

// AsItLies reports whether the page, of a chunk with this codec, is not compressed. Then Open returns Body itself.
func (p *Page) AsItLies(codec Codec) bool { return p.stored || codec == Uncompressed }

// CountRows returns how many rows begin in a page of a list, and whether it continues a row of the page before. plain
// is the decompressed body; for version 2, whose levels are not compressed, it may be the compressed one.
func (p *Page) CountRows(plain []byte, leaf Leaf) (rows int, continues bool, err error) {
	content, err := p.Split(plain, leaf)
	if err != nil {
		return 0, false, err
	}
	var first [1]uint32
	levels := content.Repetition
	if err := levels.Read(first[:min(1, p.Values)]); err != nil {
		return 0, false, err
	}
	rows, err = CountLevels(content.Repetition, p.Values, leaf.MaxRepetition, 0) // a level of 0 begins a row
	return rows, first[0] > 0, err
}

// CountNulls returns how many of the page's entries have no value. plain is as in CountRows.
func (p *Page) CountNulls(plain []byte, leaf Leaf) (int, error) {
	if leaf.MaxDefinition == 0 {
		return 0, nil
	}
	content, err := p.Split(plain, leaf)
	if err != nil {
		return 0, err
	}
	present, err := CountLevels(content.Definition, p.Values, leaf.MaxDefinition, uint32(leaf.MaxDefinition))
	return p.Values - present, err
}

// Open returns the page's decompressed body: Body itself if it is not compressed, or else memory that room returns for
// a number of bytes.
func (p *Page) Open(room func(int) []byte, codec Codec) ([]byte, error) {
	if p.AsItLies(codec) {
		if len(p.Body) != p.Uncompressed {
			return nil, errPageSize
		}
		return p.Body, nil
	}
	plain := room(p.Uncompressed)
	levels := copy(plain, p.Body[:p.PlainLevels()])
	return plain, codec.Decompress(plain[levels:], p.Body[levels:])
}

// Content is the body of a data page.
type Content struct {
	Repetition, Definition Hybrid
	Values                 []byte
}

// Split returns the levels and values of a data page, whose decompressed body is plain. They alias plain.
func (p *Page) Split(plain []byte, leaf Leaf) (c Content, err error) {
	if p.Kind == DataPageV2 {
		low, high := p.RepetitionBytes, p.RepetitionBytes+p.DefinitionBytes
		if leaf.MaxRepetition > 0 {
			c.Repetition = NewHybrid(plain[:low], bits.Len(uint(leaf.MaxRepetition)))
		}
		if leaf.MaxDefinition > 0 {
			c.Definition = NewHybrid(plain[low:high], bits.Len(uint(leaf.MaxDefinition)))
		}
		c.Values = plain[high:]
		return c, nil
	}
	if c.Repetition, plain, err = p.cutLevels(plain, p.Repetition, leaf.MaxRepetition); err != nil {
		return c, err
	}
	c.Definition, c.Values, err = p.cutLevels(plain, p.Definition, leaf.MaxDefinition)
	return c, err
}

// cutLevels returns the levels at the beginning of plain, a page of version 1, and the bytes after them. highest
// is the highest level that the column has: if it is 0, there are none.
func (p *Page) cutLevels(plain []byte, encoding Encoding, highest int) (levels Hybrid, rest []byte, err error) {
	if highest == 0 {
		return levels, plain, nil
	}
	width := bits.Len(uint(highest))
	switch encoding {
	case RLE:
		if len(plain) < 4 {
			return levels, nil, errLevels
		}
		n := binary.LittleEndian.Uint32(plain)
		if plain = plain[4:]; uint64(n) > uint64(len(plain)) {
			return levels, nil, errLevels
		}
		return NewHybrid(plain[:n], width), plain[n:], nil
	case BitPacked:
		n := (int64(p.Values)*int64(width) + 7) / 8
		if n > int64(len(plain)) {
			return levels, nil, errLevels
		}
		return newBitPacked(plain[:n], width, p.Values), plain[n:], nil
	}
	return levels, nil, fmt.Errorf("damaged: a page's levels have encoding %d", encoding)
}

var errLevels = errors.New("damaged: a page's levels are not as many as its values")

// Data is the levels and values of a data page, and the number of the values: nulls are not counted.
type Data struct {
	Content
	Present int
}

// Data returns the levels and values of a data page, whose decompressed body is plain. It checks that there
// are as many levels as the header says values, that none is too high, and that the header's nulls are right.
func (p *Page) Data(plain []byte, leaf Leaf) (d Data, err error) {
	d.Present = p.Values
	if d.Content, err = p.Split(plain, leaf); err != nil {
		return d, err
	}
	if highest := leaf.MaxDefinition; highest > 0 {
		if d.Present, err = CountLevels(d.Definition, p.Values, highest, uint32(highest)); err != nil {
			return d, err
		}
	}
	if highest := leaf.MaxRepetition; highest > 0 { // p.Nulls is not checked: for lists, writers count them in different ways
		_, err := CountLevels(d.Repetition, p.Values, highest, 0) // to check the levels
		return d, err
	}
	if p.Kind != DataPageV2 {
		return d, nil
	}
	// Arrow's writer for Go says 0 where all values of a page are null.
	if nulls := p.Values - d.Present; p.Nulls != nulls && (p.Nulls > 0 || d.Present > 0) {
		return d, fmt.Errorf("damaged: it says that %d values are null, and its levels that %d are", p.Nulls, nulls)
	}
	if p.Rows != p.Values {
		return d, fmt.Errorf("damaged: it says it has %d rows, and its levels %d", p.Rows, p.Values)
	}
	return d, nil
}

// CountLevels returns how many of levels equal v. levels is a copy: the caller can read them afterwards. It is an
// error if there are more or fewer than n, or if one is above highest.
func CountLevels(levels Hybrid, n, highest int, v uint32) (int, error) {
	equal, largest, err := levels.Count(n, v)
	if err != nil || levels.Done() != nil {
		return 0, errLevels
	}
	if largest > uint32(highest) {
		return 0, errLevel(largest, highest)
	}
	return equal, nil
}
