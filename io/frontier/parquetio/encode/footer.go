package encode

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/parquetio/columns"
	"robotsbatch/io/frontier/parquetio/layout"
)

// Footer is the end of a file. Row groups are kept as they are written, for a
// table may have many columns.
type Footer struct {
	nodes []*columns.Node
	// heads are the leaves' types and paths as chunks have them.
	heads  []head
	codec  layout.Codec
	groups []byte
	n      int
	rows   int64
}

type head struct {
	node *columns.Node
	path []byte
}

// KeyValue is a pair of the file's metadata.
type KeyValue struct{ Key, Value string }

// NewFooter returns the footer of a file without row groups.
func NewFooter(nodes []*columns.Node, codec layout.Codec) *Footer {
	f := &Footer{nodes: nodes, codec: codec}
	f.addHeads(nil, nodes)
	return f
}

func (f *Footer) addHeads(path []string, nodes []*columns.Node) {
	for _, n := range nodes {
		path := append(path[:len(path):len(path)], n.Name)
		if n.Type != columns.Group {
			t := thrift{b: appendListHeader(nil, thriftBinary, len(path))}
			for _, name := range path {
				t.element(name)
			}
			f.heads = append(f.heads, head{n, t.b})
		}
		f.addHeads(path, n.Children)
	}
}

// Size is how many bytes the row groups take.
func (f *Footer) Size() int64 { return int64(len(f.groups)) }

// Group adds a row group whose chunks lie one after another from an offset on.
func (f *Footer) Group(offset, rows int64, chunks []Chunk) {
	t := &thrift{b: f.groups}
	begin, uncompressed := offset, int64(0)
	t.in(func() {
		t.list(1, thriftStruct, len(chunks))
		for i := range chunks {
			f.columnChunk(t, i, &chunks[i], offset, 0)
			offset += chunks[i].Size
			uncompressed += chunks[i].Uncompressed
		}
		t.i64(2, uncompressed)
		t.i64(3, rows)
		t.i64(5, begin)
		t.i64(6, offset-begin)
		if f.n <= math.MaxInt16 {
			t.i16(7, int16(f.n))
		}
	})
	f.groups = t.b
	f.n++
	f.rows += rows
}

// columnChunk writes ColumnChunk for a chunk at an offset, whose offset index lies
// behind it and has so many bytes, if any.
func (f *Footer) columnChunk(t *thrift, leaf int, c *Chunk, offset, index int64) {
	t.in(func() {
		t.i64(2, 0) // of a second copy of the metadata, which nobody reads
		t.structure(3, func() { f.chunk(t, &f.heads[leaf], c, offset) })
		if index > 0 {
			t.i64(4, offset+c.Size)
			t.i32(5, int32(index))
		}
	})
}

// ColumnChunk returns the structure that says of a leaf's chunk where it lies: from an
// offset on, and with an offset index of so many bytes behind it, if any.
func (f *Footer) ColumnChunk(leaf int, c *Chunk, offset, index int64) []byte {
	t := &thrift{}
	f.columnChunk(t, leaf, c, offset, index)
	return t.b
}

// OffsetIndex returns the structure that says where the pages of a chunk lie that is at
// an offset.
func (c *Chunk) OffsetIndex(offset int64) []byte {
	t := &thrift{}
	t.in(func() {
		t.list(1, thriftStruct, len(c.places))
		for _, p := range c.places {
			t.in(func() {
				t.i64(1, offset+p.offset)
				t.i32(2, int32(p.size))
				t.i64(3, p.row)
			})
		}
	})
	return t.b
}

// Elements returns the SchemaElement structures of the columns, without the root.
func (f *Footer) Elements() [][]byte { return elements(nil, f.nodes) }

func elements(list [][]byte, nodes []*columns.Node) [][]byte {
	for _, n := range nodes {
		t := &thrift{}
		t.schemaElement(n)
		list = elements(append(list, t.b), n.Children)
	}
	return list
}

// chunk writes ColumnMetaData.
func (f *Footer) chunk(t *thrift, h *head, c *Chunk, offset int64) {
	encodings := []layout.Encoding{layout.Plain, layout.RLE}
	if c.dictionary > 0 {
		encodings = append(encodings, layout.RLEDictionary)
	}
	t.i32(1, int32(h.node.Type))
	t.list(2, thriftI32, len(encodings))
	for _, e := range encodings {
		t.b = append(t.b, byte(e)<<1) // zigzag
	}
	t.field(3, thriftList)
	t.b = append(t.b, h.path...)
	t.i32(4, int32(f.codec))
	t.i64(5, c.entries)
	t.i64(6, c.Uncompressed)
	t.i64(7, c.Size)
	t.i64(9, offset+c.dictionary)
	if c.dictionary > 0 {
		t.i64(11, offset)
	}
	t.structure(12, func() {
		t.i64(3, c.nulls)
		if c.low != nil {
			t.text(5, string(c.high))
			t.text(6, string(c.low))
		}
	})
}

