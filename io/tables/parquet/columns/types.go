package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
)

// leafTypes are the types of Arrow whose values Parquet stores as one type with one meaning. If several lines fit a type
// that is written or a column that is read, the first counts. Other types have parameters: decimals, timestamps,
// durations, and bytes of a fixed length.
var leafTypes = []struct {
	dt      arrow.DataType
	stored  layout.Type
	length  int32 // of FixedLenByteArray
	meaning Meaning
}{
	{arrow.Null, layout.Int32, 0, Meaning{Kind: Null}},
	{arrow.FixedWidthTypes.Boolean, layout.Boolean, 0, Meaning{}},
	{arrow.PrimitiveTypes.Int8, layout.Int32, 0, Meaning{Kind: Integer, Bits: 8, Signed: true}},
	{arrow.PrimitiveTypes.Int16, layout.Int32, 0, Meaning{Kind: Integer, Bits: 16, Signed: true}},
	{arrow.PrimitiveTypes.Int32, layout.Int32, 0, Meaning{}},
	{arrow.PrimitiveTypes.Int32, layout.Int32, 0, Meaning{Kind: Integer, Bits: 32, Signed: true}},
	{arrow.PrimitiveTypes.Int64, layout.Int64, 0, Meaning{}},
	{arrow.PrimitiveTypes.Int64, layout.Int64, 0, Meaning{Kind: Integer, Bits: 64, Signed: true}},
	{arrow.PrimitiveTypes.Uint8, layout.Int32, 0, Meaning{Kind: Integer, Bits: 8}},
	{arrow.PrimitiveTypes.Uint16, layout.Int32, 0, Meaning{Kind: Integer, Bits: 16}},
	{arrow.PrimitiveTypes.Uint32, layout.Int32, 0, Meaning{Kind: Integer, Bits: 32}},
	{arrow.PrimitiveTypes.Uint64, layout.Int64, 0, Meaning{Kind: Integer, Bits: 64}},
	{arrow.FixedWidthTypes.Float16, layout.FixedLenByteArray, 2, Meaning{Kind: Float16}},
	{arrow.PrimitiveTypes.Float32, layout.Float, 0, Meaning{}},
	{arrow.PrimitiveTypes.Float64, layout.Double, 0, Meaning{}},
	{arrow.BinaryTypes.String, layout.ByteArray, 0, Meaning{Kind: String}},
	{arrow.BinaryTypes.LargeString, layout.ByteArray, 0, Meaning{Kind: String}},
	{arrow.BinaryTypes.StringView, layout.ByteArray, 0, Meaning{Kind: String}},
	{arrow.BinaryTypes.Binary, layout.ByteArray, 0, Meaning{}},
	{arrow.BinaryTypes.LargeBinary, layout.ByteArray, 0, Meaning{}},
	{arrow.BinaryTypes.BinaryView, layout.ByteArray, 0, Meaning{}},
	{arrow.FixedWidthTypes.Date32, layout.Int32, 0, Meaning{Kind: Date}},
	{arrow.FixedWidthTypes.Time32ms, layout.Int32, 0, Meaning{Kind: Time, Unit: arrow.Millisecond}},
	{arrow.FixedWidthTypes.Time64us, layout.Int64, 0, Meaning{Kind: Time, Unit: arrow.Microsecond}},
	{arrow.FixedWidthTypes.Time64ns, layout.Int64, 0, Meaning{Kind: Time, Unit: arrow.Nanosecond}},
	{&arrow.TimestampType{Unit: arrow.Nanosecond}, layout.Int96, 0, Meaning{}},
}

// Keys of the metadata of Arrow's fields.
const (
	fieldIDKey           = "PARQUET:field_id"
	extensionNameKey     = "ARROW:extension:name"
	extensionMetadataKey = "ARROW:extension:metadata"
	// annotationKey says what Arrow has no type for.
	annotationKey = "PARQUET:logical_type"
)

