package batch

import (
	"testing"

	"robotsbatch/matcher/usage"
)

// TestEmitPermitted checks that rows are left out that may not be fetched, and those of
// which a use is disallowed; what is unknown, and other columns, change nothing.
func TestEmitPermitted(t *testing.T) {
	train, search := UseKinds(usage.Use{Key: "train-ai"}, true), UseKinds(usage.Use{Key: "search"}, false)
	number := &ColumnKind{Name: "n", Type: Int64Type}
	v := &Verdicts{
		Rows: 6, Agents: []AgentVerdicts{{Allowed: []byte{0b011111}, Valid: []byte{0b111111}}},
		Columns: []Values{
			{Kind: train[0], Of: []int32{1, 0, -1, 1, -1, -1}},
			{Kind: train[1], Of: []int32{0, 0, 0, 0, 0, 0}, Ints: []int64{7}},
			{Kind: search[0], Of: []int32{-1, 1, 1, 0, -1, -1}},
			{Kind: number, Of: []int32{0, 0, 0, 0, 0, 0}, Ints: []int64{0}},
			{Kind: signalUse, Of: []int32{0, 0, 0, 0, 0, 0}, Texts: []string{"immediate"}},
		},
	}
	v.selectRows(EmitPermitted)
	if len(v.Selected) != 1 || v.Selected[0] != 0b010101 || v.SelectedRows != 3 {
		t.Errorf("got %b, %d rows", v.Selected, v.SelectedRows)
	}
}

func TestUseColumnsOfSeveralAgents(t *testing.T) {
	o := ColumnOptions{Agents: []string{"CCBot", "*"}, With: UseKinds(usage.Use{Key: "train-ai"}, true)}
	for _, tt := range []struct {
		combined bool
		want     []string
	}{
		{false, []string{"allowed_ccbot", "allowed_all", "use_train_ai_ccbot", "use_train_ai_all", "use_train_ai_line_ccbot", "use_train_ai_line_all", "use_train_ai_text_ccbot", "use_train_ai_text_all"}},
		{true, []string{"allowed", "denied_by", "use_train_ai", "use_train_ai_line", "use_train_ai_text"}},
	} {
		o.Combined = tt.combined
		columns, err := VerdictColumns(o)
		if err != nil || len(columns) != len(tt.want) {
			t.Fatal(columns, err)
		}
		for i, c := range columns {
			if c.Name != tt.want[i] {
				t.Errorf("column %d is %s, want %s", i, c.Name, tt.want[i])
			}
		}
		if got := UsageOf(columns); len(got.Uses) != 1 || !got.Explain || got.Licenses {
			t.Errorf("they need %+v", got)
		}
	}
}
