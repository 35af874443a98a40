package tableio

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
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
		l, err := Locate(test.schema, test.name, test.keep)
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		if l.IsSplit() != test.split || l.Name() != test.column || l.Schema().NumFields() != test.columns {
			t.Errorf("%s: split %t, column %q, %d columns", test.what, l.IsSplit(), l.Name(), l.Schema().NumFields())
		}
	}
	if _, err := Locate(fields("x", "y"), "", batch.KeepAll); err == nil {
		t.Error("no error for two columns of strings")
	}
}

// A field of a struct is no column, and the message says what makes it one; what is no field
// has the message of a missing column.
func TestFieldOfStruct(t *testing.T) {
	inner := arrow.StructOf(arrow.Field{Name: "url", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "more", Type: arrow.StructOf(arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64})})
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}, {Name: "metadata", Type: inner}}, nil)
	for _, test := range []struct{ name, want string }{
		{"metadata.url", `"metadata.url" lies within the column "metadata", and such names are for jsonl: make it a column, such as duckdb -c "copy (select metadata.url as url, * from`},
		{"metadata.more.n", `select metadata.more.n as n, *`},
		{"metadata.text", `there is no column "metadata.text"`},
		{"metadata.", `there is no column "metadata."`},
		{"url.x", `there is no column "url.x"`},
	} {
		_, err := Locate(schema, test.name, batch.KeepAll)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("URLs in %s: %v", test.name, err)
		}
		l, err := Locate(schema, "url", batch.KeepAll)
		if err != nil {
			t.Fatal(err)
		}
		for _, extra := range []batch.ExtraColumns{{Time: test.name}, {Weight: test.name}} {
			if err := l.FindExtra(schema, extra); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v: %v", extra, err)
			}
		}
	}
}
