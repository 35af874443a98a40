package outputs_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/must"
)

func TestDifferenceIgnoresBatches(t *testing.T) {
	whole := stream(t, []string{"a", "b", "c"})
	tests := []struct {
		name  string
		other []byte
		want  string
		valid bool
	}{
		{"cut elsewhere", stream(t, []string{"a"}, []string{"b", "c"}), "the same values", true},
		{"another value", stream(t, []string{"a"}, []string{"b", "d"}), "values of one column", true},
		{"a row less", stream(t, []string{"a"}, []string{"b"}), "rows lost or won", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if what, valid := difference(whole, test.other); what != test.want || valid != test.valid {
				t.Errorf("difference = %q, %v, want %q, %v", what, valid, test.want, test.valid)
			}
		})
	}
}

// stream returns an Arrow stream of one column, in the given batches.
func stream(t *testing.T, batches ...[]string) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for _, values := range batches {
		b := array.NewStringBuilder(memory.NewGoAllocator())
		b.AppendValues(values, nil)
		must.Do(t, w.Write(array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(len(values)))))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}
