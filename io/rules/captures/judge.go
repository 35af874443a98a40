package captures

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"time"

	"robotsbatch/matcher/access"
)

// interval is an access.Interval with what only the judge needs. Its captures are
// judge.times[low:high].
type interval struct {
	access.Interval
	unresolved, dropped bool // as in change
	low, high           int
}

// sameAs reports whether two intervals have the same decision.
func (i *interval) sameAs(j *interval) bool {
	return i.Access == j.Access && i.Kept == j.Kept && i.Stale == j.Stale && i.Status == j.Status &&
		i.unresolved == j.unresolved && i.dropped == j.dropped
}

// continues reports whether an interval can be merged into the older one before it: both have the same
// decision, and no capture between theirs decided otherwise. times are judge.times.
func (i *interval) continues(older *interval, times []uint32) bool {
	switch {
	case !i.sameAs(older):
		return false
	case i.low < older.high:
		return i.low == older.high-1 // the same capture decides, and not one before it
	}
	// Those between are of the second of i's first capture, and so did not decide.
	return times[i.low] == i.From && times[older.high] == i.From
}

// maxIntervals is the most intervals of an authority. If there are more, the newest are kept, and the
// first of these stands for all older ones.
const maxIntervals = 1 << 14

// mostIntervals returns the most intervals of a URL with that many captures: fewer for few captures, so
// that a redirect to a target that changes often takes only a few kilobytes for each capture.
func mostIntervals(captures int) int { return min(maxIntervals, 64+16*captures) }

// judge decides about each URL by its captures: at asOf, or with a history at each time up to
// it.
type judge struct {
	set     *Set
	asOf    time.Time
	policy  access.Policy
	emit    func(*Decision) error
	history bool

	// The URL since begin: the intervals of each source with captures of it. begun says that more
	// captures of it may follow.
	begun     bool
	authority []byte
	sources   []sourceIntervals
	changes   []change
	later     captureRecord // the first capture, if it is after asOf; else nil

	// What bytesToKeep knows of the resolver's group.
	bodies int  // bytes at its start that keepLastBody put there
	timed  bool // whether a failure since its last answer has a time, and so began an outage
	// How many bytes at its start the length of an outage depends on if the next failure has a time,
	// and if it has none.
	neededByTimed, neededByUntimed int

	url     key
	kept    keptEncoder       // of all captures
	implied keptEncoder       // the captures that a decision implies; reused
	shown   []access.Interval // of a decision
	wanted  bool              // a redirect leads to the URL
	pages   bool              // of pages, keep the captures only if wanted

	course  course
	times   []uint32       // of the captures, source by source, without those of intervals that are cut off
	moments []uint32       // memory of secondsOfChange
	targets *targetChanges // see begin
}

// sourceIntervals holds the intervals of a URL from one source.
type sourceIntervals struct {
	source    int
	intervals []interval
}

// course follows the captures of a URL from one source, oldest first.
type course struct {
	access.Course
	first    int    // the index in judge.times of the first capture
	since    uint32 // its second
	captures int
	cut      bool       // whether the oldest intervals were cut off
	answer   candidate  // the newest answer
	newest   candidate  // the newest capture, whose intervals are still to be added
	list     []interval // those so far
}

// bytesToKeep returns how many bytes at the start of group still matter once capture x follows them; -1
// if x itself does not matter. group has the captures of x's URL before x that still matter, in the order
// of captureForm; read as one record, it is the first of them. Of an outage, the first failure that has a
// time matters, and the last. The judge keeps what the next call needs to know of the captures so far, so
// that all captures of a URL must be passed in order, with the group that the results before left.
func (j *judge) bytesToKeep(group, x captureRecord) int {
	n := j.keptBefore(group, x)
	if n < 0 {
		return n
	}
	fetch, end := x.fetch(), n+x.size()
	answers := j.policy.Answers(fetch)
	timedFailure := !answers && fetch.Second != 0
	j.bodies, j.timed = min(j.bodies, n), j.timed && !answers && n > 0
	beginsOutage := timedFailure && !j.timed
	switch {
	case answers, beginsOutage, j.set.options.Keep && n < j.set.part: // x stays, whatever failure comes next
		j.neededByTimed, j.neededByUntimed = end, end
	case n == 0: // x is the only capture, without a time: any failure replaces it
		j.neededByTimed, j.neededByUntimed = 0, 0
	case timedFailure: // so far the last of the outage: the next failure with a time replaces it
		j.neededByUntimed = end
	}
	j.timed = j.timed || timedFailure
	return n
}

