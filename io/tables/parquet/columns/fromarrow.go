package columns

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// Keys of the metadata of Arrow's fields.
const (
	fieldIDKey           = "PARQUET:field_id"
	extensionNameKey     = "ARROW:extension:name"
	extensionMetadataKey = "ARROW:extension:metadata"
	// annotationKey says what Arrow has no type for.
	annotationKey = "PARQUET:logical_type"
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

// FromArrow returns the schema of a table of Arrow's. A column that Parquet has
// no type for is an error.
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

func (b *builder) cast(from, to arrow.DataType) { b.castTo(from.String(), to.String()) }

func (b *builder) castTo(from, to string) {
	c := Cast{Column: b.column, From: from, To: to}
	if n := len(b.schema.Casts); n == 0 || b.schema.Casts[n-1] != c {
		b.schema.Casts = append(b.schema.Casts, c)
	}
}

// node returns the node of a field, and the field as it is stored in the Arrow
// schema, with the types that values have after casts.
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
		value := field
		value.Type = dt.ValueType
		if n, stored, err = b.node(name, value); err == nil {
			if id := dt.ValueType.ID(); id == arrow.STRING || id == arrow.BINARY {
				stored.Type = field.Type // readers make a dictionary of these again
			} else {
				b.cast(field.Type, stored.Type)
			}
		}
		return n, stored, err
	case *arrow.RunEndEncodedType:
		value := field
		value.Type = dt.Encoded()
		if n, stored, err = b.node(name, value); err == nil {
			b.cast(field.Type, stored.Type)
		}
		return n, stored, err
	case *arrow.StructType:
		stored.Type, err = b.structure(n, dt)
	case *arrow.MapType:
		stored.Type, err = b.maps(n, dt)
	case arrow.ListLikeType:
		stored.Type, err = b.list(n, dt)
	default:
		stored.Type, err = b.leaf(n, dt, field.Metadata)
	}
	if _, ok := field.Type.(arrow.ExtensionType); ok && err == nil {
		stored.Type = field.Type
	}
	return n, stored, err
}

// structure adds the children of a struct, and returns its type as it is stored.
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

// maps is structure for a map, whose node has one repeated group of keys and values.
func (b *builder) maps(n *Node, dt *arrow.MapType) (arrow.DataType, error) {
	n.Meaning.Kind = Map
	keyField := dt.KeyField()
	keyField.Nullable = false
	key, storedKey, err := b.node("key", keyField)
	if err != nil {
		return nil, err
	}
	value, storedValue, err := b.node("value", dt.ItemField())
	if err != nil {
		return nil, err
	}
	n.Children = []*Node{{Name: "key_value", Repetition: layout.Repeated, Type: layout.NoType, FieldID: -1, Children: []*Node{key, value}}}
	stored := arrow.MapOfWithMetadata(storedKey.Type, storedKey.Metadata, storedValue.Type, storedValue.Metadata)
	stored.SetItemNullable(storedValue.Nullable)
	stored.KeysSorted = dt.KeysSorted
	return stored, nil
}

// list is structure for a list, whose node has one repeated group of elements.
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
		if dt.Len() > 0 {
			return arrow.FixedSizeListOfField(dt.Len(), stored), nil
		}
		b.cast(dt, arrow.ListOfField(stored)) // readers take a null list of no values for an empty one
	}
	return arrow.ListOfField(stored), nil
}

// leaf sets the type of a node that has values, and returns the type that they are stored as. m is the
// field's metadata.
func (b *builder) leaf(n *Node, dt arrow.DataType, m arrow.Metadata) (arrow.DataType, error) {
	switch dt := dt.(type) {
	case *arrow.NullType:
		n.Type, n.Repetition, n.Meaning.Kind = layout.Int32, layout.Optional, Null
	case *arrow.BooleanType:
		n.Type = layout.Boolean
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		n.integer(dt.(arrow.FixedWidthDataType))
	case *arrow.Float16Type:
		n.Type, n.Length, n.Meaning.Kind = layout.FixedLenByteArray, 2, Float16
	case *arrow.Float32Type:
		n.Type = layout.Float
	case *arrow.Float64Type:
		n.Type = layout.Double
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		n.Type, n.Meaning.Kind = layout.ByteArray, String
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		n.Type = layout.ByteArray
	case *arrow.FixedSizeBinaryType:
		if n.Type, n.Length = layout.FixedLenByteArray, int32(dt.ByteWidth); dt.ByteWidth == 0 {
			n.Type = layout.ByteArray
			b.cast(dt, arrow.BinaryTypes.Binary)
			return arrow.BinaryTypes.Binary, nil
		}
	case arrow.DecimalType:
		return dt, n.decimal(dt)
	case *arrow.Date32Type:
		n.Type, n.Meaning.Kind = layout.Int32, Date
	case *arrow.Date64Type:
		n.Type, n.Meaning.Kind = layout.Int32, Date
		b.cast(dt, arrow.FixedWidthTypes.Date32)
		return arrow.FixedWidthTypes.Date32, nil
	case *arrow.DurationType:
		n.Type = layout.Int64 // the stored schema says what it is
	case *arrow.Time32Type, *arrow.Time64Type, *arrow.TimestampType:
		return b.time(n, dt, m), nil
	default:
		return nil, errors.New("the format has no such type")
	}
	n.annotate(m)
	return dt, nil
}

