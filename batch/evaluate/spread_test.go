package evaluate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/internal/batchtest"
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
		table := new(matcher.Table)
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
			if err := each.Evaluate(b, &v); err != nil {
				t.Fatal(err)
			}
			all := combiner{evaluator: New(table, Options{Agents: n, Explain: explain, Combine: batch.CombineAllDenied}), how: batch.CombineAllDenied}
			any := combiner{evaluator: New(table, Options{Agents: n, Explain: explain, Combine: batch.CombineAnyDenied}), how: batch.CombineAnyDenied}
			if n > 1 && len(o.Tries) < n {
				t.Fatalf("%d chains share %d tries", len(chains), len(o.Tries))
			}
			for _, c := range []*combiner{&all, &any} {
				if err := c.check(b, &v); err != nil {
					t.Errorf("%d agents: %v", n, err)
				}
			}
			if got := batchtest.Letters(&v, 1); strings.Count(got, "d") != n/2 {
				t.Errorf("%d agents: /even is %s", n, got)
			}
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
	table := new(matcher.Table)
	table.Add([]byte("http://a.test"), o)
	b := &batch.Batch{URLs: batchtest.URLs("http://a.test/x", "http://a.test/y", "http://a.test/z")}
	for how, want := range map[batch.Combine][]string{
		batch.CombineAnyDenied: {"disallow_rule C 3 [1 2]", "disallow_rule * 7 [0]", "no_rule_matched  0 []"},
		batch.CombineAllDenied: {"allow_rule * 6 [1 2]", "no_rule_matched  0 [0]", "no_rule_matched  0 []"},
	} {
		var v batch.Verdicts
		if err := New(table, Options{Agents: 3, Explain: true, Combine: how}).Evaluate(b, &v); err != nil {
			t.Fatal(err)
		}
		var got []string
		for row := range v.Rows {
			var e batch.Explanation
			if rule := v.Agents[0].Rules[row]; rule >= 0 {
				e = v.Agents[0].Explanations[rule]
			}
			got = append(got, fmt.Sprintf("%s %s %d %d", v.Agents[0].Reasons[row], e.Agent, e.Line, v.Denied[v.DeniedOf[row]]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("combine %d: %q, want %q", how, got, want)
		}
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
			if err := each.Evaluate(&b, &v); err != nil {
				t.Fatal(err)
			}
			for i := range combiners {
				if err := combiners[i].check(&b, &v); err != nil {
					t.Fatalf("seed %d, under %+v: %v", seed, x.options, err)
				}
			}
			if x.options.EverDenied {
				ever += v.Rows
			}
			first += v.Rows
		}
	}
	if ever < 1000 {
		t.Errorf("%d rows show little", ever)
	}
}
