package layout

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// Shape says which arrays and buffers a column of some type has in a record batch.
type Shape struct {
	Kind     uint8                 // the type's number: TypeNull and so on; of the values, if Encoded
	Dense    bool                  // a union with offsets
	Codes    []arrow.UnionTypeCode // of a dense union's fields
	Encoded  bool                  // the array has indices into a dictionary
	Unknown  bool                  // the library does not know the type, or a type inside it
	decimal  int                   // 32 or 64 for decimals of so many bits, which the library does not know; else 0
	Width    int                   // bytes of each value or index, or values of each list; 0 if they differ
	Signed   bool                  // the indices have a sign
	ID       int64                 // of the dictionary, if Encoded
	Children []Shape
	Values   *Shape // of the dictionary, if Encoded
}

// hasUnion reports whether the column is a union or has one in it, or in its dictionary.
func (s Shape) hasUnion() bool {
	return s.Kind == TypeUnion || slices.ContainsFunc(s.Children, Shape.hasUnion) || s.Values != nil && s.Values.hasUnion()
}

// HasDictionary reports whether the column, or a field inside it, has a dictionary.
func (s Shape) HasDictionary() bool {
	return s.Encoded || slices.ContainsFunc(s.Children, Shape.HasDictionary)
}

// shapeOf returns the shape of a Field table, and appends the numbers of its dictionaries to ids. depth
// is that of the field, 1 for a column. field.Flat keeps the error if it is damaged.
func shapeOf(field Table, depth int, ids *[]int64) Shape {
	s := Shape{Kind: field.Uint8(typeKindSlot)}
	if depth > maxDepth {
		field.Flat.fail("columns are nested deeper than %d", maxDepth)
		return s
	}
	if dataType, ok := field.Table(typeSlot); ok {
		s.setType(field, dataType)
	} else {
		s.Unknown = true
	}
	var encoding Table
	if encoding, s.Encoded = field.Table(encodingSlot); s.Encoded {
		*ids = append(*ids, encoding.int64(encodedIDSlot)) // before those inside it
	}
	field.Tables(childrenSlot, func(child Table) {
		s.Children = append(s.Children, shapeOf(child, depth+1, ids))
		s.Unknown = s.Unknown || s.Children[len(s.Children)-1].Unknown
	})
	if s.Encoded { // the array has indices; the type that was read is that of the dictionary's values
		values := s
		values.Encoded = false
		s.decimal, s.Children, s.Values = 0, nil, &values
		s.ID = encoding.int64(encodedIDSlot)
		s.Width, s.Signed = 4, true // an index, unless its type says otherwise
		if index, ok := encoding.Table(indexSlot); ok {
			s.Width, s.Signed = widthOf(typeInt, index), index.Uint8(signedSlot) != 0
		}
	}
	return s
}

// setType sets the fields of s that depend on dataType, the table of a field's type. s.Kind is set already.
func (s *Shape) setType(field, dataType Table) {
	has := func(slot int) bool { return dataType.Field(slot, 4) > 0 }
	s.Width = widthOf(s.Kind, dataType)
	s.Unknown = s.Kind == 0 || s.Kind > lastKind
	switch s.Kind {
	case TypeFixedSizeList:
		s.Unknown = !has(0) // its size, which the library needs
	case TypeDecimal:
		switch bits := dataType.numbers(s.Kind)[2]; bits { // after precision and scale
		case 128, 256:
		case 32, 64:
			s.decimal = bits
			s.Unknown = !has(0) // its precision, which the library needs
		default:
			s.Unknown = true
		}
	case TypeUnion:
		if s.Dense = dataType.int16(0) == 1; s.Dense { // its mode
			_, children := field.vector(childrenSlot, referenceSize)
			s.Codes = unionCodes(dataType, children)
		}
	}
}

// OffsetWidth returns the bytes of an offset of texts, lists or list views.
func (s *Shape) OffsetWidth() int {
	switch s.Kind {
	case TypeLargeBinary, TypeLargeUTF8, TypeLargeList, TypeLargeListView:
		return 8
	}
	return 4
}

// widthOf returns the number of bytes of each value of a type, or of values of each list of a fixed size. It returns 0 if
// values differ in size, or are smaller than a byte.
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

// buffers returns the number of buffers of an array of this shape, without its children's. variadic says that
// further buffers follow them, those of views, whose number is in the record batch's metadata.
func (s *Shape) buffers(version int16) (n int, variadic bool, err error) {
	if s.Encoded { // validity and indices
		return 2, false, nil
	}
	switch s.Kind {
	case TypeNull, TypeRunEnds:
		return 0, false, nil
	case TypeStruct, TypeFixedSizeList: // validity
		return 1, false, nil
	case TypeBinary, TypeUTF8, TypeLargeBinary, TypeLargeUTF8, TypeListView, TypeLargeListView: // validity, offsets, and texts or sizes
		return 3, false, nil
	case TypeBinaryView, TypeUTF8View: // validity and views
		return 2, true, nil
	case TypeUnion:
		n = 1 // type codes
		if s.Dense {
			n++ // offsets
		}
		if version < MetadataV5 {
			n++ // unions had a validity bitmap then
		}
		return n, false, nil
	}
	if s.Kind == 0 || s.Kind > lastKind {
		return 0, false, fmt.Errorf("%w: type %d is of a later version of the format", ErrUnsupported, s.Kind)
	}
	return 2, false, nil // validity, and values or offsets
}

// Cursor walks the arrays and buffers of a record batch column by column. Nodes, Buffers and Variadic are
// the indices of the next elements of these fields of Batch.
type Cursor struct {
	Batch                    *BatchMeta
	Nodes, Buffers, Variadic int
	// Visit, unless nil, is called with the shape of each array that has buffers, and the index of its last buffer.
	Visit func(s *Shape, buffer int)
}

// Own moves past an array of shape s and its own buffers, but not past its children. It is an error if Batch has fewer.
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

// CheckLayout checks that the batch has exactly the arrays and buffers of these columns, and
// a value for every row in each.
func (b *BatchMeta) CheckLayout(columns []Shape) error {
	if b.Rows < 0 {
		return fmt.Errorf("damaged metadata: %d rows", b.Rows)
	}
	at := Cursor{Batch: b}
	for i := range columns {
		if at.Nodes < len(b.Nodes) && b.Nodes[at.Nodes].Length != b.Rows {
			return fmt.Errorf("damaged metadata: column %d has %d values for %d rows", i, b.Nodes[at.Nodes].Length, b.Rows)
		}
		if err := at.Next(&columns[i]); err != nil {
			return err
		}
	}
	// Arrow's Go library leaves counts of dictionaries' variadic buffers in record
	// batches; they are harmless where no column needs one.
	if at.Nodes != len(b.Nodes) || at.Buffers != len(b.Buffers) || at.Variadic > 0 && at.Variadic != len(b.Variadic) {
		return fmt.Errorf("damaged metadata: %d arrays with %d buffers, where the schema has %d with %d", len(b.Nodes), len(b.Buffers), at.Nodes, at.Buffers)
	}
	return nil
}

// CheckNodes checks that each array is plausible: see [FieldNode.IsPlausible].
func (b *BatchMeta) CheckNodes(limit int64) error {
	for i, node := range b.Nodes {
		if !node.IsPlausible(limit) {
			return fmt.Errorf("damaged metadata: array %d has %d values, %d of them null", i, node.Length, node.Nulls)
		}
	}
	return nil
}
