package layout

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables"
)

// Schema is a schema message as it was read. A column that is copied needs only a
// known layout, and the last columns not even that, so types that neither this program
// nor its library knows are accepted.
type Schema struct {
	meta    []byte // of the message
	Header  Header
	Columns []Shape
	Fields  []int         // where the columns' Field tables are in meta
	IDs     []int64       // of dictionaries, in the order of the columns that use them
	Arrow   *arrow.Schema // an unknown type is null
	// Unknown names the first column with an unknown type; nil for none.
	Unknown error
}

// Shape says which arrays and buffers a column of some type has in a record batch.
type Shape struct {
	Kind     uint8                 // the type's number: TypeNull and so on; of the values, if Encoded
	Dense    bool                  // a union with offsets
	Codes    []arrow.UnionTypeCode // of a dense union's fields
	Encoded  bool                  // the array is a dictionary's indices
	Unknown  bool                  // the library does not know the type, or one in it
	decimal  int                   // bits of a decimal of 32 or 64 bits, which the library does not know; else 0
	Width    int                   // bytes of each value or index, or values of each list; 0 if they differ
	Signed   bool                  // the indices have a sign
	ID       int64                 // of the dictionary, if Encoded
	Children []Shape
	Values   *Shape // of the dictionary, if Encoded
}

// Head returns the schema message with its checksum, without a body, as it lies in a stream.
func (s *Schema) Head() []byte { return SealedHead(s.meta, nil) }

// All returns the indices of all columns.
func (s *Schema) All() []int {
	list := make([]int, len(s.Columns))
	for i := range list {
		list[i] = i
	}
	return list
}

// HasUnion reports whether any column has a union in it.
func (s *Schema) HasUnion() bool { return slices.ContainsFunc(s.Columns, Shape.hasUnion) }

// hasUnion reports whether the column is a union or has one in it, or in its dictionary.
func (s Shape) hasUnion() bool {
	return s.Kind == TypeUnion || slices.ContainsFunc(s.Children, Shape.hasUnion) || s.Values != nil && s.Values.hasUnion()
}

// HasDictionary reports whether the column, or one in it, has a dictionary.
func (s Shape) HasDictionary() bool {
	return s.Encoded || slices.ContainsFunc(s.Children, Shape.HasDictionary)
}

// ParseSchema returns the schema in the metadata of a schema message, which it keeps. Columns of unknown types are
// no error: see [Schema].Unknown. Slots are those of Schema in Schema.fbs.
func ParseSchema(meta []byte) (*Schema, error) {
	h, err := ParseHeader(meta)
	if err != nil {
		return nil, err
	}
	t := h.Table
	switch {
	case h.Kind != KindSchema:
		return nil, fmt.Errorf("the first message is of kind %d, not a schema", h.Kind)
	case t.int16(0) != 0:
		return nil, fmt.Errorf("%w: its numbers are big-endian", ErrUnsupported)
	}
	s := &Schema{meta: meta, Header: h}
	var fields []arrow.Field
	t.Tables(1, func(field Table) {
		column := shapeOf(field, 1, &s.IDs)
		f := arrow.Field{Name: field.text(0), Type: arrow.Null, Nullable: true}
		if !column.Unknown && err == nil {
			if f, err = FieldOf(field, false); err != nil {
				err = fmt.Errorf("column %q: %w", f.Name, err)
			}
		}
		if column.Unknown && s.Unknown == nil {
			s.Unknown = &tables.LimitError{
				What: fmt.Sprintf("column %q: %v: its type, or one in it, is not known here", f.Name, ErrUnsupported),
				Help: tables.CopyAll | tables.LeaveOut,
			}
		}
		s.Columns, s.Fields, fields = append(s.Columns, column), append(s.Fields, field.Pos), append(fields, f)
	})
	metadata := t.metadata(2)
	if t.Flat.err != nil {
		err = t.Flat.err
	}
	if err != nil {
		return nil, err
	}
	s.Arrow = arrow.NewSchema(fields, &metadata)
	return s, nil
}