// keptBefore returns the result of bytesToKeep, from the fields that bytesToKeep has set for the
// captures before. It sets Set.later if x was made after asOf.
func (j *judge) keptBefore(group, x captureRecord) int {
	isFirst := len(group) == 0
	switch {
	case j.isLater(x): // it only says that the URL was fetched later, and so counts if no capture comes before asOf
		j.set.later = true
		onlyLater := isFirst && !j.begun || !isFirst && j.isLater(group)
		if onlyLater && (isFirst || x.isEarlierFetch(group)) {
			return 0
		}
		return -1
	case isFirst, j.isLater(group): // any other capture counts instead of a later one
		return 0
	case j.history: // each capture decides about its own time
		return len(group)
	case group.source() != x.source(): // an earlier source has the URL
		return -1
	case j.policy.Answers(x.fetch()):
		if !j.set.options.Keep || x.isBody() {
			return 0 // it decides without those before it
		}
		return j.keepLastBody(group)
	case j.set.options.Keep && len(group) < j.set.part:
		return len(group) // captures that a later set adds may come between these
	case x.fetch().Second == 0: // a failure without a time
		return j.neededByUntimed
	}
	return j.neededByTimed
}

// keepLastBody moves the last 2xx of group to the group's start, because a later 304 has its body,
// followed by the revisits after it, which may turn out to be a 2xx. It returns how many bytes these
// take; what follows them in group is not valid.
func (j *judge) keepLastBody(group captureRecord) (size int) {
	size = j.bodies // the group begins with what it kept the last time
	for x := group[size:]; len(x) > 0; x = x[x.size():] {
		switch {
		case x.isBody():
			size = copy(group, x[:x.size()])
		case x.isRevisit():
			size += copy(group[size:], x[:x.size()])
		}
	}
	j.bodies = size
	return size
}

// isEarlierFetch reports whether r replaces first as the URL's first capture after asOf: it was made in an
// earlier second, or later in the same second and by the same source.
func (r captureRecord) isEarlierFetch(first captureRecord) bool {
	return r.second() < first.second() || r.second() == first.second() && r.source() == first.source()
}

// isLater reports whether capture x was made after asOf, in whole seconds.
func (j *judge) isLater(x captureRecord) bool {
	return !x.isDropped() && timeOf(x.time()).Truncate(time.Second).After(j.asOf)
}

// timeMemory is about how many bytes a capture's time takes in judge.times and until it is in the pack.
const timeMemory = 16

// begin forgets the URL before and begins the next one: the captures come by add, and decide then gives
// the outcome. targets has the decisions about redirects' targets; nil if no redirect is followed yet.
func (j *judge) begin(targets *targetChanges) {
	j.targets, j.authority, j.later, j.begun = targets, j.authority[:0], j.later[:0], true
	j.kept.reset()
	j.sources, j.changes, j.times = j.sources[:0], j.changes[:0], j.times[:0]
}

// add adds captures of the URL, which must come in the order of captureForm. One that is after asOf
// is the only one, and with a history decides about the time from its own on.
func (j *judge) add(part captureRecord) error {
	for ; len(part) > 0; part = part[part.size():] {
		x := part[:part.size()]
		if j.set.options.Keep {
			j.url = x.key()
			target := key{}
			if x.hasTarget() {
				target = j.set.wanted[x.targetIndex()]
			}
			j.kept.add(x, target)
		}
		if len(j.sources) == 0 {
			j.authority = append(j.authority[:0], x.authority()...)
			if j.isLater(x) {
				if j.later = append(j.later, x...); !j.history {
					return nil
				}
			}
		}
		j.addCapture(x)
	}
	if !j.set.fits(timeMemory*int64(len(j.times)) + int64(len(j.kept.Rows))) {
		return errMemory("the times of more than %d captures of %s", len(j.times), j.authority)
	}
	return nil
}

