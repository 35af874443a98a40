package reference

// Capture is one fetch of a URL.
type Capture struct {
	// Source ranks the sources of captures: the lowest number takes precedence.
	Source int
	URL    string
	// Second is the time of the fetch; 0 means unknown, which sorts before all others.
	Second int64
	// Status is that of the answer; Failed if there was none.
	Status int
	Failed bool
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
	// Access is rules, allow or deny; empty if nothing is known.
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
func (c *Captures) At(url string, second int64) Known { return c.at(url, second, mostHops) }

func (c *Captures) at(url string, second int64, hops int) Known {
	captures := c.upTo(url, second)
	if len(captures) == 0 {
		return Known{}
	}
	newest := len(captures) - 1
	known := c.mean(captures[newest], second, hops)
	if !unreachable(known) {
		return known
	}
	first := newest // the first of the consecutive captures that found it unreachable
	for first > 0 && unreachable(c.mean(captures[first-1], second, hops)) {
		first--
	}
	since := captures[first].Second
	if since == 0 || second-since < staleAfter {
		return known
	}
	if first > 0 {
		if good := c.mean(captures[first-1], second, hops); good.Access == "rules" {
			good.Stale = true
			return good
		}
	}
	known.Access, known.Body, known.Stale = "allow", "", false
	return known
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

// mean returns what one capture means by itself.
func (c *Captures) mean(capture Capture, second int64, hops int) Known {
	known := Known{Second: capture.Second, Status: capture.Status}
	switch status := capture.Status; {
	case capture.Failed:
		known.Access, known.Status = "deny", 0
	case status >= 300 && status < 400:
		var target Known
		if capture.Target != "" && hops > 0 {
			target = c.at(capture.Target, second, hops-1)
		}
		if target.Access != "" && !target.unresolved {
			known.Access, known.Body, known.Stale = target.Access, target.Body, target.Stale
			return known
		}
		known.Access, known.unresolved = "allow", true
		if c.DenyUnresolved {
			known.Access = "deny"
		}
	case status == 0 || status >= 200 && status < 300:
		known.Access, known.Body = "rules", capture.Body
	case status >= 400 && status < 500 && (status != 429 || c.Allow429):
		known.Access = "allow"
	default:
		known.Access = "deny"
	}
	return known
}

// unreachable reports whether a state counts toward the 30 days.
func unreachable(k Known) bool { return k.Access == "deny" && !k.unresolved }
