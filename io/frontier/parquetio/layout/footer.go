package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"robotsbatch/batch"
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
	// Rows is how many rows the file has.
	Rows int64
	// Schema has the elements depth first, the root first.
	Schema []Element
	// Fields are the elements at the top, below the root.
	Fields []Field
	// Leaves are the columns: those elements that have no children.
	Leaves []Leaf
	// Groups are the row groups.
	Groups []RowGroup
	// Metadata are the pairs of keys and values, in order.
	Metadata []KeyValue
	// CreatedBy names the program that wrote the file, and its version.
	CreatedBy string
	// Footer is the footer itself, and End where it starts: all else lies
	// before.
	Footer []byte
	End    int64
}

// KeyValue is a pair of the file's metadata.
type KeyValue struct{ Key, Value string }

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

// Kinds of logical types.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalNull      = 11
	logicalJSON      = 12
	logicalBSON      = 13
	logicalUUID      = 14
	logicalFloat16   = 15
)

// Field is an element at the top: a column of a table, as people have it.
type Field struct {
	// Element is its number in the schema, and First to End-1 are its columns.
	Element, First, End int
}

// Leaf is a column.
type Leaf struct {
	// Element is its number in the schema, Field that of the field at the top
	// that it belongs to, counted from 0.
	Element, Field int
	// MaxDefinition and MaxRepetition are the largest levels.
	MaxDefinition, MaxRepetition int
}

// RowGroup is a run of rows.
type RowGroup struct {
	Rows   int64
	Chunks []Chunk
}

// Range is a part of a file. A length of 0 says that there is none.
type Range struct{ Offset, Length int64 }

// Chunk is a column of a row group.
type Chunk struct {
	Type Type
	// Path is the column's name with those of the groups around it.
	Path []string
	// Encodings are those that the footer says that its pages have.
	Encodings []Encoding
	Codec     Codec
	// Values is how many values there are, nulls included.
	Values int64
	// Pages is where the pages lie, and Uncompressed how many bytes they say
	// that they have decompressed, headers included.
	Pages        Range
	Uncompressed int64
	// HasDictionary says that the first page is a dictionary.
	HasDictionary bool

	elsewhere, encrypted, hasMeta bool
	// flagIgnored says that pages are compressed, whatever those of version 2 say.
	flagIgnored              bool
	dataPage, dictionaryPage int64
	offsetIndex, columnIndex Range
}

