package tables

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier/tableio/tablestest"
)

// The library compares the types of list views with the metadata of what is in them,
// which a schema may know and an array not.
func TestNewRecordWithMetadataInside(t *testing.T) {
	inner := arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	plain := arrow.ListViewOfField(inner)
	inner.Metadata = arrow.NewMetadata([]string{"k"}, []string{"v"})
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.ListViewOfField(inner), Nullable: true}}, nil)
	values := tablestest.FromJSON(t, plain, `[[1],null,[2,3]]`)
	if arrow.TypeEqual(plain, schema.Field(0).Type) {
		t.Fatal("the types are equal: the test shows nothing")
	}
	record := NewRecord(schema, []*array.Data{values.Data().(*array.Data)}, 3)
	defer record.Release()
	if got := record.Column(0); got.String() != values.String() || !arrow.TypeEqual(got.DataType(), schema.Field(0).Type) {
		t.Errorf("%v of type %s", got, got.DataType())
	}
}

// A dictionary without entries may be of any type: all its rows are null.
func TestPlainEmptyDictionary(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.StringView, arrow.BinaryTypes.String, arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.BinaryView})} {
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		d := tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[null,null]`).Data()
		coded := array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: d.DataType(), ValueType: dt}, 2, d.Buffers(), 2, 0, b.NewArray().Data().(*array.Data))
		if plain := array.MakeFromData(Plain(coded, memory.DefaultAllocator)); plain.Len() != 2 || plain.NullN() != 2 || !arrow.TypeEqual(plain.DataType(), dt) {
			t.Errorf("%s: %v", dt, plain)
		}
	}
}

// Rows of a dictionary of runs may be more than the type of the runs' ends can count.
func TestPlainDictionaryOfRuns(t *testing.T) {
	const rows = 40_000
	mem := memory.NewGoAllocator()
	ends, values, indices := array.NewInt16Builder(mem), array.NewStringBuilder(mem), array.NewInt32Builder(mem)
	ends.AppendValues([]int16{1, 2}, nil)
	values.AppendValues([]string{"a", "b"}, nil)
	for row := range rows {
		indices.Append(int32(row % 2))
	}
	runs := array.NewRunEndEncodedArray(ends.NewArray(), values.NewArray(), 2, 0)
	defer runs.Release()
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: runs.DataType()}
	d := indices.NewArray().Data().(*array.Data)
	coded := array.NewDataWithDictionary(dt, rows, d.Buffers(), 0, 0, runs.Data().(*array.Data))
	defer coded.Release()
	plain := array.MakeFromData(Plain(coded, mem)).(*array.String)
	for row := range rows {
		if got, want := plain.Value(row), string("ab"[row%2]); got != want {
			t.Fatalf("row %d: %q, want %q", row, got, want)
		}
	}
}
