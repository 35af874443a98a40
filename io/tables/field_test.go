package tables

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

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
