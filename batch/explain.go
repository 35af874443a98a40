package batch

import (
	"unicode/utf8"

	"robotsbatch/matcher"
)

// explainer collects a batch's explanations, each rule once.
type explainer struct {
	seen []map[ruleKey]int32 // for each agent
}

// ruleKey identifies a rule within a batch: tries with the same rules have
// equal identities.
type ruleKey struct {
	trie *byte
	rule uint32
}

func (x *explainer) reset(v *Verdicts) {
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
	index, ok := x.seen[agent][key]
	if !ok {
		index = int32(len(a.Explanations))
		rule := t.Rule(d.Rule)
		a.Explanations = append(a.Explanations, Explanation{
			Text: clip(rule.Text), Agent: clip(rule.Agent), Line: rule.Line,
		})
		x.seen[agent][key] = index
	}
	a.Rules[row] = index
}

// clip cuts s to MaxExplanation octets, between characters, and marks the cut.
func clip(s []byte) string {
	const mark = "…"
	if len(s) <= MaxExplanation {
		return string(s)
	}
	end := MaxExplanation - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return string(s[:end]) + mark
}
