package tableio

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/tables"
)

// Every type of numbers gives its values, nulls included, also of a slice.
func TestTakeExtra(t *testing.T) {
	mem := memory.NewGoAllocator()
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int32},
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64),
	}
	for _, dt := range types {
		schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}, {Name: "n", Type: dt, Nullable: true}}, nil)
		b := array.NewRecordBuilder(mem, schema)
		for _, value := range []string{"9", "7", "", "7", "1"} {
			b.Field(0).(*array.StringBuilder).Append("https://example.com/")
			if value == "" {
				b.Field(1).AppendNull()
			} else if err := b.Field(1).AppendValueFromString(value); err != nil {
				t.Fatalf("%s: %v", dt, err)
			}
		}
		record := b.NewRecord().NewSlice(1, 5)
		l, err := Locate(schema, "", batch.KeepURL)
		if err == nil {
			err = l.FindExtra(schema, batch.ExtraColumns{Weight: "n"})
		}
		var rows batch.Batch
		if err == nil {
			err = l.TakeExtra(&rows, record)
		}
		if err != nil {
			t.Errorf("%s: %v", dt, err)
			continue
		}
		got := ""
		for i := range 4 {
			switch n := rows.Weights; {
			case n.Null(i):
				got += " null"
			case n.Floats != nil:
				got += fmt.Sprint(" ", n.Floats[i])
			default:
				got += fmt.Sprint(" ", n.Ints[i])
			}
		}
		if got != " 7 null 7 1" || rows.Weights.Unsigned != (dt.ID() == arrow.UINT64) {
			t.Errorf("%s:%s", dt, got)
		}
		if columns := l.Columns(); len(columns) != 2 || columns[1] != 1 {
			t.Errorf("%s: columns %d", dt, columns)
		}
	}
}

// The sign of the narrow types is kept.
func TestTakeExtraKeepsSigns(t *testing.T) {
	b := array.NewInt8Builder(memory.NewGoAllocator())
	b.AppendValues([]int8{math.MinInt8, -1}, nil)
	n, err := tables.NumbersOf(b.NewArray().Data().(*array.Data))
	if err != nil || n.Ints[0] != math.MinInt8 || n.Ints[1] != -1 {
		t.Errorf("%d, %v", n.Ints, err)
	}
}
