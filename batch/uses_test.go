package batch

import (
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/usage"
)

// TestEmitPermitted checks that permitted rows may be fetched by every agent and are not among
// those that the evaluator found unpermitted, and that all others are unpermitted.
func TestEmitPermitted(t *testing.T) {
	v := &Verdicts{
		Rows: 6, Agents: []AgentVerdicts{{Allowed: []byte{0b011111}, Valid: []byte{0b111111}}, {Allowed: []byte{0b001111}, Valid: []byte{0b001111}}},
		Unpermitted: []byte{0b111010}, StatesOther: []byte{0b110011},
	}
	for _, tt := range []struct {
		emit         Emit
		want         byte
		rows, others int
	}{
		{EmitPermitted, 0b000101, 2, 1},
		{EmitUnpermitted, 0b111010, 4, 2},
		{EmitAllowed, 0b001111, 4, 2},
		{EmitAll, 0b111111, 6, 3},
	} {
		v.SelectedRows, v.OtherStated = v.Rows, 0
		v.selectRows(tt.emit)
		v.countOthers()
		selected := append(v.Selected, tt.want)[0]
		must.Be(t, selected == tt.want && v.SelectedRows == tt.rows && int(v.OtherStated) == tt.others, "emit %d: got %b, %d rows, %d of sites that state the other", tt.emit, v.Selected, v.SelectedRows, v.OtherStated)
	}
	v.Unpermitted = nil
	v.selectRows(EmitPermitted)
	must.Be(t, v.Selected[0] == 0b001111, "without a use that is not permitted: %b", v.Selected)
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
			must.Equal(t, c.Name, tt.want[i], "column", i)
		}
		got := UsageOf(columns)
		must.Be(t, len(got.Uses) == 1 && got.Explain && !got.Licenses, "they need %+v", got)
	}
}
