package evaluate

import (
	"errors"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// history makes of each group one for each span of its authority that a row's time is in.
// From there on these are evaluated as any group: the rules of a span are looked up
// once a block, however its rows lie among those of other spans.
type history struct {
	taken []matcher.Span  // the spans of lookupSize authorities, one after the other
	ends  [lookupSize]int // for each of these authorities, where its spans end in taken

	spans []matcher.Span // of the authority that chooseSpans chose
	// froms are the first seconds of spans. With access.BeforeUse the first span begins before all
	// times.
	froms []int64
	// newGroups has for the time before the first span, and then for each span, 1 + the number
	// of its new group; 0 for none.
	newGroups []int32

	cut        groupList   // the new groups, which take the place of the groups
	groupSpans []groupSpan // by new group

	rowTimes []int64 // of the batch's rows

	// Of the groups that are evaluated, by their index in Evaluator.found: the span, nil for none,
	// and for spans that columns describe the times of its fetches as far as rows need them.
	open        [lookupSize]*matcher.Span
	fetches     [lookupSize][]int64
	fetchMemory []int64 // of fetches
}

// groupSpan is the span that the times of a group's rows are in, and what is known of it.
type groupSpan struct {
	known bool         // whether the authority has spans
	early bool         // whether the rows are from before the first of them
	span  matcher.Span // if known and not early
	until int64        // the first second of the next span; 0 for none
}

// cutGroups replaces each of e.groups by a group for each span that a time of its rows is in, and
// counts the outdated rows. A row without a time gets a null verdict and is in no group. With an
// error it returns the row that failed.
func (e *Evaluator) cutGroups(v *batch.Verdicts) (row int, err error) {
	g, h := &e.groups, &e.history
	h.cut.reset()
	h.groupSpans, h.rowTimes = h.groupSpans[:0], v.Times
	for low := 0; low < len(g.all); low += lookupSize {
		high := min(low+lookupSize, len(g.all))
		if i, err := e.takeSpans(g.keys[low:high]); err != nil {
			return g.firstRow(low + i), err
		}
		for number := low; number < high; number++ {
			e.chooseSpans(number - low)
			oldest, newest := g.timesOf(number, v.Times)
			if err := e.countOutdated(v, number, oldest, newest); err != nil {
				return g.firstRow(number), err
			}
			e.cutGroup(v, number)
		}
	}
	g.freeSlots() // no row is added to the new groups by authority
	g.groupList, h.cut = h.cut, g.groupList
	return 0, nil
}

// takeSpans sets e.history.taken and ends to the spans of authorities, at most lookupSize. With
// an error it returns the index of the key that failed.
func (e *Evaluator) takeSpans(keys []matcher.Key) (i int, err error) {
	h := &e.history
	h.taken = h.taken[:0]
	if e.bulkTimelines != nil {
		h.taken, i, err = e.bulkTimelines.AppendAllSpans(h.taken, keys, h.ends[:len(keys)])
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

// chooseSpans sets e.history.spans, froms and newGroups for an authority, given by its index among
// those that takeSpans took.
func (e *Evaluator) chooseSpans(authority int) {
	h, start := &e.history, 0
	if authority > 0 {
		start = h.ends[authority-1]
	}
	h.spans = h.taken[start:h.ends[authority]]
	h.froms, h.newGroups = h.froms[:0], append(h.newGroups[:0], 0)
	for i := range h.spans {
		h.froms = append(h.froms, h.spans[i].From)
		h.newGroups = append(h.newGroups, 0)
	}
	// What has no time, 0, is before all rows, also those from before 1970.
	if len(h.froms) > 0 && (h.froms[0] == 0 || e.options.BeforeFirst == access.BeforeUse) {
		h.froms[0] = firstTime
	}
}

// firstTime is before all times of rows, and after batch.NoTime.
const firstTime = batch.NoTime + 1

// cutGroup cuts a group, for whose authority chooseSpans was called: it adds a new group for each
// span that one of its rows' times is in, and one for the time before the first. A row without a
// time gets a null verdict.
func (e *Evaluator) cutGroup(v *batch.Verdicts, number int) {
	g, h, times := &e.groups, &e.history, v.Times
	w := g.walk(number)
	for w.next() {
		for row := w.low; row < w.high; row++ {
			if times[row] == batch.NoTime {
				v.SetNull(row, matcher.NoTime)
				continue
			}
			span := matcher.LastAt(h.froms, times[row]) // -1 before the first
			if h.newGroups[span+1] == 0 {               // the first row of this span
				h.newGroups[span+1] = 1 + h.cut.add(group{written: g.all[number].written}, g.keys[number])
				h.groupSpans = append(h.groupSpans, h.groupSpanOf(span))
			}
			h.cut.addRows(h.newGroups[span+1]-1, int32(row-g.first), int32(row-g.first+1))
		}
	}
}

// groupSpanOf returns the groupSpan of a span, given by its index; -1 for the time before the first.
func (h *history) groupSpanOf(span int) groupSpan {
	known := len(h.spans) > 0
	x := groupSpan{known: known, early: known && span < 0}
	if span >= 0 {
		x.span = h.spans[span]
	}
	if span+1 < len(h.spans) {
		x.until = h.spans[span+1].From
	}
	return x
}

// forget drops all references to a batch.
func (h *history) forget() {
	h.cut.forget()
	clear(h.open[:])
	h.rowTimes = nil
}

// openSpans sets e.found to the origins in the spans of groups [low, high), and e.history.fetches
// if columns need it. With an error it returns the index in e.found.
func (e *Evaluator) openSpans(low, high int) (int, error) {
	h, keys, found := &e.history, e.groups.keys[low:high], e.found[:high-low]
	for i := range keys {
		h.open[i] = nil
		if x := &h.groupSpans[low+i]; x.known && !x.early {
			h.open[i] = &x.span
		}
	}
	if i, err := e.openAll(keys, h.open[:len(keys)], found); err != nil {
		return i, err
	}
	if len(e.columns.byFacts) == 0 {
		return 0, nil
	}
	h.fetchMemory = h.fetchMemory[:0]
	for i := range keys {
		if h.open[i] == nil {
			continue
		}
		found[i].Facts.Until = h.groupSpans[low+i].until
		start, err := len(h.fetchMemory), error(nil)
		if h.fetchMemory, err = e.appendFetches(h.fetchMemory, low+i); err != nil {
			return i, err
		}
		h.fetches[i] = h.fetchMemory[start:]
	}
	return 0, nil
}

// openAll opens for each key its span into its origin, all three with the same index; a nil span
// resets the origin. With an error it returns the index that failed.
func (e *Evaluator) openAll(keys []matcher.Key, spans []*matcher.Span, origins []matcher.Origin) (int, error) {
	if e.bulkTimelines != nil {
		return e.bulkTimelines.OpenAllSpans(keys, spans, origins)
	}
	for i, span := range spans {
		if span == nil {
			origins[i].Reset()
		} else if err := e.options.Timelines.OpenSpan(keys[i].Text, span, &origins[i]); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// appendFetches appends the times of the fetches in a group's span, in order. If all rows of the group
// are from the last fetch on, which then describes them all, it appends the time of that one alone: a
// host may have hundreds of thousands of fetches, which would be read again for each block.
func (e *Evaluator) appendFetches(dst []int64, number int) ([]int64, error) {
	span := &e.history.groupSpans[number].span
	if span.Seen != span.Fetched { // else there is no other time
		if first, _ := e.groups.timesOf(number, e.history.rowTimes); first < span.Seen {
			return e.options.Timelines.AppendTimes(dst, e.groups.keys[number].Text, span)
		}
	}
	return append(dst, span.Seen), nil
}

var errNoTimes = errors.New("the batch has no times of its rows")

// errTooFine is the error of a batch whose times are all numbers that would be milliseconds, or
// less.
var errTooFine = errors.New("the times are numbers of milliseconds or less: divide them to have seconds since 1970, or make them timestamps")

// checkTimes replaces each batch.TooFine by batch.NoTime. If no row has another time, it returns
// errTooFine.
func checkTimes(times []int64) error {
	if !slices.Contains(times, batch.TooFine) {
		return nil
	}
	if slices.Max(times) <= batch.TooFine { // which, as NoTime, is less than all times
		return errTooFine
	}
	for i, t := range times {
		if t == batch.TooFine {
			times[i] = batch.NoTime
		}
	}
	return nil
}

// denyEver denies the rows of a block that a later span of their authority denies, one that begins up
// to Options.AsOf. All verdicts must have been set. With an error it returns the row that failed.
// url returns the URL of a row, here and below.
func (e *Evaluator) denyEver(url func(row int) []byte, v *batch.Verdicts) (row int, err error) {
	g, h := &e.groups, &e.history
	for number := range g.all {
		if !h.groupSpans[number].known || h.groupSpans[number].until == 0 {
			continue // there is no later span
		}
		if err := e.denyGroup(url, v, number); err != nil {
			return g.firstRow(number), err
		}
	}
	return 0, nil
}

// denyGroup is denyEver for a group, given by its number: it takes each later span of the authority, and denies
// the rows that the rules or the outcome there deny. If what a span said was not kept, the verdict of a row that
// no span denies is null. It overwrites e.found[0], and corrects the counters.
func (e *Evaluator) denyGroup(url func(row int) []byte, v *batch.Verdicts, number int) error {
	g, h := &e.groups, &e.history
	if _, err := e.takeSpans(g.keys[number : number+1]); err != nil {
		return err
	}
	e.chooseSpans(0)
	if e.options.Combine != batch.CombineNone {
		defer e.removeLists(v, number)
	}
	cut := false
	for i := range h.spans {
		span := &h.spans[i]
		isLater := span.From >= h.groupSpans[number].until
		tooLate := e.options.AsOf != 0 && span.From > e.options.AsOf
		if !isLater || tooLate || span.Access.AllowsAll() {
			continue
		}
		if span.Access == access.Cut {
			cut = true
			e.unsetGroup(url, v, number)
			continue
		}
		o := &e.found[0] // which has rules, or an outcome that denies everything
		if err := e.options.Timelines.OpenSpan(g.keys[number].Text, span, o); err != nil {
			return err
		}
		for row := range g.rowsOf(number) {
			e.denyRow(v, o, row, e.pathOf(url(row), number))
		}
	}
	e.recount(url, v, number, cut)
	return nil
}

// pathOf returns the path of a URL of a group, as urls.Scratch.Path does.
func (e *Evaluator) pathOf(url []byte, number int) []byte {
	return e.scratch.Path(url[len(e.groups.all[number].written):])
}

// unsetGroup makes the verdicts of a group's rows null where they are not denied so far: nobody
// knows whether they were denied at the times that were not kept. /robots.txt keeps its verdict
// under a profile that always allows it.
func (e *Evaluator) unsetGroup(url func(row int) []byte, v *batch.Verdicts, number int) {
	for row := range e.groups.rowsOf(number) {
		if e.isRobotsTxt(e.pathOf(url(row), number)) {
			continue
		}
		for agent := range v.Agents {
			if a := &v.Agents[agent]; !a.Denied(row) {
				a.Unset(row, matcher.HistoryCut)
			}
		}
	}
}

// recount corrects v.Counters after denyGroup changed verdicts of a group. Until then its rows
// counted under the reason of their span, if that reason is counted; that of a span with rules is
// not. A row that is now denied to all agents leaves that counter. A row whose verdicts unsetGroup
// made null moves to HistoryCut. cut says that unsetGroup was called.
func (e *Evaluator) recount(url func(row int) []byte, v *batch.Verdicts, number int, cut bool) {
	before := &e.history.groupSpans[number]
	var counter *int64 // where the rows count so far; nil for nowhere
	if before.span.Access != access.Rules {
		e.early = before.early // for outcome
		allowed, known, reason := e.outcome(before.span.Access)
		if known && !allowed {
			return // all rows were denied, and keep the reason
		}
		counter = outcomeCounter(&v.Counters, reason)
	}
	if counter == nil && !cut {
		return
	}
	for row := range e.groups.rowsOf(number) {
		denied := !slices.ContainsFunc(v.Agents, func(a batch.AgentVerdicts) bool { return !a.Denied(row) })
		hasNewReason := denied || cut && !e.isRobotsTxt(e.pathOf(url(row), number))
		if counter == &v.NoCaptureYet {
			e.countLater(v, row, hasNewReason)
		}
		if hasNewReason && counter != nil {
			*counter--
		}
		if hasNewReason && !denied {
			v.HistoryCut++
		}
	}
}

// countLater corrects Verdicts.DeniedLater for a row from before the first capture, so that for each agent
// NoCaptureYet - DeniedLater remains the number of such rows that no later capture denies to it. hasOther says
// that the row has another reason now, so that recount takes it out of NoCaptureYet.
func (e *Evaluator) countLater(v *batch.Verdicts, row int, hasOther bool) {
	if len(v.DeniedLater) == 0 {
		v.DeniedLater = make([]int64, len(v.Agents)+v.Members)
	}
	if v.Members == 0 { // a row with another reason is denied to all agents, or to be null for all
		for i := range v.Agents {
			if !hasOther && v.Agents[i].Denied(row) {
				v.DeniedLater[i]++
			}
		}
		return
	}
	if _, known := v.Agents[0].Verdict(row); !known {
		return // no agent has a verdict
	}
	list := v.Denied[v.DeniedOf[row]]
	for member := range v.Members {
		switch _, denied := slices.BinarySearch(list, int32(member)); {
		case denied && !hasOther:
			v.DeniedLater[1+member]++
		case hasOther && !denied: // NoCaptureYet becomes 1 less, and for this member the difference must stay
			v.DeniedLater[1+member]--
		}
	}
}

// removeLists sets DeniedOf to batch.Null for the rows of a group without a verdict, as batch.Verdicts wants
// it. denyCombined listed agents for them, but too few to deny the row: none, or not all for
// [batch.CombineAllDenied].
func (e *Evaluator) removeLists(v *batch.Verdicts, number int) {
	for row := range e.groups.rowsOf(number) {
		if _, known := v.Agents[0].Verdict(row); !known {
			v.DeniedOf[row] = batch.Null
		}
	}
}

// denyRow denies a row to each agent whose rules in an origin deny its path, and explains that if
// explanations were asked for. Where the row is denied already, the explanation does not change.
func (e *Evaluator) denyRow(v *batch.Verdicts, o *matcher.Origin, row int, path []byte) {
	if e.isRobotsTxt(path) {
		return
	}
	e.target.Set(path, e.options.Profile)
	if e.options.Combine != batch.CombineNone {
		e.denyCombined(v, o, row)
		return
	}
	for agent := range v.Agents {
		if v.Agents[agent].Denied(row) {
			continue
		}
		d := withoutRules
		if o.Access == access.Rules {
			if d = o.Trie(agent).Match(&e.target); d.Allowed {
				continue
			}
		}
		e.deny(v, agent, agent, row, o, d)
	}
}

// withoutRules is the decision of an origin without rules that denyGroup did not leave out.
var withoutRules = matcher.Decision{Reason: matcher.Unreachable}

// deny denies a row in v.Agents[verdict] and, if explanations were asked for, explains that by the
// decision d of an origin for an agent. agent and verdict are as for explain.
func (e *Evaluator) deny(v *batch.Verdicts, verdict, agent, row int, o *matcher.Origin, d matcher.Decision) {
	a := &v.Agents[verdict]
	a.Deny(row)
	switch {
	case !e.options.Explain:
	case d.Reason.HasRule():
		e.explainer.explain(v, verdict, agent, row, o.Trie(agent), d)
	default:
		a.Reasons[row] = d.Reason
	}
}

// denyCombined is denyRow for a verdict that is combined: it adds the agents that an origin
// denies the target to those that are denied the row.
func (e *Evaluator) denyCombined(v *batch.Verdicts, o *matcher.Origin, row int) {
	var before []int32 // agents that are denied the row, in order
	if list := v.DeniedOf[row]; list >= 0 {
		before = v.Denied[list]
	}
	decisions := e.explainer.decisions[:0] // by trie
	for i := range o.Tries {
		decisions = append(decisions, o.Tries[i].Match(&e.target))
	}
	e.explainer.decisions = decisions
	first := -1 // the first agent that the origin denies the target
	v.DeniedOf[row] = e.spreader.listOf(v, e.options.Agents, func(agent int) bool {
		denied := o.Access != access.Rules || !decisions[o.TrieOf(agent)].Allowed
		if denied && first < 0 {
			first = agent
		}
		if len(before) > 0 && int(before[0]) == agent {
			before, denied = before[1:], true
		}
		return denied
	})
	count := len(v.Denied[v.DeniedOf[row]])
	if v.Agents[combined].Denied(row) || count == 0 || e.options.Combine == batch.CombineAllDenied && count < e.options.Agents {
		return
	}
	d := withoutRules
	if o.Access == access.Rules {
		d = decisions[o.TrieOf(first)]
	}
	e.deny(v, combined, first, row, o, d)
}
