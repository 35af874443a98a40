package tables

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
)

// TestListsOfAgents compares a column of lists with the rows' lists, for all rows and for
// those that are selected.
func TestListsOfAgents(t *testing.T) {
	columns, err := batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"A", "Bot", ""}, Combined: true, ListOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	o, err := NewOutput(batch.Layout{Keep: batch.KeepNone, Verdicts: columns}, nil, mem)
	if err != nil {
		t.Fatal(err)
	}
	if field := o.Schema().Field(0); !arrow.TypeEqual(field.Type, arrow.ListOf(arrow.BinaryTypes.String)) || !field.Nullable {
		t.Errorf("the column is %v", field)
	}
	v := &batch.Verdicts{
		Rows: 6, SelectedRows: 6, Agents: make([]batch.AgentVerdicts, 1), Members: 3,
		Denied: [][]int32{nil, {0, 2}, {1}}, DeniedOf: []int32{1, -1, 0, 2, 1, 1},
	}
	texts := []string{`["A",""]`, "(null)", "[]", `["Bot"]`, `["A",""]`, `["A",""]`}
	for _, selected := range []byte{0, 0b101101, 0b000010, 0b111111} {
		want := texts
		v.Selected = nil
		if selected != 0 {
			v.Selected, want = []byte{selected}, nil
			for row, text := range texts {
				if selected>>row&1 != 0 {
					want = append(want, text)
				}
			}
		}
		var got []string
		err := o.Shares(&batch.Batch{}, v, func(s *Share) error {
			record, err := s.Record()
			if err != nil {
				return err
			}
			defer record.Release()
			list := record.Column(0).(*array.List)
			for row := range list.Len() {
				got = append(got, list.ValueStr(row))
			}
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("rows %06b: %s, %v, want %s", selected, fmt.Sprint(got), err, want)
		}
	}
	v.DeniedOf = nil
	if err := o.Shares(&batch.Batch{}, v, func(s *Share) error { _, err := s.Record(); return err }); err == nil {
		t.Error("verdicts without lists are written")
	}
}
