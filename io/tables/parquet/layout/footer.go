package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
)

// Magic stands at the beginning and at the end of a file.
const (
	Magic          = "PAR1"
	magicEncrypted = "PARE"
	// tailSize is the length of the footer and the magic.
	tailSize = 8
)

// Limits of the schema: more is no table.
const (
	maxDepth    = 64
	maxElements = 50_000
)

// File is what the footer says.
type File struct {
	// Rows is the number of rows that the file has.
	Rows int64
	// Schema has the elements depth first, the root first.
	Schema []Element
	// Fields are the elements below the root, and what they have.
	Fields []Field
	// Leaves are the columns: those elements that have values.
	Leaves []Leaf
	// Groups are the row groups.
	Groups []RowGroup
	// Metadata are the pairs of keys and values, in order.
	Metadata []KeyValue
	// CreatedBy names the program that wrote the file, and its version.
	CreatedBy string
	// Footer is the footer itself, and End is where it begins in the file: all else lies
	// before.
	Footer []byte
	End    int64
	// Version is the format's.
	Version int32
	// Encoded replaces Groups in a file that is written: Data has N row groups, encoded by Append.
	Encoded struct {
		Data []byte
		N    int
	}

	encrypted bool
}

// fields implements structure for FileMetaData. When writing, f.Encoded replaces f.Groups.
func (f *File) fields(t *thrift) {
	i32(t, 1, required, &f.Version)
	structures(t, 2, required, &f.Schema)
	i64(t, 3, required, &f.Rows)
	if t.writing {
		t.header(4, RawList)
		t.data = append(appendListHeader(t.data, RawStruct, f.Encoded.N), f.Encoded.Data...)
	} else {
		structures(t, 4, required, &f.Groups)
	}
	structures(t, 5, optional(len(f.Metadata) > 0), &f.Metadata)
	text(t, 6, present, &f.CreatedBy)
	if t.writing {
		orders := make([]typeOrder, 0, len(f.Schema)) // one for each leaf
		for i := range f.Schema {
			if f.Schema[i].Type != NoType {
				orders = append(orders, typeOrder{})
			}
		}
		structures(t, 7, present, &orders)
	}
	f.encrypted = t.saw(8) // encryption_algorithm
}

// typeOrder is a ColumnOrder that says that values are ordered as their type is.
type typeOrder struct{ empty }

// fields implements structure for the union ColumnOrder: its one member is an empty structure.
func (o *typeOrder) fields(t *thrift) { t.nested(1, required, &o.empty) }

// empty is a structure without fields.
type empty struct{}

// fields implements structure.
func (*empty) fields(*thrift) {}

// KeyValue is a pair of the file's metadata.
type KeyValue struct{ Key, Value string }

// fields implements structure for KeyValue.
func (pair *KeyValue) fields(t *thrift) {
	text(t, 1, required, &pair.Key)
	text(t, 2, present, &pair.Value)
}

// Type is the type that values are stored as.
type Type int32

// Parquet's physical types, by the format's numbers. A group of the schema has NoType.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
	NoType Type = -1
)

// Repetition says how often a value stands in its parent.
type Repetition int32

// The repetitions.
const (
	Required Repetition = iota
	Optional
	Repeated
)

// Element is a column, or a group of them.
type Element struct {
	Name       string
	Type       Type // NoType for a group
	TypeLength int32
	Repetition Repetition
	Children   int32
	// Converted is the converted type, the older one of the two ways to say
	// what values mean; -1 for none. Scale and Precision are a decimal's.
	Converted        int32
	Scale, Precision int32
	// Logical is the logical type, the newer way.
	Logical Logical
	// FieldID is a number that some writers give a column; HasFieldID says
	// whether there is one.
	FieldID    int32
	HasFieldID bool

	parent int // the index of the group around it in the schema; 0 for the root
}

// decimal is the converted type of decimals.
const decimal = 5

// fields implements structure for SchemaElement.
func (e *Element) fields(t *thrift) {
	i32(t, 1, optional(e.Type != NoType), &e.Type)
	i32(t, 2, optional(e.Type == FixedLenByteArray), &e.TypeLength)
	i32(t, 3, present, &e.Repetition) // some readers refuse a root without
	text(t, 4, required, &e.Name)
	i32(t, 5, optional(e.Type == NoType), &e.Children)
	i32(t, 6, optional(e.Converted >= 0), &e.Converted)
	i32(t, 7, optional(e.Converted == decimal), &e.Scale)
	i32(t, 8, optional(e.Converted == decimal), &e.Precision)
	i32(t, 9, optional(e.HasFieldID), &e.FieldID)
	t.nested(10, optional(e.Logical.Kind > 0), &e.Logical)
	if !t.ended { // writing, or not the last call: see thrift.read
		return
	}
	e.HasFieldID = t.saw(9)
	if !t.saw(1) {
		e.Type = NoType
	}
	if !t.saw(6) {
		e.Converted = -1
	}
	if t.columns++; t.columns > maxElements && t.err == nil {
		t.err = fmt.Errorf("it has more than %d columns", maxElements)
	}
}

