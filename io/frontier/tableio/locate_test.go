package tableio

import (
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
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
		l, err := Locate(test.schema, test.name, test.keep)
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		if l.IsJoined() != test.split || l.Name() != test.column || l.Schema().NumFields() != test.columns {
			t.Errorf("%s: split %t, column %q, %d columns", test.what, l.IsJoined(), l.Name(), l.Schema().NumFields())
		}
	}
	must.Fail(t, must.Err(Locate(fields("x", "y"), "", batch.KeepAll)), "for two columns of strings")
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
		l, err := Locate(schema, test.name, test.keep)
		if err == nil {
			err = l.FindExtra(schema, batch.ExtraColumns{Weight: "metadata.more.n"})
		}
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
		must.Say(t, must.Err(Locate(schema, name, batch.KeepAll)), want, "URLs in", name)
		l := must.Get(Locate(schema, "x", batch.KeepAll))(t)
		for _, extra := range []batch.ExtraColumns{{Time: name}, {Weight: name}} {
			must.Say(t, l.FindExtra(schema, extra), want, extra)
		}
	}
	for name, want := range map[string]string{"metadata.more": "which holds no URLs", "metadata.more.n": "which holds no URLs"} {
		must.Say(t, must.Err(Locate(schema, name, batch.KeepAll)), want, "URLs in", name)
	}
}
