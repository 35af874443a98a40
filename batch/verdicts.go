package batch

import (
	"math/bits"
	"slices"
	"unicode/utf8"

	"robotsbatch/matcher"
)

// Verdicts are the outcome of one batch: a verdict a row and agent.
type Verdicts struct {
	// Rows is the number of rows.
	Rows int
	// Agents has one element an agent, in the order of the job's agents; or one alone,
	// the verdict that was made of all agents' (Combine).
	Agents []AgentVerdicts
	// Members is the number of agents whose verdicts are combined, 0 for none.
	Members int
	// Denied are lists of agents, by number and in order, each that of many rows: the
	// agents that are denied. The first is the empty one. There are lists when verdicts
	// are combined.
	Denied [][]int32
	// DeniedOf has one element a row then: an index into Denied, or -1 where there is
	// no verdict.
	DeniedOf []int32
	// DeniedLater has, if it is not empty, RowCounts.DeniedLater of each agent; where verdicts
	// are combined first that of the combined one.
	DeniedLater []int64
	// Columns are those that the evaluator was asked to set, in their order; see Values.
	Columns []Values
	// AsOf is the time that ages are counted up to, in seconds since 1970; 0 for
	// none.
	AsOf int64
	// Times are the times of the rows; nil where rows have none. With them, the age of a row's
	// robots.txt is counted up to the row's time, and not up to AsOf.
	Times []int64
	// Counters count rows.
	Counters
	// Authorities are the hashes (matcher.HashOf) of those of the rows' authorities that
	// something is known of; Unknown are the hashes of the others. A hash may occur several
	// times.
	Authorities, Unknown []uint64
	// Selected has a bit a row, least significant first: 1 where the row is kept
	// under the job's Emit. It is nil when every row is.
	Selected []byte
	// SelectedRows counts the rows that are written.
	SelectedRows int
	// Unpermitted has a bit a row: 1 where an agent may fetch the row and a use is
	// disallowed to it, or stated in a form that cannot be read. It is empty when there is
	// no such row.
	Unpermitted []byte
	// StatesOther has a bit a row: 1 where the site says something of one of
	// matcher.UsageOptions.Others. It is empty when there is no such row.
	StatesOther []byte
}

// NeedBits returns the bits of a field that may be empty, Unpermitted or StatesOther, a bit a row. It
// makes them, all 0, if the field is empty.
func (v *Verdicts) NeedBits(field *[]byte) []byte {
	if len(*field) == 0 {
		*field = filled(*field, (v.Rows+7)/8, 0)
	}
	return *field
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
	// into Explanations, or Null where no rule comes with the reason.
	Rules []int32
	// Explanations are the batch's distinct rules.
	Explanations []Explanation
}

// Explanation is a rule for people, as matcher.RuleInfo, with Text cut to MaxExplanation
// bytes and Agent to MaxExplainedAgent, whichever batch it is in.
type Explanation struct {
	Text  string
	Agent string
	Line  int
}

// MaxExplanation and MaxExplainedAgent are how many bytes of a rule's text and of its agent an
// Explanation keeps: a hostile rule of half a megabyte, repeated in every row, must not fill
// the memory.
const (
	MaxExplanation    = 512
	MaxExplainedAgent = 64
)

// AppendClipped appends a text or, if it is longer than length bytes, a start of it, cut between
// characters, and a mark, together at most length bytes.
func AppendClipped[T string | []byte](dst []byte, text T, length int) []byte {
	const mark = "…"
	if len(text) <= length {
		return append(dst, text...)
	}
	end := length - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return append(append(dst, text[:end]...), mark...)
}

// Want says what the verdicts of a batch have; it is the same for all batches of a job.
type Want struct {
	// Agents is the number of agents, or 1 where their verdicts are combined.
	Agents int
	// Members is the number of agents whose verdicts are combined, 0 for none.
	Members int
	// Explain asks for reasons and rules.
	Explain bool
	// Columns are those that the evaluator sets. Others among them are left out.
	Columns []VerdictColumn
}

// Reset prepares v for a batch of rows, in the memory that it has: all rows are denied to all
// agents, all columns are null, and counters are 0. want must be the same in all calls.
func (v *Verdicts) Reset(rows int, want Want) {
	*v = Verdicts{
		Rows: rows, SelectedRows: rows, Agents: v.Agents, Selected: v.Selected[:0], Columns: v.Columns, Unpermitted: v.Unpermitted[:0], StatesOther: v.StatesOther[:0],
		Denied: v.Denied[:0], DeniedOf: v.DeniedOf[:0], Authorities: v.Authorities[:0], Unknown: v.Unknown[:0],
	}
	if v.Agents == nil {
		v.Agents = make([]AgentVerdicts, want.Agents)
		v.Columns = columnsToSet(want.Columns)
	}
	for i := range v.Agents {
		v.Agents[i].reset(rows, want.Explain)
	}
	for i := range v.Columns {
		v.Columns[i].reset(rows)
	}
	if want.Members > 0 {
		v.Members = want.Members
		clear(v.Denied[:cap(v.Denied)]) // the lists of the batch before
		v.Denied = append(v.Denied[:0], nil)
		v.DeniedOf = filled(v.DeniedOf, rows, 0)
	}
}

