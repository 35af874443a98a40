package reference

// Capture is one fetch of a URL.
type Capture struct {
	// Source ranks the sources of captures: the lowest number takes precedence.
	Source int
	URL    string
	// Second is the time of the fetch; 0 means unknown, which sorts before all others.
	Second int64
	// Status is that of the answer, 0 if it is not known. Failed means that no answer is known; with
	// Unread there may have been one, which cannot be read.
	Status         int
	Failed, Unread bool
	// Target is that of a redirect; empty for none.
	Target string
	// Body is that of the answer.
	Body string
}

// Captures are all known captures, those of each URL in the order of their times.
type Captures struct {
	All []Capture
	// Allow429 treats 429 as unavailable, DenyUnresolved treats a redirect that leads
	// nowhere as unreachable.
	Allow429, DenyUnresolved bool
}

// Known is the state of a robots.txt at one time.
type Known struct {
	// Access is rules, deny, "given up" where everything is allowed because of an outage of 30
	// days, or, where it is for another reason, "no file", "refused" or allow; empty if nothing
	// is known.
	Access string
	// Body has the rules. Stale means that it is the last good copy.
	Body  string
	Stale bool
	// Second is the time of the fetch that decides, Status its status.
	Second int64
	Status int

	unresolved bool // a redirect that leads nowhere
}

const (
	staleAfter = 30 * 24 * 60 * 60 // seconds; RFC 9309 §2.3.1.4
	mostHops   = 5                 // RFC 9309 §2.3.1.2
)

// At returns the state of a URL at a time. It considers all captures up to that time, as if
// there were no later ones.
func (c *Captures) At(url string, second int64) Known { return c.follow(url, second, mostHops) }

// follow is At for a URL from which at most hops redirects are followed.
func (c *Captures) follow(url string, second int64, hops int) Known {
	captures := c.upTo(url, second)
	newest := len(captures) - 1
	if newest < 0 {
		return Known{}
	}
	if c.answers(captures, newest) {
		return c.stateAfter(captures, newest, second, hops)
	}
	first := newest // of the outage
	for first > 0 && !c.answers(captures, first-1) {
		first--
	}
	known := Known{Access: "deny", Second: captures[newest].Second, Status: shown(captures[newest])}
	if !lasted(captures[first:]) {
		return known
	}
	if first > 0 {
		switch good := c.stateAfter(captures, first-1, second, hops); good.Access {
		case "rules":
			good.Stale = true
			return good
		case "deny":
			return known
		}
	}
	known.Access = "given up"
	return known
}

// lasted reports whether one of the failures is 30 days later than the first that has a time. Unread
// captures do not count: there may have been an answer.
func lasted(failures []Capture) bool {
	for i, first := range failures {
		if first.Second == 0 || first.Unread {
			continue
		}
		for _, later := range failures[i:] {
			if !later.Unread && later.Second-first.Second >= staleAfter {
				return true
			}
		}
		return false
	}
	return false
}

// shown returns the status of a capture as outputs have it: 0 if there was no answer.
func shown(c Capture) int {
	if c.Failed || c.Status < 0 {
		return 0
	}
	return c.Status
}

// upTo returns the captures of a URL up to a time, oldest first, from the first source that
// has any.
func (c *Captures) upTo(url string, second int64) []Capture {
	var found []Capture
	for _, capture := range c.All {
		if capture.URL != url || capture.Second > second {
			continue
		}
		if len(found) > 0 && capture.Source < found[0].Source {
			found = nil
		}
		if len(found) == 0 || capture.Source == found[0].Source {
			found = append(found, capture)
		}
	}
	return found
}

// answers reports whether a capture is an answer, rather than a failure.
func (c *Captures) answers(captures []Capture, i int) bool {
	switch status := captures[i].Status; {
	case captures[i].Failed:
		return false
	case status == 304:
		return renewed(captures, i) >= 0
	case status == 429:
		return c.Allow429
	default:
		return status == 0 || status >= 200 && status < 500 // a body without a status counts as 200
	}
}

// renewed returns the index of the newest 2xx before a 304; -1 for none.
func renewed(captures []Capture, i int) int {
	for i--; i >= 0; i-- {
		if x := captures[i]; !x.Failed && (x.Status == 0 || x.Status/100 == 2) {
			break
		}
	}
	return i
}

// stateAfter returns the state that captures[i], an answer, leads to: its own or, for a redirect, that of
// its target at second. At most hops redirects are followed. Second and Status are always those of
// captures[i].
func (c *Captures) stateAfter(captures []Capture, i int, second int64, hops int) Known {
	capture := captures[i]
	known := Known{Second: capture.Second, Status: shown(capture)}
	switch status := capture.Status; {
	case status == 304:
		known.Access, known.Body = "rules", captures[renewed(captures, i)].Body
	case status/100 == 3:
		var target Known
		if capture.Target != "" && hops > 0 {
			target = c.follow(capture.Target, second, hops-1)
		}
		if target.Access != "" && !target.unresolved {
			known.Access, known.Body, known.Stale = target.Access, target.Body, target.Stale
			return known
		}
		known.Access, known.unresolved = "allow", true
		if c.DenyUnresolved {
			known.Access = "deny"
		}
	case status == 404, status == 410:
		known.Access = "no file"
	case status == 401, status == 403:
		known.Access = "refused"
	case status/100 == 4:
		known.Access = "allow"
	default:
		known.Access, known.Body = "rules", capture.Body
	}
	return known
}
