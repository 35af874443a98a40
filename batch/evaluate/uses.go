package evaluate

import (
	"slices"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/usage"
)

// uses sets the columns about uses. Few hosts say anything about them, and what they say
// counts only for rows that may be fetched. So the groups of those hosts are collected, and
// their columns are set when the block has its verdicts.
type uses struct {
	wanted  []usage.Use
	agents  int
	combine batch.Combine
	runs    []usedRun      // of a block
	target  matcher.Target // the path of the row that is decided, where values depend on it

	values []usage.Value // of that row: of agent a, from index a*len(wanted) on, each use
	// forbids says of each value whether Verdicts.Unpermitted has its rows.
	forbids [usage.NumValues]bool
}

// usedRun is a run of rows whose host says something about uses.
type usedRun struct {
	usage     *matcher.Usage
	low, high int
	pathStart int // in each URL: the length of scheme and authority
}

// newUses returns the state for the columns about uses among o.Columns.
func newUses(o Options) uses {
	wanted := batch.UsageOf(o.Columns).Uses
	u := uses{wanted: wanted, agents: o.Agents, combine: o.Combine, values: make([]usage.Value, o.Agents*len(wanted))}
	u.forbids[usage.Disallowed], u.forbids[usage.Unreadable] = true, !o.AllowUnreadable
	return u
}

// addGroup adds the runs of a group, given by its number, whose host says something of uses.
func (u *uses) addGroup(g *groups, number int, said *matcher.Usage) {
	w := g.walk(number)
	for w.next() {
		u.runs = append(u.runs, usedRun{usage: said, low: w.low, high: w.high, pathStart: len(g.all[number].written)})
	}
}

// forget drops all references to a batch.
func (u *uses) forget() {
	u.target.Forget()
	clear(u.runs)
	u.runs = u.runs[:0]
}

// setUses sets the columns about uses of the rows of a block from e.uses.runs, and clears these.
// All verdicts of the block must have been set.
func setUses[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts) {
	for i := range e.uses.runs {
		setUsesOfRun(e, r, v, &e.uses.runs[i])
	}
	e.uses.forget()
}

// setUsesOfRun sets the columns about uses, StatesOther and Unpermitted for a run. Rows with the
// same URL up to the depth on which the values depend are decided together.
func setUsesOfRun[O int32 | int64](e *Evaluator, r *rows[O], v *batch.Verdicts, run *usedRun) {
	u := &e.uses
	if run.usage.StatesOther() {
		matcher.SetBits(v.NeedBits(&v.StatesOther), run.low, run.high)
	}
	for low := run.low; low < run.high; {
		if run.usage.HasPaths() {
			u.target.Set(e.scratch.Path(r.url(low)[run.pathStart:]), e.options.Profile)
		}
		depth := run.usage.Decide(&u.target, u.values)
		high := endOfShared(r, run, low, depth)
		for _, column := range e.columns.byUse {
			e.setUse(&v.Columns[column], v, run.usage, low, high)
		}
		low = high
	}
}

// endOfShared returns the end of the rows from low on that have the values of row low, which
// depend on the first depth bytes of its path; depth may exceed the path's length.
func endOfShared[O int32 | int64](r *rows[O], run *usedRun, low, depth int) int {
	if depth == 0 {
		return run.high
	}
	url := r.url(low)
	path := url[run.pathStart:]
	if depth > len(path) || path[0] != '/' { // a path that lacks its slash was rewritten
		return low + 1
	}
	// Row low itself lacks the prefix if it has blanks before its URL.
	return low + max(1, matcher.PrefixRun(url[:run.pathStart+depth], r.data, r.offsets[low-r.first:run.high-r.first+1]))
}

// setUse sets a column for rows [low, high) that may be fetched, and their bits of Unpermitted.
// e.uses.values has the values of these rows, e.uses.target the path of the first, and said is what their
// host states. Where verdicts are combined, a row has the combined value of the agents that may fetch it.
func (e *Evaluator) setUse(c *batch.Values, v *batch.Verdicts, said *matcher.Usage, low, high int) {
	use, combines := slices.Index(e.uses.wanted, c.Kind.Use.Use), e.options.Combine != batch.CombineNone
	agent, number := c.Agent, batch.Null
	list := int32(-1) // the list of denied agents for which value and number were found last; none yet
	value := e.uses.values[agent*len(e.uses.wanted)+use]
	forbids := e.uses.forbids[value]
	if !combines {
		if number = e.numberOf(c, said, agent, use, value); number == batch.Null && !forbids {
			return // the rows are null already
		}
	}
	allowed := v.Agents[c.Agent].Allowed
	for row := low; row < high; row++ {
		if allowed[row>>3]>>(row&7)&1 == 0 {
			continue
		}
		if combines && v.DeniedOf[row] != list {
			list = v.DeniedOf[row]
			agent, value, forbids = e.uses.combineValues(v.Denied[list], use)
			number = e.numberOf(c, said, agent, use, value)
		}
		c.Of[row] = number
		if forbids {
			v.NeedBits(&v.Unpermitted)[row>>3] |= 1 << (row & 7)
		}
	}
}

// combineValues combines the values of a use, given by its index, of the agents that are not in denied, a sorted
// list, and returns the first agent with the result. With any-denied the most restrictive value counts.
// With all-denied a use is disallowed only if it is disallowed to all. forbids reports whether
// the value of any of the agents is forbidden. At least one agent must not be in denied.
func (u *uses) combineValues(denied []int32, use int) (agent int, value usage.Value, forbids bool) {
	first := true
	for i := range u.agents {
		if len(denied) > 0 && int(denied[0]) == i {
			denied = denied[1:]
			continue
		}
		said := u.values[i*len(u.wanted)+use]
		together := said
		forbids = forbids || u.forbids[said]
		switch {
		case first:
		case u.combine == batch.CombineAllDenied:
			together = usage.Least(value, said)
		default:
			together = usage.Combine(value, said)
		}
		if first || together != value {
			first, agent, value = false, i, together
		}
	}
	return agent, value, forbids
}

// numberOf returns what a row of c.Of gets whose value of a use is given; agent and use are indices. It
// is batch.Null or batch.Unreadable for these values, and else the number of the value in c's
// dictionary, or for booleans, which have none, 1 or 0. In a column of lines it is the number of the
// line that decides, batch.Null if none does.
func (e *Evaluator) numberOf(c *batch.Values, said *matcher.Usage, agent, use int, value usage.Value) int32 {
	if c.Kind.Use.Part != batch.UseValue {
		return e.numberOfLine(c, said, agent, use)
	}
	switch {
	case value == usage.Unknown:
		return batch.Null
	case value == usage.Unreadable:
		return batch.Unreadable
	case c.Kind.Type == batch.TextType:
		return c.Add(batch.Value{Known: true, Text: value.String()})
	case value == usage.Allowed:
		return 1
	}
	return 0
}

// numberOfLine is numberOf for a column of lines, their numbers or texts.
func (e *Evaluator) numberOfLine(c *batch.Values, said *matcher.Usage, agent, use int) int32 {
	line := said.Explain(&e.uses.target, agent, use)
	if line.Line == 0 {
		return batch.Null
	}
	if c.Kind.Use.Part == batch.UseLine {
		return c.Add(batch.Value{Known: true, Int: int64(line.Line)})
	}
	return c.Add(batch.Value{Known: true, Text: clip(line.Text, batch.MaxExplanation)})
}
