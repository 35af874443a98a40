package tableio

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// A row that cannot be put together is null: it then has no verdict.
func TestParts(t *testing.T) {
	names := []string{"url_protocol", "url_host_name", "url_port", "url_path", "url_query"}
	table := tablestest.NewRecord(names,
		tablestest.FromJSON(t, arrow.BinaryTypes.String, `["https","https","http","http","https",null,"https","https","https"]`),
		tablestest.FromJSON(t, arrow.BinaryTypes.String, `["a.example","a.example","::1","[::1]","a.example","a.example",null,"a.example/x","a.example"]`),
		tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[null,8443,null,80,-1,null,null,null,null]`),
		tablestest.FromJSON(t, arrow.BinaryTypes.LargeString, `["/","/x","/","/",null,"/","/","/","x"]`),
		tablestest.FromJSON(t, arrow.BinaryTypes.String, `[null,"","q=1",null,"b",null,null,null,null]`))
	want := `["https://a.example/" "https://a.example:8443/x?" "http://[::1]/?q=1" "http://[::1]:80/" "https://a.example?b" (null) (null) (null) "https://a.example/x"]`
	joined := must.Get(findParts(table.Schema()).Join(table, 1<<20))(t)
	must.Equal(t, fmt.Sprint(joined.Column(0)), want)
	must.Fail(t, must.Err(findParts(table.Schema()).Join(table, 50)), "for URLs beyond the limit")
}

func TestFindParts(t *testing.T) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	field := func(name string, dt arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: dt} }
	for want, fields := range map[int][]arrow.Field{
		5: {field("url_protocol", text), field("url_host_name", text), field("url_path", text), field("url_port", text), field("url_query", text)},
		3: {field("url_protocol", text), field("url_host_name", text), field("url_path", text), field("url_query", number)},
		0: {field("url_protocol", text), field("url_host_name", number), field("url_path", text)},
	} {
		got := 0
		if p := findParts(arrow.NewSchema(fields, nil)); p != nil {
			got = len(p.Columns())
		}
		must.Equal(t, got, want, "columns of", fields)
	}
}
