package tally

import (
	"math/bits"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/urls"
)

const (
	// mostAgents is the number of agents that are counted apart; those after them are not counted.
	mostAgents = 8
	// mostKey is the number of bytes of an authority or a rule that are compared and kept.
	mostKey = 256
	// reasons is more than the number of reasons.
	reasons = 32
)

// Tally counts the rows of batches.
type Tally struct {
	// Agents are those that are counted apart.
	Agents int
	// Reasons count the rows of each agent by the reason of the verdict, which is an
	// index.
	Reasons [][reasons]int64
	// Largest are the authorities with the most rows, and Denying those with the most
	// that are denied to at least one agent. Examples of these are rules that deny.
	Largest, Denying *Top
	// Rules are the rules with the most rows that they deny, for all agents: the value
	// of the user-agent line, a line end, and the rule. Examples are authorities.
	Rules *Top
	// Authorities is a sample of them.
	Authorities *Sample
	// Ages count rows by the age of the robots.txt that decided: below each of AgeLimits
	// and, in the last two, older, and not known.
	Ages [len(AgeLimits) + 2]int64

	scratch urls.Scratch
	denied  []byte // a bit for each row of a batch: denied to at least one agent
	// By explanation of a batch: the number of rows that it denies, and the first such row.
	ruleRows  []int64
	firstRows []int32
	key       []byte // in Rules
}

// AgeLimits are ages in seconds: an hour, six, a day, a week, thirty days, a year.
var AgeLimits = [...]int64{3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400}

// New returns an empty tally for a job with a number of agents.
func New(agents int) *Tally {
	agents = min(agents, mostAgents)
	return &Tally{
		Agents: agents, Reasons: make([][reasons]int64, agents), Largest: newTop(agents), Denying: newTop(agents), Rules: newTop(agents),
		Authorities: newSample(),
	}
}

// Columns are those that counted verdicts must have.
var Columns = []batch.VerdictColumn{{Kind: batch.FetchedAt}}

// Wrap returns an evaluator that does what e does, and counts the outcome in t. The
// outcome must have explanations and Columns.
func Wrap(e batch.Evaluator, t *Tally) batch.Evaluator { return &counting{e, t} }

type counting struct {
	batch.Evaluator
	tally *Tally
}

// Evaluate implements batch.Evaluator.
func (c *counting) Evaluate(b *batch.Batch, v *batch.Verdicts) error {
	err := c.Evaluator.Evaluate(b, v)
	if err == nil {
		c.tally.Add(b, v)
	}
	return err
}

// Add counts a batch. Its verdicts must have explanations and Columns.
func (t *Tally) Add(b *batch.Batch, v *batch.Verdicts) {
	if v.Rows == 0 {
		return
	}
	agents := v.Agents[:min(t.Agents, len(v.Agents))]
	for i := range agents {
		for _, reason := range agents[i].Reasons {
			t.Reasons[i][int(reason)%reasons]++
		}
	}
	t.countAges(v)
	t.findDenied(agents)
	t.countRuns(b, v, agents)
	for i := range agents {
		t.countRules(b, &agents[i], i)
	}
}

// countAges adds the rows of a batch to t.Ages. Without the column of fetch times it adds nothing.
func (t *Tally) countAges(v *batch.Verdicts) {
	fetched, err := v.Values(&Columns[0])
	if err != nil {
		return
	}
	for row := range v.Rows {
		class := len(t.Ages) - 1 // not known
		to := v.AsOf
		if v.Times != nil {
			to = v.Times[row]
		}
		if number := fetched.At(row); number >= 0 && to != 0 {
			age := to - fetched.Ints[number]
			class = 0
			for class < len(AgeLimits) && age >= AgeLimits[class] {
				class++
			}
		}
		t.Ages[class]++
	}
}

// findDenied sets t.denied to the rows that are denied to at least one agent.
func (t *Tally) findDenied(agents []batch.AgentVerdicts) {
	t.denied = t.denied[:0]
	for i := range agents[0].Valid {
		denied := byte(0)
		for a := range agents {
			denied |= agents[a].Valid[i] &^ agents[a].Allowed[i]
		}
		t.denied = append(t.denied, denied)
	}
}

// countRuns counts the rows of each authority, a run of rows with the same authority as written at a
// time. Rows without an authority are in no run.
func (t *Tally) countRuns(b *batch.Batch, v *batch.Verdicts, agents []batch.AgentVerdicts) {
	var written []byte // the authority of the run, as it is written; empty for none
	low := 0
	for row := range v.Rows {
		var url []byte
		if agents[0].Reasons[row].HasAuthority() {
			url = urls.Trim(b.URLs.Value(row))
		}
		if urls.HasAuthority(url, written) {
			continue
		}
		t.countRun(written, low, row, agents)
		low, written = row, nil
		if _, rest, err := t.scratch.SplitAuthority(url); err == nil {
			written = url[:len(url)-len(rest)]
		}
	}
	t.countRun(written, low, v.Rows, agents)
}

