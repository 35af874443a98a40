package lint

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/spelling"
	"robotsbatch/matcher/usage"
)

var (
	// readKeys are the keys that a job reads.
	readKeys = []string{"user-agent", "allow", "disallow", "sitemap", "crawl-delay"}
	// foreignKeys are keys that single crawlers or services read; they are not mistakes.
	foreignKeys = []string{
		"host", "clean-param", "request-rate", "visit-time", "robot-version", "comment", "schemamap",
	}
	// metaTags are values of the robots meta tag. They have no effect in a robots.txt.
	metaTags = []string{"noindex", "nofollow", "noarchive", "nosnippet", "noimageindex", "noodp", "noydir", "index", "follow"}
)

// checkLines adds findings about single lines that the parser gives no warnings of.
func (c *checker) checkLines() {
	for i, line := range c.lines {
		c.checkEncoding(i+1, line)
		r, ok := pairOf(line)
		if !ok {
			continue
		}
		switch key := strings.ToLower(string(r.key)); {
		case key == "sitemap" || key == "site-map":
			c.checkURL("relative-sitemap", "Sitemap", i+1, &r)
		case key == "license" && !usage.IsLicense(r.value):
			c.checkURL("relative-license", "License", i+1, &r)
		case slices.Contains(metaTags, key):
			c.add("meta-tag", i+1, r.keyAt, "%s does not belong in a robots.txt: use the robots meta tag or the X-Robots-Tag header, on a page that crawlers may fetch", quote(r.key))
		}
	}
}

// addWarning adds a finding for a warning of the parser. Of a body that is no text it ignores those
// about lines.
func (c *checker) addWarning(w robotstxt.Warning) {
	switch {
	case w.Line == 0:
		c.addBodyWarning(w.Kind)
	case c.isText:
		c.addLineWarning(w)
	}
}

// addBodyWarning adds a finding for a warning about the whole body, and sets c.isText to false if
// the body is no text.
func (c *checker) addBodyWarning(kind robotstxt.WarningKind) {
	if kind == robotstxt.BodyLimited {
		return // checkBody has a finding for it, which says why
	}
	c.isText = false // first: see addRelated
	switch kind {
	case robotstxt.UTF16Body:
		c.add("utf16-body", 1, 0, "the body is UTF-16, though RFC 9309 requires UTF-8: google finds no rules in it")
	case robotstxt.HTMLBody:
		c.add("html-body", 1, 0, "the body is HTML or XML, not a robots.txt: check what the server sends")
	case robotstxt.BinaryBody:
		c.add("binary-body", 1, 0, "the body has control characters that no text has")
	}
}

// addLineWarning adds a finding for a warning about a line. Findings are at an offset in the line: where its
// content starts, 0 or that of the NUL.
func (c *checker) addLineWarning(w robotstxt.Warning) {
	line := c.lines[w.Line-1]
	text, start := content(line), indent(line)
	r, _ := pairOf(line)
	switch w.Kind {
	case robotstxt.LineCut:
		c.add("line-cut", w.Line, 0, "the line is longer than the 16,663 bytes that google reads of it")
	case robotstxt.NULInLine:
		c.add("nul-in-line", w.Line, max(0, bytes.IndexByte(line, 0)), "a NUL byte ends the line: the rest is ignored")
	case robotstxt.NotARecord:
		c.addNoRecord(w.Line, start, text)
	case robotstxt.EmptyKey:
		c.add("empty-key", w.Line, start, "there is no key before the colon: the line is ignored")
	case robotstxt.MissingColon:
		c.add("missing-colon", w.Line, start, "a blank takes the place of the colon: google accepts the record, though RFC 9309 does not")
	case robotstxt.MisspelledKey:
		c.add("misspelt-record", w.Line, start, "%s is misspelt: some crawlers ignore the line", quote(r.key))
	case robotstxt.KeyPrefix, robotstxt.UnknownKey:
		c.addUnknown(w.Line, &r)
	case robotstxt.RuleBeforeGroup:
		c.add("rule-before-group", w.Line, start, "the line comes before the first user-agent line: it applies to nobody and is ignored")
	case robotstxt.PatternWithoutSlash:
		c.addWithoutSlash(w.Line, line)
	}
}

