package columns

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Schema is a table's schema in Parquet.
type Schema struct {
	Nodes  []*Node
	Leaves []*Node
	// Stored is the Arrow schema to store with it.
	Stored *arrow.Schema
	// Casts are what is written as another type.
	Casts []Cast
}

// FromArrow returns the Parquet schema of a table with an Arrow schema. A column that
// Parquet has no type for is an error.
func FromArrow(schema *arrow.Schema) (*Schema, error) {
	s := &Schema{}
	fields := make([]arrow.Field, schema.NumFields())
	for i, field := range schema.Fields() {
		b := builder{column: field.Name, schema: s}
		node, stored, err := b.node(field.Name, field)
		if err != nil {
			return nil, fmt.Errorf("column %q of type %s cannot be written as Parquet: %w", field.Name, field.Type, err)
		}
		fields[i], s.Nodes = stored, append(s.Nodes, node)
	}
	SetLevels(s.Nodes)
	s.Leaves = Leaves(nil, s.Nodes)
	m := schema.Metadata()
	s.Stored = arrow.NewSchema(fields, &m)
	return s, nil
}

// builder makes the nodes of one column, and notes casts.
type builder struct {
	column string
	schema *Schema
}

// cast notes that values are written as another type, once for each change in a column.
func (b *builder) cast(from, to arrow.DataType) {
	c := Cast{Column: b.column, From: from.String(), To: to.String()}
	if n := len(b.schema.Casts); n == 0 || b.schema.Casts[n-1] != c {
		b.schema.Casts = append(b.schema.Casts, c)
	}
}

// node returns the node of a field, and the field as the Arrow schema in the file has it: with the types that
// values have after casts.
func (b *builder) node(name string, field arrow.Field) (*Node, arrow.Field, error) {
	n := &Node{Name: name, FieldID: -1, Type: layout.NoType}
	if field.Nullable {
		n.Repetition = layout.Optional
	}
	if text, ok := field.Metadata.GetValue(fieldIDKey); ok {
		if id, err := strconv.ParseInt(text, 10, 32); err == nil && id >= 0 {
			n.FieldID = int32(id)
		}
	}
	stored := field
	var err error
	switch dt := tables.Storage(field.Type).(type) {
	case *arrow.DictionaryType:
		isRestored := dt.ValueType.ID() == arrow.STRING || dt.ValueType.ID() == arrow.BINARY
		return b.encoded(name, field, dt.ValueType, isRestored)
	case *arrow.RunEndEncodedType:
		return b.encoded(name, field, dt.Encoded(), false) // readers do not restore run ends
	case *arrow.StructType:
		stored.Type, err = b.structure(n, dt)
	case *arrow.MapType:
		stored.Type, err = b.maps(n, dt)
	case arrow.ListLikeType:
		stored.Type, err = b.list(n, dt)
	default:
		stored.Type, err = b.leaf(n, dt, field.Metadata)
	}
	if _, ok := field.Type.(arrow.ExtensionType); ok && err == nil { // readers restore it
		stored.Type = field.Type
	}
	return n, stored, err
}

// encoded is node for a field with a dictionary or run ends, which is stored as its values, of type values.
// isRestored says that readers make a dictionary of them again.
func (b *builder) encoded(name string, field arrow.Field, values arrow.DataType, isRestored bool) (*Node, arrow.Field, error) {
	plain := field
	plain.Type = values
	n, stored, err := b.node(name, plain)
	switch {
	case err != nil:
	case isRestored:
		stored.Type = field.Type
	default:
		b.cast(field.Type, stored.Type)
	}
	return n, stored, err
}

// structure adds the children of a struct to its node n, and returns the struct's type with stored fields.
func (b *builder) structure(n *Node, dt *arrow.StructType) (arrow.DataType, error) {
	if len(dt.Fields()) == 0 {
		return nil, errors.New("the format has no structs without fields")
	}
	fields := make([]arrow.Field, len(dt.Fields()))
	for i, field := range dt.Fields() {
		child, stored, err := b.node(field.Name, field)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", field.Name, err)
		}
		n.Children, fields[i] = append(n.Children, child), stored
	}
	return arrow.StructOf(fields...), nil
}

// maps is structure for a map. Its node has one repeated group "key_value" of keys and values.
func (b *builder) maps(n *Node, dt *arrow.MapType) (arrow.DataType, error) {
	n.Meaning.Kind = Map
	keyField := dt.KeyField()
	keyField.Nullable = false // Parquet's keys are required
	key, storedKey, err := b.node("key", keyField)
	if err == nil && key.Repetition != layout.Required {
		err = errors.New("the format has no maps with keys of type null")
	}
	if err != nil {
		return nil, err
	}
	value, storedValue, err := b.node("value", dt.ItemField())
	if err != nil {
		return nil, err
	}
	n.Children = []*Node{{Name: "key_value", Repetition: layout.Repeated, Type: layout.NoType, FieldID: -1, Children: []*Node{key, value}}}
	return tables.MapOf(storedKey, storedValue, dt.KeysSorted), nil
}

// list is structure for a list. Its node has one repeated group "list" of elements.
func (b *builder) list(n *Node, dt arrow.ListLikeType) (arrow.DataType, error) {
	n.Meaning.Kind = List
	element, stored, err := b.node("element", dt.ElemField())
	if err != nil {
		return nil, err
	}
	n.Children = []*Node{{Name: "list", Repetition: layout.Repeated, Type: layout.NoType, FieldID: -1, Children: []*Node{element}}}
	switch dt := dt.(type) {
	case *arrow.LargeListType:
		return arrow.LargeListOfField(stored), nil
	case *arrow.ListViewType:
		return arrow.ListViewOfField(stored), nil
	case *arrow.LargeListViewType:
		return arrow.LargeListViewOfField(stored), nil
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(dt.Len(), stored), nil
	}
	return arrow.ListOfField(stored), nil
}
