package access

import "time"

// StaleAfter is how long robots.txt has to be unreachable, in every fetch,
// before everything is no longer disallowed (RFC 9309 §2.3.1.4).
const StaleAfter = 30 * 24 * time.Hour

// MaxHops is how many redirects are followed, one after another (RFC 9309
// §2.3.1.2).
const MaxHops = 5

// Fetch is what is known of one fetch of a robots.txt.
type Fetch struct {
	// Status is the HTTP status; 0 means 200, for a body without a status.
	Status int
	// Failed says that there was no answer: a network error, a timeout.
	Failed bool
	// Target is the outcome for the target of a redirect, Unknown when the
	// target is not known: no Location, not in the source, too many hops.
	Target Outcome
	// Time of the fetch; the zero time, unknown, is before all others.
	Time time.Time
}

// Policy is what the RFC leaves open. The zero value is the default.
type Policy struct {
	// Allow429 takes status 429 for unavailable, as any other 4xx, instead of
	// unreachable, as 5xx.
	Allow429 bool
	// DenyUnresolved disallows everything where a redirect leads nowhere,
	// instead of allowing it.
	DenyUnresolved bool
}

// Unresolved tells whether the fetch is a redirect whose target is not known
// (RFC 9309 §2.3.1.2), 304 included.
func (f *Fetch) Unresolved() bool { return f.isRedirect() && f.Target == Unknown }

func (f *Fetch) isRedirect() bool { return !f.Failed && f.Status/100 == 3 }

// Outcome says what one fetch means, apart from all others.
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

// unreachable tells whether a fetch counts for StaleAfter.
func (p Policy) unreachable(f Fetch) bool {
	return !f.Unresolved() && p.Outcome(f) == DisallowAll
}

// Decision is what the fetches of one robots.txt mean together.
type Decision struct {
	// Outcome is Unknown when no fetch counts.
	Outcome Outcome
	// Fetch is the index of the fetch that decides, -1 for none. With Stale it
	// is that of the last good copy.
	Fetch int
	// Stale says that the last good copy stands in (RFC 9309 §2.3.1.4).
	Stale bool
}

// Decide says what the fetches of one robots.txt, the oldest first, mean at
// asOf: the newest that is not after it decides. If robots.txt has been
// unreachable for StaleAfter or longer, counted from the first of the fetches
// that all were, then what the fetch before them said stands, or everything is
// allowed if there is none.
func (p Policy) Decide(fetches []Fetch, asOf time.Time) Decision {
	newest := len(fetches) - 1
	for newest >= 0 && fetches[newest].Time.After(asOf) {
		newest--
	}
	if newest < 0 {
		return Decision{Fetch: -1}
	}
	if !p.unreachable(fetches[newest]) {
		return Decision{Outcome: p.Outcome(fetches[newest]), Fetch: newest}
	}
	good := newest
	for good >= 0 && p.unreachable(fetches[good]) {
		good--
	}
	if first := fetches[good+1].Time; first.IsZero() || asOf.Sub(first) < StaleAfter {
		return Decision{Outcome: DisallowAll, Fetch: newest}
	}
	if good >= 0 && p.Outcome(fetches[good]) == Rules {
		return Decision{Outcome: Rules, Fetch: good, Stale: true}
	}
	return Decision{Outcome: AllowAll, Fetch: newest}
}
