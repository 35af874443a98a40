package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
)

// maxHeaderSize is the most bytes that a page's header has, long statistics
// included.
const maxHeaderSize = 16 << 20

// PageKind is what a page has.
type PageKind int32

// The kinds of pages.
const (
	DataPage PageKind = iota
	IndexPage
	DictionaryPage
	DataPageV2
)

// Encoding is how values are written.
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
	// Values is how many values it has, nulls included; of a dictionary, how
	// many entries.
	Values int
	// Nulls and Rows are how many values are null, and how many rows begin in
	// the page; -1 where the header does not say it.
	Nulls, Rows int
	// Encoding is that of the values, the others those of the levels.
	Encoding, Definition, Repetition Encoding
	// Uncompressed is how many bytes the body has decompressed.
	Uncompressed int

	compressed, uncompressed int64 // from the header
	// Bytes of levels before the compressed ones (version 2).
	repetitionBytes, definitionBytes int64
	stored                           bool // not compressed, whatever the column is
	hasHeader, hasSize, hasChecksum  bool
	checksum                         uint32 // of Body
}

// NextPage returns the page that data begins with, which has pages of codec. It
// may have limit bytes decompressed. Its checksum, where there is one, is that
// of its bytes.
func NextPage(data []byte, codec Codec, limit int64) (Page, error) {
	p := Page{Nulls: -1, Rows: -1, Kind: -1}
	t := &thrift{data: data[:min(len(data), maxHeaderSize)]}
	t.structure(func(id int16, kind byte) { p.field(t, id, kind) })
	if t.err != nil {
		return p, fmt.Errorf("a page's header: %w", t.err)
	}
	p.Header, data = data[:t.at], data[t.at:]
	levels := p.repetitionBytes + p.definitionBytes
	switch {
	case !p.hasSize || p.compressed < 0 || p.compressed > int64(len(data)):
		return p, errors.New("damaged: a page reaches beyond its column")
	case p.repetitionBytes < 0 || p.definitionBytes < 0 || levels > p.compressed || levels > p.uncompressed:
		return p, errors.New("damaged: a page's levels reach beyond it")
	case !p.hasHeader && p.Kind != IndexPage || p.Values < 0:
		return p, errors.New("damaged: a page's header does not say what it has")
	case p.uncompressed > limit:
		return p, fmt.Errorf("a page has %d bytes: raise -memory, or it is damaged", p.uncompressed)
	}
	p.Body = data[:p.compressed]
	if p.stored || p.Kind == IndexPage {
		codec = Uncompressed
	}
	if p.uncompressed-levels > codec.most(len(p.Body)-int(levels)) {
		return p, errPageSize
	}
	p.Uncompressed = int(p.uncompressed)
	if p.hasChecksum && crc32.ChecksumIEEE(p.Body) != p.checksum {
		return p, errors.New("damaged: a page is not what its checksum says")
	}
	return p, nil
}

// field reads a field of PageHeader.
func (p *Page) field(t *thrift, id int16, kind byte) {
	switch id {
	case 1:
		p.Kind = PageKind(t.int32(kind))
	case 2:
		p.uncompressed = int64(t.int32(kind))
	case 3:
		p.hasSize, p.compressed = true, int64(t.int32(kind))
	case 4:
		p.hasChecksum, p.checksum = true, uint32(t.int32(kind))
	case 5:
		p.hasHeader = p.hasHeader || p.Kind == DataPage
		t.nested(kind, func(id int16, kind byte) { p.dataField(t, id, kind) })
	case 7:
		p.hasHeader = p.hasHeader || p.Kind == DictionaryPage
		t.nested(kind, func(id int16, kind byte) { p.dataField(t, id, kind) })
	case 8:
		p.hasHeader = p.hasHeader || p.Kind == DataPageV2
		t.nested(kind, func(id int16, kind byte) { p.dataV2Field(t, id, kind) })
	default:
		t.skip(kind)
	}
}

// dataField reads a field of DataPageHeader; those of DictionaryPageHeader are
// its first ones.
func (p *Page) dataField(t *thrift, id int16, kind byte) {
	switch id {
	case 1:
		p.Values = int(t.int32(kind))
	case 2:
		p.Encoding = Encoding(t.int32(kind))
	case 3:
		if p.Kind != DataPage { // of a dictionary: whether it is sorted
			t.skip(kind)
			return
		}
		p.Definition = Encoding(t.int32(kind))
	case 4:
		p.Repetition = Encoding(t.int32(kind))
	default:
		t.skip(kind)
	}
}

// dataV2Field reads a field of DataPageHeaderV2.
func (p *Page) dataV2Field(t *thrift, id int16, kind byte) {
	p.Definition, p.Repetition = RLE, RLE
	switch id {
	case 1:
		p.Values = int(t.int32(kind))
	case 2:
		p.Nulls = int(t.int32(kind))
	case 3:
		p.Rows = int(t.int32(kind))
	case 4:
		p.Encoding = Encoding(t.int32(kind))
	case 5:
		p.definitionBytes = int64(t.int32(kind))
	case 6:
		p.repetitionBytes = int64(t.int32(kind))
	case 7:
		p.stored = !t.boolean(kind)
	default:
		t.skip(kind)
	}
}

// Size is how many bytes of the file the page has.
func (p *Page) Size() int { return len(p.Header) + len(p.Body) }

// levels is how many bytes of the body are levels that are never compressed.
func (p *Page) levels() int { return int(p.repetitionBytes + p.definitionBytes) }

// Open returns the page's body decompressed. It is the body itself where
// nothing is compressed, else what it makes of scratch, which grows.
func (p *Page) Open(scratch []byte, codec Codec) ([]byte, error) {
	if p.stored || codec == Uncompressed {
		if len(p.Body) != p.Uncompressed {
			return nil, errPageSize
		}
		return p.Body, nil
	}
	if cap(scratch) < p.Uncompressed {
		scratch = make([]byte, p.Uncompressed+p.Uncompressed/8)
	}
	plain := scratch[:p.Uncompressed]
	levels := copy(plain, p.Body[:p.levels()])
	return plain, codec.Decompress(plain[levels:], p.Body[levels:])
}

// Content is the body of a data page.
type Content struct {
	Repetition, Definition Hybrid
	Values                 []byte
}

// Split returns the levels and values of a data page, whose body is plain. A
// column without levels has none.
func (p *Page) Split(plain []byte, leaf Leaf) (c Content, err error) {
	if p.Kind == DataPageV2 {
		low, high := p.repetitionBytes, p.repetitionBytes+p.definitionBytes
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

// cutLevels cuts the levels off what a page of version 1 begins with.
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