// shapeOf returns the shape of a Field table, and appends the numbers of its dictionaries to ids. depth
// is that of the field, 1 for a column. Damage fails in field.Flat. Slots are those of Field in Schema.fbs.
func shapeOf(field Table, depth int, ids *[]int64) Shape {
	s := Shape{Kind: field.Uint8(2)}
	if depth > maxDepth {
		field.Flat.fail("columns are nested deeper than %d", maxDepth)
		return s
	}
	if dataType, ok := field.Table(3); ok {
		s.setType(field, dataType)
	} else {
		s.Unknown = true
	}
	var encoding Table
	if encoding, s.Encoded = field.Table(4); s.Encoded {
		*ids = append(*ids, encoding.int64(0))
	}
	field.Tables(5, func(child Table) {
		s.Children = append(s.Children, shapeOf(child, depth+1, ids))
		s.Unknown = s.Unknown || s.Children[len(s.Children)-1].Unknown
	})
	if s.Encoded {
		values := s
		values.Encoded = false
		s.decimal, s.Children, s.Values = 0, nil, &values
		s.ID = encoding.int64(0)
		s.Width, s.Signed = 4, true // an index, unless its type says otherwise
		if index, ok := encoding.Table(1); ok {
			s.Width, s.Signed = widthOf(typeInt, index), index.Uint8(1) != 0
		}
	}
	return s
}

// setType sets what dataType, the table of a field's type, says. s.Kind is set already. Slots are those of
// Schema.fbs.
func (s *Shape) setType(field, dataType Table) {
	has := func(slot int) bool { return dataType.Field(slot, 4) > 0 }
	s.Width = widthOf(s.Kind, dataType)
	s.Unknown = s.Kind == 0 || s.Kind > lastKind
	switch s.Kind {
	case TypeFixedSizeList:
		s.Unknown = !has(0) // its size, which the library needs
	case TypeDecimal:
		switch bits := int(dataType.number(2, 4, 128)); bits {
		case 128, 256:
		case 32, 64:
			s.decimal = bits
			s.Unknown = !has(0) // its precision, which the library needs
		default:
			s.Unknown = true
		}
	case TypeUnion:
		if s.Dense = dataType.int16(0) == 1; s.Dense {
			_, children := field.vector(5, 4)
			s.Codes = unionCodes(dataType, children)
		}
	}
}

// widthOf returns the bytes of each value of a type, or the values of each list of a fixed size; 0 if
// values differ in size or have no whole bytes.
func widthOf(kind uint8, dataType Table) int {
	numbers := dataType.numbers(kind)
	switch kind {
	case TypeDecimal:
		return max(0, numbers[2]/8)
	case typeTimestamp:
		return 8
	case typeFixedSizeBinary, TypeFixedSizeList:
		return max(0, numbers[0])
	}
	if fixed, is := plainType(kind, numbers).(arrow.FixedWidthDataType); is {
		return fixed.BitWidth() / 8
	}
	return 0
}

// HasValidity reports whether arrays of this shape have a validity bitmap.
func (s *Shape) HasValidity() bool {
	return s.Encoded || s.Kind != TypeNull && s.Kind != TypeRunEnds && s.Kind != TypeUnion
}

// buffers returns the number of buffers of an array of this shape, without its children's, and whether
// more follow them, whose number the record batch has (variadic ones, of views).
func (s *Shape) buffers(version int16) (n int, variadic bool, err error) {
	if s.Encoded {
		return 2, false, nil
	}
	switch s.Kind {
	case TypeNull, TypeRunEnds:
		return 0, false, nil
	case TypeStruct, TypeFixedSizeList:
		return 1, false, nil
	case TypeBinary, TypeUTF8, TypeLargeBinary, TypeLargeUTF8, TypeListView, TypeLargeListView:
		return 3, false, nil
	case TypeBinaryView, TypeUTF8View:
		return 2, true, nil
	case TypeUnion:
		n = 1
		if s.Dense {
			n++
		}
		if version < MetadataV5 {
			n++ // unions had a validity bitmap then
		}
		return n, false, nil
	}
	if s.Kind == 0 || s.Kind > lastKind {
		return 0, false, fmt.Errorf("%w: type %d is of a later version of the format", ErrUnsupported, s.Kind)
	}
	return 2, false, nil
}

// Cursor walks the arrays and buffers of a record batch column by column. Nodes, Buffers and Variadic are
// the indices of the next ones in Batch.
type Cursor struct {
	Batch                    *BatchMeta
	Nodes, Buffers, Variadic int
	// Visit, unless nil, is called with each array that has buffers, and the index of the last of these.
	Visit func(s *Shape, buffer int)
}

