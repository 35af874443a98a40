package compare_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/compare"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

var chains = []matcher.Chain{{"*"}, {"Foo"}}

// table returns random rules for some of ten hosts.
func table(rng *rand.Rand) *ruletable.Table {
	lines := []string{"User-agent: *", "User-agent: foo", "Disallow: /a", "Allow: /a/b", "Disallow: /*.gif$", "Disallow: /", "Allow: /c"}
	var t ruletable.Table
	for host := range 10 {
		key := fmt.Appendf(nil, "https://h%d.example", host)
		switch rng.IntN(6) {
		case 0:
			continue
		case 1:
			t.Add(key, matcher.Origin{Access: access.DisallowAll})
			continue
		}
		var body strings.Builder
		for range rng.IntN(8) {
			body.WriteString(lines[rng.IntN(len(lines))] + "\n")
		}
		f := robotstxt.Parse([]byte(body.String()), robotstxt.Options{})
		t.Add(key, matcher.Origin{Access: access.Rules, Tries: matcher.Compile(f, chains)})
	}
	return &t
}

func side(t *ruletable.Table) compare.Side {
	return compare.Side{Rules: t, Options: evaluate.Options{Agents: len(chains), Missing: access.MissingNull}}
}

// columns makes a batch of URLs: as strings, or with a dictionary and nulls.
func columns(urls []string, dictionary bool) *batch.Batch {
	c := batch.Column{Offsets32: []int32{0}}
	for i, url := range urls {
		c.Data = append(c.Data, url...)
		c.Offsets32 = append(c.Offsets32, int32(len(c.Data)))
		if dictionary {
			c.Indices = append(c.Indices, int32(len(urls)-1-i))
		}
	}
	if dictionary {
		c.Validity = slices.Repeat([]byte{0xF7}, len(urls)/8+2)
		c.ValidityOffset = 3
	}
	return &batch.Batch{URLs: c}
}

// explained returns an evaluator of one set of rules with reasons.
func explained(t *ruletable.Table) batch.Evaluator {
	o := side(t).Options
	o.Explain = true
	return evaluate.New(t, o)
}

// explainedVerdict formats a verdict with its explanation.
func explainedVerdict(a *batch.AgentVerdicts, row int) string {
	text := "none"
	if a.Valid[row/8]>>(row%8)&1 == 1 {
		text = fmt.Sprint(a.Allowed[row/8]>>(row%8)&1 == 1)
	}
	text += " " + a.Reasons[row].String()
	if rule := a.Rules[row]; rule >= 0 {
		text += fmt.Sprint(" ", a.Explanations[rule])
	}
	return text
}

// TestSelectsWhatDiffers: the selected rows are those whose verdicts differ when each side
// decides them alone. The explanations are those of each side.
func TestSelectsWhatDiffers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	paths := []string{"/", "/a", "/a/b", "/a/c", "/c", "/x.gif", "/robots.txt"}
	differing := 0
	for round := range 200 {
		older, newer := table(rng), table(rng)
		var lines []string
		for range 1 + rng.IntN(50) {
			line := fmt.Sprintf(" https://h%d.example%s", rng.IntN(11), paths[rng.IntN(len(paths))])
			if rng.IntN(20) == 0 {
				line = "mailto:x"
			}
			lines = append(lines, line)
		}
		var changes []compare.Change
		e := compare.New(side(older), side(newer), func(c *compare.Change) error {
			kept := *c
			kept.Authority = slices.Clone(c.Authority)
			changes = append(changes, kept)
			return nil
		})
		b := columns(lines, round%2 == 0)
		var v, before, after batch.Verdicts
		for range 2 { // its memory is reused
			changes = nil
			must.Do(t, e.Evaluate(b, &v))
		}
		must.Do(t, explained(older).Evaluate(b, &before))
		must.Do(t, explained(newer).Evaluate(b, &after))
		told := 0
		for row := range lines {
			differs := false
			for agent := range chains {
				x, y := explainedVerdict(&before.Agents[agent], row), explainedVerdict(&after.Agents[agent], row)
				if xv, yv := strings.Fields(x)[0], strings.Fields(y)[0]; xv != yv {
					differs = true
					told++
				}
			}
			must.Equal(t, v.Selected[row/8]>>(row%8)&1 == 1, differs, lines[row], "is selected")
			if !differs {
				continue
			}
			differing++
			for agent := range chains {
				got := explainedVerdict(&v.Agents[agent], row) + " | " + explainedVerdict(&v.Agents[agent+len(chains)], row)
				want := explainedVerdict(&before.Agents[agent], row) + " | " + explainedVerdict(&after.Agents[agent], row)
				must.Need(t, got == want, "%s: %s, want %s", lines[row], got, want)
			}
		}
		must.Equal(t, told, len(changes), "changes")
		for _, c := range changes {
			must.Be(t, c.Old != c.New && strings.HasPrefix(string(c.Authority), "https://h") && (!c.Gone || c.Rule != ""), "%+v", c)
		}
	}
	must.Be(t, differing >= 500, "%d rows differ", differing)
}

func TestColumns(t *testing.T) {
	var names []string
	for _, c := range compare.Columns([]string{"all", "foo"}) {
		names = append(names, fmt.Sprint(c.Name, " ", c.Agent))
	}
	want := "old_allowed_all 0 old_reason_all 0 old_rule_all 0 old_rule_line_all 0 old_rule_agent_all 0 " +
		"new_allowed_all 2 new_reason_all 2 new_rule_all 2 new_rule_line_all 2 new_rule_agent_all 2 old_allowed_foo 1"
	got := strings.Join(names, " ")
	must.Be(t, strings.HasPrefix(got, want) && len(names) == 20, "%v", got)
	c := compare.Columns([]string{""})
	must.Be(t, c[0].Name == "old_allowed" && c[5].Name == "new_allowed" && c[5].Agent == 1, "%+v", c)
}
