package lines

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/io/store/must"
)

// Columns of verdicts that are written four at a time are what they are one by one.
func TestAllowedRunWritesItsColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, agents := range []int{4, 5, 8, 13, 166} {
		const rows = 203
		v := &batch.Verdicts{}
		v.Reset(rows, batch.Want{Agents: agents})
		layout := batch.Layout{Keep: batch.KeepNone}
		for agent := range agents {
			layout.Verdicts = append(layout.Verdicts, batch.VerdictColumn{Name: fmt.Sprint("allowed_", agent), Kind: batch.Allowed, Agent: agents - 1 - agent})
			for row := range rows {
				v.Agents[agent].Set(row, r.IntN(3) == 0)
			}
		}
		for _, row := range []int{0, 7, 100, 202} {
			for agent := range agents {
				a := &v.Agents[agent]
				a.Valid[row>>3] &^= 1 << (row & 7)
				a.Allowed[row>>3] &^= 1 << (row & 7)
				a.Nulls++
			}
		}
		columns := must.Get(Columns(layout, nil))(t)
		fields := must.Get(Text(&batch.Batch{}, v, columns))(t)
		allowed := NewAllowedRun(columns, func(dst []byte, column int, value string) []byte {
			return append(fmt.Appendf(dst, "%d=", column), value...)
		}).Of(v)
		for _, row := range r.Perm(rows) {
			null := row == 0 || row == 7 || row == 100 || row == 202
			if allowed.Begins(0, row) == null || allowed.Begins(1, row) {
				t.Fatalf("row %d, null %t: begins %t, and %t at the second column", row, null, allowed.Begins(0, row), allowed.Begins(1, row))
			}
			var want []byte
			for column, field := range fields {
				want = field(fmt.Appendf(want, "%d=", column), row)
			}
			if got := allowed.Append(nil, row); !null && string(got) != string(want) {
				t.Fatalf("%d agents, row %d: %s, want %s", agents, row, got, want)
			}
		}
	}
}

// Other columns, and fewer than four allowed ones, are no run.
func TestAllowedRunNeedsFourColumns(t *testing.T) {
	kinds := func(kinds ...*batch.ColumnKind) []Column {
		layout := batch.Layout{Keep: batch.KeepURL, URLColumn: "url"}
		for i, kind := range kinds {
			layout.Verdicts = append(layout.Verdicts, batch.VerdictColumn{Name: fmt.Sprint("c", i), Kind: kind})
		}
		return must.Get(Columns(layout, nil))(t)
	}
	write := func(dst []byte, _ int, value string) []byte { return append(dst, value...) }
	allowed, reason := batch.Allowed, batch.Explaining[0]
	for _, few := range [][]Column{kinds(), kinds(allowed, allowed, allowed), kinds(allowed, reason, allowed, reason, allowed, reason, allowed)} {
		if w := NewAllowedRun(few, write); w != nil {
			t.Errorf("%d columns: from %d to %d", len(few), w.First, w.End)
		}
	}
	if w := NewAllowedRun(kinds(allowed, allowed, allowed, allowed, reason, allowed), write); w == nil || w.First != 1 || w.End != 5 {
		t.Errorf("four allowed columns behind the URL: %+v", w)
	}
}
