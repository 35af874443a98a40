package arrowipc

import (
	"fmt"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/tables"
)

// Constants of the format (Message.fbs, Schema.fbs and File.fbs of Arrow).
const (
	kindFooter     = 0 // not in the format
	kindSchema     = 1
	kindDictionary = 2
	kindRecord     = 3

	metadataV4 = 3 // Arrow 0.8 to 0.17
	metadataV5 = 4 // Arrow 1.0 and later

	typeNull            = 1
	typeInt             = 2
	typeFloat           = 3
	typeBinary          = 4
	typeUTF8            = 5
	typeBool            = 6
	typeDecimal         = 7
	typeDate            = 8
	typeTime            = 9
	typeTimestamp       = 10
	typeInterval        = 11
	typeList            = 12
	typeStruct          = 13
	typeUnion           = 14
	typeFixedSizeBinary = 15
	typeFixedSizeList   = 16
	typeMap             = 17
	typeDuration        = 18
	typeLargeBinary     = 19
	typeLargeUTF8       = 20
	typeLargeList       = 21
	typeRunEnds         = 22
	typeBinaryView      = 23
	typeUTF8View        = 24
	typeListView        = 25
	typeLargeListView   = 26
	lastKind            = typeLargeListView
)

// metadataShare divides the memory that a batch may take: the metadata of a message may
// have 1/metadataShare of it. A schema is held as bytes, as tables and as text, of the
// input and of the output; a record batch's metadata a few times.
const metadataShare = 6

// leastMetadata is how many bytes of metadata a message may always have.
const leastMetadata = 1 << 20

// checkMetadataSize checks the size of a message's metadata, or of a footer, before it is
// read. limit is how many bytes a batch may take.
func checkMetadataSize(length, limit int64) error {
	if most := max(leastMetadata, limit/metadataShare); length > most && length <= maxMetadata {
		return &budget.MemoryError{What: "the metadata of the schema, or of a batch,", Need: length, Limit: most}
	}
	return nil
}

const (
	// maxMetadata is the most bytes the metadata of one message may have: a
	// schema, or a record batch's list of some hundred thousand columns.
	maxMetadata = 64 << 20
	// maxDepth is how deep columns may be nested, as in other implementations.
	maxDepth = 64
)

// header is a message's metadata as far as it is the same for all messages.
type header struct {
	kind       uint8
	version    int16
	bodyLength int64
	table      table
}

// fieldNode describes one array of a record batch.
type fieldNode struct{ length, nulls int64 }

// span is a part of a message's body or of a file.
type span struct{ offset, length int64 }

// batchMeta is the metadata of a record batch, or of the record batch of one
// column that a dictionary is.
type batchMeta struct {
	version  int16
	rows     int64
	nodes    []fieldNode
	buffers  []span
	variadic []int64
	codec    int8
	// narrow holds the bits of the decimals in each buffer that must be widened; nil
	// for none.
	narrow []uint8
}

// dictionaryMeta is the metadata of a dictionary batch.
type dictionaryMeta struct {
	id    int64
	delta bool
	batch *batchMeta
}

// block is a message's position in a file: padded metadata, then the body.
type block struct {
	offset, body int64
	meta         int32
}

// footer is the table of contents of a file.
type footer struct {
	schema                table
	dictionaries, batches []block
}

func newFlat(buf []byte) *flat { return &flat{buf: buf, budget: maxMetadata + len(buf)} }

// parseHeader reads the metadata of a message.
func parseHeader(meta []byte) (header, error) {
	f := newFlat(meta)
	root := f.root()
	h := header{version: root.int16(0), kind: root.uint8(1), bodyLength: root.int64(3)}
	var ok bool
	if h.table, ok = root.table(2); f.err == nil && !ok {
		f.fail("the message is empty")
	}
	switch {
	case f.err != nil:
		return header{}, f.err
	case h.version != metadataV4 && h.version != metadataV5:
		return header{}, fmt.Errorf("metadata version %d is not supported: it was written before Arrow 0.8, or by a later major version of the format", h.version+1)
	case h.bodyLength < 0:
		return header{}, fmt.Errorf("damaged metadata: body of %d bytes", h.bodyLength)
	}
	return h, nil
}

