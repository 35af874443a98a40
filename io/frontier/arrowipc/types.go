package arrowipc

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Keys of a field's metadata that name its extension type, and hold what that serialized.
const (
	extensionName = "ARROW:extension:name"
	extensionData = "ARROW:extension:metadata"
)

// plainTypes are the types that a kind and the numbers of its table describe.
var plainTypes = []struct {
	dt      arrow.DataType
	kind    uint8
	numbers []int
}{
	{arrow.Null, typeNull, nil},
	{arrow.FixedWidthTypes.Boolean, typeBool, nil},
	{arrow.BinaryTypes.Binary, typeBinary, nil},
	{arrow.BinaryTypes.String, typeUTF8, nil},
	{arrow.BinaryTypes.LargeBinary, typeLargeBinary, nil},
	{arrow.BinaryTypes.LargeString, typeLargeUTF8, nil},
	{arrow.BinaryTypes.BinaryView, typeBinaryView, nil},
	{arrow.BinaryTypes.StringView, typeUTF8View, nil},
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

// EncodeSchema returns a schema message.
func EncodeSchema(schema *arrow.Schema) ([]byte, error) {
	meta, err := encodeSchema(schema)
	if err != nil {
		return nil, err
	}
	return newMessage(meta, nil).head, nil
}

// encodeSchema returns the metadata of a schema message.
func encodeSchema(schema *arrow.Schema) ([]byte, error) {
	w := schemaWriter{Builder: flatbuffers.NewBuilder(1024)}
	fields := w.fields(schema.Fields())
	pairs := w.pairs(schema.Metadata())
	w.StartObject(4)
	w.PrependUOffsetTSlot(1, fields, 0)
	w.PrependUOffsetTSlot(2, pairs, 0)
	return finishMessage(w.Builder, kindSchema, metadataV5, 0, w.EndObject(), noSum[:], nil), w.err
}

// schemaWriter builds the tables of a schema.
type schemaWriter struct {
	*flatbuffers.Builder
	dictionaries int64
	err          error
}

func (w *schemaWriter) fields(fields []arrow.Field) flatbuffers.UOffsetT {
	list := make([]flatbuffers.UOffsetT, len(fields))
	for i, f := range fields {
		list[i] = w.field(f)
	}
	return buildVector(w.Builder, list)
}

// field builds a Field table. Dictionaries are numbered in order, outer ones before inner ones.
func (w *schemaWriter) field(f arrow.Field) flatbuffers.UOffsetT {
	dt := f.Type
	keys, values := slices.Clone(f.Metadata.Keys()), slices.Clone(f.Metadata.Values())
	var encoding flatbuffers.UOffsetT
	for plain := false; !plain; {
		switch t := dt.(type) {
		case arrow.ExtensionType:
			keys, values = append(keys, extensionData, extensionName), append(values, t.Serialize(), t.ExtensionName())
			dt = t.StorageType()
		case *arrow.DictionaryType:
			_, index := w.dataType(t.IndexType)
			w.StartObject(4)
			w.PrependInt64Slot(0, w.dictionaries, 0)
			w.PrependUOffsetTSlot(1, index, 0)
			w.PrependBoolSlot(2, t.Ordered, false)
			encoding = w.EndObject()
			w.dictionaries++
			dt = t.ValueType
		default:
			plain = true
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
	w.PrependUOffsetTSlot(0, name, 0)
	w.PrependBoolSlot(1, f.Nullable, false)
	w.PrependByteSlot(2, kind, 0)
	w.PrependUOffsetTSlot(3, dataType, 0)
	w.PrependUOffsetTSlot(4, encoding, 0)
	w.PrependUOffsetTSlot(5, children, 0)
	w.PrependUOffsetTSlot(6, pairs, 0)
	return w.EndObject()
}

// dataType builds the table of a type, without its children.
func (w *schemaWriter) dataType(dt arrow.DataType) (kind uint8, at flatbuffers.UOffsetT) {
	for _, t := range plainTypes {
		if arrow.TypeEqual(dt, t.dt) {
			return t.kind, w.table(t.kind, 0, t.numbers...)
		}
	}
	var last flatbuffers.UOffsetT
	var numbers []int
	switch dt := dt.(type) {
	case *arrow.Decimal128Type:
		kind, numbers = typeDecimal, []int{int(dt.Precision), int(dt.Scale), 128}
	case *arrow.Decimal256Type:
		kind, numbers = typeDecimal, []int{int(dt.Precision), int(dt.Scale), 256}
	case *arrow.FixedSizeBinaryType:
		kind, numbers = typeFixedSizeBinary, []int{dt.ByteWidth}
	case *arrow.TimestampType:
		kind, numbers = typeTimestamp, []int{int(dt.Unit)}
		if dt.TimeZone != "" {
			last = w.CreateString(dt.TimeZone)
		}
	case *arrow.ListType:
		kind = typeList
	case *arrow.LargeListType:
		kind = typeLargeList
	case *arrow.ListViewType:
		kind = typeListView
	case *arrow.LargeListViewType:
		kind = typeLargeListView
	case *arrow.FixedSizeListType:
		kind, numbers = typeFixedSizeList, []int{int(dt.Len())}
	case *arrow.StructType:
		kind = typeStruct
	case *arrow.RunEndEncodedType:
		kind = typeRunEnds
	case *arrow.MapType:
		kind, numbers = typeMap, []int{0}
		if dt.KeysSorted {
			numbers[0] = 1
		}
	case arrow.UnionType:
		kind, numbers = typeUnion, []int{int(dt.Mode() - arrow.SparseMode)}
		codes := dt.TypeCodes()
		w.StartVector(4, len(codes), 4)
		for _, code := range slices.Backward(codes) {
			w.PrependInt32(int32(code))
		}
		last = w.EndVector(len(codes))
	default:
		w.err = fmt.Errorf("%w: type %s", ErrUnsupported, dt)
	}
	return kind, w.table(kind, last, numbers...)
}

// table builds the table of a type: numbers, then a reference unless it is 0.
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

// pairs builds a list of keys and values, 0 for none.
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

// unionCodes returns the type codes of a union of so many fields; nil if one is out of range.
func unionCodes(t table, fields int) (codes []arrow.UnionTypeCode) {
	pos, n := t.vector(1, 4)
	for i := range n {
		code := int32(t.f.uint32(pos + 4*i))
		if code < 0 || code > int32(arrow.MaxUnionTypeCode) {
			return nil
		}
		codes = append(codes, int8(code))
	}
	for i := range min(fields, int(arrow.MaxUnionTypeCode)+1) {
		if n == 0 {
			codes = append(codes, int8(i))
		}
	}
	return codes
}
