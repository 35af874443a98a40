// Package compare evaluates URLs by two sets of rules, an old and a new one, and finds the
// rows whose verdicts differ.
package compare

import (
	"math/bits"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/matcher"
	"robotsbatch/matcher/urls"
)

// Side is one set of rules, and how they are read.
type Side struct {
	Rules matcher.Origins
	// Options are those of verdicts alone; both sides have as many agents.
	Options evaluate.Options
}

// Verdict is an agent's verdict on a row.
type Verdict uint8

const (
	// None: there is no verdict.
	None Verdict = iota
	// Denied and Allowed are verdicts.
	Denied
	Allowed
)

var verdictNames = [...]string{"none", "denied", "allowed"}

// String returns the verdict for people.
func (v Verdict) String() string { return verdictNames[v] }

// Change is a verdict that changes.
type Change struct {
	// Authority is the key of the row's authority; valid until the call returns.
	Authority []byte
	// Agent is its number.
	Agent int
	// Old and New are the verdicts.
	Old, New Verdict
	// Rule is the text of the rule that decides now, or else of the one that decided
	// before, which Gone says; empty where neither verdict is a rule's.
	Rule string
	Gone bool
	// Reason is that of the new verdict.
	Reason matcher.Reason
	// SameVerdict says that an earlier agent's verdict on the row changed to New, too, and
	// SameRule that one did by the same rule or reason: who counts rows leaves them out.
	SameVerdict, SameRule bool
}

// compareWith sets SameVerdict and SameRule if c agrees with an earlier change of the row, which is
// another agent's.
func (c *Change) compareWith(earlier *Change) {
	if earlier.New != c.New {
		return
	}
	c.SameVerdict = true
	if earlier.Rule == c.Rule && earlier.Gone == c.Gone && (c.Rule != "" || earlier.Reason == c.Reason) {
		c.SameRule = true
	}
}

// Columns returns the columns of an output of changes: for each agent the old verdict and what
// explains it, then the new. The Verdicts have each agent twice: first all with the old verdicts,
// then all with the new. agents are suffixes of names, empty for a single agent.
func Columns(agents []string) []batch.VerdictColumn {
	var columns []batch.VerdictColumn
	for agent, suffix := range agents {
		for side, name := range []string{"old_", "new_"} {
			for _, kind := range append([]*batch.ColumnKind{batch.Allowed}, batch.Explaining...) {
				columns = append(columns, batch.VerdictColumn{ // without a suffix no underscore is left
					Name: name + strings.TrimSuffix(kind.Name+"_"+suffix, "_"), Kind: kind, Agent: agent + side*len(agents),
				})
			}
		}
	}
	return columns
}

// New returns an evaluator of both sides. It selects the rows whose verdict differs for any agent,
// for batch.EmitSelected, explains those alone, and calls changed for each verdict that differs,
// from the goroutine that uses the evaluator. An error of changed ends the evaluation with it.
func New(older, newer Side, changed func(*Change) error) batch.Evaluator {
	e := &evaluator{agents: older.Options.Agents, changed: changed}
	for i, side := range []Side{older, newer} {
		e.deciders[i] = evaluate.New(side.Rules, side.Options)
		side.Options.Explain = true
		e.explainers[i] = evaluate.New(side.Rules, side.Options)
	}
	return e
}

// evaluator has the old side at index 0 of its arrays, and the new one at 1.
type evaluator struct {
	deciders, explainers [2]batch.Evaluator // for verdicts alone, and with reasons and rules
	decided, explained   [2]batch.Verdicts  // theirs
	agents               int
	changed              func(*Change) error
	rows                 []int32  // that differ, in order
	rowChanges           []Change // of a row, so far
	scratch              urls.Scratch
}

