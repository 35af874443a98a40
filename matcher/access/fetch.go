package access

import "time"

// staleAfter is the time after which a robots.txt that was always found unreachable no
// longer disallows everything (RFC 9309 §2.3.1.4).
const staleAfter = 30 * 24 * time.Hour

// MaxHops is the most redirects in a row that are followed (RFC 9309 §2.3.1.2).
const MaxHops = 5

// Fetch is one fetch of a robots.txt.
type Fetch struct {
	// Status is the HTTP status; 0 means 200, for a body without a status.
	Status int
	// Failed means that no answer came: a network error or a timeout.
	Failed bool
	// Target is the outcome of a redirect's target. It is Unknown if there is no Location,
	// if the target is not in the source, or after too many hops.
	Target Outcome
	// Time is the time of the fetch; the zero time means unknown and sorts before all
	// others.
	Time time.Time
}

// Policy decides what the RFC leaves open. The zero value is the default.
type Policy struct {
	// Allow429 makes status 429 mean unavailable, like any other 4xx, rather than
	// unreachable, like 5xx.
	Allow429 bool
	// DenyUnresolved makes an unresolved redirect disallow everything rather than allow it.
	DenyUnresolved bool
}

// Unresolved reports whether the fetch is a redirect whose target is unknown; 304 is one
// (RFC 9309 §2.3.1.2).
func (f *Fetch) Unresolved() bool { return f.isRedirect() && f.Target == Unknown }

func (f *Fetch) isRedirect() bool { return !f.Failed && f.Status/100 == 3 }

// Outcome returns what one fetch means by itself. A status that no final response has (1xx,
// and from 600 on) means unreachable, like 5xx.
func (p Policy) Outcome(f Fetch) Outcome {
	switch {
	case f.Failed:
		return DisallowAll
	case f.Unresolved():
		if p.DenyUnresolved {
			return DisallowAll
		}
		return AllowAll
	case f.isRedirect():
		return f.Target
	case f.Status == 0 || f.Status/100 == 2:
		return Rules
	case f.Status == 429 && !p.Allow429:
		return DisallowAll
	case f.Status/100 == 4:
		return AllowAll
	}
	return DisallowAll
}

// unreachable reports whether a fetch counts toward staleAfter.
func (p Policy) unreachable(f Fetch) bool {
	return !f.Unresolved() && p.Outcome(f) == DisallowAll
}

// Decision is what the fetches of one robots.txt mean together.
type Decision struct {
	// Outcome is Unknown if no fetch counts.
	Outcome Outcome
	// Fetch is the index of the fetch that decides, -1 for none. If Stale is set, it is
	// that of the last good copy.
	Fetch int
	// Stale means that the last good copy is used (RFC 9309 §2.3.1.4).
	Stale bool
}

// Decide returns what the fetches of one robots.txt, oldest first, mean at asOf. The newest
// fetch that is not after asOf decides. There is one exception: it and all fetches before
// it, back to one at least staleAfter ago, found robots.txt unreachable. Then the fetch
// before those decides; if there is none, everything is allowed.
func (p Policy) Decide(fetches []Fetch, asOf time.Time) Decision {
	newest := len(fetches) - 1
	for newest >= 0 && fetches[newest].Time.After(asOf) {
		newest--
	}
	if newest < 0 {
		return Decision{Fetch: -1}
	}
	good := newest
	for good >= 0 && p.unreachable(fetches[good]) {
		good--
	}
	return p.decide(fetches[:newest+1], good, asOf)
}

// decide does what Decide does. No fetch is after asOf; good is the index of the newest one
// that was not unreachable, or -1.
func (p Policy) decide(fetches []Fetch, good int, asOf time.Time) Decision {
	newest := len(fetches) - 1
	if good == newest {
		return Decision{Outcome: p.Outcome(fetches[newest]), Fetch: newest}
	}
	if first := fetches[good+1].Time; first.IsZero() || asOf.Sub(first) < staleAfter {
		return Decision{Outcome: DisallowAll, Fetch: newest}
	}
	if good >= 0 && p.Outcome(fetches[good]) == Rules {
		return Decision{Outcome: Rules, Fetch: good, Stale: true}
	}
	return Decision{Outcome: AllowAll, Fetch: newest}
}
