package tableio

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

func TestLocate(t *testing.T) {
	text := arrow.BinaryTypes.String
	fields := func(names ...string) *arrow.Schema {
		var list []arrow.Field
		for _, name := range names {
			list = append(list, arrow.Field{Name: name, Type: text})
		}
		return arrow.NewSchema(list, nil)
	}
	split := fields("url_protocol", "url_host_name", "url_path", "x")
	for _, test := range []struct {
		what    string
		schema  *arrow.Schema
		name    string
		keep    batch.Keep
		split   bool
		column  string
		columns int // that are written
	}{
		{"url", fields("x", "url"), "", batch.KeepAll, false, "url", 2},
		{"only column", fields("x"), "", batch.KeepURL, false, "x", 1},
		{"split", split, "", batch.KeepAll, true, "url", 4},
		{"split, and nothing else comes out", split, "", batch.KeepNone, true, "url", 1},
		{"url before split", fields("url_protocol", "url_host_name", "url_path", "url"), "", batch.KeepURL, false, "url", 4},
		{"a name before split", split, "x", batch.KeepAll, false, "x", 4},
	} {
		l, err := Locate(test.schema, test.name, test.keep, batch.ExtraColumns{})
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		must.Be(t, l.IsJoined() == test.split && l.Name() == test.column && l.Schema().NumFields() == test.columns,
			"%s: split %t, column %q, %d columns", test.what, l.IsJoined(), l.Name(), l.Schema().NumFields())
	}
	must.Fail(t, must.Err(Locate(fields("x", "y"), "", batch.KeepAll, batch.ExtraColumns{})), "for two columns of strings")
}

// A name with dots is a field of a struct, unless a column has that name. What is neither has
// the message of a missing column.
func TestFieldOfStruct(t *testing.T) {
	text := arrow.BinaryTypes.String
	inner := arrow.StructOf(arrow.Field{Name: "url", Type: text}, arrow.Field{Name: "more", Type: arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64})})
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: text}, {Name: "metadata", Type: inner}, {Name: "metadata.more.url", Type: text}}, nil)
	for _, test := range []struct {
		name  string
		paths [][]int
		keep  batch.Keep
		alone bool
	}{
		{"metadata.url", [][]int{{1, 0}, {1, 1, 0}}, batch.KeepAll, false},
		{"metadata.url", [][]int{{1, 0}, {1, 1, 0}}, batch.KeepURL, true},
		{"metadata.more.url", [][]int{{2}, {1, 1, 0}}, batch.KeepURL, false},
	} {
		l, err := Locate(schema, test.name, test.keep, batch.ExtraColumns{Weight: "metadata.more.n"})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !reflect.DeepEqual(l.Paths(), test.paths) || l.Name() != test.name || l.IsColumn() != (len(test.paths[0]) == 1) || (l.Schema().NumFields() == 1) != test.alone {
			t.Errorf("%s: paths %v, column %t, schema %s", l.Name(), l.Paths(), l.IsColumn(), l.Schema())
		}
	}
	for _, name := range []string{"metadata.text", "metadata.", "x.y", "metadata.more.n.x", "none.url", ".url"} {
		want := `there is no column "` + name + `"`
		must.Say(t, must.Err(Locate(schema, name, batch.KeepAll, batch.ExtraColumns{})), want, "URLs in", name)
		for _, extra := range []batch.ExtraColumns{{Time: name}, {Weight: name}} {
			must.Say(t, must.Err(Locate(schema, "x", batch.KeepAll, extra)), want, extra)
		}
	}
	for name, want := range map[string]string{"metadata.more": "which holds no URLs", "metadata.more.n": "which holds no URLs"} {
		must.Say(t, must.Err(Locate(schema, name, batch.KeepAll, batch.ExtraColumns{})), want, "URLs in", name)
	}
}

