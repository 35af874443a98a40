package batch

import (
	"encoding/json"
	"math"
	"testing"
)

// Rows are counted by both verdicts, and weights that are no numbers count as 0.
func TestNewest(t *testing.T) {
	var then, now Verdicts
	then.Reset(4, Want{Agents: 1})
	now.Reset(4, Want{Agents: 1})
	for _, row := range []int{0, 1, 2} {
		then.Agents[0].Set(row, true)
	}
	now.Agents[0].Set(0, true)
	now.Agents[0].Set(3, true)
	now.SetNull(2, 0)
	then.Newest = &now
	s := statsOf(&Batch{Weights: Numbers{Floats: []float64{math.NaN(), 2.5, 4, 8}, Validity: []byte{0b1110}}}, &then)
	var total Stats
	total.add(&s)
	total.add(&s)
	got, err := json.Marshal(total.Agents[0].Newest)
	const want = `{"of_allowed":{"allowed":2,"denied":2,"unknown":2,"weight":{"allowed":0,"denied":5,"unknown":8}},` +
		`"of_denied":{"allowed":2,"denied":0,"unknown":0,"weight":{"allowed":16,"denied":0,"unknown":0}},` +
		`"of_unknown":{"allowed":0,"denied":0,"unknown":0}}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	s = statsOf(&Batch{Weights: Numbers{Floats: []float64{math.Inf(1), 2.5, math.NaN(), 8}}}, &then)
	if sum := s.Agents[0].Newest.OfAllowed.Weights; sum.Allowed.Float() != 0 || sum.Unknown.Float() != 0 {
		t.Errorf("%g and %g of what is no number", sum.Allowed.Float(), sum.Unknown.Float())
	}
}
