package arrowipc

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/arrow/layout"
)

// What this package builds, it reads.
func TestMetadataRoundTrip(t *testing.T) {
	b := &layout.BatchMeta{
		Version: layout.MetadataV5, Rows: 7, Codec: layout.CodecNone,
		Nodes: []layout.FieldNode{{Length: 7, Nulls: 1}, {Length: 3, Nulls: 0}}, Buffers: []layout.Span{{Offset: 0, Length: 8}, {Offset: 8, Length: 16}, {Offset: 24, Length: 0}}, Variadic: []int64{2, 0},
	}
	for _, codec := range []int8{layout.CodecNone, layout.CodecLZ4, layout.CodecZstd} {
		b.Codec = codec
		h, err := layout.ParseHeader(layout.RecordMessage(b, 24))
		if err != nil || h.Kind != layout.KindRecord || h.BodyLength != 24 {
			t.Fatalf("%+v, %v", h, err)
		}
		if got, err := h.Batch(); err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%+v, %v", got, err)
		}
		d := &layout.DictionaryMeta{ID: 5, Delta: true, Batch: b}
		if h, err = layout.ParseHeader(layout.DictionaryMessage(d, 24)); err != nil || h.Kind != layout.KindDictionary {
			t.Fatalf("%+v, %v", h, err)
		}
		if got, err := h.Dictionary(); err != nil || !reflect.DeepEqual(got, d) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	schema := libraryWrite(t, encoding{true, compress.None}, urlSchema)[layout.FramePrefix:]
	h, err := layout.ParseHeader(schema)
	if err != nil {
		t.Fatal(err)
	}
	dictionaries, batches := []layout.Block{{Offset: 8, Body: 16, Meta: 24}}, []layout.Block{{Offset: 48, Body: 8}, {Offset: 56, Body: 24, Meta: 32}}
	foot, err := layout.ParseFooter(layout.FooterBytes(h, dictionaries, batches, nil))
	if err != nil || !reflect.DeepEqual(foot.Dictionaries, dictionaries) || !reflect.DeepEqual(foot.Batches, batches) {
		t.Fatalf("%+v, %v", foot, err)
	}
	s, err := layout.ParseSchema(layout.SchemaMessage(foot.Schema.Flat.Buf, foot.Schema.Pos))
	if err != nil || !s.Arrow.Equal(urlSchema) {
		t.Fatalf("%v, %v", s, err)
	}
}

// A read never goes outside the buffer, wherever it is cut and whatever byte
// is changed.
func TestFlatDamaged(t *testing.T) {
	record := smallRecord(t)
	whole := libraryWrite(t, encoding{true, compress.Zstd}, record.Schema(), record)
	schema := whole[layout.FramePrefix:][:int(whole[4])|int(whole[5])<<8]
	b := &layout.BatchMeta{Version: layout.MetadataV5, Nodes: []layout.FieldNode{{Length: 1, Nulls: 0}}, Buffers: []layout.Span{{Offset: 0, Length: 8}}, Variadic: []int64{1}, Codec: layout.CodecZstd}
	for _, meta := range [][]byte{
		schema, layout.RecordMessage(b, 8), layout.DictionaryMessage(&layout.DictionaryMeta{ID: 1, Batch: b}, 8),
	} {
		parse := func(meta []byte) {
			h, err := layout.ParseHeader(meta)
			if err != nil {
				return
			}
			_, _ = h.Batch()
			_, _ = h.Dictionary()
			_, _ = layout.ParseSchema(meta)
			_, _ = layout.ParseFooter(meta)
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
func TestSchemaIsNoTree(t *testing.T) {
	fb := flatbuffers.NewBuilder(0)
	fb.StartObject(0)
	dataType := fb.EndObject()
	var field flatbuffers.UOffsetT
	const depth = 40
	for level := range depth {
		var children flatbuffers.UOffsetT
		if level > 0 {
			fb.StartVector(4, 2, 4)
			fb.PrependUOffsetT(field)
			fb.PrependUOffsetT(field)
			children = fb.EndVector(2)
		}
		fb.StartObject(7)
		fb.PrependByteSlot(2, 13, 0) // a struct
		fb.PrependUOffsetTSlot(3, dataType, 0)
		fb.PrependUOffsetTSlot(5, children, 0)
		field = fb.EndObject()
	}
	expectSchemaError(t, schemaOf(fb, field), "over and over")
}

func TestSchemaIsNotTooDeep(t *testing.T) {
	fb := flatbuffers.NewBuilder(0)
	fb.StartObject(0)
	dataType := fb.EndObject()
	var field flatbuffers.UOffsetT
	for level := range 100 {
		var children flatbuffers.UOffsetT
		if level > 0 {
			fb.StartVector(4, 1, 4)
			fb.PrependUOffsetT(field)
			children = fb.EndVector(1)
		}
		fb.StartObject(7)
		fb.PrependByteSlot(2, 13, 0)
		fb.PrependUOffsetTSlot(3, dataType, 0)
		fb.PrependUOffsetTSlot(5, children, 0)
		field = fb.EndObject()
	}
	expectSchemaError(t, schemaOf(fb, field), "nested deeper")
}

func schemaOf(fb *flatbuffers.Builder, field flatbuffers.UOffsetT) []byte {
	fb.StartVector(4, 1, 4)
	fb.PrependUOffsetT(field)
	fields := fb.EndVector(1)
	fb.StartObject(4)
	fb.PrependUOffsetTSlot(1, fields, 0)
	return layout.FinishMessage(fb, layout.KindSchema, layout.MetadataV5, 0, fb.EndObject(), layout.NoSum[:], nil)
}

func expectSchemaError(t *testing.T, meta []byte, has string) {
	t.Helper()
	if _, err := layout.ParseSchema(meta); err == nil || !strings.Contains(err.Error(), has) {
		t.Fatalf("error %v, want one with %q", err, has)
	}
}

func TestUnsupportedSchemas(t *testing.T) {
	big := arrow.NewSchemaWithEndian(urlSchema.Fields(), nil, 1)
	expectSchemaError(t, libraryWrite(t, encoding{true, compress.None}, big)[layout.FramePrefix:], "big-endian")
	fb := flatbuffers.NewBuilder(0)
	fb.StartObject(0)
	expectSchemaError(t, layout.FinishMessage(fb, layout.KindSchema, 1, 0, fb.EndObject(), layout.NoSum[:], nil), "before Arrow 0.8")
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
	meta := libraryWrite(t, encoding{true, compress.None}, schema)[layout.FramePrefix:]
	s, err := layout.ParseSchema(meta)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Arrow.Equal(schema) || !reflect.DeepEqual(s.IDs, []int64{0, 1}) {
		t.Errorf("%v with dictionaries %v", s.Arrow, s.IDs)
	}
}
