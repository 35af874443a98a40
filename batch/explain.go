package batch

import (
	"unicode/utf8"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

const (
	// explainedRow is how many octets of texts and agents a row of a batch has
	// on average before those of further rows are cut to shortExplanation: a
	// hostile rule that every row repeats must not fill the memory.
	explainedRow     = 256
	shortExplanation = 64
	// explainedLeast is how many octets all rows of a small batch may have.
	explainedLeast = 1 << 16
)

// explainer collects a batch's explanations, each rule once.
type explainer struct {
	seen   []map[ruleKey]int32 // for each agent
	octets int                 // of texts and agents, in all rows so far
}

// ruleKey identifies a rule within a batch: tries with the same rules have
// equal identities.
type ruleKey struct {
	trie *byte
	rule uint32
	cut  bool // to shortExplanation
}

// explain decides a row and says why.
func (e *Evaluator) explain(v *Verdicts, row int, path []byte) {
	if e.origin.Access == access.Rules {
		e.explainRules(v, row, path)
		return
	}
	allowed, known, reason := outcome(e.origin.Access, e.options.Missing)
	if is, _ := matcher.IsRobotsTxt(path, e.options.Profile); is {
		allowed, known, reason = true, true, matcher.RobotsTxt
	}
	if !known {
		e.null(v, row, reason)
		return
	}
	for agent := range v.Agents {
		v.Agents[agent].set(row, allowed)
		v.Agents[agent].Reasons[row] = reason
	}
}

// explainRules is explain where the origin's rules decide.
func (e *Evaluator) explainRules(v *Verdicts, row int, path []byte) {
	e.target.Set(path, e.options.Profile)
	isRobotsTxt, _ := matcher.IsRobotsTxt(path, e.options.Profile)
	for agent := range e.options.Agents {
		trie := &e.origin.Tries[agent]
		d := trie.Match(&e.target)
		switch {
		case isRobotsTxt:
			d = matcher.Decision{Allowed: true, Reason: matcher.RobotsTxt}
		case e.origin.Stale && !d.Reason.HasRule():
			d.Reason = matcher.StaleRules
		}
		v.Agents[agent].set(row, d.Allowed)
		e.explainer.explain(v, agent, row, trie, d)
	}
}

func (x *explainer) reset(v *Verdicts) {
	x.octets = 0
	for len(x.seen) < len(v.Agents) {
		x.seen = append(x.seen, make(map[ruleKey]int32))
	}
	for _, seen := range x.seen {
		clear(seen)
	}
}

func (x *explainer) explain(v *Verdicts, agent, row int, t *matcher.Trie, d matcher.Decision) {
	a := &v.Agents[agent]
	a.Reasons[row] = d.Reason
	if !d.Reason.HasRule() {
		return
	}
	key := ruleKey{trie: t.Identity(), rule: d.Rule}
	length := MaxExplanation
	if x.octets > explainedLeast+explainedRow*v.Rows*len(v.Agents) {
		key.cut, length = true, shortExplanation
	}
	index, ok := x.seen[agent][key]
	if !ok {
		index = int32(len(a.Explanations))
		rule := t.Rule(d.Rule)
		a.Explanations = append(a.Explanations, Explanation{
			Text: clip(rule.Text, length), Agent: clip(rule.Agent, length), Line: rule.Line,
		})
		x.seen[agent][key] = index
	}
	a.Rules[row] = index
	x.octets += len(a.Explanations[index].Text) + len(a.Explanations[index].Agent)
}

// clip cuts s to a number of octets, between characters, and marks the cut.
func clip(s []byte, length int) string {
	const mark = "…"
	if len(s) <= length {
		return string(s)
	}
	end := length - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return string(s[:end]) + mark
}