// Values of annotationKey for times, which are noted besides the type.
const (
	timeUTC = "TIME(isAdjustedToUTC=true)"
	// oldTimestamp is of a timestamp by a converted type alone: readers disagree
	// whether that is in UTC.
	oldTimestamp = "TIMESTAMP without isAdjustedToUTC"
)

// annotations are the meanings for which Arrow has no type: instead, the metadata of a field has value under key. If
// several lines fit a meaning that is read, the first counts.
var annotations = []struct {
	kind   Kind
	dt     arrow.DataType // that is read
	stored layout.Type
	length int32 // of FixedLenByteArray
	key    string
	value  string
}{
	{JSON, arrow.BinaryTypes.String, layout.ByteArray, 0, extensionNameKey, "arrow.json"},
	{JSON, arrow.BinaryTypes.String, layout.ByteArray, 0, annotationKey, "JSON"},
	{Enum, arrow.BinaryTypes.Binary, layout.ByteArray, 0, annotationKey, "ENUM"},
	{BSON, arrow.BinaryTypes.Binary, layout.ByteArray, 0, annotationKey, "BSON"},
	{UUID, &arrow.FixedSizeBinaryType{ByteWidth: 16}, layout.FixedLenByteArray, 16, extensionNameKey, "arrow.uuid"},
	{Interval, &arrow.FixedSizeBinaryType{ByteWidth: 12}, layout.FixedLenByteArray, 12, annotationKey, "INTERVAL"},
}

// leafType returns the Arrow type of a leaf's values, and field metadata for what the type does not say.
func leafType(n *Node) (dt arrow.DataType, extra map[string]string, err error) {
	m := n.Meaning
	switch {
	case n.Type == layout.FixedLenByteArray && n.Length == 0:
		return nil, nil, errors.New("its values have no bytes")
	case m.Kind == Null:
		return arrow.Null, nil, nil
	case m.Kind == NoKind && n.Type == layout.FixedLenByteArray:
		return &arrow.FixedSizeBinaryType{ByteWidth: int(n.Length)}, nil, nil
	case m.Kind == Decimal && slices.Contains([]layout.Type{layout.Int32, layout.Int64, layout.ByteArray, layout.FixedLenByteArray}, n.Type):
		dt, err = decimalType(m.Precision, m.Scale)
		return dt, nil, err
	case m.Kind == Timestamp && n.Type == layout.Int64:
		t := &arrow.TimestampType{Unit: m.Unit}
		if m.UTC {
			t.TimeZone = "UTC"
		}
		if m.Old { // readers disagree whether it is in UTC
			extra = map[string]string{annotationKey: oldTimestamp}
		}
		return t, extra, nil
	case m.Kind == Time && m.UTC: // Arrow's times, and so leafTypes, do not say UTC
		m.UTC, extra = false, map[string]string{annotationKey: timeUTC}
	}
	for _, a := range annotations {
		if a.kind == m.Kind && a.stored == n.Type && (a.length == 0 || a.length == n.Length) {
			extra = map[string]string{a.key: a.value}
			if a.key == extensionNameKey {
				extra[extensionMetadataKey] = "" // Arrow writes both keys; these types have no parameters
			}
			return a.dt, extra, nil
		}
	}
	for _, t := range leafTypes {
		if t.stored == n.Type && t.meaning == m && (t.length == 0 || t.length == n.Length) {
			return t.dt, extra, nil
		}
	}
	return nil, nil, &tables.LimitError{What: "its logical type does not fit the type that its values are stored as, or is not known", Help: tables.LeaveOut}
}

// decimalType returns Arrow's narrowest type for decimals: 128 bits, which hold 38 digits, or 256, which hold 76.
func decimalType(precision, scale int32) (arrow.DataType, error) {
	switch {
	case precision < 1 || precision > 76 || scale < 0 || scale > precision:
		return nil, fmt.Errorf("a decimal of %d digits, %d of them behind the point, is none of Arrow's", precision, scale)
	case precision > 38:
		return &arrow.Decimal256Type{Precision: precision, Scale: scale}, nil
	}
	return &arrow.Decimal128Type{Precision: precision, Scale: scale}, nil
}

