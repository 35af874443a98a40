package evaluate

import (
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/io/store/must"
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
		must.Do(t, New(origins, Options{Explain: true}).Evaluate(&batch.Batch{URLs: batchtest.Column(values...)}, &v))
		a := &v.Agents[0]
		for row := range rows {
			e := a.Explanations[a.Rules[row]]
			bytes += len(e.Text) + len(e.Agent)
			longest = max(longest, len(e.Text))
		}
		return bytes, longest
	}
	hostile := "http://a.example/" + strings.Repeat("a", 5000)
	if n, longest := bytes(hostile); n != rows*(batch.MaxExplanation+batch.MaxExplainedAgent) && n != rows*(batch.MaxExplanation+len("*")) || longest != batch.MaxExplanation {
		t.Errorf("%d rows have %d bytes of explanations, the longest %d", rows, n, longest)
	}
	url := "http://b.example" + strings.TrimPrefix(usual, "Disallow: ")
	n, _ := bytes(url)
	must.Be(t, n == rows*(len(usual)+len("*")), "%d rows with a usual rule have %d bytes", rows, n)
}

// TestExplanationsDoNotDependOnTheBatch: a rule has the same text in a batch of any size, however
// long the texts of other rows are.
func TestExplanationsDoNotDependOnTheBatch(t *testing.T) {
	origins := batchtest.Table(t, map[string]string{"http://a.example": "User-agent: *\nDisallow: /" + strings.Repeat("a", 400) + "\nDisallow: /b" + strings.Repeat("c", 600)}, "*")
	var rows [][]byte
	for range 300 {
		rows = append(rows, []byte("http://a.example/"+strings.Repeat("a", 400)), []byte("http://a.example/b"+strings.Repeat("c", 600)))
	}
	explained := func(size int) (texts []string) {
		e := New(origins, Options{Explain: true})
		for low := 0; low < len(rows); low += size {
			var v batch.Verdicts
			must.Do(t, e.Evaluate(&batch.Batch{URLs: batchtest.Column(rows[low : low+size]...)}, &v))
			for row := range v.Rows {
				texts = append(texts, v.Agents[0].Explanations[v.Agents[0].Rules[row]].Text)
			}
		}
		return texts
	}
	want := explained(1)
	if len(want[0]) != len("Disallow: /")+400 || len(want[1]) != batch.MaxExplanation {
		t.Errorf("texts of %d and %d bytes", len(want[0]), len(want[1]))
	}
	for _, size := range []int{2, 60, 600} {
		must.EqualSlices(t, explained(size), want, "batches of", size, "rows have other texts than batches of one")
	}
}