// addCapture makes x the newest capture of its source. Before that it adds the intervals of the seconds
// from the capture before to x.
func (j *judge) addCapture(x captureRecord) {
	second := x.second()
	if n := len(j.sources); n == 0 || j.sources[n-1].source != x.source() { // the first of its source
		j.endSource()
		j.sources = slices.Grow(j.sources, 1)[:n+1] // not appended: the element has memory of an earlier URL
		j.sources[n].source = x.source()
		j.beginCourse(len(j.times), second)
	} else if x.isDropped() { // nothing is known of the time before it
		j.times = j.times[:j.course.first]
		j.beginCourse(j.course.first, second)
	} else if at := j.times[j.course.newest.index]; at != second && j.history {
		j.addIntervals(at, second) // of the captures of a second the last decides
	}
	c := &j.course
	c.captures++
	copy(c.newest.head[:], x)
	c.newest.index = len(j.times)
	j.times = append(j.times, second)
	fetch := x.fetch()
	c.Add(fetch)
	if j.policy.Answers(fetch) {
		c.answer = c.newest
	}
}

// beginCourse begins the captures of a source. The first one is at that second, and its time
// will be judge.times[first].
func (j *judge) beginCourse(first int, second uint32) {
	j.course = course{Course: access.NewCourse(j.policy), first: first, since: second, answer: candidate{index: -1}, list: j.course.list[:0]}
}

// endSource completes the intervals of the source whose captures were added last, and stores them in
// j.sources. Of too many, it keeps the newest.
func (j *judge) endSource() {
	n := len(j.sources)
	if n == 0 {
		return
	}
	c := &j.course
	j.addIntervals(j.times[c.newest.index], math.MaxUint32) // nothing is newer, up to the last second there is
	list, most := c.list, mostIntervals(c.captures)
	if c.cut || len(list) > most {
		list = list[max(len(list)-most, 0):] // the first of these stands for all that are cut off
		list[0] = interval{Interval: access.Interval{From: c.since, Access: access.Cut}, low: c.first, high: c.first}
	}
	s := &j.sources[n-1]
	s.intervals = append(s.intervals[:0], list...)
}

// decide returns the outcome of the URL's captures from each second at which it changes,
// oldest first. The result is valid until the next URL.
func (j *judge) decide() []change {
	if len(j.sources) == 0 {
		return nil
	}
	j.endSource()
	for _, s := range j.sources {
		j.setTimes(s.intervals)
	}
	all := j.sources[0].intervals // of the highest-ranked source; each further one decides only about the time before
	for _, s := range j.sources[1:] {
		all = slices.Concat(before(s.intervals, all[0].From), all)
	}
	for i := range all {
		x := &all[i]
		next := change{from: x.From, kept: x.Kept, access: x.Access, stale: x.Stale, dropped: x.dropped, unresolved: x.unresolved}
		if n := len(j.changes); n > 0 {
			last := j.changes[n-1]
			last.from = next.from // so that the comparison leaves it out
			if last == next {
				continue
			}
		}
		j.changes = append(j.changes, next)
	}
	return j.changes
}

// before returns the intervals that begin before a second.
func before(intervals []interval, second uint32) []interval {
	return intervals[:sort.Search(len(intervals), func(i int) bool { return intervals[i].From >= second })]
}

// addIntervals adds the intervals of the seconds in [from, to), in which no capture comes after the
// newest: several if that redirects to a URL whose outcome changes meanwhile.
func (j *judge) addIntervals(from, to uint32) {
	c := &j.course
	for _, moment := range j.secondsOfChange(from, to) {
		i := j.intervalFrom(moment)
		if n := len(c.list); n > 0 && i.continues(&c.list[n-1], j.times) {
			c.list[n-1].high = i.high
			continue
		}
		if len(c.list) == 2*maxIntervals {
			j.dropOldest(&i)
		}
		c.list = append(c.list, i)
	}
}

