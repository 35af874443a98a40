package captures

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	"robotsbatch/matcher/access"
)

// Interval is what decides about an authority from From until the From of the next
// interval. Times are in seconds since 1970, rounded down.
type Interval struct {
	// From is the first second; 0 if nothing is known about an earlier time.
	From uint32
	// Fetched is the time of the capture that decides at From; Seen is that of the last
	// capture in the interval with the same outcome. Each is 0 if unknown.
	Fetched, Seen uint32
	// Times are those of all these captures, in order, from Fetched to Seen. They are
	// valid as long as the Decision.
	Times []uint32
	// Access, Kept, Stale and Status are as in Decision.
	Access access.Outcome
	Kept   uint64
	Stale  bool
	Status int

	unresolved bool // see change
	low, high  int  // of Times in historian.times
}

// sameAs reports whether two intervals have the same decision.
func (i *Interval) sameAs(j *Interval) bool {
	return i.Access == j.Access && i.Kept == j.Kept && i.Stale == j.Stale && i.Status == j.Status && i.unresolved == j.unresolved
}

// continues reports whether an interval goes on with the decision of an older one, and
// with its captures: what it was fetched at any second is the newest of both.
func (i *Interval) continues(older *Interval, times []uint32) bool {
	switch {
	case !i.sameAs(older):
		return false
	case i.low < older.high:
		return i.low == older.high-1
	}
	return times[i.low] == i.From && times[older.high] == i.From // and all captures between them
}

// maxIntervals is the most intervals of an authority; of more, the newest are kept. The
// bound is lower for few captures, so that a redirect to a target that changes often takes
// only a few kilobytes for each capture.
const maxIntervals = 4096

// mostIntervals returns the most intervals of a URL with that many captures.
func mostIntervals(captures int) int { return min(maxIntervals, 64+16*captures) }

// maxStates is the most states of a URL that are examined; of more, the newest. A state
// is a run of captures that say the same.
const maxStates = maxIntervals

// ResolveHistory is Resolve for all times up to asOf: it calls emit with the decision at
// asOf and with the History. Two more things differ. Times are rounded to seconds. And
// it calls emit once for each source with captures of an authority, because a
// lower-ranked source decides about the time before the first capture of a higher-ranked
// one.
//
// History continues after asOf, because a robots.txt that stays unreachable has another
// outcome 30 days later (RFC 9309 §2.3.1.4).
func (s *Set) ResolveHistory(ctx context.Context, asOf time.Time, p access.Policy, emit func(*Decision) error) error {
	if asOf.IsZero() {
		asOf = s.Newest()
	}
	return s.resolve(ctx, &historian{set: s, asOf: asOf.Truncate(time.Second), policy: p, emit: emit})
}

// historian decides about each URL by its captures at any time.
type historian struct {
	set    *Set
	asOf   time.Time
	policy access.Policy
	emit   func(*Decision) error

	// The last decision: the intervals of each source with captures of the URL.
	authority []byte
	sources   []sourceIntervals
	changes   []change
	oldest    uint32 // the time of the first capture

	// The captures of a source, as states. The memory is reused.
	states  []state
	fetches []access.Fetch
	// times are those of all captures of the URL, by source.
	times   []uint32
	first   int // of the source in times
	targets *targetChanges
}

// sourceIntervals holds the intervals of a URL from one source.
type sourceIntervals struct {
	source    int
	intervals []Interval
}

// state is a run of captures that say the same.
type state struct {
	waiting
	low, high int // of times
}

func (h *historian) may(_, x waiting) (counts, alone bool) {
	return !x.fetch().Time.After(h.asOf), false
}

