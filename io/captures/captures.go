package captures

import (
	"crypto/sha256"
	"math"
	"net/url"
	"strings"
	"time"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// Capture is one fetch of a robots.txt, or of what one redirects to.
type Capture struct {
	// URL that was fetched.
	URL []byte
	// Time of the fetch; the zero time is unknown.
	Time time.Time
	// Status of the answer; 0 is unknown, and means 200.
	Status int
	// Failed says that there was no answer.
	Failed bool
	// Location is where a redirect leads, as written; empty for none.
	Location string
	// Body of the answer, decoded.
	Body []byte
	// Cut says that Body is only the beginning of what the server sent.
	Cut bool
}

// Options say how bodies are read. The zero value is the default.
type Options struct {
	// Chains are the agents; each Origin gets a Trie for each, in their order.
	Chains []matcher.Chain
	// Profile is the reading of the protocol; default robotstxt.RFC9309.
	Profile matcher.Profile
	// Limit is how many octets of a body count (RFC 9309 §2.5); values below
	// robotstxt.DefaultLimit mean robotstxt.DefaultLimit. The Google profile
	// has no limit of its own: of a longer body, robotstxt.MaxGoogleBody octets
	// count.
	Limit int
	// Records keeps the records that are no rules, for Origin.Facts.
	Records bool
}

// BodyLimit is how many octets of a body matter: those that count. Readers keep
// one more, by which it shows that there were more.
func (o *Options) BodyLimit() int {
	return robotstxt.Options{Profile: o.Profile, Limit: o.Limit}.ReadLimit()
}

// Numbers of nodes and bodies that are none.
const none = -1

// capture is what is kept of a Capture.
type capture struct {
	time   int64 // nanoseconds since 1970; unknownTime for none
	node   int32 // of the URL
	target int32 // node of a redirect's target, or none
	body   int32 // number of the body, or none
	order  int32 // in which it came
	status int16
	failed bool
}

// unknownTime is before every other time.
const unknownTime = math.MinInt64

// body is what is kept of a distinct body.
type body struct {
	tries   []matcher.Trie
	records *matcher.Records // nil unless they were asked for
	html    bool
	limited bool
}

// bodyKey tells bodies apart.
type bodyKey struct {
	hash [sha256.Size]byte
	cut  bool
}

// Collector takes captures. It is for one goroutine.
type Collector struct {
	options  Options
	scratch  matcher.Scratch
	nodes    map[string]int32
	isOrigin []bool // for each node whether it is an authority's robots.txt
	captures []capture
	numbers  map[bodyKey]int32
	bodies   []body
	newest   int64
	stats    Stats
}

// NewCollector returns an empty collector.
func NewCollector(o Options) *Collector {
	return &Collector{
		options: o,
		nodes:   make(map[string]int32),
		numbers: make(map[bodyKey]int32),
		newest:  unknownTime,
	}
}

// Add takes a capture and keeps nothing of its memory. One whose URL is none
// that can have rules is counted and ignored.
func (c *Collector) Add(x *Capture) {
	node := c.node(x.URL)
	if node == none || len(c.captures) == math.MaxInt32 {
		c.stats.Ignored++
		return
	}
	c.stats.Captures++
	if !c.isOrigin[node] {
		c.stats.Elsewhere++
	}
	kept := capture{
		time: nanoseconds(x.Time), node: node, target: none, body: none,
		order: int32(len(c.captures)), status: clampStatus(x.Status), failed: x.Failed,
	}
	switch {
	case x.Failed:
	case x.Status/100 == 3 && x.Status != 304:
		kept.target = c.target(x)
	case x.Status == 0 || x.Status/100 == 2:
		kept.body = c.body(x)
	}
	c.newest = max(c.newest, kept.time)
	c.captures = append(c.captures, kept)
}

func clampStatus(status int) int16 {
	if status < 0 || status > math.MaxInt16 {
		return -1
	}
	return int16(status)
}

// The years for which nanoseconds since 1970 are defined.
const firstYear, lastYear = 1700, 2200

func nanoseconds(t time.Time) int64 {
	if year := t.Year(); year < firstYear || year > lastYear {
		return unknownTime
	}
	return t.UnixNano()
}

func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == unknownTime {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}

// seconds is a time in whole seconds since 1970, 0 for one that is unknown.
func seconds(nanoseconds int64) int64 {
	if nanoseconds == unknownTime {
		return 0
	}
	return time.Unix(0, nanoseconds).Unix()
}

// Newest is the time of the newest capture, the zero time when there is none.
func (c *Collector) Newest() time.Time { return timeOf(c.newest) }

// node is the number of a URL, or none for one that has no authority.
func (c *Collector) node(url []byte) int32 {
	authority, path, reason := c.scratch.Split(url)
	if reason != matcher.NoReason {
		return none
	}
	isOrigin := string(path) == "/robots.txt"
	key := authority
	if !isOrigin {
		key = append(append(make([]byte, 0, len(authority)+len(path)), authority...), path...)
	}
	key = shorten(key)
	if number, ok := c.nodes[string(key)]; ok {
		return number
	}
	if len(c.isOrigin) == math.MaxInt32 {
		return none
	}
	number := int32(len(c.isOrigin))
	c.nodes[string(key)] = number
	c.isOrigin = append(c.isOrigin, isOrigin)
	return number
}

// maxKey is the longest key that is kept as it is, in octets.
const maxKey = 128

// shorten returns the key, or a hash of one that is long, which no key is: a
// key never starts with a NUL.
func shorten(key []byte) []byte {
	if len(key) <= maxKey {
		return key
	}
	hash := sha256.Sum256(key)
	return append([]byte{0}, hash[:]...)
}

// target is the node of a redirect's target, which its Location names relative
// to the URL that was fetched (RFC 9110 §10.2.2); none where there is none.
func (c *Collector) target(x *Capture) int32 {
	location := strings.TrimSpace(x.Location)
	if location == "" {
		return none
	}
	if reference, err := url.Parse(location); err == nil && !reference.IsAbs() {
		base, err := url.Parse(string(matcher.TrimURL(x.URL)))
		if err != nil {
			return none
		}
		location = base.ResolveReference(reference).String()
	}
	return c.node([]byte(location))
}

// body is the number of a capture's body, which is compiled if it is new.
func (c *Collector) body(x *Capture) int32 {
	text := x.Body
	limit := c.options.BodyLimit()
	cut := x.Cut
	if c.options.Profile == robotstxt.Google && len(text) > limit {
		text, cut = text[:limit], true
	}
	// The octet after the limit, too: it tells a line that is cut.
	text = text[:min(len(text), limit+1)]
	key := bodyKey{sha256.Sum256(text), cut}
	if number, ok := c.numbers[key]; ok {
		return number
	}
	file := robotstxt.Parse(text, robotstxt.Options{Profile: c.options.Profile, Limit: c.options.Limit, Cut: cut})
	number := int32(len(c.bodies))
	b := body{tries: matcher.Compile(file, c.options.Chains), html: looksLikeHTML(file), limited: file.Limited}
	if c.options.Records {
		b.records = matcher.CollectRecords(file, c.options.Chains)
	}
	c.bodies = append(c.bodies, b)
	c.numbers[key] = number
	return number
}

func looksLikeHTML(file *robotstxt.File) bool {
	for _, warning := range file.Warnings {
		if warning.Kind == robotstxt.HTMLBody {
			return true
		}
	}
	return false
}
