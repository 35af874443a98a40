package access

import (
	"testing"

	"robotsbatch/io/store/must"
)

const day = 24 * 60 * 60

func TestOutcome(t *testing.T) {
	allow429, denyUnresolved := Policy{Allow429: true}, Policy{DenyUnresolved: true}
	for _, test := range []struct {
		name         string
		policy       Policy
		fetch        Fetch
		target, want Outcome
	}{
		{"2xx: 200", Policy{}, Fetch{Status: 200}, 0, Rules},
		{"2xx: 204", Policy{}, Fetch{Status: 204}, 0, Rules},
		{"2xx: a body without a status", Policy{}, Fetch{}, 0, Rules},
		{"304 renews", Policy{}, Fetch{Status: 304, Renewed: true}, 0, Rules},
		{"304 alone", Policy{}, Fetch{Status: 304}, 0, DisallowAll},
		{"304 alone, whatever the policy of redirects", denyUnresolved, Fetch{Status: 304}, 0, DisallowAll},
		{"3xx resolved: rules", Policy{}, Fetch{Status: 301}, Rules, Rules},
		{"3xx resolved: unavailable", Policy{}, Fetch{Status: 302}, AllowAll, AllowAll},
		{"3xx resolved: no file", Policy{}, Fetch{Status: 302}, NoFile, NoFile},
		{"3xx resolved: unreachable", Policy{}, Fetch{Status: 308}, DisallowAll, DisallowAll},
		{"3xx resolved: unreachable for 30 days", Policy{}, Fetch{Status: 308}, AllowAfterOutage, AllowAfterOutage},
		{"3xx resolved: its history was cut", Policy{}, Fetch{Status: 308}, Cut, Cut},
		{"3xx resolved, whatever the policy", denyUnresolved, Fetch{Status: 307}, AllowAll, AllowAll},
		{"3xx unresolved", Policy{}, Fetch{Status: 301}, Unknown, AllowAll},
		{"3xx unresolved, denied", denyUnresolved, Fetch{Status: 301}, Unknown, DisallowAll},
		{"4xx but 429: 404", Policy{}, Fetch{Status: 404}, 0, NoFile},
		{"4xx but 429: 401", Policy{}, Fetch{Status: 401}, 0, Refused},
		{"4xx but 429: 403", Policy{}, Fetch{Status: 403}, 0, Refused},
		{"4xx but 429: 451", Policy{}, Fetch{Status: 451}, 0, AllowAll},
		{"5xx: 500", Policy{}, Fetch{Status: 500}, 0, DisallowAll},
		{"5xx: 503, whatever the policy", allow429, Fetch{Status: 503}, 0, DisallowAll},
		{"network error", Policy{}, Fetch{Failed: true}, 0, DisallowAll},
		{"a row with an error, whatever its status", Policy{}, Fetch{Failed: true, Status: 200}, 0, DisallowAll},
		{"429", Policy{}, Fetch{Status: 429}, 0, DisallowAll},
		{"429, allowed", allow429, Fetch{Status: 429}, 0, AllowAll},
		{"no final status: 101", Policy{}, Fetch{Status: 101}, 0, DisallowAll},
		{"no final status: 600", Policy{}, Fetch{Status: 600}, 0, DisallowAll},
		{"no final status: 999", Policy{}, Fetch{Status: 999}, 0, DisallowAll},
		{"no final status: -1", Policy{}, Fetch{Status: -1}, 0, DisallowAll},
	} {
		t.Run(test.name, func(t *testing.T) {
			must.Equal(t, test.policy.Outcome(test.fetch, test.target), test.want, "outcome")
		})
	}
}

