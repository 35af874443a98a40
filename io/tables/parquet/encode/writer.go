package encode

import (
	"encoding/binary"
	"io"
	"math"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/splice"
)

// Writer writes a file of row groups. It keeps what the footer says of them as bytes, because a table may
// have many columns.
type Writer struct {
	out     tables.Output
	encoder *Encoder
	file    layout.File // without schema and metadata, which Close sets
}

// NewWriter begins a file on w. e must have encoded all row groups that it gets.
func NewWriter(w io.Writer, e *Encoder) (*Writer, error) {
	o := &Writer{out: tables.Output{To: w}, encoder: e}
	return o, o.out.Put([]byte(layout.Magic))
}

// Write writes a row group.
func (o *Writer) Write(g *Group) error {
	group := layout.RowGroup{Rows: g.Rows, Offset: o.out.Pos, Ordinal: -1, Chunks: make([]layout.Chunk, len(g.chunks))}
	if o.file.Encoded.N <= math.MaxInt16 { // the format has 16 bits for it; else it stays -1, none
		group.Ordinal = int16(o.file.Encoded.N)
	}
	for i := range g.chunks {
		c := &g.chunks[i]
		group.Chunks[i] = o.encoder.columnChunk(i, c, o.out.Pos+group.Size, 0) // no offset index
		group.Size += c.size
		group.Uncompressed += c.uncompressed
	}
	o.file.Encoded.Data = layout.Append(o.file.Encoded.Data, &group)
	o.file.Encoded.N++
	o.file.Rows += g.Rows
	return o.out.Put(g.Data)
}

var (
	plainEncodings      = []layout.Encoding{layout.Plain, layout.RLE}
	dictionaryEncodings = append(plainEncodings, layout.RLEDictionary)
)

// columnChunk returns what a footer says of chunk c of leaf i if its pages begin at offset.
// index is the size of the offset index that follows them, 0 for none.
func (e *Encoder) columnChunk(i int, c *chunk, offset, index int64) layout.Chunk {
	x := e.heads[i]
	x.Encodings, x.Statistics = plainEncodings, &layout.Statistics{Nulls: c.nulls, High: c.high, Low: c.low}
	if c.dictionary > 0 {
		x.Encodings, x.DictionaryPage = dictionaryEncodings, offset
	}
	x.Values, x.Uncompressed, x.Pages.Length, x.DataPage = c.entries, c.uncompressed, c.size, offset+c.dictionary
	x.OffsetIndex = layout.Range{Offset: offset + c.size, Length: index}
	return x
}

// Columns returns the encoder's columns as [splice.NewWriter] adds them to a file of which the columns with the
// indices kept are copied, nil for all. maker is the created_by of a file some pages of which are encoded, and
// key is the metadata's key for the names of the added columns.
func (e *Encoder) Columns(kept []int, maker, key string) splice.Columns {
	c := splice.Columns{Fields: len(e.schema.Nodes), Leaves: len(e.schema.Leaves), Maker: maker, Metadata: columns.Extended(kept, e.schema.Stored, key)}
	for _, x := range appendElements(nil, e.schema.Nodes) {
		c.Elements = append(c.Elements, layout.Append(nil, &x))
	}
	return c
}

// Added returns the chunks of g as [splice.Writer] adds them to a row group of another file. They share g's
// memory.
func (e *Encoder) Added(g *Group) []splice.Added {
	added, at := make([]splice.Added, len(g.chunks)), int64(0)
	for i := range g.chunks {
		c := &g.chunks[i]
		added[i] = splice.Added{
			Data: g.Data[at : at+c.size : at+c.size], OffsetIndex: c.offsetIndex,
			Chunk: func(offset, index int64) layout.Chunk { return e.columnChunk(i, c, offset, index) },
		}
		at += c.size
	}
	return added
}

// offsetIndex returns the encoded OffsetIndex of a chunk whose pages begin at offset.
func (c *chunk) offsetIndex(offset int64) []byte {
	x := &layout.OffsetIndex{}
	for _, p := range c.places {
		p.Offset += offset
		x.Pages = append(x.Pages, p)
	}
	return layout.Append(nil, x)
}

// Close writes the footer, its length and the magic. The footer has the metadata of the Arrow schema that is stored
// with the table, and that schema itself; neither if Stored is nil. Close does not close the io.Writer.
func (o *Writer) Close(createdBy string) (err error) {
	file, schema := o.file, o.encoder.schema
	if schema.Stored != nil {
		if file.Metadata, err = columns.MetadataOf(schema.Stored); err != nil {
			return err
		}
	}
	// -1: the root has no converted type. The version is 2; only old readers look at it.
	root := layout.Element{Name: "schema", Type: layout.NoType, Converted: -1, Children: int32(len(schema.Nodes))}
	file.Version, file.Schema, file.CreatedBy = 2, appendElements([]layout.Element{root}, schema.Nodes), createdBy
	end := layout.Append(nil, &file)
	return o.out.Put(append(binary.LittleEndian.AppendUint32(end, uint32(len(end))), layout.Magic...))
}

// appendElements appends the schema elements of nodes and of all nodes below them, depth first.
func appendElements(list []layout.Element, nodes []*columns.Node) []layout.Element {
	for _, n := range nodes {
		m := &n.Meaning
		e := layout.Element{
			Name: n.Name, Type: n.Type, TypeLength: n.Length, Repetition: n.Repetition, Children: int32(len(n.Children)), Converted: m.Converted(),
			Scale: m.Scale, Precision: m.Precision, FieldID: n.FieldID, HasFieldID: n.FieldID >= 0,
		}
		if m.Kind > columns.NoKind && !m.Old {
			e.Logical = layout.Logical{Kind: int16(m.Kind), Scale: m.Scale, Precision: m.Precision, UTC: m.UTC, Unit: int16(m.Unit), Bits: m.Bits, Signed: m.Signed}
		}
		list = appendElements(append(list, e), n.Children)
	}
	return list
}