// dropOldest removes the older half of the course's intervals, and all its times that are older than
// what the other intervals, next, or the captures that may still decide refer to. It moves the indices
// of all of these to where the times then are.
func (j *judge) dropOldest(next *interval) {
	c := &j.course
	c.list, c.cut = append(c.list[:0], c.list[maxIntervals:]...), true
	oldest := min(next.low, c.newest.index) // the index of the oldest time to keep
	if c.answer.index >= 0 {
		oldest = min(oldest, c.answer.index)
	}
	for i := range c.list {
		oldest = min(oldest, c.list[i].low)
	}
	gone := oldest - c.first
	j.times = append(j.times[:c.first], j.times[oldest:]...)
	for i := range c.list {
		c.list[i].low -= gone
		c.list[i].high -= gone
	}
	next.low -= gone
	next.high -= gone
	c.newest.index -= gone
	c.answer.index -= gone // -1, for no answer, stays below 0
}

// candidate is a capture that may decide, without its authority.
type candidate struct {
	head  [recordHead]byte
	index int // of its time in judge.times; below 0 for no capture
}

func (d *candidate) capture() captureRecord { return d.head[:] }

// secondsOfChange returns the seconds in [from, to) at which the decision may change although no capture
// is added: from itself and, if a redirect decides, those at which the outcome of its target changes.
// Without a history it returns asOf alone. The result is valid until the next call.
func (j *judge) secondsOfChange(from, to uint32) []uint32 {
	c, answer := &j.course, j.course.answer.capture()
	if !j.history {
		from = toSecond(j.asOf)
	}
	j.moments = append(j.moments[:0], from)
	followsTarget := j.targets != nil && c.Deciding() >= 0 && answer.hasTarget() // the answer decides, and redirects
	if !j.history || !followsTarget {
		return j.moments
	}
	changes := j.targets.of(answer.targetIndex())
	first := sort.Search(len(changes), func(i int) bool { return changes[i].from > from })
	for _, target := range changes[first:] {
		if target.from >= to {
			break
		}
		j.moments = append(j.moments, target.from)
	}
	return j.moments
}

// intervalFrom returns the interval that starts at the second moment. The captures so far decide it,
// with the outcome that a redirect's target has at that second.
func (j *judge) intervalFrom(moment uint32) interval {
	c := &j.course
	var target change
	outcome := access.Unknown                            // of the newest answer
	if answer := c.answer.capture(); c.Deciding() >= 0 { // the decision depends on it
		target = j.outcomeOfTarget(answer, moment)
		outcome = j.policy.Outcome(answer.fetch(), target.access)
	}
	d := c.Decide(outcome)
	decides := &c.newest
	if d.Stale { // after 30 days of failures the last answer counts again
		decides = &c.answer
	}
	deciding := decides.capture()
	fetch := deciding.fetch()
	i := interval{
		Interval:   access.Interval{From: moment, Access: d.Outcome, Stale: d.Stale, Status: deciding.shownStatus()},
		unresolved: fetch.IsRedirect() && target.access == access.Unknown, low: decides.index, high: decides.index + 1,
		dropped: target.dropped || c.answer.capture().body() == gone, // the answer before an outage counts, too
	}
	if i.Access == access.Rules {
		i.Kept = deciding.body()
		if deciding.hasTarget() {
			i.Kept, i.Stale = target.kept, i.Stale || target.stale
		}
		if i.Kept == gone { // the pack has dropped the body: its rules are not known, so all is denied
			i.Access, i.Kept, i.Stale = access.DisallowAll, 0, false
		}
	}
	return i
}

// outcomeOfTarget returns the outcome, at a second, of the URL that capture x redirects to. It is the
// zero change if x has no target, or nothing is known of the target then.
func (j *judge) outcomeOfTarget(x captureRecord, second uint32) change {
	if j.targets == nil || !x.hasTarget() {
		return change{}
	}
	changes := j.targets.of(x.targetIndex())
	n := sort.Search(len(changes), func(i int) bool { return changes[i].from > second })
	if n == 0 || changes[n-1].unresolved {
		return change{}
	}
	return changes[n-1]
}

// setTimes sets the fields Times, Fetched and Seen of intervals from the indices low and high.
func (j *judge) setTimes(list []interval) {
	for n := range list {
		i := &list[n]
		if i.Times = j.times[i.low:i.high]; len(i.Times) > 0 {
			i.Fetched, i.Seen = i.Times[0], i.Times[len(i.Times)-1]
		}
	}
}

