package tables

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// The library compares the types of list views with the metadata of what is in them,
// which a schema may know and an array not.
func TestNewRecordWithMetadataInside(t *testing.T) {
	inner := arrow.Field{Name: "item", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	plain := arrow.ListViewOfField(inner)
	inner.Metadata = arrow.NewMetadata([]string{"k"}, []string{"v"})
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.ListViewOfField(inner), Nullable: true}}, nil)
	values := tablestest.FromJSON(t, plain, `[[1],null,[2,3]]`)
	must.Need(t, !arrow.TypeEqual(plain, schema.Field(0).Type), "the types are equal: the test shows nothing")
	record := NewRecord(schema, []*array.Data{values.Data().(*array.Data)}, 3)
	defer record.Release()
	got := record.Column(0)
	must.Be(t, got.String() == values.String() && arrow.TypeEqual(got.DataType(), schema.Field(0).Type), "%v of type %s", got, got.DataType())
}

// A dictionary without entries may be of any type: all its rows are null.
func TestPlainEmptyDictionary(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.StringView, arrow.BinaryTypes.String, arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.BinaryView})} {
		b := array.NewBuilder(memory.DefaultAllocator, dt)
		d := tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[null,null]`).Data()
		coded := array.NewDataWithDictionary(&arrow.DictionaryType{IndexType: d.DataType(), ValueType: dt}, 2, d.Buffers(), 2, 0, b.NewArray().Data().(*array.Data))
		plain := array.MakeFromData(Plain(coded, memory.DefaultAllocator))
		must.Be(t, plain.Len() == 2 && plain.NullN() == 2 && arrow.TypeEqual(plain.DataType(), dt), "%s: %v", dt, plain)
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
		got, want := plain.Value(row), string("ab"[row%2])
		must.Need(t, got == want, "row %d: %q, want %q", row, got, want)
	}
}

// A buffer of no values may be smaller than one of them.
func TestMoveNothing(t *testing.T) {
	small := make([]byte, 0, 1)
	kept, err := Valid(nil).MoveViews(small, 1)
	must.Be(t, err == nil && len(kept) == 1 && len(kept[0]) == 0, "views: %v, %v", kept, err)
	if kept, err := Valid(nil).MoveLists(small, small, 8); err != nil || len(kept) > 0 {
		t.Errorf("lists: %v, %v", kept, err)
	}
}

// A field of a struct is null where the struct or the field is, in any run of rows.
func TestFieldOf(t *testing.T) {
	const rows = 40
	dt := arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	b := array.NewStructBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for i := range rows {
		if i%3 == 0 {
			b.AppendNull()
			continue
		}
		b.Append(true)
		if x := b.FieldBuilder(0).(*array.Int64Builder); i%5 == 0 {
			x.AppendNull()
		} else {
			x.Append(int64(i))
		}
	}
	whole := b.NewArray()
	defer whole.Release()
	for low := range rows {
		for high := low; high <= rows; high++ {
			outer := array.NewSlice(whole, int64(low), int64(high))
			x := array.NewInt64Data(FieldOf(outer.Data().(*array.Data), 0))
			for i := low; i < high; i++ {
				if null := i%3 == 0 || i%5 == 0; x.IsNull(i-low) != null || !null && x.Value(i-low) != int64(i) {
					t.Fatalf("rows %d to %d: row %d is null: %t", low, high-1, i, x.IsNull(i-low))
				}
			}
			outer.Release()
		}
	}
}