// Logical is a logical type.
type Logical struct {
	// Kind is its field number in the union LogicalType; 0 for none.
	Kind int16
	// Scale and Precision are a decimal's.
	Scale, Precision int32
	// Unit is the field number of a time's unit: 1 for milliseconds, 2 for
	// microseconds, 3 for nanoseconds. UTC says whether the time is one of UTC.
	Unit int16
	UTC  bool
	// Bits and Signed are an integer's.
	Bits   int8
	Signed bool
}

// fields implements structure for the union LogicalType, which has one field: its number is the kind.
func (l *Logical) fields(t *thrift) {
	if t.pending {
		l.Kind = t.id
	}
	t.nested(l.Kind, present, (*logicalType)(l))
}

// logicalType is the structure in the union.
type logicalType Logical

// fields implements structure for the member of the union that l.Kind names.
func (l *logicalType) fields(t *thrift) {
	switch l.Kind {
	case logicalDecimal:
		i32(t, 1, required, &l.Scale)
		i32(t, 2, required, &l.Precision)
	case logicalTime, logicalTimestamp:
		t.boolean(1, required, &l.UTC)
		t.nested(2, required, (*timeUnit)(l))
	case logicalInteger:
		number(t, 1, thriftByte, required, &l.Bits)
		t.boolean(2, required, &l.Signed)
	}
}

// timeUnit is a union whose structures are empty.
type timeUnit Logical

// fields implements structure for the union TimeUnit: the number of its one field is the unit.
func (l *timeUnit) fields(t *thrift) {
	if t.pending { // it reads, and any field may come; a writer has set Unit
		l.Unit = t.id
	}
	t.nested(l.Unit, present, &empty{})
}

// Kinds of logical types that say more than their name.
const (
	logicalDecimal   = 5
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
)

// Field is an element below the root: a column of a table, as people see it.
type Field struct {
	// Element is its index in the schema, and First to End-1 are its leaves.
	Element, First, End int
}

// Leaf is a column.
type Leaf struct {
	// Element is its index in the schema.
	Element int
	// MaxDefinition and MaxRepetition are the largest levels.
	MaxDefinition, MaxRepetition int
}

// RowGroup is a run of rows.
type RowGroup struct {
	Rows   int64
	Chunks []Chunk
	// Size and Uncompressed are the bytes of its chunks, as they lie and decompressed, and
	// Offset is where the first is. Ordinal is its number in the file, negative for none.
	Size, Uncompressed, Offset int64
	Ordinal                    int16
}

// fields implements structure for RowGroup.
func (g *RowGroup) fields(t *thrift) {
	structures(t, 1, required, &g.Chunks)
	i64(t, 2, required, &g.Uncompressed)
	i64(t, 3, required, &g.Rows)
	if t.writing { // these are optional, and reading a file needs none of them
		i64(t, 5, present, &g.Offset)
		i64(t, 6, present, &g.Size)
		number(t, 7, RawI16, optional(g.Ordinal >= 0), &g.Ordinal)
	}
}

// Range is a part of a file. A length of 0 says that there is none.
type Range struct{ Offset, Length int64 }

// Chunk is a column of a row group.
type Chunk struct {
	Type Type
	// Path is the column's name with those of the groups around it.
	Path []string
	// Encodings are those of its pages, as the footer lists them.
	Encodings []Encoding
	Codec     Codec
	// Values is the number of values, nulls included.
	Values int64
	// Pages is where the pages lie. Uncompressed is the number of bytes that they have
	// decompressed, headers included, by the footer.
	Pages        Range
	Uncompressed int64

	// DataPage and DictionaryPage are where the first ones lie, and OffsetIndex and ColumnIndex where these are.
	DataPage, DictionaryPage int64
	OffsetIndex, ColumnIndex Range
	// Statistics and PageCounts say what is known of the values and the pages. They are written, unless they are
	// nil, and not read.
	Statistics *Statistics
	PageCounts []PageCount

	// flagIgnored says that pages are compressed, whatever those of version 2 say; see correctFlags.
	flagIgnored bool
}

// fields implements structure for ColumnChunk. A chunk that cannot be read is an error at once, so that a
// hostile footer takes memory only in proportion to its bytes.
func (c *Chunk) fields(t *thrift) {
	copied := int64(0) // the offset of a second copy of the metadata, which nobody reads
	i64(t, 2, required, &copied)
	t.nested(3, present, (*chunkMeta)(c))
	i64(t, 4, optional(c.OffsetIndex.Length > 0), &c.OffsetIndex.Offset)
	i32(t, 5, optional(c.OffsetIndex.Length > 0), &c.OffsetIndex.Length)
	i64(t, 6, optional(c.ColumnIndex.Length > 0), &c.ColumnIndex.Offset)
	i32(t, 7, optional(c.ColumnIndex.Length > 0), &c.ColumnIndex.Length)
	if !t.ended || t.err != nil { // writing, or not the last call: see thrift.read
		return
	}
	switch {
	case t.saw(8) || t.saw(9):
		t.err = errors.New("it is encrypted: decrypt the file first")
	case t.saw(1):
		t.err = errors.New("its data is in another file, which is not read")
	case !t.saw(3):
		t.err = errors.New("damaged: nothing says where its data lies")
	}
	if t.err != nil {
		t.err = fmt.Errorf("column %q of a row group: %w", strings.Join(c.Path, "."), t.err)
	}
	// The dictionary comes first if there is one; some writers say that one is at 0, or after the data.
	c.Pages.Offset = c.DataPage
	if isFirst := c.DictionaryPage < c.DataPage || c.DataPage <= 0; isFirst && c.DictionaryPage > 0 {
		c.Pages.Offset = c.DictionaryPage
	}
}