func (h *historian) decide(group []byte, targets *targetChanges) []change {
	h.authority, h.targets, h.sources = waiting(group).authority(), targets, h.sources[:0]
	h.oldest, h.times = math.MaxUint32, h.times[:0]
	var all []Interval // from all sources: of each, what lies before the higher-ranked ones
	for rest := waiting(group); len(rest) > 0; {
		source := rest.source()
		rest = h.takeStates(rest)
		intervals := h.intervals()
		if len(intervals) == 0 {
			continue // all intervals were lost
		}
		h.sources = append(h.sources, sourceIntervals{source, intervals})
		all = append(before(intervals, all), all...)
	}
	h.changes = h.changes[:0]
	cut := len(all) > 0 && all[0].From > h.oldest
	for i := range all {
		interval := &all[i]
		said := change{kept: interval.Kept, access: interval.Access, stale: interval.Stale, unresolved: interval.unresolved}
		if n := len(h.changes); n > 0 {
			last := h.changes[n-1]
			if last.from = 0; last == said {
				continue
			}
		}
		said.from = interval.From
		h.changes = append(h.changes, said)
	}
	if cut {
		h.changes[0].cut = true
	}
	return h.changes
}

// before returns the intervals that begin before the first of others.
func before(intervals, others []Interval) []Interval {
	if len(others) == 0 {
		return slices.Clone(intervals)
	}
	n := sort.Search(len(intervals), func(i int) bool { return intervals[i].From >= others[0].From })
	return slices.Clone(intervals[:n])
}

// takeStates takes the states of the first source in a group, and returns the captures
// that follow.
func (h *historian) takeStates(group waiting) (rest waiting) {
	source := group.source()
	h.states, h.first = h.states[:0], len(h.times)
	h.oldest = min(h.oldest, secondOf(group.time()))
	for len(group) > 0 && group.source() == source {
		x := group[:group.size()]
		h.times = append(h.times, secondOf(x.time()))
		if n := len(h.states); n > 0 && h.states[n-1].sameAs(x) {
			h.states[n-1].high++
		} else {
			h.states = append(h.states, state{x, len(h.times) - 1, len(h.times)})
		}
		group = group[group.size():]
	}
	h.states = h.states[max(0, len(h.states)-maxStates):]
	h.fetches = h.fetches[:0]
	for _, s := range h.states {
		h.fetches = append(h.fetches, s.fetch())
	}
	return group
}

// sameAs reports whether two captures of a URL say the same.
func (r waiting) sameAs(x waiting) bool {
	return r.status() == x.status() && r.failed() == x.failed() && r.kept() == x.kept() &&
		r.hasTarget() == x.hasTarget() && r.target() == x.target()
}

// intervals returns the intervals of the taken states.
func (h *historian) intervals() []Interval {
	var newestFirst []Interval
	most := mostIntervals(len(h.times) - h.first)
	end := uint32(math.MaxUint32) // of the span
	for span := range h.policy.Timeline(h.fetches, h) {
		from := momentOf(span.From)
		if h.isLost(&h.states[span.Fetch], from) {
			break
		}
		i := h.interval(&span, from, end)
		end = from
		switch n := len(newestFirst); {
		case n > 0 && newestFirst[n-1].From == from: // it began in the same second; the state at the second's end counts
		case n > 0 && newestFirst[n-1].continues(&i, h.times):
			newestFirst[n-1].From, newestFirst[n-1].low = i.From, i.low
		case n == most:
			return h.oldestFirst(newestFirst)
		default:
			newestFirst = append(newestFirst, i)
		}
	}
	return h.oldestFirst(newestFirst)
}

// oldestFirst reverses intervals, and gives them their times.
func (h *historian) oldestFirst(intervals []Interval) []Interval {
	slices.Reverse(intervals)
	for n := range intervals {
		i := &intervals[n]
		i.Times = h.times[i.low:i.high]
		i.Fetched, i.Seen = i.Times[0], i.Times[len(i.Times)-1]
	}
	return intervals
}

