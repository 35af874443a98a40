package evaluate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// manyAgents are chains and an origin in which agent i is denied /i and what begins
// with it, and agents with an even number /even, too; the last has no group.
func manyAgents(n int) (chains []matcher.Chain, o matcher.Origin) {
	var body strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&body, "User-agent: bot%d\nDisallow: /%d/\n", i, i)
		if i%2 == 0 {
			body.WriteString("Disallow: /even\n")
		}
	}
	for i := range n {
		chains = append(chains, matcher.Chain{fmt.Sprint("bot", i)})
	}
	o.Access = access.Rules
	compiler := matcher.Compiler{Explain: true}
	o.Tries, o.Of = compiler.Compile(robotstxt.Parse([]byte(body.String()), robotstxt.Options{}), matcher.NewAgents(chains))
	return chains, o
}

// TestMoreAgentsThanAWordHasBits combines the verdicts of more agents with groups of
// their own than a mask in a word can tell apart.
func TestMoreAgentsThanAWordHasBits(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 66, 130} {
		chains, o := manyAgents(n)
		table := new(ruletable.Table)
		table.Add([]byte("http://a.test"), o)
		table.Add([]byte("http://down.test"), matcher.Origin{Access: access.DisallowAll})
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("http://a.test/%d/x", i), "http://a.test/even", "http://a.test/", "http://down.test/", "http://down.test/robots.txt", "no URL")
		}
		c := batchtest.URLs(lines...)
		b := &batch.Batch{URLs: c}
		for _, explain := range []bool{false, true} {
			each := New(table, Options{Agents: n, Explain: explain})
			var v batch.Verdicts
			must.Do(t, each.Evaluate(b, &v))
			all := combiner{evaluator: New(table, Options{Agents: n, Explain: explain, Combine: batch.CombineAllDenied}), how: batch.CombineAllDenied}
			any := combiner{evaluator: New(table, Options{Agents: n, Explain: explain, Combine: batch.CombineAnyDenied}), how: batch.CombineAnyDenied}
			must.Need(t, n <= 1 || len(o.Tries) >= n, "%d chains share %d tries", len(chains), len(o.Tries))
			for _, c := range []*combiner{&all, &any} {
				must.Equal(t, c.check(b, &v), nil, n, "agents")
			}
			got := batchtest.Letters(&v, 1)
			must.Be(t, strings.Count(got, "d") == n/2, "%d agents: /even is %s", n, got)
		}
	}
}

// TestCombinedVerdictIsExplainedByTheFirstAgentThatHasIt: of those denied the first one's
// rule, and the agent as it is written in the group that it obeys.
func TestCombinedVerdictIsExplainedByTheFirstAgentThatHasIt(t *testing.T) {
	const body = "User-agent: B\nUser-agent: C\nDisallow: /x\n\nUser-agent: *\nAllow: /x\nDisallow: /y\n"
	chains := []matcher.Chain{{"A"}, {"C"}, {"B"}}
	compiler := matcher.Compiler{Explain: true}
	o := matcher.Origin{Access: access.Rules}
	o.Tries, o.Of = compiler.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{}), matcher.NewAgents(chains))
	table := new(ruletable.Table)
	table.Add([]byte("http://a.test"), o)
	b := &batch.Batch{URLs: batchtest.URLs("http://a.test/x", "http://a.test/y", "http://a.test/z")}
	for how, want := range map[batch.Combine][]string{
		batch.CombineAnyDenied: {"disallow_rule C 3 [1 2]", "disallow_rule * 7 [0]", "no_rule_matched  0 []"},
		batch.CombineAllDenied: {"allow_rule * 6 [1 2]", "no_rule_matched  0 [0]", "no_rule_matched  0 []"},
	} {
		var v batch.Verdicts
		must.Do(t, New(table, Options{Agents: 3, Explain: true, Combine: how}).Evaluate(b, &v))
		var got []string
		for row := range v.Rows {
			var e batch.Explanation
			if rule := v.Agents[0].Rules[row]; rule >= 0 {
				e = v.Agents[0].Explanations[rule]
			}
			got = append(got, fmt.Sprintf("%s %s %d %d", v.Agents[0].Reasons[row], e.Agent, e.Line, v.Denied[v.DeniedOf[row]]))
		}
		must.EqualSlices(t, got, want, "combine", how)
	}
}