func (n *Node) integer(dt arrow.FixedWidthDataType) {
	n.Type = layout.Int32
	if dt.BitWidth() == 64 {
		n.Type = layout.Int64
	}
	signed := arrow.IsSignedInteger(dt.ID())
	if !signed || dt.BitWidth() < 32 { // others are what the physical types mean
		n.Meaning = Meaning{Kind: Integer, Bits: int8(dt.BitWidth()), Signed: signed}
	}
}

// decimalLength returns the bytes that decimals of a precision take.
func decimalLength(precision int32) int32 {
	bits := (float64(precision)*3.321928094887362 + 1) // log2(10), and the sign
	return int32(bits+7.9999999) / 8
}

func (n *Node) decimal(dt arrow.DecimalType) error {
	precision, scale := dt.GetPrecision(), dt.GetScale()
	if scale < 0 || scale > precision {
		return fmt.Errorf("a scale of %d is outside of Parquet's 0 to %d", scale, precision)
	}
	n.Type, n.Length = layout.FixedLenByteArray, decimalLength(precision)
	n.Meaning = Meaning{Kind: Decimal, Precision: precision, Scale: scale}
	return nil
}

// time is leaf for times and timestamps. Parquet has no seconds: they become milliseconds.
func (b *builder) time(n *Node, dt arrow.DataType, m arrow.Metadata) arrow.DataType {
	annotation, _ := m.GetValue(annotationKey)
	stored := dt
	switch dt := dt.(type) {
	case *arrow.Time32Type:
		n.Type, n.Meaning = layout.Int32, Meaning{Kind: Time, Unit: arrow.Millisecond}
		stored = arrow.FixedWidthTypes.Time32ms
	case *arrow.Time64Type:
		n.Type, n.Meaning = layout.Int64, Meaning{Kind: Time, Unit: dt.Unit}
	case *arrow.TimestampType:
		n.Type, n.Meaning = layout.Int64, Meaning{Kind: Timestamp, Unit: dt.Unit, UTC: dt.TimeZone != ""}
		if dt.Unit == arrow.Second {
			n.Meaning.Unit = arrow.Millisecond
			stored = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: dt.TimeZone}
		}
		n.Meaning.Old = annotation == oldTimestamp && !n.Meaning.UTC && n.Meaning.Unit != arrow.Nanosecond
	}
	if n.Meaning.Kind == Time && annotation == timeUTC {
		n.Meaning.UTC = true
	}
	if !arrow.TypeEqual(stored, dt) {
		b.cast(dt, stored)
	}
	return stored
}

// Annotations of what Arrow has no type for, values of annotationKey.
const (
	annotationEnum     = "ENUM"
	annotationJSON     = "JSON"
	annotationBSON     = "BSON"
	annotationInterval = "INTERVAL"
	timeUTC            = "TIME(isAdjustedToUTC=true)"
	// oldTimestamp says that only a converted type says what it is, of which
	// readers disagree whether it is in UTC.
	oldTimestamp = "TIMESTAMP without isAdjustedToUTC"
)

// annotate takes the meaning of a leaf from its field's metadata, where its type
// fits it.
func (n *Node) annotate(m arrow.Metadata) {
	extension, _ := m.GetValue(extensionNameKey)
	annotation, _ := m.GetValue(annotationKey)
	switch {
	case n.Type == layout.ByteArray && n.Meaning.Kind == String && extension == "arrow.json",
		n.Type == layout.ByteArray && annotation == annotationJSON:
		n.Meaning.Kind = JSON
	case n.Type == layout.ByteArray && annotation == annotationEnum:
		n.Meaning.Kind = Enum
	case n.Type == layout.ByteArray && annotation == annotationBSON:
		n.Meaning.Kind = BSON
	case n.Type == layout.FixedLenByteArray && n.Length == 16 && extension == "arrow.uuid":
		n.Meaning.Kind = UUID
	case n.Type == layout.FixedLenByteArray && n.Length == 12 && annotation == annotationInterval:
		n.Meaning.Kind = Interval
	}
}
