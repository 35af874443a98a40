package arrowipc

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables"
)

// schema is a schema message as it was read. A column that passes through needs only a
// known layout, and the last columns not even that, so types that neither this program
// nor its library knows are accepted.
type schema struct {
	meta    []byte // of the message
	header  header
	columns []shape
	fields  []int         // where the columns' Field tables are in meta
	ids     []int64       // of dictionaries, in the order of the columns that use them
	arrow   *arrow.Schema // an unknown type is null
	// unknown names the first column with an unknown type; nil for none.
	unknown error
}

// shape is what a record batch shows of a column's type: its arrays and buffers.
type shape struct {
	kind     uint8                 // of the format's union of types
	dense    bool                  // a union with offsets
	codes    []arrow.UnionTypeCode // of its fields
	encoded  bool                  // the array is a dictionary's indices
	unknown  bool                  // to the library, but perhaps not to this package
	decimal  int                   // its bits, if the library does not know the width
	width    int                   // bytes of each value, or values of each list; 0 if they differ
	signed   bool                  // the indices
	id       int64                 // of the dictionary
	children []shape
	values   *shape // of the dictionary
}

// all returns the indices of all columns.
func (s *schema) all() []int {
	list := make([]int, len(s.columns))
	for i := range list {
		list[i] = i
	}
	return list
}

// hasUnion reports whether any column has a union in it.
func (s *schema) hasUnion() bool { return slices.ContainsFunc(s.columns, shape.hasUnion) }

func (s shape) hasUnion() bool {
	return s.kind == typeUnion || slices.ContainsFunc(s.children, shape.hasUnion) || s.values != nil && s.values.hasUnion()
}

func (s shape) hasDictionary() bool {
	return s.encoded || slices.ContainsFunc(s.children, shape.hasDictionary)
}

// parseSchema reads a schema message.
func parseSchema(meta []byte) (*schema, error) {
	h, err := parseHeader(meta)
	if err != nil {
		return nil, err
	}
	t := h.table
	switch {
	case h.kind != kindSchema:
		return nil, fmt.Errorf("the first message is of kind %d, not a schema", h.kind)
	case t.int16(0) != 0:
		return nil, fmt.Errorf("%w: its numbers are big-endian", ErrUnsupported)
	}
	s := &schema{meta: meta, header: h}
	var fields []arrow.Field
	t.tables(1, func(field table) {
		column := shapeOf(field, 1, &s.ids)
		f := arrow.Field{Name: field.text(0), Type: arrow.Null, Nullable: true}
		if !column.unknown && err == nil {
			if f, err = fieldOf(field, false); err != nil {
				err = fmt.Errorf("column %q: %w", f.Name, err)
			}
		}
		if column.unknown && s.unknown == nil {
			s.unknown = &tables.LimitError{
				What: fmt.Sprintf("column %q: %v: its type, or one in it, is not known here, and only passes through", f.Name, ErrUnsupported),
				Help: tables.CopyAll | tables.LeaveOut,
			}
		}
		s.columns, s.fields, fields = append(s.columns, column), append(s.fields, field.pos), append(fields, f)
	})
	metadata := t.metadata(2)
	if t.f.err != nil {
		err = t.f.err
	}
	if err != nil {
		return nil, err
	}
	s.arrow = arrow.NewSchema(fields, &metadata)
	return s, nil
}

// shapeOf returns the shape of a Field table, and appends the numbers of its dictionaries.
func shapeOf(field table, depth int, ids *[]int64) shape {
	s := shape{kind: field.uint8(2)}
	if depth > maxDepth {
		field.f.fail("columns are nested deeper than %d", maxDepth)
		return s
	}
	dataType, ok := field.table(3)
	s.unknown = !ok || s.kind == 0 || s.kind > lastKind || s.kind == typeFixedSizeList && dataType.field(0, 4) == 0
	if ok && s.kind == typeDecimal {
		switch bits := dataType.int32(2, 128); bits {
		case 128, 256:
		case 32, 64:
			s.decimal = bits
			s.unknown = dataType.field(0, 4) == 0 // without a precision
		default:
			s.unknown = true
		}
	}
	if s.dense = ok && s.kind == typeUnion && dataType.int16(0) == 1; s.dense {
		_, children := field.vector(5, 4)
		s.codes = unionCodes(dataType, children)
	}
	if ok {
		s.width = widthOf(s.kind, dataType)
	}
	var encoding table
	if encoding, s.encoded = field.table(4); s.encoded {
		*ids = append(*ids, encoding.int64(0))
	}
	field.tables(5, func(child table) {
		s.children = append(s.children, shapeOf(child, depth+1, ids))
		s.unknown = s.unknown || s.children[len(s.children)-1].unknown
	})
	if s.encoded {
		values := s
		values.encoded = false
		s.decimal, s.children, s.values = 0, nil, &values
		s.id = encoding.int64(0)
		s.width, s.signed = 4, true // an index, unless its type says otherwise
		if index, ok := encoding.table(1); ok {
			s.width, s.signed = widthOf(typeInt, index), index.uint8(1) != 0
		}
	}
	return s
}

// widthOf returns how many bytes a value of a type has, or how many values a list of fixed
// size; 0 if values differ in size or have no whole bytes.
func widthOf(kind uint8, dataType table) int {
	numbers := dataType.numbers(kind)
	switch kind {
	case typeDecimal:
		return max(0, numbers[2]/8)
	case typeTimestamp:
		return 8
	case typeFixedSizeBinary, typeFixedSizeList:
		return max(0, numbers[0])
	}
	if fixed, is := plainType(kind, numbers).(arrow.FixedWidthDataType); is {
		return fixed.BitWidth() / 8
	}
	return 0
}

