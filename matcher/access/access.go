// Package access determines what the fetches of a robots.txt mean for an authority: its
// rules apply, everything is allowed, or everything is disallowed (RFC 9309 §2.3.1).
//
// Its functions are pure. All sources of rules use them, so folders, rule packs and
// captures give the same [Outcome].
package access

// Outcome is what a rules source says of an authority. Rule packs store its values.
type Outcome uint8

const (
	// Unknown: the source does not know the authority.
	Unknown Outcome = iota
	// Rules: a body was read; its rules decide (RFC 9309 §2.3.1.1).
	Rules
	// AllowAll: robots.txt is unavailable (RFC 9309 §2.3.1.3), for another reason than those
	// of NoFile and Refused.
	AllowAll
	// DisallowAll: robots.txt is unreachable (RFC 9309 §2.3.1.4).
	DisallowAll
	// AllowAfterOutage: robots.txt was unreachable for 30 days and there is no old copy, so
	// everything is allowed (RFC 9309 §2.3.1.4).
	AllowAfterOutage
	// Cut: something was known at the time, and was not kept. There is no verdict.
	Cut
	// NoFile: robots.txt is unavailable, because there is none: status 404 or 410.
	NoFile
	// Refused: robots.txt is unavailable, because it is not given out: status 401 or 403.
	Refused

	// Outcomes is the number of outcomes.
	Outcomes
)

// AllowsAll reports whether everything is allowed, without rules.
func (o Outcome) AllowsAll() bool {
	return o == AllowAll || o == NoFile || o == Refused || o == AllowAfterOutage
}

// InOutage reports whether robots.txt could not be fetched, however long that has lasted, and
// no old copy of it decides. Where an old copy decides, the outcome is Rules, with a flag
// beside it: Decision.Stale, Origin.Stale, Span.Stale.
func (o Outcome) InOutage() bool { return o == DisallowAll || o == AllowAfterOutage }

// Missing is the verdict for an authority that the source does not know.
type Missing uint8

const (
	// MissingAllow allows, the default.
	MissingAllow Missing = iota
	// MissingDeny denies.
	MissingDeny
	// MissingNull gives no verdict.
	MissingNull
)

// BeforeFirst says what decides about an authority at times before the first at which a source
// knows something of it.
type BeforeFirst uint8

const (
	// BeforeAsMissing: the verdict for an authority that the source does not know; the
	// default.
	BeforeAsMissing BeforeFirst = iota
	// BeforeUse: what the source knows from the first such time on.
	BeforeUse
	// BeforeAllow allows.
	BeforeAllow
	// BeforeDeny denies.
	BeforeDeny
	// BeforeNull gives no verdict.
	BeforeNull
)

// Verdict returns the verdict for times before the first at which something is known; missing is that
// for an unknown authority. BeforeUse gives missing, too: with it there are such times only where
// nothing is known at any time.
func (b BeforeFirst) Verdict(missing Missing) Missing {
	switch b {
	case BeforeAllow:
		return MissingAllow
	case BeforeDeny:
		return MissingDeny
	case BeforeNull:
		return MissingNull
	}
	return missing
}

// Interval is what decides about an authority from From until the From of the next
// interval. Times are in seconds since 1970, rounded down.
type Interval struct {
	// From is the first second; 0 if nothing is known about an earlier time.
	From uint32
	// Fetched is the time of the fetch that decides at From; Seen is that of the last fetch in
	// the interval with the same outcome. Each is 0 if unknown.
	Fetched, Seen uint32
	// Times are those of all these fetches, in order, from Fetched to Seen.
	Times []uint32
	// Access is the outcome. It is Cut in the first interval of more than are kept, which
	// stands for the oldest ones.
	Access Outcome
	// Kept is the number of the body, if Access is Rules. Stale says that this body is the last
	// good copy from before an outage (RFC 9309 §2.3.1.4).
	Kept  uint64
	Stale bool
	// Status is the HTTP status, 0 where it is not known.
	Status uint16
}
