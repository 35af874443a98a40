package outputs_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

// difference describes how an output, an Arrow stream, differs from the right one, and
// whether the difference may be valid. Lost rows never are, nor is an output that the Arrow
// library cannot read.
func difference(sound, other []byte) (what string, valid bool) {
	x, err := readStream(sound)
	if err != nil {
		return "the sound output cannot be read", false
	}
	y, err := readStream(other)
	switch {
	case err != nil:
		return "the output cannot be read", false
	case rows(x) != rows(y):
		return "rows lost or won", false
	case !x[0].Schema().Equal(y[0].Schema()), !x[0].Schema().Metadata().Equal(y[0].Schema().Metadata()):
		return differentSchemas(x[0].Schema(), y[0].Schema()), true
	}
	var columns []string
	for i, field := range x[0].Schema().Fields() {
		if !array.ChunkedEqual(column(x, i), column(y, i)) {
			columns = append(columns, field.Name)
		}
	}
	// The verdicts depend on the URLs, so they are no second difference.
	columns = slices.DeleteFunc(columns, func(name string) bool { return name == "allowed" && len(columns) > 1 })
	switch len(columns) {
	case 0:
		return "the same values", true
	case 1:
		return "values of one column", columns[0] != "allowed"
	}
	return "values of " + strings.Join(columns, ", "), false
}

func differentSchemas(x, y *arrow.Schema) string {
	if !x.Metadata().Equal(y.Metadata()) {
		return "the schema's metadata"
	}
	for i, field := range x.Fields() {
		other := y.Field(i)
		switch {
		case field.Name != other.Name:
			return "a column's name"
		case !arrow.TypeEqual(field.Type, other.Type, arrow.CheckMetadata()):
			return "a column's type"
		case field.Nullable != other.Nullable:
			return "whether a column has nulls"
		}
	}
	return "a column's metadata"
}

// column returns column i of all records. Where one record ends and the next begins is
// no difference: a footer's sizes decide how many rows are in a batch.
func column(records []arrow.Record, i int) *arrow.Chunked {
	chunks := make([]arrow.Array, len(records))
	for j, r := range records {
		chunks[j] = r.Column(i)
	}
	return arrow.NewChunked(records[0].Schema().Field(i).Type, chunks)
}

func rows(records []arrow.Record) int64 {
	n := int64(0)
	for _, r := range records {
		n += r.NumRows()
	}
	return n
}

func readStream(data []byte) (records []arrow.Record, err error) {
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	for r.Next() {
		r.Record().Retain()
		records = append(records, r.Record())
	}
	return records, r.Err()
}

func TestDifferenceIgnoresBatches(t *testing.T) {
	whole := stream(t, []string{"a", "b", "c"})
	for _, test := range []struct {
		name  string
		other []byte
		want  string
		valid bool
	}{
		{"cut elsewhere", stream(t, []string{"a"}, []string{"b", "c"}), "the same values", true},
		{"another value", stream(t, []string{"a"}, []string{"b", "d"}), "values of one column", true},
		{"a row less", stream(t, []string{"a"}, []string{"b"}), "rows lost or won", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			what, valid := difference(whole, test.other)
			must.Be(t, what == test.want && valid == test.valid, "difference = %q, %v, want %q, %v", what, valid, test.want, test.valid)
		})
	}
}

// stream returns an Arrow stream of one column, in the given batches.
func stream(t *testing.T, batches ...[]string) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	var records []arrow.Record
	for _, values := range batches {
		b := array.NewStringBuilder(memory.NewGoAllocator())
		b.AppendValues(values, nil)
		records = append(records, array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(len(values))))
	}
	return tablestest.WriteArrow(t, true, schema, records)
}