// chunkMeta is a chunk's ColumnMetaData.
type chunkMeta Chunk

// fields implements structure for ColumnMetaData.
func (c *chunkMeta) fields(t *thrift) {
	i32(t, 1, required, &c.Type)
	numbers(t, 2, RawI32, required, &c.Encodings)
	texts(t, 3, required, &c.Path)
	i32(t, 4, required, &c.Codec)
	i64(t, 5, required, &c.Values)
	i64(t, 6, required, &c.Uncompressed)
	i64(t, 7, required, &c.Pages.Length)
	i64(t, 9, required, &c.DataPage)
	i64(t, 11, optional(c.DictionaryPage > 0), &c.DictionaryPage)
	if t.writing {
		t.nested(12, optional(c.Statistics != nil), c.Statistics)
		structures(t, 13, optional(c.PageCounts != nil), &c.PageCounts)
	}
}

// Statistics are those of the values of a chunk or a page: the number of nulls, and bounds of the other values, nil if
// there are none.
type Statistics struct {
	Nulls     int64
	High, Low []byte
}

// fields implements structure for Statistics.
func (s *Statistics) fields(t *thrift) {
	i64(t, 3, present, &s.Nulls)
	text(t, 5, optional(s.High != nil), &s.High)
	text(t, 6, optional(s.Low != nil), &s.Low)
}

// ReadFooter reads and checks the footer of a file of size bytes: its counts must agree, and all chunks must
// lie before it. A footer of more than limit bytes is an error.
func ReadFooter(r io.ReaderAt, size, limit int64) (*File, error) {
	var head [len(Magic)]byte
	var tail [tailSize]byte
	if size < int64(len(head)+len(tail)) {
		return nil, compress.CutError(fmt.Sprintf("%d bytes are not a Parquet file", size))
	}
	if err := ReadAt(r, head[:], 0); err != nil {
		return nil, err
	}
	if err := ReadAt(r, tail[:], size-tailSize); err != nil {
		return nil, err
	}
	switch end := string(tail[4:]); {
	case end == magicEncrypted:
		return nil, errors.New("the file is encrypted: decrypt it first")
	case string(head[:]) != Magic:
		return nil, errors.New("this is not a Parquet file")
	case end != Magic:
		return nil, compress.CutError("the file does not end as Parquet files do: was it written whole?")
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	start := size - tailSize - length
	switch {
	case start < int64(len(head)):
		return nil, fmt.Errorf("damaged: a footer of %d bytes in a file of %d", length, size)
	case length > limit:
		return nil, &budget.MemoryError{What: "its footer", Need: length, Limit: limit}
	}
	data := make([]byte, length)
	if err := ReadAt(r, data, start); err != nil {
		return nil, err
	}
	f, err := parseFooter(data)
	if err != nil {
		return nil, fmt.Errorf("footer: %w", err)
	}
	f.Footer, f.End = data, start
	f.correctFlags()
	if err := f.checkGroups(); err != nil {
		return nil, err
	}
	return f, nil
}

// oldCpp is the beginning of CreatedBy in files of Arrow's C++ writer up to Arrow 2. Later ones have another name.
const oldCpp = "parquet-cpp version 1."

// correctFlags marks the chunks of a writer whose pages of version 2 say that they are not compressed although they are
// (ARROW-10353, ARROW-17100).
func (f *File) correctFlags() {
	if !strings.HasPrefix(f.CreatedBy, oldCpp) {
		return
	}
	for i := range f.Groups {
		for j := range f.Groups[i].Chunks {
			f.Groups[i].Chunks[j].flagIgnored = true
		}
	}
}

// ReadAt fills p with the bytes from offset on. Fewer are an error that is an io.ErrUnexpectedEOF.
func ReadAt(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == nil || err == io.EOF:
		return compress.CutError(fmt.Sprintf("the file ends before byte %d: was it cut while it was read?", offset+int64(len(p))))
	}
	return err
}

// parseFooter reads a footer, which is FileMetaData of parquet.thrift, and finds its leaves.
func parseFooter(data []byte) (*File, error) {
	f := &File{}
	switch _, err := Read(data, f); {
	case err != nil:
		return nil, err
	case f.encrypted:
		return nil, errors.New("the file is encrypted: decrypt it first")
	}
	end, err := f.addElement(0, 0, 0, Leaf{}) // the root, and with it all others
	if err == nil && end < len(f.Schema) {
		err = errTree
	}
	return f, err
}
