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

// Keys of a field's metadata: the name of its extension type, and what that type serialized.
const (
	extensionName = "ARROW:extension:name"
	extensionData = "ARROW:extension:metadata"
)

// plainTypes are the types that are fully described by their kind and the numbers with which the kind's table begins.
var plainTypes = []struct {
	dt      arrow.DataType
	kind    uint8
	numbers []int
}{
	{arrow.Null, TypeNull, nil},
	{arrow.FixedWidthTypes.Boolean, TypeBool, nil},
	{arrow.BinaryTypes.Binary, TypeBinary, nil},
	{arrow.BinaryTypes.String, TypeUTF8, nil},
	{arrow.BinaryTypes.LargeBinary, TypeLargeBinary, nil},
	{arrow.BinaryTypes.LargeString, TypeLargeUTF8, nil},
	{arrow.BinaryTypes.BinaryView, TypeBinaryView, nil},
	{arrow.BinaryTypes.StringView, TypeUTF8View, nil},
	{arrow.PrimitiveTypes.Int8, typeInt, []int{8, 1}},
	{arrow.PrimitiveTypes.Int16, typeInt, []int{16, 1}},
	{arrow.PrimitiveTypes.Int32, typeInt, []int{32, 1}},
	{arrow.PrimitiveTypes.Int64, typeInt, []int{64, 1}},
	{arrow.PrimitiveTypes.Uint8, typeInt, []int{8, 0}},
	{arrow.PrimitiveTypes.Uint16, typeInt, []int{16, 0}},
	{arrow.PrimitiveTypes.Uint32, typeInt, []int{32, 0}},
	{arrow.PrimitiveTypes.Uint64, typeInt, []int{64, 0}},
	{arrow.FixedWidthTypes.Float16, typeFloat, []int{0}},
	{arrow.PrimitiveTypes.Float32, typeFloat, []int{1}},
	{arrow.PrimitiveTypes.Float64, typeFloat, []int{2}},
	{arrow.FixedWidthTypes.Date32, typeDate, []int{0}},
	{arrow.FixedWidthTypes.Date64, typeDate, []int{1}},
	{arrow.FixedWidthTypes.Time32s, typeTime, []int{0, 32}},
	{arrow.FixedWidthTypes.Time32ms, typeTime, []int{1, 32}},
	{arrow.FixedWidthTypes.Time64us, typeTime, []int{2, 64}},
	{arrow.FixedWidthTypes.Time64ns, typeTime, []int{3, 64}},
	{arrow.FixedWidthTypes.MonthInterval, typeInterval, []int{0}},
	{arrow.FixedWidthTypes.DayTimeInterval, typeInterval, []int{1}},
	{arrow.FixedWidthTypes.MonthDayNanoInterval, typeInterval, []int{2}},
	{arrow.FixedWidthTypes.Duration_s, typeDuration, []int{0}},
	{arrow.FixedWidthTypes.Duration_ms, typeDuration, []int{1}},
	{arrow.FixedWidthTypes.Duration_us, typeDuration, []int{2}},
	{arrow.FixedWidthTypes.Duration_ns, typeDuration, []int{3}},
}

// schemaWriter builds the tables of a schema.
type schemaWriter struct {
	*flatbuffers.Builder
	dictionaries int64 // number of dictionaries so far, which is the next one's number
	err          error // the last error
}

// fields builds a vector of Field tables.
func (w *schemaWriter) fields(fields []arrow.Field) flatbuffers.UOffsetT {
	list := make([]flatbuffers.UOffsetT, len(fields))
	for i, f := range fields {
		list[i] = w.field(f)
	}
	return buildVector(w.Builder, list)
}