// Append appends the footer, without its length and the magic.
func (f *Footer) Append(dst []byte, metadata []KeyValue, createdBy string) []byte {
	t := &thrift{b: dst}
	t.in(func() {
		t.i32(1, 2)
		t.list(2, thriftStruct, 1+count(f.nodes))
		t.in(func() {
			t.i32(3, int32(columns.Required)) // some readers refuse any other
			t.text(4, "schema")
			t.i32(5, int32(len(f.nodes)))
		})
		t.schema(f.nodes)
		t.i64(3, f.rows)
		t.list(4, thriftStruct, f.n)
		t.b = append(t.b, f.groups...)
		if len(metadata) > 0 {
			t.list(5, thriftStruct, len(metadata))
			for _, pair := range metadata {
				t.in(func() {
					t.text(1, pair.Key)
					t.text(2, pair.Value)
				})
			}
		}
		t.text(6, createdBy)
		t.list(7, thriftStruct, len(f.heads))
		for range f.heads {
			t.in(func() { t.structure(1, func() {}) }) // the order of the type
		}
	})
	return t.b
}

func count(nodes []*columns.Node) int {
	n := len(nodes)
	for _, node := range nodes {
		n += count(node.Children)
	}
	return n
}

// schema writes the elements of nodes, depth first.
func (t *thrift) schema(nodes []*columns.Node) {
	for _, element := range elements(nil, nodes) {
		t.b = append(t.b, element...)
	}
}

// schemaElement writes the element of a node.
func (t *thrift) schemaElement(n *columns.Node) {
	t.in(func() {
		if n.Type != columns.Group {
			t.i32(1, int32(n.Type))
		}
		if n.Type == columns.FixedLenByteArray {
			t.i32(2, n.Length)
		}
		t.i32(3, int32(n.Repetition))
		t.text(4, n.Name)
		if n.Type == columns.Group {
			t.i32(5, int32(len(n.Children)))
		}
		t.meaning(n)
	})
}

// meaning writes what values mean, by the converted type, which old readers know,
// and the logical one.
func (t *thrift) meaning(n *columns.Node) {
	m := &n.Meaning
	if converted := convertedType(m); converted >= 0 {
		t.i32(6, converted)
	}
	if m.Kind == columns.Decimal {
		t.i32(7, m.Scale)
		t.i32(8, m.Precision)
	}
	if n.FieldID >= 0 {
		t.i32(9, n.FieldID)
	}
	if m.Kind > columns.NoKind && !m.Old {
		t.structure(10, func() {
			t.structure(int16(m.Kind), func() { t.logical(m) })
		})
	}
}

// logical writes what the logical type says more than its name.
func (t *thrift) logical(m *columns.Meaning) {
	switch m.Kind {
	case columns.Decimal:
		t.i32(1, m.Scale)
		t.i32(2, m.Precision)
	case columns.Time, columns.Timestamp:
		t.bool(1, m.UTC)
		t.structure(2, func() {
			units := map[arrow.TimeUnit]int16{arrow.Millisecond: 1, arrow.Microsecond: 2, arrow.Nanosecond: 3}
			t.structure(units[m.Unit], func() {})
		})
	case columns.Integer:
		t.field(1, thriftByte)
		t.b = append(t.b, byte(m.Bits))
		t.bool(2, m.Signed)
	}
}

// convertedType returns the number of the converted type, -1 for none.
func convertedType(m *columns.Meaning) int32 {
	switch m.Kind {
	case columns.String:
		return 0
	case columns.Map:
		return 1
	case columns.List:
		return 3
	case columns.Enum:
		return 4
	case columns.Decimal:
		return 5
	case columns.Date:
		return 6
	case columns.Time:
		return convertedTime(m, 7)
	case columns.Timestamp:
		return convertedTime(m, 9)
	case columns.Integer:
		width := map[int8]int32{8: 0, 16: 1, 32: 2, 64: 3}[m.Bits]
		if m.Signed {
			return 15 + width
		}
		return 11 + width
	case columns.JSON:
		return 19
	case columns.BSON:
		return 20
	case columns.Interval:
		return 21
	}
	return -1
}

// convertedTime returns the converted type of times, of which the one of
// milliseconds has the number first. They are in UTC.
func convertedTime(m *columns.Meaning, first int32) int32 {
	switch {
	case !m.UTC && !m.Old || m.Unit == arrow.Nanosecond:
		return -1
	case m.Unit == arrow.Microsecond:
		return first + 1
	}
	return first
}
