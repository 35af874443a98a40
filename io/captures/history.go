package captures

import (
	"context"
	"math"
	"slices"
	"sort"
	"time"

	"robotsbatch/matcher/access"
)

// Interval is what decides about an authority from a second on, until the From of the
// next one. Times are in seconds since 1970, rounded down.
type Interval struct {
	// From is the first second; 0: nothing is known of a time before.
	From uint32
	// Fetched is the time of the capture that decides at From, and Seen that of the last
	// one in the interval that says the same; 0 where it is not known.
	Fetched, Seen uint32
	// Access, Kept, Stale and Status are as in Decision.
	Access access.Outcome
	Kept   uint64
	Stale  bool
	Status int

	unresolved bool // see change
}

// sameAs reports whether two intervals say the same.
func (i *Interval) sameAs(j *Interval) bool {
	return i.Access == j.Access && i.Kept == j.Kept && i.Stale == j.Stale && i.Status == j.Status && i.unresolved == j.unresolved
}

// maxIntervals is how many intervals an authority has at most; of more, the newest. One of
// few captures has fewer, so that captures of redirects to something that changes often
// take no more than some kilobytes each.
const maxIntervals = 4096

// mostIntervals is how many intervals a URL with so many captures has at most.
func mostIntervals(captures int) int { return min(maxIntervals, 64+16*captures) }

// maxStates is how many states of a URL, runs of captures that say the same, are looked
// at; of more, the newest.
const maxStates = maxIntervals

// ResolveHistory is Resolve for all times up to asOf: it calls emit with what decides at
// asOf and with the History. Two more things differ. Times count by the second. And it
// calls emit once for each source that has captures of an authority, because at a time
// before the first of a better source the next one decides.
//
// History goes on after asOf: a robots.txt that stays unreachable means something else 30
// days later (RFC 9309 §2.3.1.4).
func (s *Set) ResolveHistory(ctx context.Context, asOf time.Time, p access.Policy, emit func(*Decision) error) error {
	if asOf.IsZero() {
		asOf = s.Newest()
	}
	return s.resolve(ctx, &historian{set: s, asOf: asOf, policy: p, emit: emit})
}

// historian decides about each URL by its captures at any time.
type historian struct {
	set    *Set
	asOf   time.Time
	policy access.Policy
	emit   func(*Decision) error

	// What was decided last: the intervals of each source that has captures of the URL.
	authority []byte
	sources   []sourceIntervals
	changes   []change
	oldest    uint32 // the time of the first capture

	// The captures of a source, reused: states and the times of all captures.
	states  []state
	fetches []access.Fetch
	times   []uint32
	targets *knowledge
}

// sourceIntervals are the intervals of a URL by one source.
type sourceIntervals struct {
	source    int
	intervals []Interval
}

// state is a run of captures that say the same.
type state struct {
	record
	low, high int // of times
}

func (h *historian) may(_, x record) (counts, alone bool) {
	return !timeOf(x.time()).After(h.asOf), false
}

func (h *historian) decide(group []byte, targets *knowledge) []change {
	h.authority, h.targets, h.sources = record(group).authority(), targets, h.sources[:0]
	h.oldest = math.MaxUint32
	var all []Interval // by all sources: of a source, what was before any better one's
	for rest := record(group); len(rest) > 0; {
		source := rest.source()
		rest = h.takeStates(rest)
		intervals := h.intervals()
		if len(intervals) == 0 {
			continue // all of it was lost
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
// behind.
func (h *historian) takeStates(group record) (rest record) {
	source := group.source()
	h.states, h.times = h.states[:0], h.times[:0]
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
		fetch := s.fetch()
		if fetch.Time = fetch.Time.Truncate(time.Second); s.time() == unknownTime {
			fetch.Time = time.Time{}
		}
		h.fetches = append(h.fetches, fetch)
	}
	return group
}

// sameAs reports whether two captures of a URL say the same.
func (r record) sameAs(x record) bool {
	return r.status() == x.status() && r.failed() == x.failed() && r.kept() == x.kept() &&
		r.hasTarget() == x.hasTarget() && r.target() == x.target()
}

// intervals returns the intervals of the states that were taken.
func (h *historian) intervals() []Interval {
	var newestFirst []Interval
	most := mostIntervals(len(h.times))
	end := uint32(math.MaxUint32) // of the span
	for span := range h.policy.Timeline(h.fetches, h) {
		from := momentOf(span.From)
		if h.isLost(&h.states[span.Fetch], from) {
			break
		}
		i := h.interval(&span, from, end)
		end = from
		switch n := len(newestFirst); {
		case n > 0 && newestFirst[n-1].From == from: // it began in the same second, of which the end counts
		case n > 0 && newestFirst[n-1].sameAs(&i):
			newestFirst[n-1].From, newestFirst[n-1].Fetched = i.From, i.Fetched
		case n == most:
			slices.Reverse(newestFirst)
			return newestFirst
		default:
			newestFirst = append(newestFirst, i)
		}
	}
	slices.Reverse(newestFirst)
	return newestFirst
}

// interval makes an interval of a span that ends with a second.
func (h *historian) interval(span *access.Span, from, end uint32) Interval {
	s, fetch := &h.states[span.Fetch], &h.fetches[span.Fetch]
	i := Interval{
		From: from, Access: span.Outcome, Stale: span.Stale, Status: s.shownStatus(), unresolved: fetch.Unresolved(),
		Fetched: h.newestOf(s, from), Seen: h.newestOf(s, max(end, 1)-1),
	}
	if end == math.MaxUint32 {
		i.Seen = h.times[s.high-1]
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

// isLost reports whether a redirect led to something at a second of which the intervals
// were too many to be kept: what was before is not known then.
func (h *historian) isLost(s *state, second uint32) bool {
	if h.targets == nil || !s.hasTarget() {
		return false
	}
	changes := h.targets.of(s.targetIndex())
	return len(changes) > 0 && changes[0].cut && second < changes[0].from
}

// newestOf returns the time of the newest capture of a state up to a second, else that of
// its first.
func (h *historian) newestOf(s *state, second uint32) uint32 {
	times := h.times[s.low:s.high]
	n := sort.Search(len(times), func(i int) bool { return times[i] > second })
	return times[max(n, 1)-1]
}

// at returns what the target of a redirect means at a second.
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

// finish counts what decides at asOf by the best source, and emits what all say.
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

// momentOf is the second of a moment, as Interval.From.
func momentOf(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix(), 0), math.MaxUint32))
}

// secondOf is the second of a record's time.
func secondOf(nanoseconds int64) uint32 { return momentOf(timeOf(nanoseconds)) }

// nanosecondsOf is the time of a record of that second.
func nanosecondsOf(second uint32) int64 {
	if second == 0 {
		return unknownTime
	}
	return int64(second) * int64(time.Second)
}