// field builds a Field table. Dictionaries are numbered in order, each before those inside it.
func (w *schemaWriter) field(f arrow.Field) flatbuffers.UOffsetT {
	dt := f.Type
	keys, values := slices.Clone(f.Metadata.Keys()), slices.Clone(f.Metadata.Values())
	var encoding flatbuffers.UOffsetT
	for isStorage := false; !isStorage; { // extension types and dictionaries may contain one another
		switch t := dt.(type) {
		case arrow.ExtensionType:
			keys, values = append(keys, extensionData, extensionName), append(values, t.Serialize(), t.ExtensionName())
			dt = t.StorageType()
		case *arrow.DictionaryType:
			_, index := w.dataType(t.IndexType)
			w.StartObject(4)
			w.PrependInt64Slot(encodedIDSlot, w.dictionaries, 0)
			w.PrependUOffsetTSlot(indexSlot, index, 0)
			w.PrependBoolSlot(orderedSlot, t.Ordered, false)
			encoding = w.EndObject()
			w.dictionaries++
			dt = t.ValueType
		default:
			isStorage = true
		}
	}
	var inner []arrow.Field
	if nested, is := dt.(arrow.NestedType); is {
		inner = nested.Fields()
	}
	children := w.fields(inner)
	name := w.CreateString(f.Name)
	kind, dataType := w.dataType(dt)
	pairs := w.pairs(arrow.NewMetadata(keys, values))
	w.StartObject(7)
	w.PrependUOffsetTSlot(nameSlot, name, 0)
	w.PrependBoolSlot(nullableSlot, f.Nullable, false)
	w.PrependByteSlot(typeKindSlot, kind, 0)
	w.PrependUOffsetTSlot(typeSlot, dataType, 0)
	w.PrependUOffsetTSlot(encodingSlot, encoding, 0)
	w.PrependUOffsetTSlot(childrenSlot, children, 0)
	w.PrependUOffsetTSlot(fieldSlot, pairs, 0)
	return w.EndObject()
}

// nestedKinds are the kinds of types that are fully described by their kind and their children.
var nestedKinds = map[arrow.Type]uint8{
	arrow.LIST: TypeList, arrow.LARGE_LIST: TypeLargeList, arrow.LIST_VIEW: TypeListView, arrow.LARGE_LIST_VIEW: TypeLargeListView,
	arrow.STRUCT: TypeStruct, arrow.RUN_END_ENCODED: TypeRunEnds,
}

// dataType builds the table of a type, without its children, and returns its kind: its number in the format's union
// of types.
func (w *schemaWriter) dataType(dt arrow.DataType) (kind uint8, at flatbuffers.UOffsetT) {
	for _, t := range plainTypes {
		if arrow.TypeEqual(dt, t.dt) {
			return t.kind, w.table(t.kind, 0, t.numbers...)
		}
	}
	var last flatbuffers.UOffsetT // what the field after the numbers refers to; 0 for no such field
	var numbers []int
	switch dt := dt.(type) {
	case *arrow.Decimal128Type:
		kind, numbers = TypeDecimal, []int{int(dt.Precision), int(dt.Scale), 128}
	case *arrow.Decimal256Type:
		kind, numbers = TypeDecimal, []int{int(dt.Precision), int(dt.Scale), 256}
	case *arrow.FixedSizeBinaryType:
		kind, numbers = typeFixedSizeBinary, []int{dt.ByteWidth}
	case *arrow.TimestampType:
		kind, numbers = typeTimestamp, []int{int(dt.Unit)}
		if dt.TimeZone != "" {
			last = w.CreateString(dt.TimeZone)
		}
	case *arrow.FixedSizeListType:
		kind, numbers = TypeFixedSizeList, []int{int(dt.Len())}
	case *arrow.MapType:
		kind, numbers = TypeMap, []int{0}
		if dt.KeysSorted {
			numbers[0] = 1
		}
	case arrow.UnionType:
		kind, numbers = TypeUnion, []int{int(dt.Mode() - arrow.SparseMode)}
		codes := dt.TypeCodes()
		w.StartVector(4, len(codes), 4)
		for _, code := range slices.Backward(codes) {
			w.PrependInt32(int32(code))
		}
		last = w.EndVector(len(codes))
	default:
		if kind = nestedKinds[dt.ID()]; kind == 0 {
			w.err = fmt.Errorf("%w: type %s", ErrUnsupported, dt)
		}
	}
	return kind, w.table(kind, last, numbers...)
}