// columnsToSet returns Values, without rows, for the columns that an evaluator sets, each once.
func columnsToSet(columns []VerdictColumn) []Values {
	var values []Values
	for _, c := range columns {
		if c.Kind.IsSet() && !slices.ContainsFunc(values, func(v Values) bool { return v.Kind == c.Kind && v.Agent == c.Agent }) {
			values = append(values, Values{Kind: c.Kind, Agent: c.Agent})
		}
	}
	return values
}

// reset makes all rows denied and valid.
func (a *AgentVerdicts) reset(rows int, explain bool) {
	a.Allowed = filled(a.Allowed, (rows+7)/8, 0)
	a.Valid = filled(a.Valid, (rows+7)/8, 0xFF)
	if rows&7 != 0 {
		a.Valid[rows>>3] = 1<<(rows&7) - 1
	}
	a.Nulls = 0
	a.Reasons, a.Rules, a.Explanations = a.Reasons[:0], a.Rules[:0], a.Explanations[:0]
	if explain {
		a.Reasons = filled(a.Reasons, rows, matcher.NoReason)
		a.Rules = filled(a.Rules, rows, -1)
	}
}

// SetNull makes the verdicts of a row null for all agents, for a reason, which it counts in Counters
// (see addNull). No verdict of the row may have been set.
func (v *Verdicts) SetNull(row int, reason matcher.Reason) {
	v.addNull(reason)
	if len(v.DeniedOf) > 0 {
		v.DeniedOf[row] = Null
	}
	for agent := range v.Agents {
		a := &v.Agents[agent]
		a.Valid[row>>3] &^= 1 << (row & 7)
		a.Nulls++
		if len(a.Reasons) > 0 {
			a.Reasons[row] = reason
		}
	}
}

// AddAuthority notes the hash of an authority that rows are of: in Authorities if something is
// known of it, else in Unknown.
func (v *Verdicts) AddAuthority(hash uint64, known bool) {
	if known {
		v.Authorities = append(v.Authorities, hash)
	} else {
		v.Unknown = append(v.Unknown, hash)
	}
}

// filled returns a slice of n elements of the given value, in s's memory if
// that is large enough.
func filled[T any](s []T, n int, value T) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = value
	}
	return s
}

// Set sets the verdict of a row. It must not have been set since Reset, which denies all rows.
func (a *AgentVerdicts) Set(row int, allowed bool) {
	if allowed {
		a.Allowed[row>>3] |= 1 << (row & 7)
	}
}

// Verdict returns the verdict of a row; known is false if there is none.
func (a *AgentVerdicts) Verdict(row int) (allowed, known bool) {
	return a.Allowed[row>>3]>>(row&7)&1 != 0, a.Valid[row>>3]>>(row&7)&1 != 0
}

// Denied reports whether a row has the verdict that it is denied.
func (a *AgentVerdicts) Denied(row int) bool {
	allowed, known := a.Verdict(row)
	return known && !allowed
}

// BitsIn returns a mask of the bits [low, high) of a bitmap, at least one, that are in byte at of
// it, which has some of them.
func BitsIn(at, low, high int) byte {
	mask := byte(0xFF)
	if at == low>>3 {
		mask <<= low & 7
	}
	if at == (high-1)>>3 {
		mask &= 0xFF >> (7 - (high-1)&7)
	}
	return mask
}

// Deny denies a row, whatever its verdict was. It removes the explanation; the caller sets the
// reason.
func (a *AgentVerdicts) Deny(row int) {
	bit := byte(1) << (row & 7)
	if a.Valid[row>>3]&bit == 0 {
		a.Nulls--
	}
	a.Valid[row>>3] |= bit
	a.Allowed[row>>3] &^= bit
	if len(a.Rules) > 0 {
		a.Rules[row] = Null
	}
}

// Unset makes the verdict of a row null, whatever it was, for a reason, without counting it.
func (a *AgentVerdicts) Unset(row int, reason matcher.Reason) {
	bit := byte(1) << (row & 7)
	if a.Valid[row>>3]&bit != 0 {
		a.Nulls++
	}
	a.Valid[row>>3] &^= bit
	a.Allowed[row>>3] &^= bit
	if len(a.Reasons) > 0 {
		a.Reasons[row], a.Rules[row] = reason, -1
	}
}

