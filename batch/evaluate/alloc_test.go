package evaluate

import (
	"fmt"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
)

// TestEvaluateAllocatesNothing: an evaluator that has seen a similar batch allocates
// nothing, for rows grouped or not, with escapes, wildcards, ports and upper case, and for
// several agents.
func TestEvaluateAllocatesNothing(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines,
			fmt.Sprintf("http://a.example/private/%d?q=%%2f", i),
			fmt.Sprintf("HTTP://A.EXAMPLE:80/%d%%41%%zz.gif", i),
			fmt.Sprintf("http://user@a.example/%%7e%d#top", i),
			fmt.Sprintf("http://b.example:8080/%d?a b", i),
			fmt.Sprintf("https://unknown.example/%d", i),
			"http://a.example/%72obots.txt", "not a URL", "gopher://x/")
	}
	c := batchtest.URLs(lines...)
	table := batchtest.Table(t, bodies, "*", "foobot")
	b := &batch.Batch{URLs: c}
	for _, test := range []struct {
		combine batch.Combine
		most    float64
	}{{batch.CombineNone, 0}, {batch.CombineAnyDenied, 6}} { // a few for each distinct list
		e := New(table, Options{Agents: 2, Combine: test.combine})
		var v batch.Verdicts
		if n := testing.AllocsPerRun(10, func() {
			must.Do(t, e.Evaluate(b, &v))
		}); n > test.most {
			t.Errorf("combine %d: %v allocations for %d URLs", test.combine, n, c.Len())
		}
	}
	e := New(table, Options{Agents: 2})
	var target matcher.Target
	path := []byte("/private/%6fpen?x=%2F")
	origin := matcher.Origin{}
	must.Do(t, e.origins.Lookup([]byte("http://a.example"), &origin))
	if n := testing.AllocsPerRun(100, func() {
		target.Set(path, 0)
		origin.Tries[0].Allowed(&target)
		origin.Tries[0].Match(&target)
	}); n != 0 {
		t.Errorf("%v allocations for a match", n)
	}
}
