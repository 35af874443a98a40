package encode

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

// Footer is the end of a file. Row groups are kept as they are written, for a
// table may have many columns.
type Footer struct {
	nodes []*columns.Node
	// heads are what chunks of the leaves have alike.
	heads []layout.Chunk
	file  layout.File
}

// NewFooter returns the footer of a file without row groups.
func NewFooter(nodes []*columns.Node, codec layout.Codec) *Footer {
	f := &Footer{nodes: nodes}
	f.addHeads(nil, nodes, codec)
	return f
}

func (f *Footer) addHeads(path []string, nodes []*columns.Node, codec layout.Codec) {
	for _, n := range nodes {
		path := append(path[:len(path):len(path)], n.Name)
		if n.Type != layout.NoType {
			f.heads = append(f.heads, layout.Chunk{Type: n.Type, Path: path, Codec: codec})
		}
		f.addHeads(path, n.Children, codec)
	}
}

// Group adds a row group whose chunks lie one after another from an offset on.
func (f *Footer) Group(offset, rows int64, chunks []Chunk) {
	g := layout.RowGroup{Rows: rows, Offset: offset, Ordinal: -1}
	if f.file.Encoded.N <= math.MaxInt16 {
		g.Ordinal = int16(f.file.Encoded.N)
	}
	g.Chunks = make([]layout.Chunk, len(chunks))
	statistics := make([]layout.Statistics, len(chunks))
	for i := range chunks {
		f.describe(&g.Chunks[i], &statistics[i], i, &chunks[i], offset+g.Size, 0)
		g.Size += chunks[i].Size
		g.Uncompressed += chunks[i].Uncompressed
	}
	f.file.Encoded.Data = layout.Append(f.file.Encoded.Data, &g)
	f.file.Encoded.N++
	f.file.Rows += rows
}

var (
	plainEncodings      = []layout.Encoding{layout.Plain, layout.RLE}
	dictionaryEncodings = append(plainEncodings, layout.RLEDictionary)
)

// describe sets x and its statistics to what a footer says of a leaf's chunk at an offset, whose
// offset index lies after it and has a number of bytes, if any.
func (f *Footer) describe(x *layout.Chunk, s *layout.Statistics, leaf int, c *Chunk, offset, index int64) {
	*x, *s = f.heads[leaf], layout.Statistics{Nulls: c.nulls, High: c.high, Low: c.low}
	x.Encodings, x.Statistics = plainEncodings, s
	if c.dictionary > 0 {
		x.Encodings, x.DictionaryPage = dictionaryEncodings, offset
	}
	x.Values, x.Uncompressed, x.Pages.Length, x.DataPage = c.entries, c.Uncompressed, c.Size, offset+c.dictionary
	x.OffsetIndex = layout.Range{Offset: offset + c.Size, Length: index}
}

// ColumnChunk returns the structure that says of a leaf's chunk where it lies: from an
// offset on, and with an offset index of a number of bytes after it, if any.
func (f *Footer) ColumnChunk(leaf int, c *Chunk, offset, index int64) []byte {
	var x layout.Chunk
	f.describe(&x, &layout.Statistics{}, leaf, c, offset, index)
	return layout.Append(nil, &x)
}

// OffsetIndex returns the structure that says where the pages of a chunk lie that is at
// an offset.
func (c *Chunk) OffsetIndex(offset int64) []byte {
	x := &layout.OffsetIndex{}
	for _, p := range c.places {
		p.Offset += offset
		x.Pages = append(x.Pages, p)
	}
	return layout.Append(nil, x)
}

// Elements returns the SchemaElement structures of the columns, without the root.
func (f *Footer) Elements() (list [][]byte) {
	for _, e := range elements(nil, f.nodes) {
		list = append(list, layout.Append(nil, &e))
	}
	return list
}

// End returns the end of a file: the footer, its length and the magic. A schema that is not nil is
// stored in it, with its metadata.
func (f *Footer) End(schema *arrow.Schema, createdBy string) ([]byte, error) {
	file := f.file
	if schema != nil {
		var err error
		if file.Metadata, err = columns.MetadataOf(schema); err != nil {
			return nil, err
		}
	}
	root := layout.Element{Name: "schema", Type: layout.NoType, Converted: -1, Children: int32(len(f.nodes))}
	file.Version, file.Schema, file.CreatedBy = 2, elements([]layout.Element{root}, f.nodes), createdBy
	end := layout.Append(nil, &file)
	return append(binary.LittleEndian.AppendUint32(end, uint32(len(end))), layout.Magic...), nil
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
			units := map[arrow.TimeUnit]int16{arrow.Millisecond: 1, arrow.Microsecond: 2, arrow.Nanosecond: 3}
			e.Logical = layout.Logical{Kind: int16(m.Kind), Scale: m.Scale, Precision: m.Precision, UTC: m.UTC, Unit: units[m.Unit], Bits: m.Bits, Signed: m.Signed}
		}
		list = elements(append(list, e), n.Children)
	}
	return list
}