// countRun counts rows [low, high), whose URLs begin with written, an authority. Without one it counts
// nothing.
func (t *Tally) countRun(written []byte, low, high int, agents []batch.AgentVerdicts) {
	key, _, err := t.scratch.SplitAuthority(written)
	if err != nil {
		return
	}
	key = key[:min(len(key), mostKey)]
	rows, denied := int64(high-low), countBits(t.denied, low, high)
	t.Authorities.Add(key, rows, denied)
	t.Largest.Add(key, rows).count(low, high, agents)
	if denied == 0 {
		return
	}
	e := t.Denying.Add(key, denied)
	e.count(low, high, agents)
	if e != nil && e.Example == "" {
		e.Example = denyingRule(low, high, agents)
	}
}

// count adds rows [low, high) to an entry; it does nothing for nil.
func (e *Entry) count(low, high int, agents []batch.AgentVerdicts) {
	if e == nil {
		return
	}
	e.Rows += int64(high - low)
	for i := range agents {
		e.Denied[i] += countBits(agents[i].Valid, low, high) - countBits(agents[i].Allowed, low, high)
	}
}

// denyingRule returns the text of the first rule that denies one of rows [low, high) to an agent;
// "" for none.
func denyingRule(low, high int, agents []batch.AgentVerdicts) string {
	for i := range agents {
		for row := low; row < high; row++ {
			if agents[i].Reasons[row] == matcher.DisallowRule {
				return string(batch.AppendClipped(nil, agents[i].Explanations[agents[i].Rules[row]].Text, mostKey))
			}
		}
	}
	return ""
}

// countRules adds to t.Rules the rows that each rule denies to an agent, given by its index. It adds up the
// rows of each rule of the batch first, so that a rule is looked up once.
func (t *Tally) countRules(b *batch.Batch, a *batch.AgentVerdicts, agent int) {
	t.ruleRows = append(t.ruleRows[:0], make([]int64, len(a.Explanations))...)
	t.firstRows = append(t.firstRows[:0], make([]int32, len(a.Explanations))...)
	for row, reason := range a.Reasons {
		if reason != matcher.DisallowRule {
			continue
		}
		rule := a.Rules[row]
		if t.ruleRows[rule] == 0 {
			t.firstRows[rule] = int32(row)
		}
		t.ruleRows[rule]++
	}
	for rule, n := range t.ruleRows {
		if n == 0 {
			continue
		}
		explanation := &a.Explanations[rule]
		t.key = append(batch.AppendClipped(t.key[:0], explanation.Agent, mostKey), '\n')
		t.key = batch.AppendClipped(t.key, explanation.Text, mostKey)
		e := t.Rules.Add(t.key, n)
		if e == nil {
			continue
		}
		e.Rows += n
		e.Denied[agent] += n
		if e.Example == "" {
			if key, _, err := t.scratch.SplitAuthority(urls.Trim(b.URLs.Value(int(t.firstRows[rule])))); err == nil {
				e.Example = string(key[:min(len(key), mostKey)])
			}
		}
	}
}

// countBits returns the number of bits [low, high) of a bitmap that are set.
func countBits(bitmap []byte, low, high int) (count int64) {
	for at := low >> 3; at <= (high-1)>>3; at++ {
		count += int64(bits.OnesCount8(bitmap[at] & batch.BitsIn(at, low, high)))
	}
	return count
}

// DeniedShare returns the share of an authority's rows that are denied to at least one
// agent, given its entry in Denying. If exact is false, the share is at least that.
func (t *Tally) DeniedShare(e *Entry) (denied, rows int64, exact bool) {
	if c, ok := t.Authorities.Of(e.Key); ok { // the sample has all rows of its authorities
		return c.Denied, c.Rows, true
	}
	// Count may be too high by Error; an authority that Largest does not list has at most Unlisted rows.
	denied, rows = e.Count-e.Error, t.Largest.Unlisted()
	if all := t.Largest.Of(e.Key); all != nil {
		return denied, all.Count, e.Error == 0 && all.Error == 0
	}
	return denied, max(rows, denied), false
}

// Merge adds what another has counted, which must not be used afterwards.
func (t *Tally) Merge(other *Tally) {
	for i := range t.Reasons {
		for reason := range t.Reasons[i] {
			t.Reasons[i][reason] += other.Reasons[i][reason]
		}
	}
	t.Largest.Merge(other.Largest)
	t.Denying.Merge(other.Denying)
	t.Rules.Merge(other.Rules)
	t.Authorities.Merge(other.Authorities)
	for i := range t.Ages {
		t.Ages[i] += other.Ages[i]
	}
}
