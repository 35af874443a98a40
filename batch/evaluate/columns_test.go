package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/io/store/must"
)

// columnsOf returns columns by their names, those of all agents; all of hosts that have a
// name without any.
func columnsOf(agents int, names ...string) []batch.VerdictColumn {
	all := names == nil
	if all {
		names = batch.WithNames()
	}
	var columns []batch.VerdictColumn
	for _, name := range names {
		kind, err := batch.ParseWith(name)
		if err != nil {
			panic(err)
		}
		if all && kind.OfURL != nil {
			continue // no host decides it: see TestURLKeys
		}
		columns = append(columns, batch.VerdictColumn{Name: name, Kind: kind})
		for agent := 1; agent < agents && kind.PerAgent; agent++ {
			columns = append(columns, batch.VerdictColumn{Name: name, Kind: kind, Agent: agent})
		}
	}
	return columns
}

// rowText has the values of a row.
func rowText(v *batch.Verdicts, row int) string {
	var texts []string
	for i := range v.Columns {
		c := &v.Columns[i]
		texts = append(texts, valueText(c, c.At(row)))
	}
	return strings.Join(texts, " ")
}

// hostText has the values of a row of a host; nil for none.
func hostText(columns []batch.VerdictColumn, h *batch.Host) string {
	var texts []string
	for _, c := range columns {
		values, of := batch.Values{Kind: c.Kind, Agent: c.Agent}, int32(-1)
		if h != nil && c.Kind.Value != nil && (h.Facts != nil || c.Kind.ByAuthority) {
			of = values.Add(c.Kind.Value(h, c.Agent))
		}
		texts = append(texts, valueText(&values, of))
	}
	return strings.Join(texts, " ")
}

func valueText(c *batch.Values, of int32) string {
	if of < 0 {
		return "-"
	}
	switch c.Kind.Type {
	case batch.BoolType:
		return fmt.Sprint(of > 0)
	case batch.FloatType:
		return fmt.Sprint(c.Floats[of])
	case batch.TextType:
		return fmt.Sprintf("%q", c.Texts[of])
	case batch.ListType:
		return fmt.Sprintf("%.30q", c.Lists[of].Words)
	}
	return fmt.Sprint(c.Ints[of])
}

// A column whose name is known at run time alone, with a nullable boolean for each agent,
// needs nothing but its kind: the evaluator sets its rows.
func TestColumnsMadeAtRunTime(t *testing.T) {
	kind := &batch.ColumnKind{Name: "use_train_ai", Type: batch.BoolType, PerAgent: true}
	columns := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"*", "CCBot"}, With: []*batch.ColumnKind{kind}}))(t)
	var v batch.Verdicts
	e := New(batchtest.Table(t, bodies, "*", "CCBot"), Options{Agents: 2, Columns: columns})
	must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.URLs(frontier...)}, &v))
	v.Columns[1].Of[0] = v.Columns[1].Add(batch.Value{Known: true, Int: 1})
	got := rowText(&v, 0)
	must.Be(t, got == "- true" && len(v.Columns) == 2, "the first row has %s", got)
	values, err := v.Values(&columns[3])
	if err != nil || columns[3].Name != "use_train_ai_ccbot" || values.At(0) != 1 || values.At(1) != -1 {
		t.Errorf("%s is %+v, %v", columns[3].Name, values, err)
	}
}