// table builds the table of a type of a kind: its numbers and, unless last is 0, a reference to last, which is built
// already.
func (w *schemaWriter) table(kind uint8, last flatbuffers.UOffsetT, numbers ...int) flatbuffers.UOffsetT {
	w.StartObject(len(numbers) + 1)
	for slot, n := range numbers {
		switch typeLayouts[kind].fields[slot].size {
		case 1:
			w.PrependByte(byte(n))
		case 2:
			w.PrependInt16(int16(n))
		default:
			w.PrependInt32(int32(n))
		}
		w.Slot(slot)
	}
	w.PrependUOffsetTSlot(len(numbers), last, 0)
	return w.EndObject()
}

// pairs builds a vector of keys and values. If there are none, it returns 0, with which the field remains absent.
func (w *schemaWriter) pairs(m arrow.Metadata) flatbuffers.UOffsetT {
	if m.Len() == 0 {
		return 0
	}
	list := make([]flatbuffers.UOffsetT, m.Len())
	for i, key := range m.Keys() {
		list[i] = buildPair(w.Builder, key, m.Values()[i])
	}
	return buildVector(w.Builder, list)
}

// plainType returns the type of a kind whose table has these numbers; nil for none.
func plainType(kind uint8, numbers []int) arrow.DataType {
	for _, t := range plainTypes {
		if t.kind == kind && slices.Equal(t.numbers, numbers) {
			return t.dt
		}
	}
	return nil
}

// numbers returns the scalar fields with which the table of a type of this kind begins. plainTypes has the same numbers.
func (t Table) numbers(kind uint8) (list []int) {
	layout, isKnown := typeLayouts[kind]
	for slot := 0; isKnown && slot < len(layout.fields) && layout.fields[slot].kind == flatScalar; slot++ {
		field := layout.fields[slot]
		list = append(list, int(t.number(slot, field.size, field.missing)))
	}
	return list
}

// FieldOf returns the field that a Field table describes, whose type must be known. Decimals of 32 and 64 bits become
// those of 128 bits, or bytes if exact is set.
func FieldOf(t Table, exact bool) (f arrow.Field, err error) {
	f = arrow.Field{Name: t.text(nameSlot), Nullable: t.Uint8(nullableSlot) != 0}
	var children []arrow.Field
	t.Tables(childrenSlot, func(child Table) {
		field, childErr := FieldOf(child, exact)
		err = cmp.Or(err, childErr)
		children = append(children, field)
	})
	if err != nil {
		return f, err
	}
	if f.Type, err = typeOf(t, children, exact); err != nil {
		return f, err
	}
	if encoding, ok := t.Table(encodingSlot); ok {
		var index arrow.DataType = arrow.PrimitiveTypes.Int32
		if of, ok := encoding.Table(indexSlot); ok {
			index = plainType(typeInt, of.numbers(typeInt))
		}
		if index == nil {
			return f, fmt.Errorf("%w: a dictionary's indices", ErrUnsupported)
		}
		f.Type = &arrow.DictionaryType{IndexType: index, ValueType: f.Type, Ordered: encoding.Uint8(orderedSlot) != 0}
	}
	f.Metadata = t.metadata(fieldSlot)
	return f, setExtension(&f)
}

// setExtension replaces f.Type, the storage type, by the extension type that the field's metadata names, if the library
// knows that. It then removes the extension's keys from the metadata.
func setExtension(f *arrow.Field) (err error) {
	name, _ := f.Metadata.GetValue(extensionName)
	extension := arrow.GetExtensionType(name)
	if extension == nil {
		return nil
	}
	data, _ := f.Metadata.GetValue(extensionData)
	var keys, values []string
	for i, key := range f.Metadata.Keys() {
		if key != extensionName && key != extensionData {
			keys, values = append(keys, key), append(values, f.Metadata.Values()[i])
		}
	}
	f.Metadata = arrow.NewMetadata(keys, values)
	f.Type, err = extension.Deserialize(f.Type, data)
	return err
}

