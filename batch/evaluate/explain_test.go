package evaluate

import (
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
)

// TestExplanationsStayInProportion: a rule of half a megabyte that every row repeats does
// not fill the memory, and rules of ordinary length are not cut.
func TestExplanationsStayInProportion(t *testing.T) {
	const rows = 20_000
	long := "/" + strings.Repeat("*a", 5000)
	agent := "bot" + strings.Repeat("é", 5000)
	usual := "Disallow: /b/" + strings.Repeat("c", 100)
	origins := batchtest.Table(t, map[string]string{
		"http://a.example": "User-agent: * " + agent + "\nDisallow: " + long,
		"http://b.example": "User-agent: *\n" + usual,
	}, "*")
	bytes := func(url string) (bytes, longest int) {
		values := make([][]byte, rows)
		for i := range values {
			values[i] = []byte(url)
		}
		var v batch.Verdicts
		if err := New(origins, Options{Explain: true}).Evaluate(&batch.Batch{URLs: batchtest.Column(values...)}, &v); err != nil {
			t.Fatal(err)
		}
		a := &v.Agents[0]
		for row := range rows {
			e := a.Explanations[a.Rules[row]]
			bytes += len(e.Text) + len(e.Agent)
			longest = max(longest, len(e.Text))
		}
		return bytes, longest
	}
	hostile := "http://a.example/" + strings.Repeat("a", 5000)
	if n, longest := bytes(hostile); n > rows*(explainedRow+2*shortExplanation)+explainedLeast || longest != batch.MaxExplanation {
		t.Errorf("%d rows have %d bytes of explanations, the longest %d", rows, n, longest)
	}
	url := "http://b.example" + strings.TrimPrefix(usual, "Disallow: ")
	if n, _ := bytes(url); n != rows*(len(usual)+len("*")) {
		t.Errorf("%d rows with a usual rule have %d bytes", rows, n)
	}
}
