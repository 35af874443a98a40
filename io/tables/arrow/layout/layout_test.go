package layout

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

var urlSchema = arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)

// schemaStream returns a stream of a schema and no record batch, as the library writes it.
func schemaStream(t *testing.T, schema *arrow.Schema) []byte {
	t.Helper()
	return tablestest.WriteArrow(t, true, schema, nil)
}

// What this package builds, it reads.
func TestMetadataRoundTrip(t *testing.T) {
	b := &BatchMeta{
		Version: MetadataV5, Rows: 7, Codec: CodecNone,
		Nodes: []FieldNode{{Length: 7, Nulls: 1}, {Length: 3, Nulls: 0}}, Buffers: []Span{{Offset: 0, Length: 8}, {Offset: 8, Length: 16}, {Offset: 24, Length: 0}}, Variadic: []int64{2, 0},
	}
	for _, codec := range []int8{CodecNone, CodecLZ4, CodecZstd} {
		b.Codec = codec
		h, err := ParseHeader(RecordMessage(b, 24, NoSum[:], nil))
		must.Need(t, err == nil && h.Kind == KindRecord && h.BodyLength == 24, "%+v, %v", h, err)
		if got, err := h.Batch(); err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%+v, %v", got, err)
		}
		d := &DictionaryMeta{ID: 5, Delta: true, Batch: b}
		if h, err = ParseHeader(DictionaryMessage(d, 24)); err != nil || h.Kind != KindDictionary {
			t.Fatalf("%+v, %v", h, err)
		}
		got, err := h.Dictionary()
		must.Need(t, err == nil && reflect.DeepEqual(got, d), "%+v, %v", got, err)
	}
	schema := schemaStream(t, urlSchema)[FramePrefix:]
	h := must.Get(ParseHeader(schema))(t)
	dictionaries, batches := []Block{{Offset: 8, Body: 16, Meta: 24}}, []Block{{Offset: 48, Body: 8}, {Offset: 56, Body: 24, Meta: 32}}
	foot, err := parseFooter(FooterBytes(h, dictionaries, batches, nil))
	must.Need(t, err == nil && reflect.DeepEqual(foot.Dictionaries, dictionaries) && reflect.DeepEqual(foot.Batches, batches), "%+v, %v", foot, err)
	s, err := parseSchema(SchemaMessage(foot.schema))
	must.Need(t, err == nil && s.Arrow.Equal(urlSchema), "%v, %v", s, err)
}