// parseBatch reads a RecordBatch table.
func parseBatch(t table, version int16) (*batchMeta, error) {
	b := &batchMeta{version: version, rows: t.int64(0), codec: codecNone}
	pos, n := t.vector(1, 16)
	b.nodes = make([]fieldNode, n)
	for i := range b.nodes {
		b.nodes[i] = fieldNode{length: t.f.int64(pos + 16*i), nulls: t.f.int64(pos + 16*i + 8)}
	}
	pos, n = t.vector(2, 16)
	b.buffers = make([]span, n)
	for i := range b.buffers {
		b.buffers[i] = span{offset: t.f.int64(pos + 16*i), length: t.f.int64(pos + 16*i + 8)}
	}
	if compression, ok := t.table(3); ok {
		b.codec = int8(compression.uint8(0))
		if method := compression.uint8(1); method != 0 || b.codec < 0 || int(b.codec) >= len(codecs) {
			t.f.fail("unknown compression %d by method %d", b.codec, method)
		}
	}
	pos, n = t.vector(4, 8)
	b.variadic = make([]int64, n)
	for i := range b.variadic {
		b.variadic[i] = t.f.int64(pos + 8*i)
	}
	return b, t.f.err
}

// batch reads the header of a record batch.
func (h header) batch() (*batchMeta, error) { return parseBatch(h.table, h.version) }

// dictionary reads the header of a dictionary batch.
func (h header) dictionary() (*dictionaryMeta, error) {
	d := &dictionaryMeta{id: h.table.int64(0), delta: h.table.uint8(2) != 0}
	data, ok := h.table.table(1)
	if !ok {
		h.table.f.fail("dictionary without values")
		return nil, h.table.f.err
	}
	var err error
	d.batch, err = parseBatch(data, h.version)
	return d, err
}

// parseFooter reads the footer of a file.
func parseFooter(buf []byte) (footer, error) {
	f := newFlat(buf)
	root := f.root()
	schema, ok := root.table(1)
	if !ok {
		f.fail("the footer has no schema")
	}
	blocks := func(slot int) []block {
		pos, n := root.vector(slot, 24)
		list := make([]block, n)
		for i := range list {
			at := pos + 24*i
			list[i] = block{offset: f.int64(at), meta: int32(f.uint32(at + 8)), body: f.int64(at + 16)}
		}
		return list
	}
	return footer{schema: schema, dictionaries: blocks(2), batches: blocks(3)}, f.err
}

// checkBody checks that every buffer lies inside the body, and returns the size of all
// buffers after decompression and widening of decimals.
func (b *batchMeta) checkBody(body []byte, limit int64) (int64, error) {
	var total int64
	for i, s := range b.buffers {
		if s.length == 0 {
			continue
		}
		if s.offset < 0 || s.length < 0 || s.length > int64(len(body)) || s.offset > int64(len(body))-s.length {
			return 0, fmt.Errorf("damaged metadata: buffer %d lies outside the body", i)
		}
		size := s.length
		if b.codec != codecNone {
			var err error
			if size, err = uncompressedSize(body[s.offset : s.offset+s.length]); err != nil {
				return 0, fmt.Errorf("buffer %d: %w", i, err)
			}
		}
		if size > (limit-total)/b.widened(i) {
			return 0, tables.TooLarge("it takes more than %d bytes decoded", limit)
		}
		total += size * b.widened(i)
	}
	return total, nil
}

// checkLayout checks that the batch has exactly the arrays and buffers of these columns, and
// a value for every row in each.
func (b *batchMeta) checkLayout(columns []shape) error {
	if b.rows < 0 {
		return fmt.Errorf("damaged metadata: %d rows", b.rows)
	}
	at := cursor{batch: b}
	for i := range columns {
		if at.nodes < len(b.nodes) && b.nodes[at.nodes].length != b.rows {
			return fmt.Errorf("damaged metadata: column %d has %d values for %d rows", i, b.nodes[at.nodes].length, b.rows)
		}
		if err := at.next(&columns[i]); err != nil {
			return err
		}
	}
	// Arrow's Go library leaves counts of dictionaries' variadic buffers in record
	// batches; they are harmless where no column needs one.
	if at.nodes != len(b.nodes) || at.buffers != len(b.buffers) || at.variadic > 0 && at.variadic != len(b.variadic) {
		return fmt.Errorf("damaged metadata: %d arrays with %d buffers, where the schema has %d with %d", len(b.nodes), len(b.buffers), at.nodes, at.buffers)
	}
	return nil
}

// checkNodes checks that no array has more values than limit bytes have bits.
func (b *batchMeta) checkNodes(limit int64) error {
	for i, node := range b.nodes {
		if node.length < 0 || node.length/8 > limit || node.nulls < -1 || node.nulls > node.length {
			return fmt.Errorf("damaged metadata: array %d has %d values, %d of them null", i, node.length, node.nulls)
		}
	}
	return nil
}