// emitDecisions emits a decision about the URL for each source, and counts in the statistics what the first
// source decides at asOf. decide must have been called. For a URL that is no robots.txt it emits only the
// captures to keep, or sets Set.dropped if none are.
func (j *judge) emitDecisions() error {
	if len(j.authority) == 0 { // no robots.txt
		if !j.set.options.Keep || !j.wanted && j.pages { // among pages, only what a redirect leads to is kept
			j.set.dropped = true
			return nil
		}
		return j.emit(&Decision{URL: j.url, Captures: j.kept.Kept})
	}
	if len(j.later) > 0 { // all captures are after asOf
		d := &Decision{Authority: j.authority, Fetched: timeOf(j.later.time()), Source: j.later.source(), Captures: j.kept.Kept}
		if j.history {
			d.History = j.decision(&j.sources[0], &j.sources[0].intervals[0]).History
			if j.later.hasTarget() { // what its target says after asOf is not kept
				d.History = append(d.History[:0], access.Interval{From: d.History[0].From, Access: access.Cut})
			}
		}
		return j.emit(d)
	}
	dropped := slices.ContainsFunc(j.sources, func(s sourceIntervals) bool {
		return slices.ContainsFunc(s.intervals, func(i interval) bool { return i.dropped })
	})
	for number := range j.sources {
		s := &j.sources[number]
		i := s.at(toSecond(j.asOf))
		d := j.decision(s, i)
		if number == 0 {
			j.set.count(i, s.source, dropped)
			if j.set.options.Keep && !j.areImplied(i) {
				d.Captures = j.kept.Kept
			}
		}
		if err := j.emit(d); err != nil {
			return err
		}
	}
	return nil
}

// at returns the interval that holds at a second; the first one for a second before all.
func (s *sourceIntervals) at(second uint32) *interval {
	n := sort.Search(len(s.intervals), func(i int) bool { return s.intervals[i].From > second })
	return &s.intervals[max(n, 1)-1]
}

// decision returns what a source decides: the interval i, and with a history all intervals. It
// is valid until the next call.
func (j *judge) decision(s *sourceIntervals, i *interval) *Decision {
	d := &Decision{
		Authority: j.authority, Access: i.Access, Kept: i.Kept, Stale: i.Stale,
		Status: i.Status, Fetched: timeOf(nanosecondsOf(i.Seen)), Source: s.source,
	}
	if j.shown = j.shown[:0]; j.history {
		for n := range s.intervals {
			j.shown = append(j.shown, s.intervals[n].Interval)
		}
		d.History = j.shown
	}
	return d
}

// areImplied reports whether the captures of the URL can be inferred from the decision that is
// emitted, so that they need not be stored: from interval i, or with a history from all.
func (j *judge) areImplied(i *interval) bool {
	list := j.shown
	if !j.history {
		one := i.Interval // a pack without a history has only its last fetch
		one.Fetched, one.Times = i.Seen, i.Times[max(len(i.Times)-1, 0):]
		list = append(list, one)
	}
	j.implied.encodeIntervals(list)
	return !j.set.options.Mixed && bytes.Equal(j.implied.Rows, j.kept.Rows) && slices.Equal(j.implied.Bodies, j.kept.Bodies)
}

// shownStatus returns the status for outputs; 0 if there was no valid one, or no answer.
func (r captureRecord) shownStatus() uint16 {
	if r.failed() || r.body() == gone {
		return 0
	}
	return uint16(max(r.status(), 0))
}

// targetIndex returns the index of the target in Set.wanted. resolver.indexTargets must have
// stored it.
func (r captureRecord) targetIndex() int { return int(binary.LittleEndian.Uint32(r[targetAt:])) }

// toSecond returns the seconds from 1970 to t, at most what 32 bits hold; 0 for the zero time.
func toSecond(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix(), 0), math.MaxUint32))
}

// nanoToSecond is toSecond for a time as captureRecord has it.
func nanoToSecond(nanoseconds int64) uint32 { return toSecond(timeOf(nanoseconds)) }

// nanosecondsOf returns a second since 1970 as captureRecord has times; unknownTime for 0.
func nanosecondsOf(second uint32) int64 {
	if second == 0 {
		return unknownTime
	}
	return int64(second) * int64(time.Second)
}