// A read never goes outside the buffer, wherever it is cut and whatever byte
// is changed.
func TestFlatDamaged(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	union := arrow.DenseUnionOf([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32}}, []arrow.UnionTypeCode{3})
	whole := schemaStream(t, arrow.NewSchema([]arrow.Field{
		urlSchema.Field(0),
		{Name: "d", Type: dictionary, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "v", Type: arrow.BinaryTypes.StringView, Nullable: true},
		{Name: "u", Type: union, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil))
	schema := whole[FramePrefix:][:int(whole[4])|int(whole[5])<<8]
	b := &BatchMeta{Version: MetadataV5, Nodes: []FieldNode{{Length: 1, Nulls: 0}}, Buffers: []Span{{Offset: 0, Length: 8}}, Variadic: []int64{1}, Codec: CodecZstd}
	for _, meta := range [][]byte{
		schema, RecordMessage(b, 8, NoSum[:], nil), DictionaryMessage(&DictionaryMeta{ID: 1, Batch: b}, 8),
	} {
		parse := func(meta []byte) {
			h, err := ParseHeader(meta)
			if err != nil {
				return
			}
			_, _ = h.Batch()
			_, _ = h.Dictionary()
			_, _ = parseSchema(meta)
			_, _ = parseFooter(meta)
		}
		for n := range meta {
			parse(meta[:n])
			for _, value := range []byte{0, 1, 4, 0x7F, 0x80, 0xFF, ^meta[n]} {
				damaged := bytes.Clone(meta)
				damaged[n] = value
				parse(damaged)
			}
		}
	}
}

// Tables that are referred to twice, again and again, would be read 2^40 times.
func TestSchemaIsNoTree(t *testing.T) { expectSchemaError(t, nestedSchema(40, 2), "over and over") }

func TestSchemaIsNotTooDeep(t *testing.T) {
	expectSchemaError(t, nestedSchema(100, 1), "nested deeper")
}

// nestedSchema returns a schema of a struct in depth levels, each of which has the next one as a
// field several times.
func nestedSchema(depth, times int) []byte {
	fb := flatbuffers.NewBuilder(0)
	fb.StartObject(0)
	dataType := fb.EndObject()
	var field flatbuffers.UOffsetT
	for level := range depth {
		var children flatbuffers.UOffsetT
		if level > 0 {
			fb.StartVector(4, times, 4)
			for range times {
				fb.PrependUOffsetT(field)
			}
			children = fb.EndVector(times)
		}
		fb.StartObject(7)
		fb.PrependByteSlot(2, TypeStruct, 0)
		fb.PrependUOffsetTSlot(3, dataType, 0)
		fb.PrependUOffsetTSlot(5, children, 0)
		field = fb.EndObject()
	}
	fb.StartVector(4, 1, 4)
	fb.PrependUOffsetT(field)
	fields := fb.EndVector(1)
	fb.StartObject(4)
	fb.PrependUOffsetTSlot(1, fields, 0)
	return finishMessage(fb, KindSchema, MetadataV5, 0, fb.EndObject(), NoSum[:], nil)
}

func expectSchemaError(t *testing.T, meta []byte, has string) {
	t.Helper()
	must.Say(t, must.Err(parseSchema(meta)), has)
}

func TestUnsupportedSchemas(t *testing.T) {
	big := arrow.NewSchemaWithEndian(urlSchema.Fields(), nil, 1)
	expectSchemaError(t, schemaStream(t, big)[FramePrefix:], "big-endian")
	fb := flatbuffers.NewBuilder(0)
	fb.StartObject(0)
	expectSchemaError(t, finishMessage(fb, KindSchema, 1, 0, fb.EndObject(), NoSum[:], nil), "before Arrow 0.8")
}

// Go's flatbuffers library gives a table of keys and values and one of a dictionary's
// encoding the same layout when their fields start at the same offsets, and with it
// the smaller size.
func TestSharedLayoutOfOtherSize(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	metadata := arrow.NewMetadata([]string{"note"}, []string{"n91"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "url", Type: arrow.BinaryTypes.String},
		{Name: "first", Type: dictionary, Metadata: metadata},
		{Name: "second", Type: dictionary, Nullable: true},
	}, nil)
	meta := schemaStream(t, schema)[FramePrefix:]
	s := must.Get(parseSchema(meta))(t)
	must.Be(t, s.Arrow.Equal(schema) && reflect.DeepEqual(s.IDs, []int64{0, 1}), "%v with dictionaries %v", s.Arrow, s.IDs)
}

// Decimals of 32 bits in a stored schema are read as those of 128, and take nothing of
// what stands next to them.
func TestReadSchemaSmallDecimals(t *testing.T) {
	with := func(decimal arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{
			{Name: "url", Type: arrow.BinaryTypes.String},
			{Name: "x", Type: arrow.StructOf(
				arrow.Field{Name: "time", Type: arrow.FixedWidthTypes.Duration_ms},
				arrow.Field{Name: "sum", Type: decimal, Nullable: true},
			)},
		}, nil)
	}
	stream := schemaStream(t, with(&arrow.Decimal256Type{Precision: 9, Scale: 2}))
	h := must.Get(ParseHeader(stream[FramePrefix:]))(t)
	patched := 0
	var patch func(field Table)
	patch = func(field Table) {
		if dataType, ok := field.Table(3); ok && field.Uint8(2) == TypeDecimal {
			binary.LittleEndian.PutUint32(stream[FramePrefix+dataType.Field(2, 4):], 32)
			patched++
		}
		field.Tables(5, patch)
	}
	h.Table.Tables(1, patch)
	must.Need(t, patched == 1, "%d decimals", patched)
	s := must.Get(ReadSchema(stream))(t)
	want := with(&arrow.Decimal128Type{Precision: 9, Scale: 2})
	must.Be(t, s.Arrow.Equal(want), "%v, want %v", s.Arrow, want)
	if s.Unknown != nil || s.Columns[0].SmallDecimal() != 0 || s.Columns[1].SmallDecimal() != 32 {
		t.Errorf("unknown %v, decimals %d and %d", s.Unknown, s.Columns[0].SmallDecimal(), s.Columns[1].SmallDecimal())
	}
}

// The widest small decimal counts, wherever it stands in the type.
func TestSmallDecimalIsTheWidest(t *testing.T) {
	narrow, wide := Shape{decimal: 32}, Shape{decimal: 64}
	for _, s := range []Shape{{Children: []Shape{wide, narrow}}, {Children: []Shape{narrow, wide}}, {Children: []Shape{narrow}, Values: &wide}} {
		must.Equal(t, s.SmallDecimal(), 64, s)
	}
}
