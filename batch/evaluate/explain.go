package evaluate

import (
	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// explainer collects a batch's explanations, each rule once.
type explainer struct {
	seen      []map[ruleKey]int32 // for each verdict of a row, indices in its Explanations
	decisions []matcher.Decision  // on the row that is explained, by each trie
}

// ruleKey identifies a rule within a batch, and the agent that it is reported for: tries with
// the same rules have equal identities, but their user-agent lines may be written differently.
type ruleKey struct {
	trie  *byte
	rule  uint32
	agent int
}

// explainRows sets the verdicts, reasons and rules of rows [low, high), which are of origin o.
// pathStart is where their URLs' paths start: the length of scheme and authority.
func explainRows[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts, o *matcher.Origin, low, high, pathStart int) {
	for row := low; row < high; row++ {
		path := e.scratch.Path(r.url(row)[pathStart:])
		if o.Access == access.Rules {
			e.explainRules(v, o, row, path)
		} else {
			e.explainOutcome(v, o, row, path)
		}
	}
}

// explainOutcome sets verdict and reason of a row whose origin has no rules to ask, and counts
// the row. /robots.txt is allowed.
func (e *Evaluator) explainOutcome(v *batch.Verdicts, o *matcher.Origin, row int, path []byte) {
	allowed, known, reason := e.outcome(o.Access)
	if e.isRobotsTxt(path) {
		allowed, known, reason = true, true, matcher.RobotsTxt
	}
	if counter := outcomeCounter(&v.Counters, reason); counter != nil {
		*counter++
	}
	if !known {
		v.SetNull(row, reason)
		return
	}
	for agent := range v.Agents {
		v.Agents[agent].Set(row, allowed)
		v.Agents[agent].Reasons[row] = reason
	}
	if v.Members > 0 && !allowed {
		v.DeniedOf[row] = e.spreader.listOfAll(v, e.options.Agents)
	}
}

// explainRules sets verdicts, reasons and rules of a row by the rules of its origin.
func (e *Evaluator) explainRules(v *batch.Verdicts, o *matcher.Origin, row int, path []byte) {
	e.target.Set(path, e.options.Profile)
	isRobotsTxt := e.isRobotsTxt(path)
	decisions := e.explainer.decisions[:0]
	for i := range o.Tries {
		d := o.Tries[i].Match(&e.target)
		switch {
		case isRobotsTxt:
			d = matcher.Decision{Allowed: true, Reason: matcher.RobotsTxt}
		case o.Stale && !d.Reason.HasRule():
			d.Reason = matcher.StaleRules
		}
		decisions = append(decisions, d)
	}
	e.explainer.decisions = decisions
	if e.options.Combine != batch.CombineNone {
		e.explainCombined(v, o, row)
		return
	}
	for agent := range v.Agents {
		trie := o.TrieOf(agent)
		v.Agents[agent].Set(row, decisions[trie].Allowed)
		e.explainer.explain(v, agent, agent, row, &o.Tries[trie], decisions[trie])
	}
}

// combined is the index in batch.Verdicts.Agents of the only verdict, if verdicts are combined.
const combined = 0

// explainCombined sets the combined verdict of a row from e.explainer.decisions, lists the agents
// that are denied, and explains the verdict by the first agent that has the same.
func (e *Evaluator) explainCombined(v *batch.Verdicts, o *matcher.Origin, row int) {
	decisions := e.explainer.decisions
	denied := 0
	for i := range decisions {
		if !decisions[i].Allowed {
			denied++
		}
	}
	allowed := denied == 0 || e.options.Combine == batch.CombineAllDenied && denied < len(decisions)
	v.Agents[0].Set(row, allowed)
	if denied > 0 {
		v.DeniedOf[row] = e.spreader.listOf(v, e.options.Agents, func(agent int) bool { return !decisions[o.TrieOf(agent)].Allowed })
	}
	for agent := range e.options.Agents {
		if trie := o.TrieOf(agent); decisions[trie].Allowed == allowed {
			e.explainer.explain(v, combined, agent, row, &o.Tries[trie], decisions[trie])
			return
		}
	}
}

// reset forgets the rules of the batch before. v has empty explanations.
func (x *explainer) reset(v *batch.Verdicts) {
	for len(x.seen) < len(v.Agents) {
		x.seen = append(x.seen, make(map[ruleKey]int32))
	}
	for _, seen := range x.seen {
		clear(seen)
	}
}

// explain sets the reason of a row in v.Agents[verdict] and, if a rule of t decides, the rule: it
// appends each to the explanations once. d is the decision of t, for the agent with index agent in the
// options: the same as verdict, unless the only verdict is that of all agents combined.
func (x *explainer) explain(v *batch.Verdicts, verdict, agent, row int, t *matcher.Trie, d matcher.Decision) {
	a := &v.Agents[verdict]
	a.Reasons[row] = d.Reason
	if !d.Reason.HasRule() {
		return
	}
	key := ruleKey{trie: t.Identity(), rule: d.Rule, agent: agent}
	index, ok := x.seen[verdict][key]
	if !ok {
		index = int32(len(a.Explanations))
		rule := t.Rule(d.Rule)
		a.Explanations = append(a.Explanations, batch.Explanation{
			Text: clip(rule.Text, batch.MaxExplanation), Agent: clip(rule.Agent, batch.MaxExplainedAgent), Line: rule.Line,
		})
		x.seen[verdict][key] = index
	}
	a.Rules[row] = index
}

// clip returns s as batch.AppendClipped appends it.
func clip(s []byte, length int) string { return string(batch.AppendClipped(nil, s, length)) }