// textBytes returns the size in bytes of the texts that v holds, rules and sitemaps: a hostile
// robots.txt can have much for each row. Lists of agents are granted while they are made.
func (v *Verdicts) textBytes() int64 {
	size := 0
	for i := range v.Agents {
		for _, e := range v.Agents[i].Explanations {
			size += len(e.Text) + len(e.Agent)
		}
	}
	for i := range v.Columns {
		size += v.Columns[i].textBytes()
	}
	return int64(size)
}

// countOthers adds to OtherStated the selected rows that some agent may fetch and whose site
// states one of matcher.UsageOptions.Others.
func (v *Verdicts) countOthers() {
	for i, stated := range v.StatesOther {
		allowed := byte(0) // to any agent
		for agent := range v.Agents {
			allowed |= v.Agents[agent].Allowed[i]
		}
		if stated &= allowed; v.Selected != nil {
			stated &= v.Selected[i]
		}
		v.OtherStated += int64(bits.OnesCount8(stated))
	}
}

// firstRows returns the batch with its first rows, most at most; only the table keeps all rows. b must
// have no weights.
func (b *Batch) firstRows(most int64) Batch {
	first := *b
	if most < int64(b.URLs.Len()) {
		first.URLs = b.URLs.Slice(0, int(most))
		first.Times = b.Times[:min(int(most), len(b.Times))]
	}
	return first
}

// extend makes v, which has the verdicts of the first rows of a batch, one of all its rows: those
// after the first have no verdict, null in all columns, and are not selected.
func (v *Verdicts) extend(b *Batch) {
	rows := b.URLs.Len()
	if rows <= v.Rows { // also in a batch without URLs, which has verdicts for the rows of its table
		return
	}
	size := (rows + 7) / 8
	if v.Selected == nil { // all rows so far are
		v.Selected = filled([]byte(nil), (v.Rows+7)/8, 0xFF)
		if v.Rows&7 != 0 {
			v.Selected[v.Rows>>3] = 1<<(v.Rows&7) - 1
		}
	}
	v.Selected = grown(v.Selected, size, 0)
	for i := range v.Agents {
		a := &v.Agents[i]
		a.Allowed, a.Valid = grown(a.Allowed, size, 0), grown(a.Valid, size, 0)
		if a.Reasons != nil {
			a.Reasons, a.Rules = grown(a.Reasons, rows, matcher.NoReason), grown(a.Rules, rows, -1)
		}
		a.Nulls += rows - v.Rows
	}
	for i := range v.Columns {
		v.Columns[i].Of = grown(v.Columns[i].Of, rows, Null)
	}
	if v.Members > 0 {
		v.DeniedOf = grown(v.DeniedOf, rows, -1)
	}
	if len(v.Unpermitted) > 0 {
		v.Unpermitted = grown(v.Unpermitted, size, 0)
	}
	if len(v.StatesOther) > 0 {
		v.StatesOther = grown(v.StatesOther, size, 0)
	}
	v.Rows, v.Times = rows, b.Times
}

// grown appends elements of the given value to s until it has n.
func grown[T any](s []T, n int, value T) []T {
	for len(s) < n {
		s = append(s, value)
	}
	return s
}

// selectRows sets Selected, nil for all rows, and SelectedRows to the rows that emit says.
func (v *Verdicts) selectRows(emit Emit) {
	switch {
	case emit == EmitAll:
		v.Selected = nil
		return
	case emit == EmitSelected && len(v.Selected) > 0:
		v.SelectedRows = countBits(v.Selected)
		return
	}
	v.Selected = filled(v.Selected, len(v.Agents[0].Valid), 0) // and no rows with EmitSelected: the evaluator selected none
	for i := range v.Selected {
		allowed, denied := byte(0xFF), byte(0) // to all agents, to any
		for agent := range v.Agents {
			a := &v.Agents[agent]
			allowed &= a.Allowed[i]
			denied |= a.Valid[i] &^ a.Allowed[i]
		}
		if i < len(v.Unpermitted) && (emit == EmitPermitted || emit == EmitUnpermitted) {
			allowed &^= v.Unpermitted[i]
		}
		switch emit {
		case EmitAllowed, EmitPermitted:
			v.Selected[i] = allowed
		case EmitUnpermitted:
			v.Selected[i] = ^allowed
		case EmitDenied:
			v.Selected[i] = denied
		case EmitUnknown:
			v.Selected[i] = ^(allowed | denied)
		}
	}
	if v.Rows&7 != 0 {
		v.Selected[v.Rows>>3] &= 1<<(v.Rows&7) - 1 // no bits after the last row
	}
	v.SelectedRows = countBits(v.Selected)
}
