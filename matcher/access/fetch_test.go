package access

import (
	"testing"
	"time"
)

var asOf = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

// daysAgo returns a time some days before asOf.
func daysAgo(days float64) time.Time {
	return asOf.Add(-time.Duration(days * 24 * float64(time.Hour)))
}

func TestOutcome(t *testing.T) {
	allow429, denyUnresolved := Policy{Allow429: true}, Policy{DenyUnresolved: true}
	tests := []struct {
		name   string
		policy Policy
		fetch  Fetch
		want   Outcome
	}{
		{"2xx: 200", Policy{}, Fetch{Status: 200}, Rules},
		{"2xx: 204", Policy{}, Fetch{Status: 204}, Rules},
		{"2xx: a body without a status", Policy{}, Fetch{}, Rules},
		{"3xx resolved: rules", Policy{}, Fetch{Status: 301, Target: Rules}, Rules},
		{"3xx resolved: unavailable", Policy{}, Fetch{Status: 302, Target: AllowAll}, AllowAll},
		{"3xx resolved: unreachable", Policy{}, Fetch{Status: 308, Target: DisallowAll}, DisallowAll},
		{"3xx resolved, whatever the policy", denyUnresolved, Fetch{Status: 307, Target: AllowAll}, AllowAll},
		{"3xx unresolved", Policy{}, Fetch{Status: 301}, AllowAll},
		{"3xx unresolved: 304", Policy{}, Fetch{Status: 304}, AllowAll},
		{"3xx unresolved, denied", denyUnresolved, Fetch{Status: 301}, DisallowAll},
		{"4xx but 429: 404", Policy{}, Fetch{Status: 404}, AllowAll},
		{"4xx but 429: 401", Policy{}, Fetch{Status: 401}, AllowAll},
		{"4xx but 429: 403", Policy{}, Fetch{Status: 403}, AllowAll},
		{"5xx: 500", Policy{}, Fetch{Status: 500}, DisallowAll},
		{"5xx: 503, whatever the policy", allow429, Fetch{Status: 503}, DisallowAll},
		{"network error", Policy{}, Fetch{Failed: true}, DisallowAll},
		{"a row with an error, whatever its status", Policy{}, Fetch{Failed: true, Status: 200}, DisallowAll},
		{"429", Policy{}, Fetch{Status: 429}, DisallowAll},
		{"429, allowed", allow429, Fetch{Status: 429}, AllowAll},
		{"no HTTP status: 101", Policy{}, Fetch{Status: 101}, DisallowAll},
		{"no HTTP status: 999", Policy{}, Fetch{Status: 999}, DisallowAll},
		{"no HTTP status: -1", Policy{}, Fetch{Status: -1}, DisallowAll},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.policy.Outcome(test.fetch); got != test.want {
				t.Errorf("outcome %d, want %d", got, test.want)
			}
		})
	}
}

func TestDecide(t *testing.T) {
	ok := func(days float64) Fetch { return Fetch{Status: 200, Time: daysAgo(days)} }
	gone := func(days float64) Fetch { return Fetch{Status: 404, Time: daysAgo(days)} }
	down := func(days float64) Fetch { return Fetch{Status: 503, Time: daysAgo(days)} }
	moved := func(days float64, target Outcome) Fetch {
		return Fetch{Status: 301, Target: target, Time: daysAgo(days)}
	}
	tests := []struct {
		name    string
		policy  Policy
		fetches []Fetch
		want    Decision
	}{
		{"nothing known", Policy{}, nil, Decision{Unknown, -1, false}},
		{"nothing known at as-of", Policy{}, []Fetch{ok(-1)}, Decision{Unknown, -1, false}},
		{"the newest decides", Policy{}, []Fetch{ok(2), gone(1)}, Decision{AllowAll, 1, false}},
		{"the newest decides, at as-of itself", Policy{}, []Fetch{gone(1), ok(0)}, Decision{Rules, 1, false}},
		{"the newest not after as-of decides", Policy{}, []Fetch{ok(2), gone(1), down(-1)}, Decision{AllowAll, 1, false}},
		{"unreachable for less than 30 days", Policy{}, []Fetch{ok(40), down(29.99), down(1)}, Decision{DisallowAll, 2, false}},
		{"unreachable once", Policy{}, []Fetch{ok(40), down(1)}, Decision{DisallowAll, 1, false}},
		{"unreachable for 30 days: last good copy", Policy{}, []Fetch{ok(50), ok(40), down(30), down(1)}, Decision{Rules, 1, true}},
		{"unreachable for 30 days: no copy", Policy{}, []Fetch{down(31), down(1)}, Decision{AllowAll, 1, false}},
		{"unreachable for 30 days: it was withdrawn before", Policy{}, []Fetch{ok(50), gone(40), down(30)}, Decision{AllowAll, 2, false}},
		{"unreachable, but not in every capture", Policy{}, []Fetch{ok(50), down(40), ok(20), down(1)}, Decision{DisallowAll, 3, false}},
		{"unreachable by redirect for 30 days", Policy{}, []Fetch{ok(50), moved(40, DisallowAll), down(1)}, Decision{Rules, 0, true}},
		{"last good copy by redirect", Policy{}, []Fetch{moved(50, Rules), down(40)}, Decision{Rules, 0, true}},
		{"429 counts for the 30 days", Policy{}, []Fetch{ok(50), {Status: 429, Time: daysAgo(40)}}, Decision{Rules, 0, true}},
		{"429 does not count when allowed", Policy{Allow429: true}, []Fetch{ok(50), {Status: 429, Time: daysAgo(40)}}, Decision{AllowAll, 1, false}},
		{"unresolved and denied is not unreachable", Policy{DenyUnresolved: true}, []Fetch{ok(50), moved(40, Unknown)}, Decision{DisallowAll, 1, false}},
		{"unreachable at unknown times", Policy{}, []Fetch{{Status: 200}, {Status: 500}}, Decision{DisallowAll, 1, false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.policy.Decide(test.fetches, asOf); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
