package batch

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestRecall compares the verdicts of rows in any order with those of the same
// rows when nothing is known of rows before, for hosts that share places, for
// rules that are kept and that are too large, and for hosts without any.
func TestRecall(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	bodies := map[string]string{"http://large.example": "User-agent: *\n" + strings.Repeat("Disallow: /abc\nAllow: /*xyz\n", 1000)}
	hosts := []string{"http://large.example", "http://host0.example:8080", "HTTP://HOST1.example", "http://me@host2.example"}
	for i := range 40 {
		host := fmt.Sprintf("http://host%d.example", i)
		hosts = append(hosts, host)
		if i%4 != 0 {
			bodies[host] = fmt.Sprintf("User-agent: *\nDisallow: /a%d\nDisallow: /r\nAllow: /*.html$\nDisallow: /b*x\n"+
				"User-agent: foobot\nDisallow: /\nAllow: /a\n", i%3)
		}
	}
	paths := []string{
		"/", "", "?q", "/a0", "/a1/x.html", "/a2#f", "/b", "/bx", "/by.html", "/c", "/cd?e", "/r", "/robots.txt",
		"/robots.txt?", "/rob", "/%72", "/a1/x.html ", "/a 1", "/\u00e4",
	}
	var rows [][]byte
	for range 4000 {
		rows = append(rows, []byte(hosts[rng.IntN(len(hosts))]+paths[rng.IntN(len(paths))]))
	}
	for _, o := range []Options{{}, {Agents: 2}, {Explain: true}, {Facts: true, AsOf: 1}} {
		agents := []string{"*", "foobot"}[:max(1, o.Agents)]
		origins := table(t, bodies, agents...)
		e := NewEvaluator(origins, o)
		var got, want Verdicts
		for range 2 {
			if err := e.Evaluate(&Batch{URLs: column(rows...)}, &got); err != nil {
				t.Fatal(err)
			}
		}
		kept := 0
		if e.memory.places != nil {
			for i := range e.memory.places {
				if e.memory.places[i].length > 0 {
					kept++
				}
			}
		}
		if (kept < 100) != o.Explain {
			t.Errorf("%+v: %d beginnings are kept", o, kept)
		}
		for row, url := range rows {
			if err := NewEvaluator(origins, o).Evaluate(&Batch{URLs: column(url)}, &want); err != nil {
				t.Fatal(err)
			}
			for agent := range want.Agents {
				if got, want := verdictAt(&got, agent, row), verdictAt(&want, agent, 0); !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v: %q for agent %d: %v, not %v", o, url, agent, got, want)
				}
			}
			if o.Facts && (got.FactsOf[row] < 0) != (want.FactsOf[0] < 0) {
				t.Fatalf("%q: facts %d, not %d", url, got.FactsOf[row], want.FactsOf[0])
			}
		}
	}
}

// verdictAt is an agent's verdict on a row, with whether it has one.
func verdictAt(v *Verdicts, agent, row int) [2]bool {
	a := &v.Agents[agent]
	return [2]bool{a.Allowed[row>>3]>>(row&7)&1 != 0, a.Valid[row>>3]>>(row&7)&1 != 0}
}
