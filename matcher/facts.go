package matcher

import (
	"strconv"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Facts are what is known of an authority's robots.txt beside its rules.
type Facts struct {
	// Fetched is the time of the fetch that decides, in seconds since 1970; 0
	// where it is not known.
	Fetched int64
	// Until is when something else became known, in seconds since 1970; 0 where
	// nothing did, or where the source knows no history.
	Until int64
	// Status is its HTTP status; 0 where it is not known, or there was no
	// answer. Of a redirect it is its own, not its target's.
	Status int
	// Kind is what the body whose rules decide looks like; robotstxt.NoKind where
	// there is none.
	Kind robotstxt.BodyKind
	// Records are those of the body whose rules decide; nil where there is no
	// such body, or where the source was not asked to keep them.
	Records *Records
}

// Age is how many seconds before asOf, a time in seconds since 1970, the fetch
// was; negative for one after it. known is false where either time is not.
func (f *Facts) Age(asOf int64) (seconds int64, known bool) {
	if f.Fetched == 0 || asOf == 0 {
		return 0, false
	}
	return asOf - f.Fetched, true
}

// CrawlDelay is the crawl-delay for a chain, by its number, in seconds; known is
// false where there is none.
func (f *Facts) CrawlDelay(chain int) (seconds float64, known bool) {
	if f.Records == nil || f.Records.CrawlDelays[chain] == NoCrawlDelay {
		return 0, false
	}
	return f.Records.CrawlDelays[chain], true
}

// Records are the records of a body that are no rules (RFC 9309 §2.2.4), as far
// as they concern the chains that a source was opened for. They are immutable.
type Records struct {
	// CrawlDelays has one element a chain, in seconds; NoCrawlDelay for none.
	CrawlDelays []float64
	// Sitemaps are the values of the sitemap records, in their order, without
	// empty ones: the first MaxSitemaps of them that have MaxSitemapBytes
	// together. Bytes that are not UTF-8 are %XX, and so are white space, control
	// characters, quotes and backslashes of ASCII, which no URL has and which
	// formats write as several.
	Sitemaps []string
	// MoreSitemaps says that there were more.
	MoreSitemaps bool
}

const (
	// NoCrawlDelay stands for no crawl-delay.
	NoCrawlDelay = -1.0
	// MaxSitemaps is how many sitemaps Records keep, and MaxSitemapBytes how
	// many bytes these have together: they are repeated in every row of an
	// authority, and a hostile body of half a megabyte must not be.
	MaxSitemaps     = 100
	MaxSitemapBytes = 2048
)

// CollectRecords collects the records of a body for each agent. An agent's
// crawl-delay is the first number below the user-agent line that names it, in
// the groups that it has to obey (RFC 9309 §2.2.1): one for everyone is not that
// of an agent with a group of its own, nor, where crawl-delays alone lie between
// user-agent lines and so leave them one group, one above the line. Nothing of f
// is kept.
func CollectRecords(f *robotstxt.File, agents *Agents) *Records {
	r := &Records{CrawlDelays: make([]float64, len(agents.chains))}
	var s selector
	s.choose(f, agents)
	for i := range agents.chains {
		r.CrawlDelays[i] = crawlDelay(f, s.groupsOf(agents.decides(i, s.has)))
	}
	for _, s := range f.Sitemaps {
		r.AddSitemap(s.Value)
	}
	return r
}

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

// ParseCrawlDelay reads the value of a crawl-delay record: seconds as a decimal
// number without sign, such as "10", "0.5" or ".5". Anything else is none.
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
	return seconds, err == nil // it may be out of range
}

// AddSitemap adds the value of a sitemap record, unless it is empty or there are
// enough.
func (r *Records) AddSitemap(value []byte) {
	if len(value) == 0 || r.MoreSitemaps {
		return
	}
	text := len(value) // at least; a value is not copied to be left out
	for _, s := range r.Sitemaps {
		text += len(s)
	}
	if len(r.Sitemaps) == MaxSitemaps || text > MaxSitemapBytes {
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
	if text += len(escaped) - len(value); text > MaxSitemapBytes {
		r.MoreSitemaps = true
		return
	}
	r.Sitemaps = append(r.Sitemaps, string(escaped))
}

// Size is about how many bytes of memory the records take.
func (r *Records) Size() int {
	const around, text = 64, 16
	size := around + 8*len(r.CrawlDelays)
	for _, s := range r.Sitemaps {
		size += text + len(s)
	}
	return size
}
