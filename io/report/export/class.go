package export

import (
	"fmt"
	"slices"

	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// Class is what the fetches of a robots.txt came to. Each authority, and each site, is in one.
// Of a site with several authorities the first in this order counts.
type Class uint8

const (
	// WithRules: a robots.txt was served, even an empty one.
	WithRules Class = iota
	// HTML: a page was served in its place.
	HTML
	// Refused: status 401 or 403.
	Refused
	// NoFile: status 404 or 410.
	NoFile
	// Other: another 4xx, or a redirect that ends nowhere.
	Other
	// OldCopy: it has been unreachable for long, and an older copy is used.
	OldCopy
	// Unreachable: the last fetches had no answer, however long ago the first of them was.
	Unreachable

	// Classes is their number.
	Classes
)

var classNames = [Classes]string{"with_rules", "html", "refused", "no_file", "other", "old_copy", "unreachable"}

// String returns the class as tables write it, such as "no_file".
func (c Class) String() string { return classNames[c] }

// Reached reports whether there was an answer, which says what the site wants. An old copy is
// none.
func (c Class) Reached() bool { return c < OldCopy }

// ParseClass parses what String returns.
func ParseClass(text string) (Class, error) {
	n := slices.Index(classNames[:], text)
	if n < 0 {
		return 0, fmt.Errorf("the column class has %q, instead of %s or another class", text, WithRules)
	}
	return Class(n), nil
}

// classOf returns the class of an authority. kind is that of its body.
func classOf(outcome access.Outcome, status int, stale bool, kind robotstxt.BodyKind) Class {
	switch {
	case stale:
		return OldCopy
	case outcome == access.Rules && kind == robotstxt.HTMLKind:
		return HTML
	case outcome == access.Rules:
		return WithRules
	case outcome.InOutage(), outcome == access.Cut:
		return Unreachable
	}
	switch {
	case status == 401 || status == 403:
		return Refused
	case status == 404 || status == 410:
		return NoFile
	}
	return Other
}
