package tables

import (
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