// directives returns the keys of the lines about the use of what is fetched, in lower case.
func directives() (keys []string) {
	for d := range usage.Directives {
		keys = append(keys, strings.ToLower(d.String()))
	}
	return keys
}

// addNoRecord adds a finding for a line that is no record: broken-record if its first word is a
// key that a job reads, else not-a-record. text is its content, from an offset on.
func (c *checker) addNoRecord(number, offset int, text []byte) {
	word, _, _ := strings.Cut(strings.ReplaceAll(string(text), "\t", " "), " ")
	if slices.Contains(readKeys, strings.ToLower(word)) {
		c.add("broken-record", number, offset, "the line has no colon and is ignored: was %s: meant?", word)
		return
	}
	c.add("not-a-record", number, offset, "%s is neither a record nor a comment: it is ignored", quote(text))
}

// addUnknown adds a finding for a key that the profile does not know: one that only starts with
// a known key, one that is similar to a known key, or another one. Keys that single crawlers
// read, and those that checkLines finds, get none.
func (c *checker) addUnknown(number int, r *pair) {
	if robotstxt.ExtendsKey(r.key) {
		c.add("record-with-more", number, r.keyAt, "%s only starts like a known record: google accepts it as such, but by RFC 9309 it is unknown and ignored", quote(r.key))
		return
	}
	key := strings.ToLower(string(r.key))
	if slices.Contains(foreignKeys, key) || slices.Contains(metaTags, key) {
		return
	}
	if near := spelling.Nearest(key, append(directives(), readKeys...)); near != "" {
		c.add("unknown-near-record", number, r.keyAt, "%s is unknown, and the line is ignored: was %s meant?", quote(r.key), near)
		return
	}
	c.add("unknown-record", number, r.keyAt, "%s is not a known record: it is ignored", quote(r.key))
}

// addWithoutSlash adds a finding that says why a pattern never matches.
func (c *checker) addWithoutSlash(number int, line []byte) {
	r, ok := pairOf(line)
	if !ok { // white space takes the place of the colon
		text := content(line)
		r.value = text[bytes.LastIndexAny(text, " \t")+1:]
		r.valueAt = valueAt(line, r.value)
	}
	why := "must start with / or *"
	if bytes.Contains(r.value, []byte("://")) {
		why = "is a path, not a URL"
	}
	c.add("missing-slash", number, r.valueAt, "a pattern %s: %s matches nothing", why, quote(r.value))
}

// checkURL adds a finding of a code if the value of a record, whose key is name, is not a URL
// with scheme and host.
func (c *checker) checkURL(code, name string, number int, r *pair) {
	u, err := url.Parse(string(r.value))
	switch {
	case len(r.value) == 0:
		c.add(code, number, r.keyAt, "%s has no URL", name)
	case err == nil && u.Scheme != "" && u.Host != "":
	default:
		c.add(code, number, r.valueAt, "%s needs a URL with scheme and host: %s is not one", name, quote(r.value))
	}
}

// checkCrawlDelay adds a finding for a crawl-delay that is no number or large.
func (c *checker) checkCrawlDelay(d robotstxt.Record) {
	const most, day = 600, 86400 // seconds: 144 pages a day
	line := c.lines[d.Line-1]
	switch seconds, ok := matcher.ParseCrawlDelay(d.Value); {
	case ok && seconds >= most:
		pages := fmt.Sprintf("at most %d pages", int(day/seconds))
		switch {
		case seconds > day:
			pages = "less than one page"
		case seconds > day/2:
			pages = "at most one page"
		}
		c.add("crawl-delay-large", d.Line, valueAt(line, d.Value), "with a crawl-delay of %s seconds a crawler fetches %s a day", d.Value, pages)
	case !ok:
		c.add("crawl-delay-value", d.Line, valueAt(line, d.Value), "a crawl-delay is a number of seconds: %s is not one", quote(d.Value))
	}
}