// Evaluate implements batch.Evaluator.
func (e *evaluator) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	for i, decider := range e.deciders {
		if err := decider.Evaluate(b, &e.decided[i]); err != nil {
			return err
		}
	}
	newer := &e.decided[1]
	v.Reset(newer.Rows, batch.Want{Agents: 2 * e.agents, Explain: true})
	v.Invalid, v.UnsupportedScheme = newer.Invalid, newer.UnsupportedScheme
	v.Authorities = append(v.Authorities, newer.Authorities...)
	v.Unknown = append(v.Unknown, newer.Unknown...)
	for i := range v.Agents {
		from := &e.decided[i/e.agents].Agents[i%e.agents] // see Columns
		copy(v.Agents[i].Allowed, from.Allowed)
		copy(v.Agents[i].Valid, from.Valid)
		v.Agents[i].Nulls = from.Nulls
	}
	e.selectChanged(v)
	if len(e.rows) == 0 {
		return nil
	}
	if err := e.explain(b, v); err != nil {
		return err
	}
	return e.reportChanges(b, v)
}

// selectChanged sets v.Selected and e.rows to the rows whose verdict differs for any agent.
func (e *evaluator) selectChanged(v *batch.Verdicts) {
	v.Selected = append(v.Selected[:0], make([]byte, (v.Rows+7)/8)...)
	for agent := range e.agents {
		x, y := &v.Agents[agent], &v.Agents[agent+e.agents]
		for i := range v.Selected {
			v.Selected[i] |= (x.Allowed[i] ^ y.Allowed[i]) | (x.Valid[i] ^ y.Valid[i])
		}
	}
	e.rows = e.rows[:0]
	for i, selected := range v.Selected {
		for ; selected != 0; selected &= selected - 1 { // each set bit
			e.rows = append(e.rows, int32(8*i+bits.TrailingZeros8(selected)))
		}
	}
}

// explain sets the explanations of v for e.rows. It evaluates these rows again on both sides, as
// a batch whose indices choose them among the values of b.
func (e *evaluator) explain(b *batch.Batch, v *batch.Verdicts) error {
	changed := *b
	changed.URLs.Validity, changed.URLs.ValidityOffset = nil, 0 // a null row has no verdict on either side
	changed.URLs.Indices = make([]int32, len(e.rows))
	for i, row := range e.rows {
		changed.URLs.Indices[i] = row
		if b.URLs.Indices != nil {
			changed.URLs.Indices[i] = b.URLs.Indices[row]
		}
	}
	for side, explainer := range e.explainers {
		from := &e.explained[side]
		if err := explainer.Evaluate(&changed, from); err != nil {
			return err
		}
		for agent := range e.agents {
			to, from := &v.Agents[agent+side*e.agents], &from.Agents[agent]
			to.Explanations = from.Explanations
			for i, row := range e.rows {
				to.Reasons[row], to.Rules[row] = from.Reasons[i], from.Rules[i]
			}
		}
	}
	return nil
}

// reportChanges calls e.changed for each verdict of e.rows that differs, row by row, then agent by
// agent. It stops at the first error and returns it.
func (e *evaluator) reportChanges(b *batch.Batch, v *batch.Verdicts) error {
	for _, row := range e.rows {
		url := urls.Trim(b.URLs.Value(int(row)))
		authority, _, err := e.scratch.SplitAuthority(url)
		if err != nil {
			continue // both sides have none for the same reason
		}
		e.rowChanges = e.rowChanges[:0]
		for agent := range e.agents {
			older, newer := &v.Agents[agent], &v.Agents[agent+e.agents]
			c := Change{Authority: authority, Agent: agent, Old: verdictOf(older.Verdict(int(row))), New: verdictOf(newer.Verdict(int(row))), Reason: newer.Reasons[row]}
			if c.Old == c.New {
				continue
			}
			if rule := newer.Rules[row]; rule >= 0 {
				c.Rule = newer.Explanations[rule].Text
			} else if rule := older.Rules[row]; rule >= 0 {
				c.Rule, c.Gone = older.Explanations[rule].Text, true
			}
			for i := range e.rowChanges {
				c.compareWith(&e.rowChanges[i])
			}
			if err := e.changed(&c); err != nil {
				return err
			}
			e.rowChanges = append(e.rowChanges, c)
		}
	}
	return nil
}

// verdictOf returns what batch.AgentVerdicts.Verdict returned as a Verdict.
func verdictOf(allowed, known bool) Verdict {
	switch {
	case !known:
		return None
	case allowed:
		return Allowed
	}
	return Denied
}
