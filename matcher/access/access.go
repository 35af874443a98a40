// Package access says what the fetch of a robots.txt means for an authority:
// its rules, everything allowed or everything disallowed (RFC 9309 §2.3.1).
//
// Its functions are pure. They are the one place where the facts of a source become an
// [Outcome], so that folders, rule packs and captures agree.
package access

// Outcome is what a rules source says of an authority.
type Outcome uint8

const (
	// Unknown: the source knows nothing of the authority.
	Unknown Outcome = iota
	// Rules: a body was read; its rules decide (RFC 9309 §2.3.1.1).
	Rules
	// AllowAll: robots.txt is unavailable (RFC 9309 §2.3.1.3).
	AllowAll
	// DisallowAll: robots.txt is unreachable (RFC 9309 §2.3.1.4).
	DisallowAll
)

// Missing is the verdict for an authority of which nothing is known.
type Missing uint8

const (
	// MissingAllow allows, the default.
	MissingAllow Missing = iota
	// MissingDeny denies.
	MissingDeny
	// MissingNull gives no verdict.
	MissingNull
)
