package tableio

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables"
)

// Where a column cannot be joined, nothing of the others is kept.
func TestAssemblyColumnsError(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	var verdicts []batch.VerdictColumn
	for _, name := range []string{"a", "b", "c"} {
		verdicts = append(verdicts, batch.VerdictColumn{Name: name, Kind: batch.Allowed})
	}
	o := must.Get(NewVerdicts(batch.Layout{Verdicts: verdicts}, nil, mem))(t)
	a := NewAssembly(2)
	for piece := range 2 {
		_, _, err := a.Add(o, piece, &batch.Batch{}, tablestest.Verdicts(20), nil)
		must.Do(t, err)
	}
	other := &a.parts[1].shares[0][1] // of another type than the piece before
	(*other).Release()
	*other = tables.Fixed(tables.Maker{Memory: mem}, arrow.PrimitiveTypes.Int64, []int64{1}, []int32{0}, func(n int64) int64 { return n })
	must.Say(t, must.Err(a.Columns(o)), `column "b"`)
}

// A piece that fails keeps nothing.
func TestAssemblyAddError(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	const rows = 20
	v := tablestest.Verdicts(rows)
	tablestest.Select(v, func(row int) bool { return row%3 > 0 })
	o := must.Get(NewVerdicts(batch.Layout{Verdicts: []batch.VerdictColumn{{Name: "a", Kind: batch.Allowed}}}, nil, mem))(t)
	urls := tablestest.URLArray(rows, true).Data().(*array.Data)
	queue := budget.New(1 << 20).Queue(t.Context())
	grant := must.Get(queue.Admit(1))(t)
	queue.Close() // so that it gets nothing any more
	_, _, err := NewAssembly(1).Add(o, 0, &batch.Batch{Grant: grant}, v, urls)
	must.Be(t, errors.Is(err, context.Canceled), "error %v", err)
}

// URLs are kept from the first piece on of which some rows are selected and others are not;
// they are those that gathering all rows gives, and none when some were not kept.
func TestAssemblyURLs(t *testing.T) {
	const rows, pieces = 20, 3
	urls := tablestest.URLArray(rows*pieces, true).Data().(*array.Data)
	for _, test := range []struct {
		name  string
		order []int // in which pieces are added
		kept  bool
	}{
		{"a mixed piece first", []int{1, 0, 2}, true},
		{"a whole piece first", []int{0, 1, 2}, false},
		{"none, then a mixed piece", []int{2, 1, 0}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			o, err := NewVerdicts(batch.Layout{Verdicts: []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}}, nil, mem)
			must.Do(t, err)
			a := NewAssembly(pieces)
			for _, piece := range test.order {
				v := tablestest.Verdicts(rows)
				tablestest.Select(v, func(row int) bool { return piece == 0 || piece == 1 && row%3 > 0 })
				part := array.NewSliceData(urls, int64(rows*piece), int64(rows*(piece+1))).(*array.Data)
				_, _, err := a.Add(o, piece, &batch.Batch{}, v, part)
				must.Do(t, err)
			}
			columns := must.Get(a.Columns(o))(t)
			defer tables.Release(columns)
			got, err := a.URLs(mem)
			must.Need(t, err == nil && (got != nil) == test.kept, "URLs: %v, %v", got, err)
			if !test.kept {
				return
			}
			defer got.Release()
			want := tables.Maker{Memory: mem}.Gather(urls, a.AllSelected())
			defer want.Release()
			one, other := array.MakeFromData(got), array.MakeFromData(want)
			defer one.Release()
			defer other.Release()
			must.Be(t, array.Equal(one, other), "%v, want %v", one, other)
		})
	}
}
