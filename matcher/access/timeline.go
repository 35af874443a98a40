package access

import (
	"iter"
	"slices"
	"time"
)

// Span is what the fetches of one robots.txt mean from From until the next Span.
type Span struct {
	// From is the start; the zero time means that no earlier state is known.
	From time.Time
	Decision
}

// Targets are the targets of redirects, which change with time.
type Targets interface {
	// At returns the outcome of the target of a fetch at a moment; Unknown for none.
	At(fetch int, moment time.Time) Outcome
	// AppendMoments appends the moments after from at which the outcome of the target of a
	// fetch changes. Unless to is the zero time, it appends only those before to.
	AppendMoments(dst []time.Time, fetch int, from, to time.Time) []time.Time
}

// mostSteps bounds the number of fetches that Timeline looks at. One moment depends on many
// fetches if they are unreachable for long, or if each is a redirect whose target changes
// often. Only hostile histories reach the bound.
const mostSteps = 1 << 22

// Timeline returns what the fetches of one robots.txt, oldest first, mean from the first
// fetch on. At each moment that is what Decide returns, given the targets of that moment.
// Spans come newest first, and neighbours may be equal. They start when something may
// change:
//
//   - at a fetch,
//   - staleAfter after a fetch that found robots.txt unreachable,
//   - when the target of a redirect that still counts changes.
//
// After some millions of steps it stops, without the oldest spans. Timeline sets Target in
// fetches.
func (p Policy) Timeline(fetches []Fetch, targets Targets) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		t := timeline{policy: p, fetches: fetches, targets: targets}
		var end time.Time // the next fetch; zero for none
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

// momentsOf returns the moments at which something may change while a fetch is the newest,
// which it is until end. The last moment comes first.
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
			break // earlier fetches never count
		}
		if old := f.Time.Add(staleAfter); !f.Time.IsZero() && old.After(start) && (end.IsZero() || old.Before(end)) {
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

// decide returns what Decide does at a moment, given the newest fetch at that moment.
func (t *timeline) decide(newest int, moment time.Time) Decision {
	good := newest
	for good >= 0 && t.unreachable(good, moment) {
		good--
	}
	t.steps += newest - good + 1
	return t.policy.decide(t.fetches[:newest+1], good, moment)
}
