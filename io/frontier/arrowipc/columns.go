package arrowipc

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch/option"
)

// schema is a schema message as it was read. A column that passes through needs only a
// known layout, and the last columns not even that, so types that neither this program
// nor its library knows are accepted.
type schema struct {
	meta    []byte // of the message
	header  header
	names   []string
	columns []shape
	fields  []int   // where the columns' Field tables are in meta
	ids     []int64 // of dictionaries, in the order of the columns that use them
	// arrow is the schema for the library, in which an unknown type is null.
	arrow *arrow.Schema
	// decoder is one of all columns, for one user; nil if a type is unknown.
	decoder *decoder
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
	width    int                   // bytes of a value, or values of a list, if all have as many; else 0
	signed   bool                  // the indices
	id       int64                 // of the dictionary
	children []shape
	values   *shape // of the dictionary
}

// hasUnion reports whether any column has a union in it.
func (s *schema) hasUnion() bool { return slices.ContainsFunc(s.columns, shape.hasUnion) }

func (s shape) hasUnion() bool {
	return s.kind == typeUnion || slices.ContainsFunc(s.children, shape.hasUnion) || s.values != nil && s.values.hasUnion()
}

func (s shape) hasDictionary() bool {
	return s.encoded || slices.ContainsFunc(s.children, shape.hasDictionary)
}