// TestCombinedVerdictsOfTimedRows: what is denied at any time is combined as verdicts of one
// time are.
func TestCombinedVerdictsOfTimedRows(t *testing.T) {
	ever := 0
	for seed := range uint64(60) {
		x := makeTimed(rand.New(rand.NewPCG(seed, 23)))
		x.options.Explain, x.options.EverDenied, x.options.Timelines = false, seed%3 > 0, x.moments
		each := New(x.moments, x.options)
		each.blockRows = x.block
		combiners := x.combiners()
		for i := range combiners {
			o := combiners[i].evaluator.options
			combiners[i].evaluator = New(x.moments, o)
			combiners[i].evaluator.blockRows = x.block
		}
		var v batch.Verdicts
		first := 0
		for _, column := range x.columns() {
			b := batch.Batch{URLs: column, Times: x.times[first : first+column.Len()]}
			must.Do(t, each.Evaluate(&b, &v))
			for i := range combiners {
				must.Equal(t, combiners[i].check(&b, &v), nil, "seed", seed, "under", x.options)
			}
			if x.options.EverDenied {
				ever += v.Rows
			}
			first += v.Rows
		}
	}
	must.Be(t, ever >= 1000, "%d rows show little", ever)
}

// A robots.txt can give each row a list of its own. Lists take no more than they may, and
// more are an error that says what to do.
func TestListsOfDeniedAgentsAreBounded(t *testing.T) {
	const agents, rows = 64, 1000
	var chains []matcher.Chain
	var body strings.Builder
	for i := range agents {
		chains = append(chains, matcher.Chain{fmt.Sprintf("bot%c", 'a'+i/26) + string(rune('a'+i%26))})
		fmt.Fprintf(&body, "User-agent: %s\nDisallow: /*x%dy\n", chains[i][0], i)
	}
	o := matcher.Origin{Access: access.Rules}
	compiler := matcher.Compiler{}
	o.Tries, o.Of = compiler.Compile(robotstxt.Parse([]byte(body.String()), robotstxt.Options{}), matcher.NewAgents(chains))
	table := new(ruletable.Table)
	table.Add([]byte("http://a.test"), o)
	var urls []string
	denied := 0
	for row := range rows {
		url := "http://a.test/"
		for i := range agents {
			if i < 10 && row>>i&1 == 1 || i >= 10 && i%2 == 0 {
				url += fmt.Sprintf("x%dy", i)
				denied++
			}
		}
		urls = append(urls, url)
	}
	b := &batch.Batch{URLs: batchtest.URLs(urls...), FirstRow: 7}
	need := int64(4*denied + rows*(agents/8+listOverhead))
	for _, test := range []struct {
		memory int64
		fits   bool
	}{{1, false}, {need / 2, false}, {need - 1, false}, {need, true}, {0, true}} {
		e := New(table, Options{Agents: agents, Combine: batch.CombineAnyDenied, ListMemory: test.memory})
		var v batch.Verdicts
		err := e.Evaluate(b, &v)
		if fits := err == nil; fits != test.fits || !fits && !errors.Is(err, errLists) {
			t.Fatalf("%d bytes for lists of %d: %v", test.memory, need, err)
		}
		if kept := 0; !test.fits {
			for _, list := range v.Denied {
				kept += 4 * len(list)
			}
			must.Be(t, int64(kept) <= test.memory, "%d bytes for lists: they have %d", test.memory, kept)
			must.Be(t, strings.Contains(err.Error(), "row 7: ") && strings.Contains(err.Error(), "lower batch-rows"), "the error names no row, or not what to do: %v", err)
			err := e.Evaluate(&batch.Batch{URLs: batchtest.URLs("http://a.test/", "http://a.test/x2y")}, &v)
			must.Be(t, test.memory <= 1 || err == nil, "the next batch: %v", err)
		} else if len(v.Denied) != 1+rows {
			t.Errorf("%d lists, want one for each of %d rows and the empty one", len(v.Denied), rows)
		}
	}
}

// TestExplanationsStayInProportion: a rule of half a megabyte that every row repeats does
// not fill the memory, and rules of ordinary length are not cut.
func TestExplanationsStayInProportion(t *testing.T) {
	rows := must.Short(2_000, 20_000)
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
	must.Be(t, len(want[0]) == len("Disallow: /")+400 && len(want[1]) == batch.MaxExplanation, "texts of %d and %d bytes", len(want[0]), len(want[1]))
	for _, size := range []int{2, 60, 600} {
		must.EqualSlices(t, explained(size), want, "batches of", size, "rows have other texts than batches of one")
	}
}
