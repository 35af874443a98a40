package access

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// changing has an outcome for each day of each target.
type changing [][]Outcome

func day(moment time.Time) int { return int(moment.Sub(daysAgo(0)) / (24 * time.Hour)) }

func dayTime(n int) time.Time { return daysAgo(-float64(n)) }

func (c changing) At(fetch int, moment time.Time) Outcome {
	if moment.IsZero() || c[fetch] == nil {
		return Unknown
	}
	return c[fetch][min(day(moment), len(c[fetch])-1)]
}

func (c changing) AppendMoments(dst []time.Time, fetch int, from, to time.Time) []time.Time {
	for d := range c[fetch] { // unknown before the first day
		if at := dayTime(d); (d == 0 || c[fetch][d] != c[fetch][d-1]) && at.After(from) && (to.IsZero() || at.Before(to)) {
			dst = append(dst, at)
		}
	}
	return dst
}

// TestTimelineIsDecideAtEachMoment: at any moment, a timeline has what Decide returns.
func TestTimelineIsDecideAtEachMoment(t *testing.T) {
	const days = 120
	random := rand.New(rand.NewPCG(1, 2))
	statuses := []int{200, 404, 500, 503, 429, 301, 302, 304, 0}
	for range 2000 {
		policy := Policy{Allow429: random.IntN(4) == 0, DenyUnresolved: random.IntN(4) == 0}
		fetches, targets := make([]Fetch, 1+random.IntN(8)), changing{}
		for i := range fetches {
			fetches[i] = Fetch{Status: statuses[random.IntN(len(statuses))], Failed: random.IntN(6) == 0, Time: dayTime(random.IntN(80))}
			if random.IntN(12) == 0 {
				fetches[i].Time = time.Time{}
			}
		}
		slices.SortStableFunc(fetches, func(a, b Fetch) int { return a.Time.Compare(b.Time) })
		for range fetches {
			var outcomes []Outcome
			if random.IntN(5) > 0 {
				for range 1 + random.IntN(days) {
					next := Outcome(random.IntN(4))
					if n := len(outcomes); n > 0 && random.IntN(10) > 0 {
						next = outcomes[n-1]
					}
					outcomes = append(outcomes, next)
				}
			}
			targets = append(targets, outcomes)
		}
		spans := slices.Collect(policy.Timeline(slices.Clone(fetches), targets))
		slices.Reverse(spans)
		for d := range days + 40 {
			at := dayTime(d)
			then := slices.Clone(fetches)
			for i := range then {
				if then[i].isRedirect() {
					then[i].Target = targets.At(i, at)
				}
			}
			want, got := policy.Decide(then, at), Decision{Fetch: -1}
			for _, s := range spans {
				if !s.From.After(at) {
					got = s.Decision
				}
			}
			if got != want {
				t.Fatalf("day %d: %+v, want %+v\n%+v\n%+v", d, got, want, fetches, targets)
			}
		}
	}
}

// TestTimelineOfManyFetchesEnds: a timeline that would take too long has its newest spans.
func TestTimelineOfManyFetchesEnds(t *testing.T) {
	fetches := make([]Fetch, 1<<14)
	for i := range fetches {
		fetches[i] = Fetch{Status: 500 + i%2, Time: dayTime(i)}
	}
	spans := slices.Collect(Policy{}.Timeline(fetches, changing{}))
	if n := len(spans); n == 0 || n > len(fetches)/2 {
		t.Fatalf("%d spans of %d fetches", n, len(fetches))
	}
	if newest := spans[0]; newest.Fetch != len(fetches)-1 || newest.Outcome != AllowAll {
		t.Errorf("the newest: %+v", newest)
	}
}