func TestDecide(t *testing.T) {
	at := func(status int, days float64) Fetch { return Fetch{Status: status, Second: 100*day + int64(days*day)} }
	ok := func(days float64) Fetch { return at(200, days) }
	gone := func(days float64) Fetch { return at(404, days) }
	down := func(days float64) Fetch { return at(503, days) }
	moved := func(days float64) Fetch { return at(301, days) }
	never := Fetch{Status: 500}
	for _, test := range []struct {
		name    string
		policy  Policy
		fetches []Fetch
		target  Outcome // of redirects
		want    Decision
	}{
		{"nothing known", Policy{}, nil, 0, Decision{Unknown, -1, false}},
		{"the newest decides", Policy{}, []Fetch{ok(2), gone(3)}, 0, Decision{NoFile, 1, false}},
		{"unreachable for less than 30 days", Policy{}, []Fetch{ok(0), down(10), down(39.99)}, 0, Decision{DisallowAll, 2, false}},
		{"unreachable once", Policy{}, []Fetch{ok(0), down(40)}, 0, Decision{DisallowAll, 1, false}},
		{"unreachable for 30 days: last good copy", Policy{}, []Fetch{ok(0), ok(10), down(20), down(50)}, 0, Decision{Rules, 1, true}},
		{"unreachable for 30 days: no copy", Policy{}, []Fetch{down(0), down(30)}, 0, Decision{AllowAfterOutage, 1, false}},
		{"unreachable for 30 days: it was withdrawn before", Policy{}, []Fetch{ok(0), gone(10), down(20), down(50)}, 0, Decision{AllowAfterOutage, 3, false}},
		{"unreachable, but not in every capture", Policy{}, []Fetch{ok(0), down(10), ok(20), down(49)}, 0, Decision{DisallowAll, 3, false}},
		{"a 304 ends an outage", Policy{}, []Fetch{ok(0), down(10), {Status: 304, Renewed: true, Second: 120 * day}, down(49)}, 0, Decision{DisallowAll, 3, false}},
		{"a 304 alone does not", Policy{}, []Fetch{down(10), at(304, 20), down(40)}, 0, Decision{AllowAfterOutage, 2, false}},
		{"a redirect has its target's outage", Policy{}, []Fetch{ok(0), moved(1)}, DisallowAll, Decision{DisallowAll, 1, false}},
		{"a redirect is an answer, whatever its target says", Policy{}, []Fetch{down(0), moved(20), down(49)}, DisallowAll, Decision{DisallowAll, 2, false}},
		{"last answer is a redirect to rules", Policy{}, []Fetch{moved(0), down(10), down(40)}, Rules, Decision{Rules, 0, true}},
		{"last answer is a redirect to an outage", Policy{}, []Fetch{moved(0), down(10), down(40)}, DisallowAll, Decision{DisallowAll, 2, false}},
		{"last answer is a redirect to nowhere", Policy{}, []Fetch{moved(0), down(10), down(40)}, Unknown, Decision{AllowAfterOutage, 2, false}},
		{"last answer is a redirect that was cut", Policy{}, []Fetch{moved(0), down(10), down(40)}, Cut, Decision{Cut, 2, false}},
		{"429 counts for the 30 days", Policy{}, []Fetch{ok(0), at(429, 10), down(40)}, 0, Decision{Rules, 0, true}},
		{"429 is an answer when allowed", Policy{Allow429: true}, []Fetch{down(0), at(429, 10), down(39)}, 0, Decision{DisallowAll, 2, false}},
		{"failures at unknown times deny", Policy{}, []Fetch{{Status: 200}, never}, 0, Decision{DisallowAll, 1, false}},
		{"failures at unknown times add nothing", Policy{}, []Fetch{never, down(0), down(29)}, 0, Decision{DisallowAll, 2, false}},
		{"failures at unknown times take nothing", Policy{}, []Fetch{never, down(0), down(30)}, 0, Decision{AllowAfterOutage, 2, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			course := NewCourse(test.policy)
			for _, f := range test.fetches {
				course.Add(f)
			}
			said := Unknown
			if answer := course.Deciding(); answer >= 0 {
				said = test.policy.Outcome(test.fetches[answer], test.target)
			}
			must.Equal(t, course.Decide(said), test.want)
		})
	}
}

func TestOutcomesSay(t *testing.T) {
	for o, want := range map[Outcome][2]bool{ // AllowsAll, InOutage
		Unknown: {}, Rules: {}, Cut: {}, AllowAll: {true, false}, NoFile: {true, false}, Refused: {true, false},
		DisallowAll: {false, true}, AllowAfterOutage: {true, true},
	} {
		must.Equal(t, [2]bool{o.AllowsAll(), o.InOutage()}, want, "outcome", o)
	}
}
