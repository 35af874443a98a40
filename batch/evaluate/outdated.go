package evaluate

import (
	"math"

	"robotsbatch/batch"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// outdated counts the rows that are decided by a robots.txt that was too old at their
// times, for an authority at a time. It does so before groups are cut, because the rows of an
// authority mostly follow each other and those of a span do not.
type outdated struct {
	// turns are the seconds at which the robots.txt of an authority becomes outdated (odd
	// indices), and at which the next fetch ends that (even ones). The first is before all times,
	// and the last after them. So rows from turn i until turn i+1 are outdated if i is odd.
	turns   []int64
	fetches []int64 // the times of the fetches in a span
}

// timesOf returns the least and the greatest time of the rows of a group. A row without a time
// counts as batch.NoTime, which is less than all times.
func (g *groups) timesOf(number int, times []int64) (first, last int64) {
	first, last = math.MaxInt64, batch.NoTime
	w := g.walk(number)
	for w.next() {
		for _, t := range times[w.low:w.high] {
			first, last = min(first, t), max(last, t)
		}
	}
	return first, last
}

// countOutdated adds to v.Outdated the outdated rows of a group, given by its number, for whose
// authority chooseSpans was called. The rows' times are from first to last.
func (e *Evaluator) countOutdated(v *batch.Verdicts, number int, first, last int64) error {
	o := &e.outdated
	if err := e.findTurns(e.groups.keys[number].Text, first, last); err != nil || len(o.turns) == 2 {
		return err // or nothing becomes outdated: there are only the turns before and after all times
	}
	from, to := matcher.LastAt(o.turns, first), matcher.LastAt(o.turns, last)
	if from == to { // one turn comes before all rows, so all are outdated or none
		if from%2 == 1 {
			v.Outdated += int64(e.groups.count(number))
		}
		return nil
	}
	turns := o.turns[from&^1 : to+2] // those of these rows and the next one, from an even index on, so that odd indices stay odd
	w := e.groups.walk(number)
	for w.next() {
		v.Outdated += countOdd(turns, v.Times[w.low:w.high])
	}
	return nil
}

// findTurns sets e.outdated.turns, the seconds at which a robots.txt becomes outdated and at which it is fetched
// again, from the spans of an authority in e.history, as far as rows with times from first to last need them.
func (e *Evaluator) findTurns(authority []byte, first, last int64) (err error) {
	o, froms := &e.outdated, e.history.froms
	o.turns = append(o.turns[:0], batch.NoTime)
	for i := range froms {
		s, begin, end := &e.history.spans[i], froms[i], int64(math.MaxInt64)
		if i+1 < len(froms) {
			end = froms[i+1]
		}
		if s.Access == access.Unknown || end <= first || begin > last {
			continue // it decides none of the rows
		}
		o.fetches = append(o.fetches[:0], s.Seen) // enough if no row is from before it
		if s.Seen != s.Fetched && max(begin, first) < s.Seen {
			if o.fetches, err = e.options.Timelines.AppendTimes(o.fetches[:0], authority, s); err != nil {
				return err
			}
		}
		for n, fetched := range o.fetches { // a fetch counts until the next one
			until := end
			if n+1 < len(o.fetches) {
				until = min(end, o.fetches[n+1])
			}
			from := max(fetched+e.options.MaxAge+1, begin, o.turns[len(o.turns)-1]) // in order, even in a forged pack
			if fetched != 0 && from < until {
				o.turns = append(o.turns, from, until)
			}
		}
	}
	o.turns = append(o.turns, math.MaxInt64)
	return nil
}

// countOdd returns the number of times that are outdated: the last turn up to such a time has an odd
// index. It searches only for a time that has another turn than the time before.
func countOdd(turns, times []int64) (count int64) {
	at, low, high := 0, int64(math.MaxInt64), int64(math.MaxInt64)
	for _, t := range times {
		if t < low || t >= high {
			at = matcher.LastAt(turns, t)
			low, high = turns[at], turns[at+1]
		}
		count += int64(at & 1)
	}
	return count
}