// interval makes an interval from a span that ends with second end.
func (h *historian) interval(span *access.Span, from, end uint32) Interval {
	s, fetch := &h.states[span.Fetch], &h.fetches[span.Fetch]
	i := Interval{
		From: from, Access: span.Outcome, Stale: span.Stale, Status: s.shownStatus(), unresolved: fetch.Unresolved(),
		low: h.newestOf(s, from), high: h.newestOf(s, max(end, 1)-1) + 1,
	}
	if end == math.MaxUint32 {
		i.high = s.high
	}
	if i.Access == access.Rules {
		i.Kept = s.kept()
		if s.hasTarget() {
			target := h.at(s.targetIndex(), from)
			i.Kept, i.Stale = target.kept, i.Stale || target.stale
		}
	}
	return i
}

// isLost reports whether the state redirects to a target whose intervals at that second
// were dropped because there were too many.
func (h *historian) isLost(s *state, second uint32) bool {
	if h.targets == nil || !s.hasTarget() {
		return false
	}
	changes := h.targets.of(s.targetIndex())
	return len(changes) > 0 && changes[0].cut && second < changes[0].from
}

// newestOf returns the index in times of a state's newest capture not after a second, or
// that of its first capture if all are later.
func (h *historian) newestOf(s *state, second uint32) int {
	times := h.times[s.low:s.high]
	n := sort.Search(len(times), func(i int) bool { return times[i] > second })
	return s.low + max(n, 1) - 1
}

// at returns the change of a redirect's target that holds at a second.
func (h *historian) at(wanted int, second uint32) change {
	changes := h.targets.of(wanted)
	n := sort.Search(len(changes), func(i int) bool { return changes[i].from > second })
	if n == 0 {
		return change{}
	}
	return changes[n-1]
}

// At implements access.Targets.
func (h *historian) At(fetch int, moment time.Time) access.Outcome {
	if s := &h.states[fetch]; h.targets != nil && s.hasTarget() {
		if target := h.at(s.targetIndex(), momentOf(moment)); !target.unresolved {
			return target.access
		}
	}
	return access.Unknown
}

// AppendMoments implements access.Targets.
func (h *historian) AppendMoments(dst []time.Time, fetch int, from, to time.Time) []time.Time {
	s := &h.states[fetch]
	if h.targets == nil || !s.hasTarget() {
		return dst
	}
	changes := h.targets.of(s.targetIndex())
	low, high := momentOf(from), uint32(math.MaxUint32)
	if !to.IsZero() {
		high = momentOf(to)
	}
	first := sort.Search(len(changes), func(i int) bool { return changes[i].from > low })
	for _, c := range changes[first:] {
		if c.from >= high {
			break
		}
		dst = append(dst, time.Unix(int64(c.from), 0).UTC())
	}
	return dst
}

// finish counts the decision of the first source at asOf, and emits those of all sources.
func (h *historian) finish() error {
	if len(h.authority) == 0 {
		return nil
	}
	for number, s := range h.sources {
		second := secondOf(nanoseconds(h.asOf))
		n := sort.Search(len(s.intervals), func(i int) bool { return s.intervals[i].From > second })
		i := &s.intervals[max(n, 1)-1]
		if number == 0 {
			said := change{access: i.Access, stale: i.Stale, unresolved: i.unresolved}
			h.set.count(&said, i.Status/100 == 3, s.source)
		}
		err := h.emit(&Decision{
			Authority: h.authority, Access: i.Access, Kept: i.Kept, Stale: i.Stale,
			Status: i.Status, Fetched: timeOf(nanosecondsOf(i.Seen)), Source: s.source, History: s.intervals,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// momentOf converts a time to the form of Interval.From.
func momentOf(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix(), 0), math.MaxUint32))
}

// secondOf converts a waiting capture's time to the form of Interval.From.
func secondOf(nanoseconds int64) uint32 { return momentOf(timeOf(nanoseconds)) }

// nanosecondsOf converts a second to the form of a waiting capture's time.
func nanosecondsOf(second uint32) int64 {
	if second == 0 {
		return unknownTime
	}
	return int64(second) * int64(time.Second)
}
