package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"robotsbatch/batch"
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
	// Low and High are bounds of its values as the header has them, nil if it has none.
	Low, High []byte
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

// readHeader reads the header that data begins with.
func readHeader(data []byte) (Page, error) {
	p := Page{Nulls: -1, Rows: -1, Kind: -1}
	t := &thrift{data: data}
	t.structure(pageRequired, func(id int16, kind byte) { p.field(t, id, kind) })
	if t.err != nil {
		return p, fmt.Errorf("a page's header: %w", t.err)
	}
	p.Header = data[:t.at]
	return p, nil
}

// check checks what the header says, where left bytes follow it.
func (p *Page) check(left int64, chunk *Chunk, limit int64) error {
	codec := chunk.Codec
	p.stored = p.stored && !chunk.flagIgnored
	levels := p.repetitionBytes + p.definitionBytes
	switch {
	case !p.hasSize || p.compressed < 0 || p.compressed > left:
		return errors.New("damaged: a page reaches beyond its column")
	case p.repetitionBytes < 0 || p.definitionBytes < 0 || levels > p.compressed || levels > p.uncompressed:
		return errors.New("damaged: a page's levels reach beyond it")
	case !p.hasHeader && p.Kind != IndexPage || p.Values < 0:
		return errors.New("damaged: a page's header does not say what it has")
	case p.compressed+p.uncompressed > 2*limit:
		return &batch.MemoryError{What: "a page", Need: p.compressed + p.uncompressed, Limit: 2 * limit}
	}
	if p.stored || p.Kind == IndexPage {
		codec = Uncompressed
	}
	if p.uncompressed-levels > codec.most(int(p.compressed-levels)) {
		return errPageSize
	}
	p.Uncompressed = int(p.uncompressed)
	return nil
}

// checkBody checks the body by the header's checksum.
func (p *Page) checkBody() error {
	if p.hasChecksum && crc32.ChecksumIEEE(p.Body) != p.checksum {
		return errors.New("damaged: a page is not what its checksum says")
	}
	return nil
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
		t.nested(kind, dataPageRequired, func(id int16, kind byte) { p.dataField(t, id, kind) })
	case 7:
		p.hasHeader = p.hasHeader || p.Kind == DictionaryPage
		t.nested(kind, dictionaryPageRequired, func(id int16, kind byte) { p.dataField(t, id, kind) })
	case 8:
		p.hasHeader = p.hasHeader || p.Kind == DataPageV2
		t.nested(kind, dataPageV2Required, func(id int16, kind byte) { p.dataV2Field(t, id, kind) })
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
	case 5:
		if p.Kind != DataPage {
			t.skip(kind)
			return
		}
		t.nested(kind, 0, func(id int16, kind byte) { p.statisticsField(t, id, kind) })
	default:
		t.skip(kind)
	}
}

// statisticsField reads a field of a page's Statistics.
func (p *Page) statisticsField(t *thrift, id int16, kind byte) {
	switch id {
	case 3:
		if nulls := t.integer(kind); nulls >= 0 && nulls <= int64(p.Values) {
			p.Nulls = int(nulls)
		}
	case 5:
		p.High = t.bytes(kind)
	case 6:
		p.Low = t.bytes(kind)
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

// StoredSize is how many bytes of the file the page has, also before its body was read.
func (p *Page) StoredSize() int { return len(p.Header) + int(p.compressed) }

// Size is how many bytes of the file the page has.
func (p *Page) Size() int { return len(p.Header) + len(p.Body) }

// Stored reports whether the body is not compressed, whatever the column is.
func (p *Page) Stored() bool { return p.stored }

// PlainLevels is how many bytes of the body are levels that are never compressed.
func (p *Page) PlainLevels() int { return int(p.repetitionBytes + p.definitionBytes) }

// aliased reports whether the opened page is its body as it lies.
func (p *Page) aliased(codec Codec) bool { return p.stored || codec == Uncompressed }

// CountRows returns how many rows begin in a page of a list, and whether it begins in the
// middle of one. plain is its body decompressed; of version 2 the body will do.
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
	rows, err = CountLevels(content.Repetition, p.Values, leaf.MaxRepetition, 0)
	return rows, first[0] > 0, err
}

// CountNulls returns how many of a page's values are null. plain is as in CountRows.
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

// Open returns the page's body decompressed. It is the body itself where nothing is
// compressed, else it lies in memory of so many bytes that room returns.
func (p *Page) Open(room func(int) []byte, codec Codec) ([]byte, error) {
	if p.aliased(codec) {
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
