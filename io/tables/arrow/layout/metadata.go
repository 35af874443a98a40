package layout

import (
	"fmt"

	"robotsbatch/io/store/budget"
)

// Constants of the format (Message.fbs, Schema.fbs and File.fbs of Arrow).
const (
	kindFooter     = 0 // not in the format
	KindSchema     = 1
	KindDictionary = 2
	KindRecord     = 3

	MetadataV4 = 3 // Arrow 0.8 to 0.17
	MetadataV5 = 4 // Arrow 1.0 and later

	TypeNull            = 1
	typeInt             = 2
	typeFloat           = 3
	TypeBinary          = 4
	TypeUTF8            = 5
	TypeBool            = 6
	TypeDecimal         = 7
	typeDate            = 8
	typeTime            = 9
	typeTimestamp       = 10
	typeInterval        = 11
	TypeList            = 12
	TypeStruct          = 13
	TypeUnion           = 14
	typeFixedSizeBinary = 15
	TypeFixedSizeList   = 16
	TypeMap             = 17
	typeDuration        = 18
	TypeLargeBinary     = 19
	TypeLargeUTF8       = 20
	TypeLargeList       = 21
	TypeRunEnds         = 22
	TypeBinaryView      = 23
	TypeUTF8View        = 24
	TypeListView        = 25
	TypeLargeListView   = 26
	lastKind            = TypeLargeListView
)

// Slots of the fields of tables, as Message.fbs, File.fbs and Schema.fbs number them. MessageSlot, footerSlot,
// schemaSlot and fieldSlot are those of the lists of keys and values.
const (
	versionSlot, kindSlot, headerSlot, bodySlot, MessageSlot                              = 0, 1, 2, 3, 4       // Message
	rowsSlot, nodesSlot, buffersSlot, compressionSlot, variadicSlot                       = 0, 1, 2, 3, 4       // RecordBatch
	codecSlot, methodSlot                                                                 = 0, 1                // BodyCompression
	idSlot, batchSlot, deltaSlot                                                          = 0, 1, 2             // DictionaryBatch
	footerVersionSlot, footerSchemaSlot, dictionariesSlot, batchesSlot, footerSlot        = 0, 1, 2, 3, 4       // Footer
	endiannessSlot, fieldsSlot, schemaSlot, featuresSlot                                  = 0, 1, 2, 3          // Schema
	nameSlot, nullableSlot, typeKindSlot, typeSlot, encodingSlot, childrenSlot, fieldSlot = 0, 1, 2, 3, 4, 5, 6 // Field
	encodedIDSlot, indexSlot, orderedSlot                                                 = 0, 1, 2             // DictionaryEncoding
	signedSlot                                                                            = 1                   // Int
	keySlot, valueSlot                                                                    = 0, 1                // KeyValue
)

// referenceSize is the number of bytes of a reference to a table, a text or a vector.
const referenceSize = 4

// metadataShare limits the metadata of a message to 1/metadataShare of the memory that a batch may
// take: a schema is in memory as bytes, as tables and as text, of the input and of the output, and a
// record batch's metadata a few times.
const metadataShare = 6

// leastMetadata is the number of bytes of metadata that a message may always have.
const leastMetadata = 1 << 20

// checkMetadataSize returns an error if the metadata of a message, or a footer, takes too much memory. limit is the
// most bytes that a batch may take. A length above maxMetadata is no error here: callers say that it is damaged,
// however much memory there is.
func checkMetadataSize(length, limit int64) error {
	if most := max(leastMetadata, limit/metadataShare); length > most && length <= maxMetadata {
		return &budget.MemoryError{What: "the metadata of the schema, or of a batch,", Need: length, Limit: most}
	}
	return nil
}

const (
	// maxDepth is how deep columns may be nested, as in other implementations.
	maxDepth = 64
	// maxTableDepth is how deep tables of flatbuffers may be nested, as in C++.
	maxTableDepth = 128
)

// Header has those fields of a message's metadata that all messages have.
type Header struct {
	Kind       uint8 // KindSchema and so on
	Version    int16 // MetadataV4 or MetadataV5
	BodyLength int64
	Table      Table // the fields of this kind of messages
}

// FieldNode describes one array of a record batch: its values, and how many of them are null; -1 if not known.
type FieldNode struct{ Length, Nulls int64 }

// IsPlausible reports whether the array may be in memory of limit bytes, where a value takes a bit at least, and has no
// more nulls than values.
func (n FieldNode) IsPlausible(limit int64) bool {
	return n.Length >= 0 && n.Length/8 <= limit && n.Nulls >= -1 && n.Nulls <= n.Length
}

// Span is a part of a message's body or of a file.
type Span struct{ Offset, Length int64 }

