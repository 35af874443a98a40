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
	// Refused: status 401 or 403, there or where a redirect leads.
	Refused
	// NoFile: status 404 or 410, there or where a redirect leads.
	NoFile
	// Other: another 4xx, there or where a redirect leads, or a redirect that ends nowhere.
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
func classOf(outcome access.Outcome, stale bool, kind robotstxt.BodyKind) Class {
	switch {
	case stale:
		return OldCopy
	case outcome == access.Rules && kind == robotstxt.HTMLKind:
		return HTML
	case outcome == access.Rules:
		return WithRules
	case outcome.InOutage(), outcome == access.Cut:
		return Unreachable
	case outcome == access.Refused:
		return Refused
	case outcome == access.NoFile:
		return NoFile
	}
	return Other
}
