package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"robotsbatch/io/tables"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Schema is a schema message as it was read. It may have types that the library does not know,
// because columns that are copied need only a known layout, and none at all from the first unknown
// type on.
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

// All returns the indices of all columns.
func (s *Schema) All() []int {
	list := make([]int, len(s.Columns))
	for i := range list {
		list[i] = i
	}
	return list
}

// HasUnion reports whether any column is a union, or has one inside.
func (s *Schema) HasUnion() bool { return slices.ContainsFunc(s.Columns, Shape.hasUnion) }

// parseSchema returns the schema in the metadata of a schema message, which it keeps. Columns of unknown types are
// no error: see [Schema].Unknown.
func parseSchema(meta []byte) (*Schema, error) {
	h, err := ParseHeader(meta)
	if err != nil {
		return nil, err
	}
	t := h.Table
	switch {
	case h.Kind != KindSchema:
		return nil, fmt.Errorf("the first message is of kind %d, not a schema", h.Kind)
	case t.int16(endiannessSlot) != 0:
		return nil, fmt.Errorf("%w: its numbers are big-endian", ErrUnsupported)
	}
	s := &Schema{meta: meta, Header: h}
	var fields []arrow.Field
	t.Tables(fieldsSlot, func(field Table) {
		column := shapeOf(field, 1, &s.IDs)
		f := arrow.Field{Name: field.text(nameSlot), Type: arrow.Null, Nullable: true}
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
	metadata := t.metadata(schemaSlot)
	if err = cmp.Or(t.Flat.err, err); err != nil {
		return nil, err
	}
	s.Arrow = arrow.NewSchema(fields, &metadata)
	return s, nil
}

// BuildSchema returns a schema as a stream has it: see [Schema.Head].
func BuildSchema(schema *arrow.Schema) (*Schema, error) {
	w := schemaWriter{Builder: flatbuffers.NewBuilder(1024)}
	fields := w.fields(schema.Fields())
	pairs := w.pairs(schema.Metadata())
	w.StartObject(4)
	w.PrependUOffsetTSlot(fieldsSlot, fields, 0)
	w.PrependUOffsetTSlot(schemaSlot, pairs, 0)
	meta := finishMessage(w.Builder, KindSchema, MetadataV5, 0, w.EndObject(), NoSum[:], nil)
	if w.err != nil {
		return nil, w.err
	}
	return parseSchema(meta)
}

// JoinSchemas returns the metadata of a schema message with those columns of first that have the indices columns,
// and then all columns of second. It copies everything else from first, including what this package does not know.
func JoinSchemas(first *Schema, columns []int, second *Schema) []byte {
	t := first.Header.Table
	fb := flatbuffers.NewBuilder(len(first.meta) + 256)
	var fields []flatbuffers.UOffsetT
	base := graft(fb, first.meta, 0)
	for _, i := range columns {
		fields = append(fields, base-flatbuffers.UOffsetT(first.Fields[i]))
	}
	added := graft(fb, second.meta, 0)
	for _, pos := range second.Fields {
		fields = append(fields, added-flatbuffers.UOffsetT(pos))
	}
	list := buildVector(fb, fields)
	fb.StartObject(4)
	fb.PrependInt16Slot(endiannessSlot, t.int16(endiannessSlot), 0)
	fb.PrependUOffsetTSlot(fieldsSlot, list, 0)
	if pos, n := t.vector(schemaSlot, referenceSize); n > 0 {
		fb.PrependUOffsetTSlot(schemaSlot, base-flatbuffers.UOffsetT(pos-4), 0) // the vector's length comes before it
	}
	if pos, n := t.vector(featuresSlot, 8); n > 0 {
		fb.PrependUOffsetTSlot(featuresSlot, base-flatbuffers.UOffsetT(pos-4), 0)
	}
	return finishMessage(fb, KindSchema, MetadataV5, 0, fb.EndObject(), PartSum(0), nil)
}

// checkOther checks that s equals the other copy of a file's schema: one is in the first message, and one in the footer.
// meta is the other copy as the metadata of a message.
func (s *Schema) checkOther(meta []byte) error {
	other, err := parseSchema(meta)
	if err == nil && !s.equal(other) {
		err = errors.New("damaged: the schema at its beginning is not the one in its footer")
	}
	return err
}

// equal reports whether two schemas are equal, metadata included.
func (s *Schema) equal(other *Schema) bool {
	return s.Arrow.Equal(other.Arrow) && s.Arrow.Metadata().Equal(other.Arrow.Metadata()) &&
		slices.EqualFunc(s.Columns, other.Columns, SameDecimals)
}

// ProjectBatch returns the metadata of a record batch that has only those columns of b that have the indices columns, one
// at least. The buffers keep their offsets. Narrow is not set.
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

// CheckCopied checks the metadata of a record batch that is copied without being decoded. Its arrays and
// buffers must match the schema up to the first type that is not known, and all buffers must lie in
// the body.
func (s *Schema) CheckCopied(b *BatchMeta, bodyLength int64) error {
	for i, buffer := range b.Buffers {
		switch {
		case buffer.In(bodyLength):
		case buffer.Length == 0: // some writers leave any offset there
			b.Buffers[i].Offset = 0
		default:
			return fmt.Errorf("damaged metadata: buffer %d lies outside of the body", i)
		}
	}
	if err := b.CheckLayout(s.Columns); !errors.Is(err, ErrUnsupported) {
		return err
	}
	return nil // the buffers after a type that is not known may be of any column
}