// ReadFooter reads the footer at the end of the size bytes of r. It may have
// limit bytes. Its counts agree, and every range lies before it.
func ReadFooter(r io.ReaderAt, size, limit int64) (*File, error) {
	var head [len(Magic)]byte
	var tail [tailSize]byte
	if size < int64(len(head)+len(tail)) {
		return nil, fmt.Errorf("%d bytes are not a Parquet file: %w", size, io.ErrUnexpectedEOF)
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
		return nil, fmt.Errorf("the file does not end as Parquet files do; was it written whole? %w", io.ErrUnexpectedEOF)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	start := size - tailSize - length
	switch {
	case start < int64(len(head)):
		return nil, fmt.Errorf("damaged: a footer of %d bytes in a file of %d", length, size)
	case length > limit:
		return nil, &batch.MemoryError{What: "its footer", Need: length, Limit: limit}
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
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// oldCpp begins the name of the writer for C++, up to Arrow 2: from Arrow 3 on, the
// name is another.
const oldCpp = "parquet-cpp version 1."

// correctFlags corrects what a writer is known to say wrongly: that pages of version
// 2 are not compressed (ARROW-10353, ARROW-17100).
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

// ReadAt fills p from r; the end of the file is an error.
func ReadAt(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case err == nil || err == io.EOF:
		return fmt.Errorf("the file ends before byte %d; was it cut while it was read? %w", offset+int64(len(p)), io.ErrUnexpectedEOF)
	}
	return err
}

// parseFooter reads FileMetaData of the format's parquet.thrift.
func parseFooter(data []byte) (*File, error) {
	f := &File{}
	t := &thrift{data: data}
	encrypted := false
	var err error
	t.structure(fileRequired, func(id int16, kind byte) {
		switch id {
		case 2:
			t.structures(kind, func() {
				if f.Schema = append(f.Schema, t.element()); len(f.Schema) > maxElements && err == nil {
					err = fmt.Errorf("it has more than %d columns", maxElements)
					t.fail()
				}
			})
		case 3:
			f.Rows = t.integer(kind)
		case 4:
			t.structures(kind, func() {
				group := t.rowGroup(&err)
				if f.Groups = append(f.Groups, group); len(group.Chunks) == 0 && len(f.Schema) > 1 {
					t.fail()
				}
			})
		case 5:
			t.structures(kind, func() { f.Metadata = append(f.Metadata, t.keyValue()) })
		case 6:
			f.CreatedBy = string(t.bytes(kind))
		case 8:
			encrypted = true
			t.skip(kind)
		default:
			t.skip(kind)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case t.err != nil:
		return nil, t.err
	case encrypted:
		return nil, errors.New("the file is encrypted: decrypt it first")
	}
	return f, f.findLeaves()
}

// element reads a SchemaElement.
func (t *thrift) element() Element {
	e := Element{Type: NoType, Converted: -1}
	t.structure(elementRequired, func(id int16, kind byte) {
		switch id {
		case 1:
			e.Type = Type(t.int32(kind))
		case 2:
			e.TypeLength = t.int32(kind)
		case 3:
			e.Repetition = Repetition(t.int32(kind))
		case 4:
			e.Name = string(t.bytes(kind))
		case 5:
			e.Children = t.int32(kind)
		case 6:
			e.Converted = t.int32(kind)
		case 7:
			e.Scale = t.int32(kind)
		case 8:
			e.Precision = t.int32(kind)
		case 9:
			e.FieldID, e.HasFieldID = t.int32(kind), true
		case 10:
			t.nested(kind, 0, func(id int16, kind byte) {
				e.Logical.Kind = id
				t.nested(kind, logicalRequired(id), func(field int16, kind byte) { t.logical(&e.Logical, field, kind) })
			})
		default:
			t.skip(kind)
		}
	})
	return e
}

// logicalRequired returns the required fields of a logical type.
func logicalRequired(kind int16) fieldSet {
	switch kind {
	case logicalDecimal, logicalTime, logicalTimestamp, logicalInteger:
		return 1<<1 | 1<<2
	}
	return 0
}

// logical reads a field of a logical type.
func (t *thrift) logical(l *Logical, id int16, kind byte) {
	switch {
	case l.Kind == logicalDecimal && id == 1:
		l.Scale = t.int32(kind)
	case l.Kind == logicalDecimal && id == 2:
		l.Precision = t.int32(kind)
	case (l.Kind == logicalTime || l.Kind == logicalTimestamp) && id == 1:
		l.UTC = t.boolean(kind)
	case (l.Kind == logicalTime || l.Kind == logicalTimestamp) && id == 2:
		t.nested(kind, 0, func(unit int16, kind byte) {
			l.Unit = unit
			t.skip(kind)
		})
	case l.Kind == logicalInteger && id == 1:
		l.Bits = int8(t.integer(kind))
	case l.Kind == logicalInteger && id == 2:
		l.Signed = t.boolean(kind)
	default:
		t.skip(kind)
	}
}

func (t *thrift) keyValue() KeyValue {
	var pair KeyValue
	t.structure(keyRequired, func(id int16, kind byte) {
		switch id {
		case 1:
			pair.Key = string(t.bytes(kind))
		case 2:
			pair.Value = string(t.bytes(kind))
		default:
			t.skip(kind)
		}
	})
	return pair
}

// rowGroup reads a RowGroup. A chunk that is not as one must be ends the walk at
// once: what is kept of a footer stays in proportion to its bytes.
func (t *thrift) rowGroup(failed *error) RowGroup {
	var group RowGroup
	t.structure(groupRequired, func(id int16, kind byte) {
		switch id {
		case 1:
			t.structures(kind, func() {
				chunk := t.chunk()
				if err := chunk.complete(); err != nil && *failed == nil && t.err == nil {
					*failed = fmt.Errorf("column %d of a row group: %w", len(group.Chunks), err)
					t.fail()
				}
				group.Chunks = append(group.Chunks, chunk)
			})
		case 3:
			group.Rows = t.integer(kind)
		default:
			t.skip(kind)
		}
	})
	return group
}

// chunk reads a ColumnChunk.
func (t *thrift) chunk() Chunk {
	c := Chunk{dictionaryPage: -1}
	t.structure(chunkRequired, func(id int16, kind byte) {
		switch id {
		case 1:
			c.elsewhere = true
			t.skip(kind)
		case 3:
			c.hasMeta = true
			t.nested(kind, chunkMetaRequired, func(id int16, kind byte) { t.chunkMeta(&c, id, kind) })
		case 4:
			c.offsetIndex.Offset = t.integer(kind)
		case 5:
			c.offsetIndex.Length = t.integer(kind)
		case 6:
			c.columnIndex.Offset = t.integer(kind)
		case 7:
			c.columnIndex.Length = t.integer(kind)
		case 8, 9:
			c.encrypted = true
			t.skip(kind)
		default:
			t.skip(kind)
		}
	})
	start := c.dataPage
	if c.dictionaryPage > 0 && (c.dictionaryPage < start || start <= 0) {
		start, c.HasDictionary = c.dictionaryPage, true
	}
	c.Pages.Offset = start
	return c
}

// chunkMeta reads a field of ColumnMetaData.
func (t *thrift) chunkMeta(c *Chunk, id int16, kind byte) {
	switch id {
	case 1:
		c.Type = Type(t.int32(kind))
	case 2:
		t.list(kind, func(kind byte) { c.Encodings = append(c.Encodings, Encoding(t.int32(kind))) })
	case 3:
		t.list(kind, func(kind byte) { c.Path = append(c.Path, string(t.bytes(kind))) })
	case 4:
		c.Codec = Codec(t.int32(kind))
	case 5:
		c.Values = t.integer(kind)
	case 6:
		c.Uncompressed = t.integer(kind)
	case 7:
		c.Pages.Length = t.integer(kind)
	case 9:
		c.dataPage = t.integer(kind)
	case 11:
		c.dictionaryPage = t.integer(kind)
	default:
		t.skip(kind)
	}
}

// complete reports whether a chunk can be read.
func (c *Chunk) complete() error {
	switch {
	case c.encrypted:
		return errors.New("it is encrypted: decrypt the file first")
	case c.elsewhere:
		return errors.New("its data is in another file, which is not read")
	case !c.hasMeta:
		return errors.New("damaged: nothing says where its data lies")
	}
	return nil
}