// Tables are refused, not misread, where numbers in memory are not those in files.
func TestByteOrder(t *testing.T) {
	little := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	_, in := Locate(schema, "", batch.KeepAll, batch.ExtraColumns{})
	_, out := NewOutput(batch.Layout{URLColumn: "url"}, nil, memory.NewGoAllocator())
	for _, err := range []error{in, out} {
		must.Equal(t, err == nil, little, "little-endian", err)
	}
}

// A row that cannot be put together is null: it then has no verdict.
func TestParts(t *testing.T) {
	names := []string{"url_protocol", "url_host_name", "url_port", "url_path", "url_query"}
	for port, ports := range map[arrow.DataType]string{
		arrow.PrimitiveTypes.Int32: `[null,8443,null,80,-1,null,null,null,null]`, arrow.PrimitiveTypes.Float64: `[null,8443,null,80,-1,null,null,null,null]`, // pandas makes these where some are null
		arrow.BinaryTypes.String: `["nan","8443.0","","80","-1.0",null,null,null,"65536"]`, arrow.BinaryTypes.Binary: `[null,"ODQ0Mw==",null,"ODA=",null,null,null,null,"eA=="]`, // in base64
	} {
		table := tablestest.NewRecord(names,
			tablestest.FromJSON(t, arrow.BinaryTypes.String, `["https","https","http","http","https",null,"https","https","https"]`),
			tablestest.FromJSON(t, arrow.BinaryTypes.String, `["a.example","a.example","::1","[::1]","a.example","a.example",null,"a.example/x","a.example"]`),
			tablestest.FromJSON(t, port, ports),
			tablestest.FromJSON(t, arrow.BinaryTypes.LargeString, `["/","/x","/","/",null,"/","/","/","x"]`),
			tablestest.FromJSON(t, arrow.BinaryTypes.String, `[null,"","q=1",null,"b",null,null,null,null]`))
		last := map[arrow.Type]string{arrow.STRING: ":65536", arrow.BINARY: ":x"}[port.ID()] // no port
		want := `["https://a.example/" "https://a.example:8443/x?" "http://[::1]/?q=1" "http://[::1]:80/" "https://a.example?b" (null) (null) (null) "https://a.example` + last + `/x"]`
		parts := must.Get(findParts(table.Schema()))(t)
		joined := must.Get(parts.join(table, 1<<20))(t)
		must.Equal(t, fmt.Sprint(array.MakeFromData(joined)), want)
		must.Fail(t, must.Err(parts.join(table, 50)), "for URLs beyond the limit")
	}
}

func TestFindParts(t *testing.T) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	field := func(name string, dt arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: dt} }
	for want, fields := range map[int][]arrow.Field{
		5:  {field("url_protocol", text), field("url_host_name", text), field("url_path", text), field("url_port", text), field("url_query", text)},
		4:  {field("url_protocol", text), field("url_host_name", text), field("url_path", text), field("url_port", arrow.RunEndEncodedOf(number, number)), field("url_query", new(arrow.NullType))},
		-1: {field("url_protocol", text), field("url_host_name", text), field("url_path", text), field("url_query", number)},
		-2: {field("url_protocol", text), field("url_host_name", text), field("url_path", text), field("url_port", number), field("url_port", text)},
		0:  {field("url_protocol", text), field("url_host_name", number), field("url_path", text)},
	} {
		got := 0
		p, err := findParts(arrow.NewSchema(fields, nil))
		if p != nil {
			got = len(p.Columns())
		}
		must.Equal(t, err != nil, want < 0, "an error for", fields)
		must.Equal(t, got, max(0, want), "columns of", fields)
	}
	bad := arrow.NewSchema([]arrow.Field{field("url_protocol", text), field("url_host_name", text), field("url_path", text), field("url_query", number), field("url_port", arrow.ListOf(text))}, nil)
	for range 20 {
		must.Say(t, must.Err(findParts(bad)), `column "url_port"`)
	}
}
