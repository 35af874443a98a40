package arrowipc

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/store/compress"
)

// What this package builds, it reads.
func TestMetadataRoundTrip(t *testing.T) {
	b := &batchMeta{
		version: metadataV5, rows: 7, codec: codecNone,
		nodes: []fieldNode{{7, 1}, {3, 0}}, buffers: []span{{0, 8}, {8, 16}, {24, 0}}, variadic: []int64{2, 0},
	}
	for _, codec := range []int8{codecNone, codecLZ4, codecZstd} {
		b.codec = codec
		h, err := parseHeader(recordMessage(b, 24))
		if err != nil || h.kind != kindRecord || h.bodyLength != 24 {
			t.Fatalf("%+v, %v", h, err)
		}
		if got, err := h.batch(); err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%+v, %v", got, err)
		}
		d := &dictionaryMeta{id: 5, delta: true, batch: b}
		if h, err = parseHeader(dictionaryMessage(d, 24)); err != nil || h.kind != kindDictionary {
			t.Fatalf("%+v, %v", h, err)
		}
		if got, err := h.dictionary(); err != nil || !reflect.DeepEqual(got, d) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	schema := libraryWrite(t, encoding{true, compress.None}, urlSchema)[framePrefix:]
	h, err := parseHeader(schema)
	if err != nil {
		t.Fatal(err)
	}
	dictionaries, batches := []block{{offset: 8, body: 16, meta: 24}}, []block{{offset: 48, body: 8}, {offset: 56, body: 24, meta: 32}}
	foot, err := parseFooter(footerBytes(h, dictionaries, batches, nil))
	if err != nil || !reflect.DeepEqual(foot.dictionaries, dictionaries) || !reflect.DeepEqual(foot.batches, batches) {
		t.Fatalf("%+v, %v", foot, err)
	}
	s, err := parseSchema(schemaMessage(foot.schema.f.buf, foot.schema.pos))
	if err != nil || !s.arrow.Equal(urlSchema) {
		t.Fatalf("%v, %v", s, err)
	}
}

// A read never goes outside the buffer, wherever it is cut and whatever byte
// is changed.
func TestFlatDamaged(t *testing.T) {
	record := smallRecord(t)
	whole := libraryWrite(t, encoding{true, compress.Zstd}, record.Schema(), record)
	schema := whole[framePrefix:][:int(whole[4])|int(whole[5])<<8]
	b := &batchMeta{version: metadataV5, nodes: []fieldNode{{1, 0}}, buffers: []span{{0, 8}}, variadic: []int64{1}, codec: codecZstd}
	for _, meta := range [][]byte{
		schema, recordMessage(b, 8), dictionaryMessage(&dictionaryMeta{id: 1, batch: b}, 8),
	} {
		parse := func(meta []byte) {
			h, err := parseHeader(meta)
			if err != nil {
				return
			}
			_, _ = h.batch()
			_, _ = h.dictionary()
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
	return finishMessage(fb, kindSchema, metadataV5, 0, fb.EndObject(), noSum[:], nil)
}

func expectSchemaError(t *testing.T, meta []byte, has string) {
	t.Helper()
	if _, err := parseSchema(meta); err == nil || !strings.Contains(err.Error(), has) {
		t.Fatalf("error %v, want one with %q", err, has)
	}
}

func TestUnsupportedSchemas(t *testing.T) {
	big := arrow.NewSchemaWithEndian(urlSchema.Fields(), nil, 1)
	expectSchemaError(t, libraryWrite(t, encoding{true, compress.None}, big)[framePrefix:], "big-endian")
	fb := flatbuffers.NewBuilder(0)
	fb.StartObject(0)
	expectSchemaError(t, finishMessage(fb, kindSchema, 1, 0, fb.EndObject(), noSum[:], nil), "before Arrow 0.8")
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
	meta := libraryWrite(t, encoding{true, compress.None}, schema)[framePrefix:]
	s, err := parseSchema(meta)
	if err != nil {
		t.Fatal(err)
	}
	if !s.arrow.Equal(schema) || !reflect.DeepEqual(s.ids, []int64{0, 1}) {
		t.Errorf("%v with dictionaries %v", s.arrow, s.ids)
	}
}