// Own moves past an array of shape s and its own buffers, but not past its children.
func (c *Cursor) Own(s *Shape) error {
	n, variadic, err := s.buffers(c.Batch.Version)
	if err != nil {
		return err
	}
	if variadic {
		if c.Variadic >= len(c.Batch.Variadic) {
			return errors.New("damaged metadata: a count of data buffers is missing")
		}
		count := c.Batch.Variadic[c.Variadic]
		if count < 0 || count > int64(len(c.Batch.Buffers)) {
			return fmt.Errorf("damaged metadata: %d data buffers", count)
		}
		c.Variadic++
		n += int(count)
	}
	c.Nodes++
	c.Buffers += n
	if c.Nodes > len(c.Batch.Nodes) || c.Buffers > len(c.Batch.Buffers) {
		return errors.New("damaged metadata: fewer arrays or buffers than the schema has")
	}
	if c.Visit != nil && n > 0 {
		c.Visit(s, c.Buffers-1)
	}
	return nil
}

// Next moves past an array of shape s with its children, such as a column.
func (c *Cursor) Next(s *Shape) error {
	if err := c.Own(s); err != nil {
		return err
	}
	return c.NextAll(s.Children)
}

// NextAll moves past arrays of these shapes with their children.
func (c *Cursor) NextAll(shapes []Shape) error {
	for i := range shapes {
		if err := c.Next(&shapes[i]); err != nil {
			return err
		}
	}
	return nil
}

// ProjectBatch returns the metadata of record batch b with only the columns with these indices, of which there is
// one at least. The buffers keep their offsets. Narrow is left to FindNarrow.
func (s *Schema) ProjectBatch(b *BatchMeta, columns []int) (*BatchMeta, error) {
	part := &BatchMeta{Version: b.Version, Rows: b.Rows, Codec: b.Codec}
	at := Cursor{Batch: b}
	last := slices.Max(columns)
	for i := 0; i <= last; i++ {
		from := at
		if err := at.Next(&s.Columns[i]); err != nil {
			return nil, fmt.Errorf("column %q: %w", s.Arrow.Field(i).Name, err)
		}
		if slices.Contains(columns, i) {
			part.Nodes = append(part.Nodes, b.Nodes[from.Nodes:at.Nodes]...)
			part.Buffers = append(part.Buffers, b.Buffers[from.Buffers:at.Buffers]...)
			part.Variadic = append(part.Variadic, b.Variadic[from.Variadic:at.Variadic]...)
		}
	}
	return part, nil
}

// CheckCopied checks the metadata of a record batch that is copied without being decoded: its arrays and
// buffers must match the schema as far as the types are known, and the buffers must lie
// in the body.
func (s *Schema) CheckCopied(b *BatchMeta, bodyLength int64) error {
	for i, buffer := range b.Buffers {
		outside := buffer.Offset < 0 || buffer.Length < 0 || buffer.Length > bodyLength || buffer.Offset > bodyLength-buffer.Length
		switch {
		case outside && buffer.Length == 0: // some writers leave any offset there
			b.Buffers[i].Offset = 0
		case outside:
			return fmt.Errorf("damaged metadata: buffer %d lies outside of the body", i)
		}
	}
	if err := b.CheckLayout(s.Columns); !errors.Is(err, ErrUnsupported) {
		return err
	}
	return nil // what follows a type that is not known cannot be assigned to columns
}

// LoadSpans reads the buffers of part, some of those of the record batch in f, into a new body of at
// most limit bytes, and sets their offsets to where they are in it. Neighbouring buffers are read in one
// call.
func LoadSpans(f *Frame, part *BatchMeta, limit int64) ([]byte, error) {
	const gap = 4096                      // bytes: reading this many more costs less than another read
	type run struct{ from, to, at int64 } // bytes from to to-1 of the old body, which begin at at in the new one
	var runs []run
	size := int64(0) // of the new body so far
	for i, b := range part.Buffers {
		if b.Length == 0 {
			part.Buffers[i].Offset = 0
			continue
		}
		if b.Offset < 0 || b.Length < 0 || b.Length > f.Body.Size() || b.Offset > f.Body.Size()-b.Length {
			return nil, fmt.Errorf("damaged metadata: buffer %d lies outside of the body", i)
		}
		last := len(runs) - 1
		if last < 0 || b.Offset < runs[last].to || b.Offset > runs[last].to+gap {
			size += (b.Offset - size) & 7 // buffers stay as aligned as they were
			runs = append(runs, run{from: b.Offset, to: b.Offset, at: size})
			last++
		}
		r := &runs[last]
		size += b.Offset + b.Length - r.to
		r.to = b.Offset + b.Length
		part.Buffers[i].Offset = r.at + b.Offset - r.from
		if err := checkLength(size, limit); err != nil {
			return nil, err
		}
	}
	body := make([]byte, size)
	for _, r := range runs {
		if err := ReadAt(f.Body, body[r.at:r.at+r.to-r.from], r.from); err != nil {
			return nil, err
		}
	}
	return body, nil
}
