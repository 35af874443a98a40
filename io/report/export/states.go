package export

import (
	"fmt"
	"slices"
	"time"

	"robotsbatch/io/rules/ruleset"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// Stated is what an agent is denied of an authority in a month.
type Stated struct {
	// Authority is the authority, and Registered its registered domain, empty for none. Both are valid
	// until the next call.
	Authority, Registered []byte
	// SURT is the host as domains.AppendSURT writes it, by which authorities are ordered.
	SURT []byte
	// Agent is an index of the chains, and Month one of the months; 0 without months.
	Agent, Month int
	// Class, Blocked, Root and By are the values of a survey's columns; empty for null.
	Class       Class
	Blocked, By string
	Root        bool
	// Captured says that the robots.txt was fetched in that month. It is also set if an old copy is
	// used, because the failed fetches since are not known one by one.
	Captured bool
	// Said has what is said of each use, by its index.
	Said []usage.Values
}

// States calls visit for each authority and agent, in the order of the rows of Survey. With months,
// it calls visit for each month in which something was known of the authority, month by month, with
// the state at the month's end; l must then have a history.
func States(l *ruleset.Listing, chains []matcher.Chain, uses []usage.Use, months []Month, visit func(*Stated) error) error {
	s := newSurveyor(chains, uses)
	var spans []matcher.Span
	reader := bodyReader{}
	return l.Each(func(listed *ruleset.Listed) error {
		const withBody = false
		a, _, err := reader.read(listed, withBody)
		if err != nil {
			return err
		}
		now := Stated{Authority: a.Key, Registered: a.registered, SURT: a.SURT, Class: a.class()}
		if len(months) == 0 {
			read, err := s.denied(a.Access, a.Pack(), a.Body)
			if err != nil {
				return err
			}
			return now.visitAgents(read, visit)
		}
		if spans, err = l.AppendSpans(spans[:0], listed); err != nil {
			return err
		}
		for i, month := range months {
			at := matcher.SpanAt(spans, month.last) // -1 if all spans are later
			if at < 0 || spans[at].Fetched == 0 || spans[at].Access == access.Cut {
				continue // nothing was known then
			}
			span := &spans[at]
			read, err := s.denied(span.Access, l.SpanPack(span), span.Body)
			if err != nil {
				return err
			}
			fetched, err := l.FetchedAt(a.Key, span, month.last)
			if err != nil {
				return err
			}
			// The failures that made a copy stale are not known one by one: one may be of this month.
			now.Month, now.Captured, now.Class = i, span.Stale || fetched >= month.first, classOf(span.Access, span.Stale, read.kind)
			if err := now.visitAgents(read, visit); err != nil {
				return err
			}
		}
		return nil
	})
}

// visitAgents calls visit for each agent, after it has set what read says about the agent.
func (s *Stated) visitAgents(read *surveyedBody, visit func(*Stated) error) error {
	for s.Agent = range read.each {
		agent := &read.each[s.Agent]
		s.Blocked, s.Root, s.By, s.Said = agent.blocked.String(), agent.root, agent.by, agent.said
		if err := visit(s); err != nil {
			return err
		}
	}
	return nil
}

// Month is one of a history.
type Month struct {
	// Name is such as "2026-03".
	Name string
	// Captured: there is a capture of this month.
	Captured bool
	// first is its first second, and last its last one or, in the last month, that of the newest fetch.
	first, last int64
}

// History is what a listing with a history covers.
type History struct {
	// First and Last are the times of the first and the last capture.
	First, Last time.Time
	// Months are those from the first to the last; none if no times are known.
	Months []Month
}

// Months returns the months that a listing with a history covers. It has none if no span has a time.
func Months(l *ruleset.Listing) (*History, error) {
	c := captureMonths{listing: l, months: make(map[int]bool)}
	var spans []matcher.Span
	err := l.Each(func(listed *ruleset.Listed) (err error) {
		if spans, err = l.AppendSpans(spans[:0], listed); err != nil {
			return err
		}
		for i := range spans {
			if err := c.add(listed.Key, &spans[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || c.first == 0 {
		return &History{}, err
	}
	h := &History{First: time.Unix(c.first, 0).UTC(), Last: time.Unix(c.last, 0).UTC()}
	for m := time.Date(h.First.Year(), h.First.Month(), 1, 0, 0, 0, 0, time.UTC); m.Unix() <= c.last; m = m.AddDate(0, 1, 0) {
		h.Months = append(h.Months, Month{
			Name: m.Format("2006-01"), Captured: c.months[monthOf(m.Unix())], first: m.Unix(), last: min(c.last, m.AddDate(0, 1, 0).Unix()-1),
		})
	}
	return h, nil
}

// monthOf returns the number of months from the year 0 to a time in seconds since 1970.
func monthOf(second int64) int {
	t := time.Unix(second, 0).UTC()
	return 12*t.Year() + int(t.Month())
}

// captureMonths finds the months with captures.
type captureMonths struct {
	listing     *ruleset.Listing
	months      map[int]bool
	first, last int64 // of all captures; 0 for none
}

// add marks the months in which a span has captures: those of its first and its last capture and, if
// a month between them is not marked yet, those of all its captures, whose times it then reads.
func (c *captureMonths) add(authority []byte, span *matcher.Span) error {
	if span.Fetched == 0 {
		return nil
	}
	if c.first == 0 || span.Fetched < c.first {
		c.first = span.Fetched
	}
	seen := max(span.Seen, span.Fetched)
	c.last = max(c.last, seen)
	from, to := monthOf(span.Fetched), monthOf(seen)
	c.months[from], c.months[to] = true, true
	isUnmarked := false
	for m := from + 1; m < to; m++ {
		isUnmarked = isUnmarked || !c.months[m]
	}
	if !isUnmarked {
		return nil
	}
	times, err := c.listing.FetchTimes(authority, span)
	for _, second := range times {
		c.months[monthOf(second)] = true
	}
	return err
}

// Class is the outcome of the fetches of a robots.txt. Each authority has one. A site with several
// authorities has the first of theirs, in the order of the constants.
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

// Reached reports whether the last fetch had an answer, which says what the site wants now.
func (c Class) Reached() bool { return c < OldCopy }

// ParseClass parses what String returns.
func ParseClass(text string) (Class, error) {
	n := slices.Index(classNames[:], text)
	if n < 0 {
		return 0, fmt.Errorf("the column class has %q, instead of %s or another class", text, WithRules)
	}
	return Class(n), nil
}

// classOf returns the class of an authority from the outcome of its fetches and the kind of
// its body. stale says that an old copy is used.
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
