package evaluate

import (
	"errors"
	"math"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// history makes of each group one for each span of its authority that a row's time is in.
// From there on these are evaluated as any group: the rules of a span are looked up
// once a block, however its rows lie among those of other spans.
type history struct {
	taken  []matcher.Span  // of the authorities whose spans were taken
	ends   [lookupSize]int // of each of these
	spans  []matcher.Span  // of the authority that is being cut
	froms  []int64         // of these
	places []int32         // by span, from -1 on: 1 + the number of its new group, 0 for none

	// The new groups, which take the place of the groups.
	all  []group
	keys []matcher.Key
	runs []run
	held []held // by new group

	rowTimes []int64 // of the batch's rows
	// times are those of the fetches in the spans of the groups that are evaluated, by
	// their index in Evaluator.found, for spans of several and rows before the last.
	times  [lookupSize][]int64
	memory []int64                   // of these
	open   [lookupSize]*matcher.Span // of the groups that are evaluated; nil for none
}

// held is what held for the rows of a group.
type held struct {
	span  matcher.Span
	until int64 // when another thing held; 0 for never
	// known says that the authority is, and early that the rows are from before its
	// first span.
	known, early bool
}

// cutGroups replaces e.groups by groups of a span each, by the times of the rows, and counts the
// outdated rows. A row without a time gets a null verdict and is in no group. With an error it
// returns the row in question.
func (e *Evaluator) cutGroups(v *batch.Verdicts) (row int, err error) {
	g, h := &e.groups, &e.history
	h.all, h.keys, h.runs, h.held, h.rowTimes = h.all[:0], h.keys[:0], h.runs[:0], h.held[:0], v.Times
	for low := 0; low < len(g.all); low += lookupSize {
		high := min(low+lookupSize, len(g.all))
		if i, err := e.takeSpans(g.keys[low:high]); err != nil {
			return g.firstRow(low + i), err
		}
		for number := low; number < high; number++ {
			h.choose(number - low)
			oldest, newest := g.timesOf(number, v.Times)
			if err := e.countOutdated(v, number, oldest, newest); err != nil {
				return g.firstRow(number), err
			}
			e.cutGroup(v, number)
			g.slots[g.all[number].slot] = 0
		}
	}
	g.all, h.all = h.all, g.all
	g.keys, h.keys = h.keys, g.keys
	g.runs, h.runs = h.runs, g.runs
	return 0, nil
}

// takeSpans sets h.taken and h.ends to the spans of authorities, at most lookupSize. With an
// error it returns the index of the key in question.
func (e *Evaluator) takeSpans(keys []matcher.Key) (i int, err error) {
	h := &e.history
	h.taken = h.taken[:0]
	if e.timelines != nil {
		h.taken, i, err = e.timelines.AppendAllSpans(h.taken, keys, h.ends[:len(keys)])
		return i, err
	}
	for i := range keys {
		if h.taken, err = e.options.Timelines.AppendSpans(h.taken, keys[i].Text); err != nil {
			return i, err
		}
		h.ends[i] = len(h.taken)
	}
	return 0, nil
}

// choose sets h.spans and what belongs to them to those of an authority, by its index among
// those that takeSpans took.
func (h *history) choose(i int) {
	start := 0
	if i > 0 {
		start = h.ends[i-1]
	}
	h.spans = h.taken[start:h.ends[i]]
	h.froms, h.places = h.froms[:0], append(h.places[:0], 0)
	for i := range h.spans {
		h.froms = append(h.froms, h.spans[i].From)
		h.places = append(h.places, 0)
	}
}

// cutGroup cuts a group, for whose authority choose was called: it adds a new group for each span
// that one of its rows' times is in; span -1 is before the first. A row without a time gets a null
// verdict.
func (e *Evaluator) cutGroup(v *batch.Verdicts, number int) {
	g, h, times := &e.groups, &e.history, v.Times
	early := e.options.BeforeFirst == access.BeforeUse
	w := g.walk(number)
	for w.next() {
		for row := w.low; row < w.high; {
			if times[row] == batch.NoTime {
				v.SetNull(row, matcher.NoTime)
				row++
				continue
			}
			span, low, high := h.spanAt(times[row], early)
			place := h.places[span+1]
			if place == 0 {
				place = h.add(&g.all[number], g.keys[number], span)
			}
			end := row + 1
			for end < w.high && times[end] >= low && times[end] < high {
				end++
			}
			h.addRows(place-1, int32(row-g.first), int32(end-g.first))
			row = end
		}
	}
}

// few is the number of spans that are compared one by one.
const few = 16

// spanAt returns the index of the span at a time, -1 before the first one, and the times
// [low, high) for which it is the same. early makes the first span hold before it began.
func (h *history) spanAt(t int64, early bool) (span int, low, high int64) {
	if len(h.froms) <= few {
		for _, from := range h.froms {
			if from <= t {
				span++
			}
		}
		span--
	} else {
		span = matcher.SpanAt(h.spans, t)
	}
	if early && span < 0 && len(h.froms) > 0 {
		span = 0
	}
	low, high = batch.NoTime+1, int64(math.MaxInt64)
	if span > 0 || span == 0 && !early {
		low = h.froms[span]
	}
	if span+1 < len(h.froms) {
		high = h.froms[span+1]
	}
	return span, low, high
}

// add adds a group, without rows, for a span of the authority that was chosen, given by its
// index; -1 for the time before the first. of is the group that is cut. It returns 1 + the new
// group's number, and sets h.places to that.
func (h *history) add(of *group, key matcher.Key, span int) int32 {
	state := held{known: len(h.spans) > 0, early: span < 0 && len(h.spans) > 0}
	if span >= 0 {
		state.span = h.spans[span]
	}
	if span+1 < len(h.spans) {
		state.until = h.spans[span+1].From
	}
	h.all = append(h.all, group{written: of.written, first: -1, last: -1, slot: of.slot})
	h.keys = append(h.keys, key)
	h.held = append(h.held, state)
	h.places[span+1] = int32(len(h.all))
	return int32(len(h.all))
}

// addRows adds rows [low, high) to a new group, given by its number, as groups.addRow does.
func (h *history) addRows(number, low, high int32) {
	group := &h.all[number]
	added := int32(len(h.runs))
	switch {
	case group.last < 0:
		group.first = added
	case h.runs[group.last].high == low:
		h.runs[group.last].high = high
		return
	default:
		h.runs[group.last].next = added
	}
	group.last = added
	h.runs = append(h.runs, run{low: low, high: high, next: -1})
}

// forget keeps no byte of a batch in memory.
func (h *history) forget() {
	clear(h.all[:cap(h.all)])
	clear(h.keys[:cap(h.keys)])
	clear(h.open[:])
	h.rowTimes = nil
}

// openSpans sets e.found to the origins in the spans of groups [low, high), and h.times to the
// times of the fetches that their columns need. With an error it returns the index in e.found.
func (e *Evaluator) openSpans(low, high int) (int, error) {
	h, keys, found := &e.history, e.groups.keys[low:high], e.found[:high-low]
	h.memory = h.memory[:0]
	for i := range keys {
		h.open[i] = nil
		if x := &h.held[low+i]; x.known && !x.early {
			h.open[i] = &x.span
		}
	}
	if i, err := e.openAll(keys, h.open[:len(keys)], found); err != nil {
		return i, err
	}
	for i := range keys {
		h.times[i] = nil
		if h.open[i] != nil && len(e.columns.byFacts) > 0 {
			found[i].Facts.Until = h.held[low+i].until
			if err := e.findTimes(i, low+i); err != nil {
				return i, err
			}
		}
	}
	return 0, nil
}

// openAll sets each origin to that in the span with the same index, and resets it for nil. With
// an error it returns the index in question.
func (e *Evaluator) openAll(keys []matcher.Key, spans []*matcher.Span, origins []matcher.Origin) (int, error) {
	if e.timelines != nil {
		return e.timelines.OpenAllSpans(keys, spans, origins)
	}
	for i, span := range spans {
		if span == nil {
			origins[i].Reset()
		} else if err := e.options.Timelines.OpenSpan(keys[i].Text, span, &origins[i]); err != nil {
			return i, err
		}
	}
	matcher.Touch(origins)
	return 0, nil
}

// findTimes sets history.times[slot] to the times of all fetches in a group's span. It reads them only if the
// span has more than one fetch and a row of the group is from before the last one: otherwise the span's first
// and last times are enough.
func (e *Evaluator) findTimes(slot, group int) error {
	g, h := &e.groups, &e.history
	span := &h.held[group].span
	if span.Seen == span.Fetched || !h.isBefore(g, group, span.Seen) {
		return nil
	}
	times, err := e.options.Timelines.AppendTimes(h.memory, g.keys[group].Text, span)
	if err != nil {
		return err
	}
	h.times[slot], h.memory = times[len(h.memory):], times
	return nil
}

// isBefore reports whether a row of a group is from before a second.
func (h *history) isBefore(g *groups, number int, second int64) bool {
	w := g.walk(number)
	for w.next() {
		for _, t := range h.rowTimes[w.low:w.high] {
			if t < second {
				return true
			}
		}
	}
	return false
}

var errNoTimes = errors.New("the batch has no times of its rows")

// errTooFine is the error of a batch of which all rows with a time have numbers that would
// be milliseconds, or less.
var errTooFine = errors.New("the times are numbers of milliseconds or less: divide them to have seconds since 1970, or make them timestamps")

// checkTimes replaces each batch.TooFine by batch.NoTime. If no row has another time, it returns
// errTooFine.
func checkTimes(times []int64) error {
	if !slices.Contains(times, batch.TooFine) {
		return nil
	}
	if slices.Max(times) <= batch.TooFine {
		return errTooFine
	}
	for i, t := range times {
		if t == batch.TooFine {
			times[i] = batch.NoTime
		}
	}
	return nil
}

// denyEver denies the rows of a block that a later span denies, one that begins up to
// Options.AsOf. All verdicts must have been set. With an error it returns the row in question.
// url returns the URL of a row, here and below.
func (e *Evaluator) denyEver(url func(row int) []byte, v *batch.Verdicts) (row int, err error) {
	g, h := &e.groups, &e.history
	for number := range g.all {
		if !h.held[number].known || h.held[number].until == 0 {
			continue
		}
		if err := e.denyGroup(url, v, number); err != nil {
			return g.firstRow(number), err
		}
	}
	return 0, nil
}

// denyGroup is denyEver for a group, given by its number. It overwrites e.found[0], and corrects
// the counters.
func (e *Evaluator) denyGroup(url func(row int) []byte, v *batch.Verdicts, number int) error {
	g, h := &e.groups, &e.history
	if _, err := e.takeSpans(g.keys[number : number+1]); err != nil {
		return err
	}
	h.choose(0)
	if e.options.Combine != batch.CombineNone {
		defer e.forgetLists(v, number)
	}
	cut := false
	for i := range h.spans {
		span := &h.spans[i]
		if span.From < h.held[number].until || e.options.AsOf != 0 && span.From > e.options.AsOf || span.Access.AllowsAll() {
			continue
		}
		if span.Access == access.Cut {
			cut = true
			e.cutGroupRows(url, v, number)
			continue
		}
		o := &e.found[0]
		if err := e.options.Timelines.OpenSpan(g.keys[number].Text, span, o); err != nil {
			return err
		}
		w := g.walk(number)
		for w.next() {
			for row := w.low; row < w.high; row++ {
				e.denyRow(v, o, row, e.scratch.Path(url(row)[len(g.all[number].written):]))
			}
		}
	}
	e.recount(url, v, number, cut)
	return nil
}

// cutGroupRows makes the verdicts of a group's rows null where they are not denied so far: nobody
// knows whether they were denied at the times that were not kept. /robots.txt keeps its verdict
// under a profile that always allows it.
func (e *Evaluator) cutGroupRows(url func(row int) []byte, v *batch.Verdicts, number int) {
	w := e.groups.walk(number)
	for w.next() {
		for row := w.low; row < w.high; row++ {
			if e.isRobotsTxt(url, row, number) {
				continue
			}
			for agent := range v.Agents {
				if a := &v.Agents[agent]; !a.Denied(row) {
					a.Unset(row, matcher.HistoryCut)
				}
			}
		}
	}
}

// isRobotsTxt reports whether a row of a group is a /robots.txt that is always allowed.
func (e *Evaluator) isRobotsTxt(url func(row int) []byte, row, number int) bool {
	isRobotsTxt, _ := matcher.IsRobotsTxt(e.scratch.Path(url(row)[len(e.groups.all[number].written):]), e.options.Profile)
	return isRobotsTxt
}

// recount corrects counters after denyGroup: rows that it denied, or left without a verdict
// because the history was cut (cut), no longer count under the reason that they had before. It
// counts the latter under HistoryCut.
func (e *Evaluator) recount(url func(row int) []byte, v *batch.Verdicts, number int, cut bool) {
	state := &e.history.held[number]
	e.unknown = matcher.NoRobots // for outcome
	if state.early {
		e.unknown = matcher.NoCaptureYet
	}
	var counter *int64
	if state.span.Access != access.Rules {
		allowed, known, reason := e.outcome(state.span.Access)
		if known && !allowed {
			return // it keeps the reason
		}
		counter = outcomeCounter(&v.Counters, reason)
	}
	if counter == nil && !cut {
		return
	}
	w := e.groups.walk(number)
	for w.next() {
		for row := w.low; row < w.high; row++ {
			denied := !slices.ContainsFunc(v.Agents, func(a batch.AgentVerdicts) bool { return !a.Denied(row) })
			uncounted := denied || cut && !e.isRobotsTxt(url, row, number)
			if counter == &v.NoCaptureYet {
				e.countLater(v, row, uncounted)
			}
			if !uncounted {
				continue
			}
			if counter != nil {
				*counter--
			}
			if !denied {
				v.HistoryCut++
			}
		}
	}
}

// countLater corrects Verdicts.DeniedLater (see batch.RowCounts) for a row from before the first
// capture. uncounted says that recount takes the row out of NoCaptureYet.
func (e *Evaluator) countLater(v *batch.Verdicts, row int, uncounted bool) {
	if len(v.DeniedLater) == 0 {
		v.DeniedLater = make([]int64, len(v.Agents)+v.Members)
	}
	if v.Members == 0 {
		for i := range v.Agents {
			if !uncounted && v.Agents[i].Denied(row) {
				v.DeniedLater[i]++
			}
		}
		return
	}
	if v.Agents[0].Valid[row>>3]&(1<<(row&7)) == 0 {
		return // nobody has a verdict
	}
	list := v.Denied[v.DeniedOf[row]]
	for member := range v.Members {
		switch _, denied := slices.BinarySearch(list, int32(member)); {
		case denied && !uncounted:
			v.DeniedLater[1+member]++
		case uncounted && !denied:
			v.DeniedLater[1+member]--
		}
	}
}

// forgetLists sets DeniedOf to -1 for the rows of a group that still have no verdict: some of
// the agents were denied later, and too few of them.
func (e *Evaluator) forgetLists(v *batch.Verdicts, number int) {
	valid := v.Agents[0].Valid
	w := e.groups.walk(number)
	for w.next() {
		for row := w.low; row < w.high; row++ {
			if valid[row>>3]&(1<<(row&7)) == 0 {
				v.DeniedOf[row] = -1
			}
		}
	}
}

// denyRow denies a row to the agents to which an origin denies its path, and explains that if
// explanations were asked for. Rows that are denied keep their explanation.
func (e *Evaluator) denyRow(v *batch.Verdicts, o *matcher.Origin, row int, path []byte) {
	if isRobotsTxt, _ := matcher.IsRobotsTxt(path, e.options.Profile); isRobotsTxt {
		return
	}
	e.target.Set(path, e.options.Profile)
	if e.options.Combine != batch.CombineNone {
		e.denyCombined(v, o, row)
		return
	}
	for agent := range v.Agents {
		a := &v.Agents[agent]
		if a.Denied(row) {
			continue
		}
		d := matcher.Decision{Reason: matcher.Unreachable}
		if o.Access == access.Rules {
			if d = o.Trie(agent).Match(&e.target); d.Allowed {
				continue
			}
		}
		a.Deny(row)
		switch {
		case !e.options.Explain:
		case d.Reason.HasRule():
			e.explainer.explain(v, agent, agent, row, o.Trie(agent), d)
		default:
			a.Reasons[row] = d.Reason
		}
	}
}

// denyCombined is denyRow for a verdict that is combined: it adds the agents that an origin
// denies the target to those that are denied the row.
func (e *Evaluator) denyCombined(v *batch.Verdicts, o *matcher.Origin, row int) {
	var before []int32 // in order
	if list := v.DeniedOf[row]; list >= 0 {
		before = v.Denied[list]
	}
	decisions := e.explainer.decisions[:0]
	for i := range o.Tries {
		decisions = append(decisions, o.Tries[i].Match(&e.target))
	}
	e.explainer.decisions = decisions
	first := -1 // agent that the origin denies the target
	v.DeniedOf[row] = e.spreader.list(v, e.options.Agents, func(agent int) bool {
		denied := o.Access != access.Rules || !decisions[o.TrieOf(agent)].Allowed
		if denied && first < 0 {
			first = agent
		}
		if len(before) > 0 && int(before[0]) == agent {
			before, denied = before[1:], true
		}
		return denied
	})
	a, count := &v.Agents[0], len(v.Denied[v.DeniedOf[row]])
	if a.Denied(row) || count == 0 || e.options.Combine == batch.CombineAllDenied && count < e.options.Agents {
		return
	}
	a.Deny(row)
	switch {
	case !e.options.Explain:
	case o.Access == access.Rules:
		trie := o.TrieOf(first)
		e.explainer.explain(v, 0, first, row, &o.Tries[trie], decisions[trie])
	default:
		a.Reasons[row] = matcher.Unreachable
	}
}
