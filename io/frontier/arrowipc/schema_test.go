package arrowipc

import (
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/arrow/layout"
)

// Decimals of 32 bits in a stored schema are read as those of 128, and take nothing of
// what stands next to them.
func TestReadSchemaSmallDecimals(t *testing.T) {
	schemaOf := func(decimal arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{
			{Name: "url", Type: arrow.BinaryTypes.String},
			{Name: "x", Type: arrow.StructOf(
				arrow.Field{Name: "time", Type: arrow.FixedWidthTypes.Duration_ms},
				arrow.Field{Name: "sum", Type: decimal, Nullable: true},
			)},
		}, nil)
	}
	stream := libraryWrite(t, encoding{true, compress.None}, schemaOf(&arrow.Decimal256Type{Precision: 9, Scale: 2}))
	h, err := layout.ParseHeader(stream[layout.FramePrefix:])
	if err != nil {
		t.Fatal(err)
	}
	patched := 0
	var patch func(field layout.Table)
	patch = func(field layout.Table) {
		if dataType, ok := field.Table(3); ok && field.Uint8(2) == layout.TypeDecimal {
			binary.LittleEndian.PutUint32(stream[layout.FramePrefix+dataType.Field(2, 4):], 32)
			patched++
		}
		field.Tables(5, patch)
	}
	h.Table.Tables(1, patch)
	if patched != 1 {
		t.Fatalf("%d decimals", patched)
	}
	s, err := layout.ReadSchema(stream)
	if err != nil {
		t.Fatal(err)
	}
	if want := schemaOf(&arrow.Decimal128Type{Precision: 9, Scale: 2}); !s.Schema.Equal(want) {
		t.Errorf("%v, want %v", s.Schema, want)
	}
	if len(s.Unknown) > 0 || len(s.Decimals) != 1 || s.Decimals[1] != 32 {
		t.Errorf("unknown %v, decimals %v", s.Unknown, s.Decimals)
	}
}