// hasValidity reports whether arrays of this shape have a validity bitmap.
func (s *shape) hasValidity() bool {
	return s.encoded || s.kind != typeNull && s.kind != typeRunEnds && s.kind != typeUnion
}

// buffers returns how many buffers an array of this shape has, without its children's,
// and whether it may have variadic ones besides.
func (s *shape) buffers(version int16) (n int, variadic bool, err error) {
	if s.encoded {
		return 2, false, nil
	}
	switch s.kind {
	case typeNull, typeRunEnds:
		return 0, false, nil
	case typeStruct, typeFixedSizeList:
		return 1, false, nil
	case typeBinary, typeUTF8, typeLargeBinary, typeLargeUTF8, typeListView, typeLargeListView:
		return 3, false, nil
	case typeBinaryView, typeUTF8View:
		return 2, true, nil
	case typeUnion:
		n = 1
		if s.dense {
			n++
		}
		if version < metadataV5 {
			n++ // unions had a validity bitmap then
		}
		return n, false, nil
	}
	if s.kind == 0 || s.kind > lastKind {
		return 0, false, fmt.Errorf("%w: type %d is of a later version of the format", ErrUnsupported, s.kind)
	}
	return 2, false, nil
}

// cursor walks the arrays and buffers of a record batch column by column.
type cursor struct {
	batch                    *batchMeta
	nodes, buffers, variadic int
	// visit, unless nil, is called with each array that has values, and its last buffer.
	visit func(s *shape, node fieldNode, buffer int)
}

// own moves past an array and its buffers, but not past its children.
func (c *cursor) own(s *shape) error {
	n, variadic, err := s.buffers(c.batch.version)
	if err != nil {
		return err
	}
	if variadic {
		if c.variadic >= len(c.batch.variadic) {
			return errors.New("damaged metadata: a count of data buffers is missing")
		}
		count := c.batch.variadic[c.variadic]
		if count < 0 || count > int64(len(c.batch.buffers)) {
			return fmt.Errorf("damaged metadata: %d data buffers", count)
		}
		c.variadic++
		n += int(count)
	}
	c.nodes++
	c.buffers += n
	if c.nodes > len(c.batch.nodes) || c.buffers > len(c.batch.buffers) {
		return errors.New("damaged metadata: fewer arrays or buffers than the schema has")
	}
	if c.visit != nil && n > 0 {
		c.visit(s, c.batch.nodes[c.nodes-1], c.buffers-1)
	}
	return nil
}

// next moves past a column.
func (c *cursor) next(s *shape) error {
	err := c.own(s)
	for i := range s.children {
		if err == nil {
			err = c.next(&s.children[i])
		}
	}
	return err
}

// projectBatch returns the metadata of a record batch with only these columns. The
// buffers keep their offsets.
func (s *schema) projectBatch(b *batchMeta, columns []int) (*batchMeta, error) {
	part := &batchMeta{version: b.version, rows: b.rows, codec: b.codec}
	at := cursor{batch: b}
	last := slices.Max(columns)
	for i := 0; i <= last; i++ {
		from := at
		if err := at.next(&s.columns[i]); err != nil {
			return nil, fmt.Errorf("column %q: %w", s.arrow.Field(i).Name, err)
		}
		if slices.Contains(columns, i) {
			part.nodes = append(part.nodes, b.nodes[from.nodes:at.nodes]...)
			part.buffers = append(part.buffers, b.buffers[from.buffers:at.buffers]...)
			part.variadic = append(part.variadic, b.variadic[from.variadic:at.variadic]...)
		}
	}
	return part, nil
}

// checkPassing checks a record batch that passes through partly unread: its arrays and
// buffers must match the schema as far as the types are known, and the buffers must lie
// in the body.
func (s *schema) checkPassing(b *batchMeta, bodyLength int64) error {
	for i, buffer := range b.buffers {
		outside := buffer.offset < 0 || buffer.length < 0 || buffer.length > bodyLength || buffer.offset > bodyLength-buffer.length
		switch {
		case outside && buffer.length == 0: // its offset means nothing
			b.buffers[i].offset = 0
		case outside:
			return fmt.Errorf("damaged metadata: buffer %d lies outside of the body", i)
		}
	}
	if err := b.checkLayout(s.columns); !errors.Is(err, ErrUnsupported) {
		return err
	}
	return nil // the rest cannot be interpreted
}

// loadSpans reads the buffers of a part of a record batch into a new body, and adjusts
// the metadata's offsets to it. Neighbouring buffers are read in one call.
func loadSpans(f *frame, part *batchMeta, limit int64) ([]byte, error) {
	const gap = 4096 // reading a gap this small costs less than another read
	type run struct{ from, to, at int64 }
	var runs []run
	size := int64(0)
	for i, b := range part.buffers {
		if b.length == 0 {
			part.buffers[i].offset = 0
			continue
		}
		if b.offset < 0 || b.length < 0 || b.length > f.body.Size() || b.offset > f.body.Size()-b.length {
			return nil, fmt.Errorf("damaged metadata: buffer %d lies outside of the body", i)
		}
		last := len(runs) - 1
		if last < 0 || b.offset < runs[last].to || b.offset > runs[last].to+gap {
			size += (b.offset - size) & 7 // buffers stay aligned
			runs = append(runs, run{from: b.offset, to: b.offset, at: size})
			last++
		}
		r := &runs[last]
		size += b.offset + b.length - r.to
		r.to = b.offset + b.length
		part.buffers[i].offset = r.at + b.offset - r.from
		if err := checkLength(size, limit); err != nil {
			return nil, err
		}
	}
	body := make([]byte, size)
	for _, r := range runs {
		if err := readAt(f.body, body[r.at:r.at+r.to-r.from], r.from); err != nil {
			return nil, err
		}
	}
	return body, nil
}