// typeOf returns the type of a Field table with these children; of a dictionary, that is the type of its values.
// exact is as in FieldOf.
func typeOf(t Table, children []arrow.Field, exact bool) (arrow.DataType, error) {
	kind := t.Uint8(typeKindSlot)
	data, _ := t.Table(typeSlot)
	numbers := data.numbers(kind)
	if plain := plainType(kind, numbers); plain != nil {
		return plain, nil
	}
	switch kind {
	case TypeDecimal:
		precision, scale, bits := int32(numbers[0]), int32(numbers[1]), numbers[2]
		switch {
		case bits == 256:
			return &arrow.Decimal256Type{Precision: precision, Scale: scale}, nil
		case bits < 128 && exact:
			return &arrow.FixedSizeBinaryType{ByteWidth: bits / 8}, nil
		}
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, nil
	case typeFixedSizeBinary:
		if numbers[0] >= 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: numbers[0]}, nil
		}
	case typeTimestamp:
		if unit := numbers[0]; 0 <= unit && unit <= int(arrow.Nanosecond) {
			return &arrow.TimestampType{Unit: arrow.TimeUnit(unit), TimeZone: data.text(1)}, nil // after the unit
		}
	case TypeStruct:
		return arrow.StructOf(children...), nil
	case TypeUnion:
		if codes := unionCodes(data, len(children)); len(codes) == len(children) && 0 <= numbers[0] && numbers[0] <= 1 {
			return arrow.UnionOf(arrow.SparseMode+arrow.UnionMode(numbers[0]), children, codes), nil
		}
	case TypeRunEnds:
		if len(children) == 2 && arrow.IsSignedInteger(children[0].Type.ID()) && children[0].Type.ID() != arrow.INT8 {
			return arrow.RunEndEncodedOf(children[0].Type, children[1].Type), nil
		}
	default:
		if len(children) == 1 {
			if list := listType(kind, numbers, children[0]); list != nil {
				return list, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: a type of kind %d with %d fields and the numbers %d", ErrUnsupported, kind, len(children), numbers)
}

// listType returns the type of a list or map of this kind with one child, of. It returns nil if the kind is no list or
// map, or cannot have this child or these numbers.
func listType(kind uint8, numbers []int, of arrow.Field) arrow.DataType {
	switch kind {
	case TypeList:
		return arrow.ListOfField(of)
	case TypeLargeList:
		return arrow.LargeListOfField(of)
	case TypeListView:
		return arrow.ListViewOfField(of)
	case TypeLargeListView:
		return arrow.LargeListViewOfField(of)
	case TypeFixedSizeList:
		if numbers[0] > 0 {
			return arrow.FixedSizeListOfField(int32(numbers[0]), of)
		}
	case TypeMap:
		pair, isStruct := of.Type.(*arrow.StructType)
		if !isStruct || of.Nullable || pair.NumFields() != 2 || pair.Field(0).Nullable { // a null entry or key
			return nil
		}
		return tables.MapOf(pair.Field(0), pair.Field(1), numbers[0] != 0)
	}
	return nil
}

// unionCodes returns the type codes of a union with this number of fields: those of its table t or, if that has none,
// 0, 1 and so on, of which there are at most 128. It returns nil if a code is out of range.
func unionCodes(t Table, fields int) (codes []arrow.UnionTypeCode) {
	numbers := structs(t, 1, 4, t.Flat.uint32) // after the mode, int32 each
	if len(numbers) == 0 {
		for i := range min(fields, int(arrow.MaxUnionTypeCode)+1) {
			numbers = append(numbers, uint32(i))
		}
	}
	for _, code := range numbers {
		if code > uint32(arrow.MaxUnionTypeCode) {
			return nil
		}
		codes = append(codes, int8(code))
	}
	return codes
}

// metadata returns the keys and values in a slot.
func (t Table) metadata(slot int) arrow.Metadata {
	var keys, values []string
	t.Tables(slot, func(pair Table) {
		keys, values = append(keys, pair.text(keySlot)), append(values, pair.text(valueSlot))
	})
	return arrow.NewMetadata(keys, values)
}

// ErrUnsupported is returned for a schema that looks intact but uses something that
// this package does not know, such as a type of a later version of the format.
var ErrUnsupported = errors.New("the schema is not supported")
