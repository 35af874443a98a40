package access

// outage is the number of seconds after which a robots.txt that was always found unreachable
// no longer disallows everything (RFC 9309 §2.3.1.4): 30 days.
const outage = 30 * 24 * 60 * 60

// MaxHops is the most redirects in a row that are followed (RFC 9309 §2.3.1.2).
const MaxHops = 5

// NotModified is the status of an answer that renews an earlier one.
const NotModified = 304

// Fetch is one fetch of a robots.txt.
type Fetch struct {
	// Status is the HTTP status; 0 means 200, for a body without a status.
	Status int
	// Failed means that no answer came: a network error or a timeout.
	Failed bool
	// Renewed means that status NotModified renews an earlier 2xx. Without one it is a fetch
	// without an answer.
	Renewed bool
	// Second is the time of the fetch in seconds since 1970; 0 means unknown. It is also 0 for a
	// failure that may not be the server's: an answer may have come, but what was stored of it
	// cannot be read.
	Second int64
}

// Policy decides what the RFC leaves open. The zero value is the default.
type Policy struct {
	// Allow429 makes status 429 mean unavailable, like any other 4xx, rather than
	// unreachable, like 5xx.
	Allow429 bool
	// DenyUnresolved makes an unresolved redirect disallow everything rather than allow it.
	DenyUnresolved bool
}

// IsRedirect reports whether the fetch is a redirect, with or without a known target.
func (f *Fetch) IsRedirect() bool {
	return !f.Failed && f.Status/100 == 3 && f.Status != NotModified
}

// Answers reports whether the fetch is an answer, rather than a failure, which starts or
// prolongs an outage. A status that no final response has (1xx, and from 600 on) is a failure,
// like 5xx. A redirect is an answer, whatever its target says.
func (p Policy) Answers(f Fetch) bool {
	switch {
	case f.Failed:
		return false
	case f.Status == NotModified:
		return f.Renewed
	case f.Status == 429:
		return p.Allow429
	}
	return f.Status == 0 || 200 <= f.Status && f.Status < 500
}

// Outcome returns what one fetch means by itself. target is the outcome of a redirect's
// target; Unknown if there is no Location, if the target is not in the source, or after too
// many hops.
func (p Policy) Outcome(f Fetch, target Outcome) Outcome {
	switch {
	case !p.Answers(f):
		return DisallowAll
	case !f.IsRedirect():
		return ofAnswer(f.Status)
	case target != Unknown:
		return target
	case p.DenyUnresolved:
		return DisallowAll
	}
	return AllowAll
}

// ofAnswer returns what an answer that is no redirect means.
func ofAnswer(status int) Outcome {
	switch {
	case status/100 != 4:
		return Rules
	case status == 404 || status == 410:
		return NoFile
	case status == 401 || status == 403:
		return Refused
	}
	return AllowAll
}

// Decision is what the fetches of one robots.txt mean together.
type Decision struct {
	// Outcome is Unknown if there is no fetch.
	Outcome Outcome
	// Fetch is the index of the fetch that decides, -1 for none. If Stale is set, it is
	// that of the last good copy.
	Fetch int
	// Stale means that the last good copy is used (RFC 9309 §2.3.1.4).
	Stale bool
}

// Course follows the fetches of one robots.txt, oldest first.
type Course struct {
	policy  Policy
	fetches int
	answer  int // index of the last answer, -1 for none
	// The times of the first failure after that answer that has one, and of the last; 0 for none.
	firstFailure, lastFailure int64
}

// NewCourse returns a course without fetches.
func NewCourse(p Policy) Course { return Course{policy: p, answer: -1} }

// Add adds the next fetch, which must not be older than those before it.
func (c *Course) Add(f Fetch) {
	switch {
	case c.policy.Answers(f):
		c.answer, c.firstFailure = c.fetches, 0
	case c.firstFailure == 0: // the first failure, or those before it have no time
		c.firstFailure, c.lastFailure = f.Second, f.Second
	default:
		c.lastFailure = max(c.lastFailure, f.Second)
	}
	c.fetches++
}

// Deciding returns the index of the answer on which the decision depends: the caller gives what it
// says to Decide. It is -1 if the decision depends on failures alone.
func (c *Course) Deciding() int {
	if c.failing() && !c.outageLasted() {
		return -1
	}
	return c.answer
}

// failing reports whether the newest fetch is a failure.
func (c *Course) failing() bool { return c.answer != c.fetches-1 }

// outageLasted reports whether one failure is at least 30 days later than the outage's first. That
// 30 days have passed since the first one is not enough: nobody may have tried again.
func (c *Course) outageLasted() bool {
	return c.firstFailure != 0 && c.lastFailure-c.firstFailure >= outage
}

// Decide returns what the fetches mean. said is the outcome of the answer that Deciding
// returns, for a redirect at the time that is asked for; it is ignored if there is none.
//
// An answer decides. In an outage everything is disallowed, until it has lasted for 30 days:
// then the answer before it decides, and where that does not close the authority and has no
// rules, everything is allowed.
func (c *Course) Decide(said Outcome) Decision {
	newest := c.fetches - 1
	switch {
	case newest < 0:
		return Decision{Fetch: -1}
	case !c.failing():
		return Decision{Outcome: said, Fetch: newest}
	case !c.outageLasted():
		return Decision{Outcome: DisallowAll, Fetch: newest}
	case c.answer < 0:
		return Decision{Outcome: AllowAfterOutage, Fetch: newest}
	}
	switch said {
	case Rules:
		return Decision{Outcome: Rules, Fetch: c.answer, Stale: true}
	case DisallowAll, Cut:
		return Decision{Outcome: said, Fetch: newest}
	}
	return Decision{Outcome: AllowAfterOutage, Fetch: newest}
}