// In reports whether the span lies inside size bytes, and neither of its numbers is negative.
func (s Span) In(size int64) bool {
	return s.Offset >= 0 && s.Length >= 0 && s.Length <= size && s.Offset <= size-s.Length
}

// BatchMeta is the metadata of a record batch. A dictionary is a record batch of one
// column. The arrays come column by column, each before its children.
type BatchMeta struct {
	Version  int16
	Rows     int64
	Nodes    []FieldNode // of the arrays
	Buffers  []Span      // of the arrays, in the body
	Variadic []int64     // for each array of views, how many buffers its values have
	Codec    int8        // of the buffers: CodecZstd, CodecLZ4 or CodecNone
	// Narrow has for each buffer the number of bits of its decimals if these must be widened, else 0. It is nil if
	// there are none to widen.
	Narrow []uint8
}

// DictionaryMeta is the metadata of a dictionary batch.
type DictionaryMeta struct {
	ID    int64
	Delta bool // its values follow those that the dictionary has, instead of replacing them
	Batch *BatchMeta
}

// Block is where a message lies in a file.
type Block struct {
	Offset, Body int64 // where it begins, and the bytes of its body
	Meta         int32 // bytes before the body: FramePrefix, metadata and padding
}

// footer is the table of contents of a file.
type footer struct {
	schema                Table
	Dictionaries, Batches []Block
}

// ParseHeader returns the header in the metadata of a message, whose memory it shares.
func ParseHeader(meta []byte) (Header, error) {
	f := NewFlat(meta)
	root := f.Root()
	h := Header{Version: root.int16(versionSlot), Kind: root.Uint8(kindSlot), BodyLength: root.int64(bodySlot)}
	var ok bool
	if h.Table, ok = root.Table(headerSlot); f.err == nil && !ok {
		f.fail("the message is empty")
	}
	switch {
	case f.err != nil:
		return Header{}, f.err
	case h.Version != MetadataV4 && h.Version != MetadataV5:
		return Header{}, fmt.Errorf("metadata version %d is not supported: it was written before Arrow 0.8, or by a later major version of the format", h.Version+1) // version 1 is 0
	case h.BodyLength < 0:
		return Header{}, fmt.Errorf("damaged metadata: body of %d bytes", h.BodyLength)
	}
	return h, nil
}

// parseBatch returns the metadata in a RecordBatch table, whose nodes and buffers are structs of two numbers of
// 8 bytes. Nothing but the compression is checked.
func parseBatch(t Table, version int16) (*BatchMeta, error) {
	b := &BatchMeta{Version: version, Rows: t.int64(rowsSlot), Codec: CodecNone}
	int64At := t.Flat.int64
	b.Nodes = structs(t, nodesSlot, 16, func(pos int) FieldNode { return FieldNode{Length: int64At(pos), Nulls: int64At(pos + 8)} })
	b.Buffers = structs(t, buffersSlot, 16, func(pos int) Span { return Span{Offset: int64At(pos), Length: int64At(pos + 8)} })
	b.Variadic = structs(t, variadicSlot, 8, int64At)
	if compression, ok := t.Table(compressionSlot); ok {
		b.Codec = int8(compression.Uint8(codecSlot))
		if method := compression.Uint8(methodSlot); method != 0 || b.Codec < 0 || int(b.Codec) >= len(Codecs) {
			t.Flat.fail("unknown compression %d by method %d", b.Codec, method)
		}
	}
	return b, t.Flat.err
}

// Batch returns the metadata of a record batch message.
func (h Header) Batch() (*BatchMeta, error) { return parseBatch(h.Table, h.Version) }

// Dictionary returns the metadata of a dictionary batch message.
func (h Header) Dictionary() (*DictionaryMeta, error) {
	d := &DictionaryMeta{ID: h.Table.int64(idSlot), Delta: h.Table.Uint8(deltaSlot) != 0}
	data, ok := h.Table.Table(batchSlot)
	if !ok {
		h.Table.Flat.fail("dictionary without values")
		return nil, h.Table.Flat.err
	}
	var err error
	d.Batch, err = parseBatch(data, h.Version)
	return d, err
}

// parseFooter returns the footer of a file. Its blocks, of 24 bytes, are not checked.
func parseFooter(buf []byte) (footer, error) {
	f := NewFlat(buf)
	root := f.Root()
	schema, ok := root.Table(footerSchemaSlot)
	if !ok {
		f.fail("the footer has no schema")
	}
	block := func(pos int) Block {
		return Block{Offset: f.int64(pos), Meta: int32(f.uint32(pos + 8)), Body: f.int64(pos + 16)}
	}
	foot := footer{schema: schema, Dictionaries: structs(root, dictionariesSlot, 24, block), Batches: structs(root, batchesSlot, 24, block)}
	return foot, f.err
}
