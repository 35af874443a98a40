package reference

// Capture is one fetch of a URL.
type Capture struct {
	// Source ranks where the capture is from: the first source decides.
	Source int
	URL    string
	// Second of the fetch; 0 is not known, and before all others.
	Second int64
	// Status of the answer; Failed when there was none.
	Status int
	Failed bool
	// Target of a redirect; empty for none.
	Target string
	// Body of the answer.
	Body string
}

// Captures are all that is known, each URL's in the order of their times.
type Captures struct {
	All []Capture
	// Allow429 takes 429 for unavailable, DenyUnresolved a redirect that leads nowhere
	// for unreachable.
	Allow429, DenyUnresolved bool
}

// Known is what is known of a robots.txt at one time.
type Known struct {
	// Access is rules, allow or deny; empty when nothing is known.
	Access string
	// Body has the rules; Stale when it is the last good copy.
	Body  string
	Stale bool
	// Second is the time of the fetch that decides, and Status its status.
	Second int64
	Status int

	unresolved bool // a redirect leads nowhere
}

const (
	staleAfter = 30 * 24 * 60 * 60 // seconds; RFC 9309 §2.3.1.4
	mostHops   = 5                 // RFC 9309 §2.3.1.2
)

// At says what is known of a URL at a time: it takes all captures up to then and decides
// as if there were no later ones.
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
	first := newest // of those in a row that found it unreachable
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

// upTo returns the captures of a URL that are not after a time, oldest first, by the first
// source that has any.
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

// mean says what one capture means by itself.
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

// unreachable tells whether it counts for the 30 days.
func unreachable(k Known) bool { return k.Access == "deny" && !k.unresolved }
