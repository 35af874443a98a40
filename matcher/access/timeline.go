package access

import (
	"iter"
	"slices"
	"time"
)

// Span is what the fetches of one robots.txt mean from a moment on, until the next Span.
type Span struct {
	// From is the moment; the zero time means that nothing is known of a time before.
	From time.Time
	Decision
}

// Targets tells where redirects led at any moment.
type Targets interface {
	// At returns the outcome of a fetch's target at a moment; Unknown for none.
	At(fetch int, moment time.Time) Outcome
	// AppendMoments appends the moments after from, and before to if that is not the
	// zero time, at which the outcome of a fetch's target changes.
	AppendMoments(dst []time.Time, fetch int, from, to time.Time) []time.Time
}

// mostSteps is how many fetches Timeline looks at before it ends. Fetches that are
// unreachable for long, and redirects of which each has many targets, make a moment
// depend on many fetches; histories that are not made to be slow stay far below.
const mostSteps = 1 << 22

// Timeline returns what the fetches of one robots.txt, oldest first, mean at each moment
// from the first fetch on: what Decide says of a moment when each fetch's Target is that
// of the moment. Spans come from the newest to the oldest, and neighbours may be equal.
// They are those of the moments at which something may change:
//
//   - a fetch,
//   - the end of StaleAfter from a fetch on that found robots.txt unreachable,
//   - a change of the target of a redirect that still counts.
//
// If that takes more than some millions of steps, the oldest spans are missing. Timeline
// sets Target in fetches.
func (p Policy) Timeline(fetches []Fetch, targets Targets) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		t := timeline{policy: p, fetches: fetches, targets: targets}
		var end time.Time // of the time in which a fetch is the newest; zero for none
		for newest := len(fetches) - 1; newest >= 0; newest-- {
			from := fetches[newest].Time
			if newest+1 < len(fetches) && from.Equal(fetches[newest+1].Time) {
				continue
			}
			for _, moment := range t.momentsOf(newest, end) {
				decision := t.decide(newest, moment)
				if !yield(Span{From: moment, Decision: decision}) || t.steps > mostSteps {
					return
				}
			}
			end = from
		}
	}
}

type timeline struct {
	policy  Policy
	fetches []Fetch
	targets Targets
	moments []time.Time // reused
	steps   int
}

// momentsOf returns the moments at which something may change while a fetch is the
// newest one, which it is until end. The last is first.
func (t *timeline) momentsOf(newest int, end time.Time) []time.Time {
	start := t.fetches[newest].Time
	t.moments = append(t.moments[:0], start)
	for i := newest; i >= 0; i-- {
		f := &t.fetches[i]
		before := len(t.moments)
		if f.isRedirect() {
			t.moments = t.targets.AppendMoments(t.moments, i, start, end)
		}
		t.steps += 1 + len(t.moments) - before
		unreachable := t.unreachable(i, start)
		for _, moment := range t.moments[before:] {
			unreachable = unreachable || t.unreachable(i, moment)
		}
		if !unreachable {
			break // what was fetched before never counts
		}
		if old := f.Time.Add(StaleAfter); !f.Time.IsZero() && old.After(start) && (end.IsZero() || old.Before(end)) {
			t.moments = append(t.moments, old)
		}
	}
	slices.SortFunc(t.moments, func(a, b time.Time) int { return b.Compare(a) })
	t.moments = slices.CompactFunc(t.moments, time.Time.Equal)
	return t.moments
}

// unreachable reports whether a fetch counts as unreachable at a moment.
func (t *timeline) unreachable(fetch int, moment time.Time) bool {
	f := &t.fetches[fetch]
	if f.isRedirect() {
		f.Target = t.targets.At(fetch, moment)
	}
	return t.policy.unreachable(*f)
}

// decide is Decide at a moment at which a fetch is the newest one.
func (t *timeline) decide(newest int, moment time.Time) Decision {
	good := newest
	for good >= 0 && t.unreachable(good, moment) {
		good--
	}
	t.steps += newest - good + 1
	return t.policy.decide(t.fetches[:newest+1], good, moment)
}
