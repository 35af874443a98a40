package batch

import "robotsbatch/matcher"

// Verdicts are the outcome of one batch: a verdict a row and agent.
type Verdicts struct {
	// Rows is the number of rows.
	Rows int
	// Agents has one element an agent, in the order of the job's agents.
	Agents []AgentVerdicts
	// Facts are what is known of the robots.txt that the rows come under, one
	// element for each run of rows of one authority; when Options.Facts asked
	// for them.
	Facts []matcher.Facts
	// FactsOf has one element a row then: an index into Facts, or -1 where
	// there is no robots.txt.
	FactsOf []int32
	// AsOf is Options.AsOf.
	AsOf int64
	// Selected has a bit a row, least significant first: 1 where the row comes
	// out under the job's Emit. It is nil when every row does.
	Selected []byte
	// SelectedRows counts the rows that come out.
	SelectedRows int
}

// AgentVerdicts are one agent's columns.
type AgentVerdicts struct {
	// Allowed has a bit a row, least significant first; bits past the last row
	// are 0. Where Valid's bit is 0, Allowed's is 0, too.
	Allowed []byte
	// Valid has a bit a row: 0 where there is no verdict.
	Valid []byte
	// Nulls counts the rows without a verdict.
	Nulls int
	// Reasons has one element a row when explanations were asked for.
	Reasons []matcher.Reason
	// Rules has one element a row when explanations were asked for: an index
	// into Explanations, or -1 where no rule comes with the reason.
	Rules []int32
	// Explanations are the batch's distinct rules.
	Explanations []Explanation
}

// Explanation is a rule for people, as matcher.RuleInfo, with Text and Agent
// cut to MaxExplanation octets, or to 64 for the last rows of a batch in which
// those of all rows come to more than 256 a row.
type Explanation struct {
	Text  string
	Agent string
	Line  int
}

// MaxExplanation is how many octets of a rule's text and of its agent an
// Explanation keeps: a hostile rule of half a megabyte, repeated in every row,
// must not fill the memory.
const MaxExplanation = 2048

// reset makes v all denied and valid for a batch of rows.
func (v *Verdicts) reset(rows int, o Options) {
	v.Rows, v.SelectedRows = rows, rows
	v.Selected = v.Selected[:0]
	v.Facts, v.AsOf = v.Facts[:0], o.AsOf
	if v.Agents == nil {
		v.Agents = make([]AgentVerdicts, o.Agents)
	}
	for i := range v.Agents {
		a := &v.Agents[i]
		a.Allowed = filled(a.Allowed, (rows+7)/8, 0)
		a.Valid = filled(a.Valid, (rows+7)/8, 0xFF)
		if rows&7 != 0 {
			a.Valid[rows>>3] = 1<<(rows&7) - 1
		}
		a.Nulls = 0
		a.Explanations = a.Explanations[:0]
		if o.Explain {
			a.Reasons = filled(a.Reasons, rows, matcher.NoReason)
			a.Rules = filled(a.Rules, rows, -1)
		}
	}
}

// filled returns a slice of n elements of the given value, in s's memory if
// that is large enough.
func filled[T any](s []T, n int, value T) []T {
	s = grown(s, n)
	for i := range s {
		s[i] = value
	}
	return s
}

// grown returns a slice of n elements with any values, in s's memory if that is
// large enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// set sets the verdict of a row that has none yet.
func (a *AgentVerdicts) set(row int, allowed bool) {
	bit := byte(0)
	if allowed {
		bit = 1
	}
	a.Allowed[row>>3] |= bit << (row & 7)
}

// allowed is the verdict of a row that was set.
func (a *AgentVerdicts) allowed(row int) bool { return a.Allowed[row>>3]>>(row&7)&1 != 0 }

// allow sets the verdict of rows low to high-1, which have none yet, to allowed.
func (a *AgentVerdicts) allow(low, high int) {
	first, last := low>>3, high>>3
	from, before := byte(0xFF)<<(low&7), byte(1)<<(high&7)-1
	if first == last {
		if low < high {
			a.Allowed[first] |= from & before
		}
		return
	}
	a.Allowed[first] |= from
	for i := first + 1; i < last; i++ {
		a.Allowed[i] = 0xFF
	}
	if before != 0 {
		a.Allowed[last] |= before
	}
}

// allowEach sets the verdicts of the rows from low on, a multiple of eight, that have a
// bit set to allowed.
func (a *AgentVerdicts) allowEach(low int, bits []byte) {
	for i, octet := range bits {
		a.Allowed[low/8+i] |= octet
	}
}

// textOctets is how much text v holds: rules and sitemaps, of which a hostile
// robots.txt can have much for each row.
func (v *Verdicts) textOctets() int64 {
	octets := 0
	for i := range v.Agents {
		for _, e := range v.Agents[i].Explanations {
			octets += len(e.Text) + len(e.Agent)
		}
	}
	for i := range v.Facts {
		records := v.Facts[i].Records
		if records == nil || i > 0 && records == v.Facts[i-1].Records {
			continue
		}
		for _, s := range records.Sitemaps {
			octets += len(s)
		}
	}
	return int64(octets)
}

// finish selects the rows that come out.
func (v *Verdicts) finish(emit Emit) {
	if emit == EmitAll {
		v.Selected = nil
		return
	}
	first := &v.Agents[0]
	v.Selected = filled(v.Selected, len(first.Valid), 0)
	for i := range v.Selected {
		switch emit {
		case EmitAllowed:
			v.Selected[i] = first.Allowed[i]
		case EmitDenied:
			v.Selected[i] = first.Valid[i] &^ first.Allowed[i]
		case EmitUnknown:
			v.Selected[i] = ^first.Valid[i]
		}
	}
	if v.Rows&7 != 0 {
		v.Selected[v.Rows>>3] &= 1<<(v.Rows&7) - 1
	}
	v.SelectedRows = countBits(v.Selected)
}
