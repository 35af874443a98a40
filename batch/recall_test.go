package batch

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"robotsbatch/matcher"
)

// TestRecall compares the verdicts of rows in any order with those of the same
// rows when nothing is known of rows before, for hosts that share places, for
// rules of all sizes, and for hosts without any.
func TestRecall(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	bodies := map[string]string{"http://large.example": largeBody()}
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
		"/c1", "/d/e", "/e.html", "/f?g", "/h/i.html", "/j/k#l", "/m/n/", "/o.html#", "/q r.html", "/s.html ",
	}
	var rows [][]byte
	for range 16 * blockRows {
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
		kept, octets := 0, int64(0)
		if k := e.memory.kept; k != nil {
			for i := range k.starts.all {
				if k.starts.all[i].length > 0 {
					kept++
					octets += sizeOf(k.knowledge[i].tries)
				}
			}
		}
		reasons := o.Explain || o.Facts // with them nothing is recalled
		if (kept < 100) != reasons || octets != e.memory.size {
			t.Errorf("%+v: %d beginnings are kept, and rules of %d octets, not %d", o, kept, e.memory.size, octets)
		}
		if hits := e.memory.next == 0; hits == reasons {
			t.Errorf("%+v: most rows are recalled: %v", o, hits)
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

// largeBody has many rules.
func largeBody() string {
	var b strings.Builder
	b.WriteString("User-agent: *\nDisallow: /abc\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "Disallow: /a%d/*x%d\n", i, i)
	}
	return b.String()
}

// verdictAt is an agent's verdict on a row, with whether it has one.
func verdictAt(v *Verdicts, agent, row int) [2]bool {
	a := &v.Agents[agent]
	return [2]bool{a.Allowed[row>>3]>>(row&7)&1 != 0, a.Valid[row>>3]>>(row&7)&1 != 0}
}

// TestRecallKeepsLittle has more rules than may be kept.
func TestRecallKeepsLittle(t *testing.T) {
	large := "http://host0.example"
	origins := table(t, map[string]string{large: largeBody()}, "*")
	var o matcher.Origin
	if err := origins.Lookup([]byte(large), &o); err != nil {
		t.Fatal(err)
	}
	var rows [][]byte
	const limit = 1 << 20
	for i := range 3 * limit / sizeOf(o.Tries) {
		host := fmt.Sprintf("http://host%d.example", i)
		origins.Add([]byte(host), o)
		rows = append(rows, []byte(host+"/a1/y"), []byte(host+"/abc"))
	}
	e := NewEvaluator(oneByOne{origins}, Options{Memory: limit * recallShare})
	var v Verdicts
	for range 6 {
		if err := e.Evaluate(&Batch{URLs: column(rows...)}, &v); err != nil {
			t.Fatal(err)
		}
	}
	if e.memory.size > limit || e.memory.size < limit/2 {
		t.Errorf("rules of %d octets are kept, of %d", e.memory.size, limit)
	}
	for row := range rows {
		if want := row%2 == 0; verdictAt(&v, 0, row)[0] != want {
			t.Fatalf("%q: allowed is not %v", rows[row], want)
		}
	}
}

// TestRecallPausesLonger has rows without order of which too few are recalled, then
// enough of them, then rows in order.
func TestRecallPausesLonger(t *testing.T) {
	var m recall
	block := func(hits, strangers int) {
		m.hits, m.strangers = hits, strangers
		m.endBlock(blockRows)
	}
	for _, want := range []int{0, 0, 1, 3, 7, 15, 31, 63, 127, 255, 511, maxPause - 1, maxPause, maxPause} {
		pause := -1 // the block that begins the trial is none
		for ; m.credit == 0; pause++ {
			block(0, blockRows)
		}
		if pause != want {
			t.Fatalf("a trial begins %d blocks after the one before, not %d", pause, want)
		}
		for m.credit > 0 {
			block(blockRows/2, blockRows/2)
		}
	}
	for m.credit == 0 {
		block(0, blockRows)
	}
	for range 100 {
		block(blockRows*7/8, blockRows/8)
	}
	if m.credit != 2*trialRows || m.next != 0 {
		t.Errorf("credit %d, next pause %d while most rows are recalled", m.credit, m.next)
	}
	if block(0, blockRows/8); m.credit != 0 {
		t.Errorf("credit %d where rows are in order", m.credit)
	}
}