// leaf sets the Parquet type and meaning of n, a node with values of type dt, and returns the Arrow type that
// they are stored as. m is the field's metadata, which may say more than dt. The error is for a type that
// Parquet does not have.
func (b *builder) leaf(n *Node, dt arrow.DataType, m arrow.Metadata) (arrow.DataType, error) {
	stored := storedType(dt)
	if !arrow.TypeEqual(stored, dt) {
		b.cast(dt, stored)
	}
	annotation, _ := m.GetValue(annotationKey)
	switch dt := stored.(type) {
	case arrow.DecimalType:
		return stored, n.decimal(dt)
	case *arrow.TimestampType:
		n.Type, n.Meaning = layout.Int64, Meaning{Kind: Timestamp, Unit: dt.Unit, UTC: dt.TimeZone != ""}
		// What was read with a converted type alone is written so again, unless it has a time zone now, or
		// nanoseconds, which no converted type has.
		n.Meaning.Old = annotation == oldTimestamp && !n.Meaning.UTC && dt.Unit != arrow.Nanosecond
		return stored, nil
	case *arrow.DurationType:
		n.Type = layout.Int64 // the stored schema says what it is
		return stored, nil
	case *arrow.FixedSizeBinaryType:
		n.Type, n.Length = layout.FixedLenByteArray, int32(dt.ByteWidth)
	default:
		for _, t := range leafTypes {
			if arrow.TypeEqual(t.dt, stored) {
				n.Type, n.Length, n.Meaning = t.stored, t.length, t.meaning
				break
			}
		}
	}
	if n.Type == layout.NoType {
		return nil, errors.New("the format has no such type")
	}
	switch n.Meaning.Kind {
	case Null:
		n.Repetition = layout.Optional // all values are null
	case Time:
		n.Meaning.UTC = annotation == timeUTC
	}
	for _, a := range annotations {
		value, _ := m.GetValue(a.key)
		// The extension arrow.json is one of strings, and not of binary values.
		fits := a.stored == n.Type && a.length == n.Length && (value != "arrow.json" || n.Meaning.Kind == String)
		if fits && a.value == value {
			n.Meaning.Kind = a.kind
			break
		}
	}
	return stored, nil
}

// storedType returns the type as which values of type dt are written, mostly dt. Parquet has no seconds, no
// dates in milliseconds, and no bytes of fixed length 0.
func storedType(dt arrow.DataType) arrow.DataType {
	switch dt := dt.(type) {
	case *arrow.Date64Type:
		return arrow.FixedWidthTypes.Date32
	case *arrow.Time32Type:
		return arrow.FixedWidthTypes.Time32ms
	case *arrow.TimestampType:
		if dt.Unit == arrow.Second {
			return &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: dt.TimeZone}
		}
	case *arrow.FixedSizeBinaryType:
		if dt.ByteWidth == 0 {
			return arrow.BinaryTypes.Binary
		}
	}
	return dt
}

// decimal sets the type and meaning of n, a node of decimals, always to bytes of a fixed length: the fewest that hold
// all decimals of the precision.
func (n *Node) decimal(dt arrow.DecimalType) error {
	precision, scale := dt.GetPrecision(), dt.GetScale()
	if scale < 0 || scale > precision {
		return fmt.Errorf("a scale of %d is outside of Parquet's 0 to %d", scale, precision)
	}
	bits := float64(precision)*math.Log2(10) + 1 // with the sign
	n.Type, n.Length = layout.FixedLenByteArray, int32(math.Ceil(bits/8))
	n.Meaning = Meaning{Kind: Decimal, Precision: precision, Scale: scale}
	return nil
}