// dictionaryShapes returns the shapes of the dictionaries' values, by number. Several columns may
// have the same dictionary.
func (s *schema) dictionaryShapes() (map[int64]*shape, error) {
	shapes := make(map[int64]*shape)
	var add func(s *shape) error
	add = func(s *shape) error {
		if s.values != nil {
			if other := shapes[s.id]; other != nil && !reflect.DeepEqual(other, s.values) {
				return fmt.Errorf("damaged metadata: dictionary %d has values of two types", s.id)
			}
			shapes[s.id] = s.values
			return add(s.values)
		}
		for i := range s.children {
			if err := add(&s.children[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range s.columns {
		if err := add(&s.columns[i]); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

// emptyBatch returns a record batch of columns of these shapes without rows.
func emptyBatch(columns []shape) (*batchMeta, error) {
	b := &batchMeta{version: metadataV5, codec: codecNone}
	for i := range columns {
		if err := b.addEmpty(&columns[i]); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (b *batchMeta) addEmpty(s *shape) error {
	n, variadic, err := s.buffers(b.version)
	if err != nil {
		return err
	}
	if variadic {
		b.variadic = append(b.variadic, 0)
	}
	b.nodes = append(b.nodes, fieldNode{})
	b.buffers = append(b.buffers, make([]span, n)...)
	for i := range s.children {
		if err := b.addEmpty(&s.children[i]); err != nil {
			return err
		}
	}
	return nil
}

// readSchema reads a schema message.
func readSchema(meta []byte, mem memory.Allocator) (*schema, error) {
	s, err := readFields(meta)
	if err != nil {
		return nil, err
	}
	var known []int
	for i := range s.columns {
		if !s.columns[i].unknown {
			known = append(known, i)
		}
	}
	message := meta
	if len(known) < len(s.columns) {
		message = s.project(known)
	}
	if s.decoder, err = newDecoder(message, 0, mem); err != nil {
		return nil, err
	}
	if s.arrow = s.decoder.schema; len(known) < len(s.columns) {
		s.decoder = nil
		s.fillUnknown()
	}
	fields, metadata := s.arrow.Fields(), s.arrow.Metadata()
	t := s.header.table
	t.tables(1, func(field table) {
		fields[0] = restoreMaps(field, fields[0])
		fields = append(fields[1:], fields[0]) // after all rotations each is back in its place
	})
	s.arrow = arrow.NewSchema(fields, &metadata)
	return s, t.f.err
}

// readFields reads of a schema message what the package itself needs of it.
func readFields(meta []byte) (*schema, error) {
	h, err := parseHeader(meta)
	if err != nil {
		return nil, err
	}
	if h.kind != kindSchema {
		return nil, fmt.Errorf("the first message is of kind %d, not a schema", h.kind)
	}
	s := &schema{meta: meta, header: h}
	if s.ids, err = checkSchema(h.table); err != nil {
		return nil, err
	}
	h.table.tables(1, func(field table) {
		s.names = append(s.names, field.text(0))
		s.columns, s.fields = append(s.columns, shapeOf(field)), append(s.fields, field.pos)
	})
	return s, h.table.f.err
}

// fillUnknown replaces unknown types by null in the library's schema.
func (s *schema) fillUnknown() {
	known, metadata := s.arrow.Fields(), s.arrow.Metadata()
	fields := make([]arrow.Field, len(s.names))
	for i, name := range s.names {
		if !s.columns[i].unknown {
			fields[i], known = known[0], known[1:]
			continue
		}
		fields[i] = arrow.Field{Name: name, Type: arrow.Null, Nullable: true}
		if s.unknown == nil {
			s.unknown = option.Errorf("column %q: %w: its type, or one in it, is not known here, and only passes through: write Arrow with all rows and columns, or leave it out with %s", name, ErrUnsupported, option.Columns.With("url"))
		}
	}
	s.arrow = arrow.NewSchema(fields, &metadata)
}

// shapeOf returns the shape of a Field table that was checked.
func shapeOf(field table) shape {
	s := shape{kind: field.uint8(2)}
	dataType, ok := field.table(3)
	s.unknown = !ok || s.kind == 0 || s.kind > lastKind || s.kind == typeFixedSizeList && dataType.field(0, 4) == 0
	if ok && s.kind == typeDecimal {
		switch bits := decimalBits(dataType); bits {
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
	encoding, s.encoded = field.table(4)
	field.tables(5, func(child table) {
		s.children = append(s.children, shapeOf(child))
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
	width := 0
	switch kind {
	case typeInt:
		width = dataType.int32(0, 0) / 8
	case typeFloat: // of half, single or double precision
		width = 2 << (dataType.int16(0) & 3)
	case typeDecimal:
		width = decimalBits(dataType) / 8
	case typeDate: // in milliseconds, or in days
		width = 8
		if dataType.field(0, 2) > 0 && dataType.int16(0) == 0 {
			width = 4
		}
	case typeTime:
		width = dataType.int32(1, 32) / 8
	case typeInterval: // of months; days and milliseconds; months, days and nanoseconds
		width = 4 << (dataType.int16(0) & 3)
	case typeTimestamp, typeDuration:
		width = 8
	case typeFixedSizeBinary, typeFixedSizeList:
		width = dataType.int32(0, 0)
	}
	return max(0, width)
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

// next moves past a column.
func (c *cursor) next(s *shape) error {
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
	for i := range s.children {
		if err := c.next(&s.children[i]); err != nil {
			return err
		}
	}
	return nil
}

// project returns a schema message with only these columns, in the schema's order.
func (s *schema) project(columns []int) []byte {
	return joinSchemas(s, columns, nil)
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
	if b.rows < 0 {
		return fmt.Errorf("damaged metadata: %d rows", b.rows)
	}
	for i, buffer := range b.buffers {
		if buffer.offset < 0 || buffer.length < 0 || buffer.length > bodyLength || buffer.offset > bodyLength-buffer.length {
			return fmt.Errorf("damaged metadata: buffer %d lies outside of the body", i)
		}
	}
	at := cursor{batch: b}
	for i := range s.columns {
		if at.nodes < len(b.nodes) && b.nodes[at.nodes].length != b.rows {
			return fmt.Errorf("damaged metadata: column %d has %d values for %d rows", i, b.nodes[at.nodes].length, b.rows)
		}
		if err := at.next(&s.columns[i]); errors.Is(err, ErrUnsupported) {
			return nil // the rest cannot be interpreted
		} else if err != nil {
			return err
		}
	}
	if at.nodes != len(b.nodes) || at.buffers != len(b.buffers) {
		return fmt.Errorf("damaged metadata: %d arrays with %d buffers, where the schema has %d with %d", len(b.nodes), len(b.buffers), at.nodes, at.buffers)
	}
	return nil
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
