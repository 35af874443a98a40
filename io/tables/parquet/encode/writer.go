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

// Writer writes a file of row groups. What the footer says of them is kept as it is written, for a
// table may have many columns.
type Writer struct {
	out     tables.Output
	encoder *Encoder
	file    layout.File
}

// NewWriter begins a file on w.
func NewWriter(w io.Writer, e *Encoder) (*Writer, error) {
	o := &Writer{out: tables.Output{To: w}, encoder: e}
	return o, o.out.Put([]byte(layout.Magic))
}

// Write writes a row group.
func (o *Writer) Write(g *Group) error {
	x := layout.RowGroup{Rows: g.Rows, Offset: o.out.Pos, Ordinal: -1}
	if o.file.Encoded.N <= math.MaxInt16 {
		x.Ordinal = int16(o.file.Encoded.N)
	}
	x.Chunks = make([]layout.Chunk, len(g.chunks))
	statistics := make([]layout.Statistics, len(g.chunks))
	for i := range g.chunks {
		o.encoder.describe(&x.Chunks[i], &statistics[i], i, &g.chunks[i], o.out.Pos+x.Size, 0)
		x.Size += g.chunks[i].size
		x.Uncompressed += g.chunks[i].uncompressed
	}
	o.file.Encoded.Data = layout.Append(o.file.Encoded.Data, &x)
	o.file.Encoded.N++
	o.file.Rows += g.Rows
	return o.out.Put(g.Data)
}

var (
	plainEncodings      = []layout.Encoding{layout.Plain, layout.RLE}
	dictionaryEncodings = append(plainEncodings, layout.RLEDictionary)
)

// describe sets x and its statistics s to what a footer says of chunk c of a leaf. The chunk lies at an
// offset, and an offset index of index bytes after it; 0 for none.
func (e *Encoder) describe(x *layout.Chunk, s *layout.Statistics, leaf int, c *chunk, offset, index int64) {
	*x, *s = e.heads[leaf], layout.Statistics{Nulls: c.nulls, High: c.high, Low: c.low}
	x.Encodings, x.Statistics = plainEncodings, s
	if c.dictionary > 0 {
		x.Encodings, x.DictionaryPage = dictionaryEncodings, offset
	}
	x.Values, x.Uncompressed, x.Pages.Length, x.DataPage = c.entries, c.uncompressed, c.size, offset+c.dictionary
	x.OffsetIndex = layout.Range{Offset: offset + c.size, Length: index}
}

// Columns returns the encoder's columns as they are added to those of another file with the indices
// kept, nil for all. key names them there, and maker this program.
func (e *Encoder) Columns(kept []int, maker, key string) splice.Columns {
	c := splice.Columns{Fields: len(e.schema.Nodes), Leaves: len(e.schema.Leaves), Maker: maker, Metadata: columns.Extended(kept, e.schema.Stored, key)}
	for _, x := range elements(nil, e.schema.Nodes) {
		c.Elements = append(c.Elements, layout.Append(nil, &x))
	}
	return c
}

// Added returns the chunks of a row group as they are added to one of another file. They share its
// memory.
func (e *Encoder) Added(g *Group) []splice.Added {
	added, at := make([]splice.Added, len(g.chunks)), int64(0)
	for i := range g.chunks {
		c := &g.chunks[i]
		added[i] = splice.Added{
			Data: g.Data[at : at+c.size : at+c.size], Uncompressed: c.uncompressed, OffsetIndex: c.offsetIndex,
			Chunk: func(offset, index int64) []byte {
				var x layout.Chunk
				e.describe(&x, &layout.Statistics{}, i, c, offset, index)
				return layout.Append(nil, &x)
			},
		}
		at += c.size
	}
	return added
}

// offsetIndex returns the OffsetIndex structure of a chunk that lies at an offset.
func (c *chunk) offsetIndex(offset int64) []byte {
	x := &layout.OffsetIndex{}
	for _, p := range c.places {
		p.Offset += offset
		x.Pages = append(x.Pages, p)
	}
	return layout.Append(nil, x)
}

// Close writes the footer, its length and the magic: the schema that the encoder's stores goes into
// it, with its metadata. It does not close w.
func (o *Writer) Close(createdBy string) error {
	file, schema := o.file, o.encoder.schema
	if schema.Stored != nil {
		var err error
		if file.Metadata, err = columns.MetadataOf(schema.Stored); err != nil {
			return err
		}
	}
	root := layout.Element{Name: "schema", Type: layout.NoType, Converted: -1, Children: int32(len(schema.Nodes))}
	file.Version, file.Schema, file.CreatedBy = 2, elements([]layout.Element{root}, schema.Nodes), createdBy
	end := layout.Append(nil, &file)
	return o.out.Put(append(binary.LittleEndian.AppendUint32(end, uint32(len(end))), layout.Magic...))
}

// elements appends the elements of nodes, depth first.
func elements(list []layout.Element, nodes []*columns.Node) []layout.Element {
	for _, n := range nodes {
		m := &n.Meaning
		e := layout.Element{
			Name: n.Name, Type: n.Type, TypeLength: n.Length, Repetition: n.Repetition, Children: int32(len(n.Children)), Converted: m.Converted(),
			Scale: m.Scale, Precision: m.Precision, FieldID: n.FieldID, HasFieldID: n.FieldID >= 0,
		}
		if m.Kind > columns.NoKind && !m.Old {
			e.Logical = layout.Logical{Kind: int16(m.Kind), Scale: m.Scale, Precision: m.Precision, UTC: m.UTC, Unit: int16(m.Unit), Bits: m.Bits, Signed: m.Signed}
		}
		list = elements(append(list, e), n.Children)
	}
	return list
}
