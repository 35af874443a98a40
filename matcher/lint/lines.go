package lint

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/spelling"
)

var (
	// known are the records that a job reads.
	known = []string{"user-agent", "allow", "disallow", "sitemap", "crawl-delay"}
	// others are records of single crawlers or services, no mistakes.
	others = []string{
		"host", "clean-param", "request-rate", "visit-time", "robot-version", "comment",
		"content-signal", "content-usage", "license", "schemamap",
	}
	// metaTags are values of the robots meta tag, which have no effect in a robots.txt.
	metaTags = []string{"noindex", "nofollow", "noarchive", "nosnippet", "noimageindex", "noodp", "noydir", "index", "follow"}
)

// checkLines checks each line by itself.
func (c *checker) checkLines() {
	for _, w := range c.file.Warnings {
		if w.Line > 0 {
			c.addWarning(w)
		}
	}
	c.report.More += c.file.WarningCount - len(c.file.Warnings)
	for i, line := range c.lines {
		c.checkEncoding(i+1, line)
		r, ok := recordOf(line)
		if !ok {
			continue
		}
		switch key := strings.ToLower(string(r.key)); {
		case key == "sitemap" || key == "site-map":
			c.checkURL("relative-sitemap", "Sitemap", i+1, &r)
		case key == "license":
			c.checkURL("relative-license", "License", i+1, &r)
		case slices.Contains(metaTags, key):
			c.add("meta-tag", i+1, r.keyAt, "%s is no record of a robots.txt: use the meta tag robots or the header X-Robots-Tag, in a page that may be fetched", quote(r.key))
		}
	}
}

// addWarning turns a warning of the parser into a finding.
func (c *checker) addWarning(w robotstxt.Warning) {
	if w.Line > len(c.lines) {
		return
	}
	line := c.lines[w.Line-1]
	text := content(line)
	start := len(line) - len(bytes.TrimLeft(line, blanks))
	r, _ := recordOf(line)
	switch w.Kind {
	case robotstxt.LineCut:
		c.add("line-cut", w.Line, 0, "the line is longer than the 16,663 bytes that google reads of it")
	case robotstxt.NULInLine:
		c.add("nul-in-line", w.Line, max(0, bytes.IndexByte(line, 0)), "a NUL byte ends the line: what follows it is ignored")
	case robotstxt.NotARecord:
		c.addNoRecord(w.Line, start, text)
	case robotstxt.EmptyKey:
		c.add("empty-key", w.Line, start, "nothing is before the colon: the line is ignored")
	case robotstxt.MissingColon:
		c.add("missing-colon", w.Line, start, "a blank is in place of the colon: google reads the record all the same, and by RFC 9309 it is none")
	case robotstxt.MisspelledKey:
		key, _, _ := bytes.Cut(text, []byte(":"))
		c.add("misspelt-record", w.Line, start, "%s is misspelt: some crawlers ignore the line", quote(bytes.TrimRight(key, blanks)))
	case robotstxt.KeyPrefix, robotstxt.UnknownKey:
		c.addUnknown(w.Line, &r)
	case robotstxt.RuleBeforeGroup:
		c.add("rule-before-group", w.Line, start, "the line is before the first user-agent line: it is nobody's and is ignored")
	case robotstxt.PatternWithoutSlash:
		c.addWithoutSlash(w.Line, line)
	}
}

// addNoRecord tells a record without its colon from text that is none.
func (c *checker) addNoRecord(number, at int, text []byte) {
	word := text
	if i := bytes.IndexAny(text, " \t"); i >= 0 {
		word = text[:i]
	}
	if slices.Contains(known, strings.ToLower(string(word))) {
		c.add("broken-record", number, at, "the line has no colon and is ignored: was %s: meant?", string(word))
		return
	}
	c.add("not-a-record", number, at, "%s is no record and no comment: it is ignored", quote(text))
}

// addUnknown tells a misspelt record from one that is unknown.
func (c *checker) addUnknown(number int, r *record) {
	key := strings.ToLower(string(r.key))
	for _, k := range known {
		if len(key) > len(k) && strings.HasPrefix(key, k) {
			c.add("record-with-more", number, r.keyAt, "%s only starts with %s: google reads it as that, and by RFC 9309 it is unknown and ignored", quote(r.key), k)
			return
		}
	}
	if slices.Contains(others, key) || slices.Contains(metaTags, key) {
		return
	}
	if near := spelling.Nearest(key, known); near != "" {
		c.add("unknown-near-record", number, r.keyAt, "%s is unknown, and the line is ignored: was %s meant?", quote(r.key), near)
		return
	}
	c.add("unknown-record", number, r.keyAt, "%s is a record that is unknown here: it is ignored", quote(r.key))
}

// addWithoutSlash says why a pattern never matches.
func (c *checker) addWithoutSlash(number int, line []byte) {
	r, ok := recordOf(line)
	if !ok { // a blank stands for the colon
		text := content(line)
		r.value = text[bytes.LastIndexAny(text, " \t")+1:]
		r.valueAt = valueAt(line, r.value)
	}
	if bytes.Contains(r.value, []byte("://")) {
		c.add("missing-slash", number, r.valueAt, "a pattern is a path and no URL: %s matches nothing", quote(r.value))
		return
	}
	c.add("missing-slash", number, r.valueAt, "a pattern starts with / or *: %s matches nothing", quote(r.value))
}

// checkURL checks that the value of a record is an absolute URL.
func (c *checker) checkURL(code, name string, number int, r *record) {
	u, err := url.Parse(string(r.value))
	switch {
	case len(r.value) == 0:
		c.add(code, number, r.keyAt, "%s has no URL", name)
	case err == nil && u.Scheme != "" && u.Host != "":
	default:
		c.add(code, number, r.valueAt, "%s takes a URL with scheme and host, and %s is none", name, quote(r.value))
	}
}

// checkCrawlDelay checks the value of a crawl-delay.
func (c *checker) checkCrawlDelay(d robotstxt.Record) {
	if _, ok := matcher.ParseCrawlDelay(d.Value); !ok {
		line := c.lines[d.Line-1]
		c.add("crawl-delay-value", d.Line, valueAt(line, d.Value), "a crawl-delay is a number of seconds: %s is none", quote(d.Value))
	}
}
