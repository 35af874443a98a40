package tables

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

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
