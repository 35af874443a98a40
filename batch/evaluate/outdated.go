package evaluate

import (
	"math"

	"robotsbatch/batch"
	"robotsbatch/matcher/access"
)

// outdated counts the rows that are decided by a robots.txt that was too old at their
// times. It is counted before groups are cut, because the rows of an authority mostly follow
// each other and those of a span do not.
type outdated struct {
	// turns are the seconds at which the robots.txt of an authority becomes outdated, and
	// those at which the next fetch is there, by turns, in order. One before all times comes
	// first and one after all times last, so that rows between turns i and i+1 are outdated if
	// i is odd.
	turns   []int64
	fetches []int64 // of a span
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

// countOutdated adds to v.Outdated the outdated rows of a group, given by its number, whose
// authority h.choose has chosen. The rows' times are from first to last.
func (e *Evaluator) countOutdated(v *batch.Verdicts, number int, first, last int64) error {
	o := &e.outdated
	if err := e.findTurns(e.groups.keys[number].Text, first, last); err != nil || len(o.turns) == 2 {
		return err
	}
	from, to := turnAt(o.turns, first), turnAt(o.turns, last)
	if from == to {
		v.Outdated += int64(from & 1 * e.groups.count(number))
		return nil
	}
	turns := o.turns[from&^1 : to+2] // an even number is cut off, so that odd indices stay odd
	w := e.groups.walk(number)
	for w.next() {
		v.Outdated += countOdd(turns, v.Times[w.low:w.high])
	}
	return nil
}

// findTurns sets e.outdated.turns for the spans of the authority that was chosen, as far as
// times from first to last need them.
func (e *Evaluator) findTurns(authority []byte, first, last int64) (err error) {
	o, spans := &e.outdated, e.history.spans
	o.turns = append(o.turns[:0], batch.NoTime)
	for i := range spans {
		s, begin, end := &spans[i], spans[i].From, int64(math.MaxInt64)
		if i == 0 && e.options.BeforeFirst == access.BeforeUse {
			begin = batch.NoTime + 1
		}
		if i+1 < len(spans) {
			end = spans[i+1].From
		}
		if s.Access == access.Unknown || end <= first || begin > last {
			continue
		}
		o.fetches = append(o.fetches[:0], s.Seen)
		if s.Seen != s.Fetched && max(begin, first) < s.Seen {
			if o.fetches, err = e.options.Timelines.AppendTimes(o.fetches[:0], authority, s); err != nil {
				return err
			}
		}
		for n, fetched := range o.fetches {
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

// turnAt returns the index of the last turn that is not after a second.
func turnAt(turns []int64, second int64) int {
	at := 0
	for n := len(turns); n > 1; { // no branch depends on the second, which may be any
		half := n >> 1
		if turns[at+half] <= second {
			at += half
		}
		n -= half
	}
	return at
}

// countOdd returns the number of times whose last turn has an odd index. It searches only for a
// time that has another turn than the time before.
func countOdd(turns, times []int64) (count int64) {
	at, low, high := 0, int64(math.MaxInt64), int64(math.MaxInt64)
	for _, t := range times {
		if t < low || t >= high {
			at = turnAt(turns, t)
			low, high = turns[at], turns[at+1]
		}
		count += int64(at & 1)
	}
	return count
}
