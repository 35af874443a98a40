package ruletable_test

import (
	"fmt"
	"testing"

	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

func TestTable(t *testing.T) {
	var table ruletable.Table
	var o matcher.Origin
	lookup := func(authority string) access.Outcome {
		t.Helper()
		must.Do(t, table.Lookup([]byte(authority), &o))
		return o.Access
	}
	must.Equal(t, lookup("http://a.example"), access.Unknown, "an empty table knows an authority")
	const n = 5000
	outcome := func(i int) access.Outcome { return access.Outcome(1 + i%3) }
	for i := range n {
		table.Add(fmt.Appendf(nil, "http://%d.example", i), matcher.Origin{Access: access.Unknown})
		table.Add(fmt.Appendf(nil, "http://%d.example", i), matcher.Origin{Access: outcome(i)})
	}
	must.Equal(t, table.Len(), n, "authorities")
	for i := range n {
		got := lookup(fmt.Sprintf("http://%d.example", i))
		must.Need(t, got == outcome(i), "authority %d: outcome %d, want %d", i, got, outcome(i))
		must.Need(t, lookup(fmt.Sprintf("https://%d.example", i)) == access.Unknown, "authority %d is known under another scheme", i)
	}
}
