package matcher

import (
	"strconv"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Facts describe an authority's robots.txt apart from its rules.
type Facts struct {
	// Fetched is the time of the fetch that decides, in seconds since 1970; 0 if unknown.
	Fetched int64
	// Until is the time from which another answer held, in seconds since 1970; 0 if none
	// followed, or if the source keeps no history.
	Until int64
	// Status is the HTTP status of the fetch; 0 if unknown or if there was no answer. For a
	// redirect it is the status of the redirect itself.
	Status int
	// Kind is what the body with the rules looks like; robotstxt.NoKind if there is no
	// body.
	Kind robotstxt.BodyKind
	// Records are the other records of the body with the rules; nil if there is no such
	// body, or if the source was not asked to keep them.
	Records *Records
	// Usage is what the body with the rules says of the use of what is fetched; nil if that
	// is nothing, or if the source was not asked.
	Usage *Usage
}

// Age returns how many seconds before asOf the fetch was; negative for a fetch after it.
// asOf is in seconds since 1970. known is false if either time is unknown.
func (f *Facts) Age(asOf int64) (seconds int64, known bool) {
	if f.Fetched == 0 || asOf == 0 {
		return 0, false
	}
	return asOf - f.Fetched, true
}

// CrawlDelay returns the crawl-delay in seconds for a chain, given by its index; known is
// false if there is none.
func (f *Facts) CrawlDelay(chain int) (seconds float64, known bool) {
	if f.Records == nil || f.Records.CrawlDelays[chain] == NoCrawlDelay {
		return 0, false
	}
	return f.Records.CrawlDelays[chain], true
}

// Records are the records of a body that are not rules (RFC 9309 §2.2.4), for the chains
// that a source was opened for. They are immutable.
type Records struct {
	// CrawlDelays has the seconds for each chain; NoCrawlDelay for none.
	CrawlDelays []float64
	// Sitemaps are the non-empty values of the sitemap records, in order: the first
	// MaxSitemaps, as far as they take MaxSitemapBytes together. Written as %XX: bytes that
	// are not UTF-8, and ASCII white space, control characters, quotes and backslashes. No
	// URL has those, and some output formats escape them.
	Sitemaps []string
	// MoreSitemaps is true if the body has more of them.
	MoreSitemaps bool
	// Digest is the SHA-256 of the part of the body that counts, in hexadecimal; empty if
	// the source was not asked for it.
	Digest string
}

const (
	// NoCrawlDelay means that there is no crawl-delay.
	NoCrawlDelay = -1.0
	// MaxSitemaps and MaxSitemapBytes bound the number and the total size of the sitemaps
	// in Records. These are repeated in every row of an authority, so a hostile body of
	// half a megabyte must not pass in whole.
	MaxSitemaps     = 100
	MaxSitemapBytes = 2048
)

// CollectRecords collects the records of a body for each agent. It does not alias f.
//
// An agent's crawl-delay is the first number after the user-agent line that names the
// agent, in the groups that it obeys (RFC 9309 §2.2.1). So the crawl-delay of "*" does not
// apply to an agent with a group of its own. A crawl-delay does not end a list of
// user-agent lines; it applies to the lines above it and not to those below.
func CollectRecords(f *robotstxt.File, agents *Agents) *Records {
	r := &Records{CrawlDelays: make([]float64, len(agents.chains))}
	var s selector
	s.choose(f, agents)
	for i := range agents.chains {
		r.CrawlDelays[i] = crawlDelay(f, s.groupsOf(agents.obeyed(i, s.has)))
	}
	for _, s := range f.Sitemaps {
		r.AddSitemap(s.Value)
	}
	return r
}

// crawlDelay returns the crawl-delay in seconds of an agent that obeys the chosen groups of f;
// NoCrawlDelay for none. See CollectRecords.
func crawlDelay(f *robotstxt.File, chosen []choice) float64 {
	for _, c := range chosen {
		for _, d := range f.Groups[c.group].CrawlDelays {
			if seconds, ok := ParseCrawlDelay(d.Value); ok && d.Line > c.agent.Line {
				return seconds
			}
		}
	}
	return NoCrawlDelay
}

// ParseCrawlDelay parses the value of a crawl-delay record: seconds as an unsigned decimal
// number, such as "10", "0.5" or ".5". ok is false for anything else.
func ParseCrawlDelay[T string | []byte](value T) (seconds float64, ok bool) {
	digits, points := 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c == '.':
			points++
		default:
			return 0, false
		}
	}
	if digits == 0 || points > 1 {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(string(value), 64)
	return seconds, err == nil // err is set for a number out of range
}

// AddSitemap adds the value of a sitemap record to r.Sitemaps. It ignores an empty value. If the
// value exceeds a limit, it sets MoreSitemaps instead, and ignores all values after that.
func (r *Records) AddSitemap(value []byte) {
	if len(value) == 0 || r.MoreSitemaps {
		return
	}
	size := len(value) // a lower bound; the value is not copied before it is known to fit
	for _, s := range r.Sitemaps {
		size += len(s)
	}
	if len(r.Sitemaps) == MaxSitemaps || size > MaxSitemapBytes {
		r.MoreSitemaps = true
		return
	}
	escaped := make([]byte, 0, len(value))
	for _, c := range AppendValid(nil, value) {
		if c <= ' ' || c == 0x7F || c == '"' || c == '\\' {
			escaped = urls.AppendEscape(escaped, c)
		} else {
			escaped = append(escaped, c)
		}
	}
	if size += len(escaped) - len(value); size > MaxSitemapBytes {
		r.MoreSitemaps = true
		return
	}
	r.Sitemaps = append(r.Sitemaps, string(escaped))
}

// Size returns an estimate of the memory of the records in bytes.
func (r *Records) Size() int {
	const fixed, header = 64, 16 // of the struct, and of a string
	size := fixed + 8*len(r.CrawlDelays) + len(r.Digest)
	for _, s := range r.Sitemaps {
		size += header + len(s)
	}
	return size
}
