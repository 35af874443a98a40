package lint

import (
	"bytes"
	"net/url"
	"strings"
	"unicode/utf8"

	"robotsbatch/matcher"
	"robotsbatch/matcher/extent"
	"robotsbatch/matcher/robotstxt"
)

// checkSite adds a finding if the rules for everyone deny the whole site, or one of its
// sitemaps.
func (c *checker) checkSite(body *matcher.Body) {
	if !body.HasEveryone() || c.limited {
		return
	}
	everyone := body.Tries(nil, []matcher.Chain{{matcher.Everyone}})[0]
	if !c.closes(&everyone) {
		c.checkSitemaps(&everyone)
		return
	}
	number := everyone.Trace([]byte("/"))[0].Line // there is one: it closes the site
	if line := c.lines[number-1]; !joinsComment(line) {
		c.add("site-closed", number, indent(line), "the rule closes the whole site to each crawler that no other group names")
	}
}

// closes reports whether rules deny all paths.
func (c *checker) closes(t *matcher.Trie) bool {
	return denies(t, "/") && extent.Of(t).Extent == extent.All
}

// checkSitemaps adds a finding for each sitemap whose path is denied to everyone, though the
// sitemap may be on another site.
func (c *checker) checkSitemaps(everyone *matcher.Trie) {
	var target matcher.Target
	for i, line := range c.lines {
		r, ok := pairOf(line)
		if key := strings.ToLower(string(r.key)); !ok || key != "sitemap" && key != "site-map" {
			continue
		}
		u, err := url.Parse(string(r.value))
		if err != nil || u.Host == "" {
			continue
		}
		target.Set([]byte(u.RequestURI()), c.profile)
		if d := everyone.Match(&target); !d.Allowed {
			by := everyone.Rule(d.Rule).Line
			c.addRelated("sitemap-closed", i+1, r.valueAt, by, "if the sitemap is on this site, the rule in line %d denies it to each crawler that no other group names", by)
		}
	}
}

// matchesAll reports whether a pattern matches every path.
func matchesAll(pattern []byte) bool {
	return len(pattern) > 0 && len(bytes.Trim(pattern[1:], "*")) == 0 && (pattern[0] == '/' || pattern[0] == '*')
}

// joinsComment reports whether a comment follows the text of a line without a blank, and
// has none itself, so that it looks like a part of that text.
func joinsComment(line []byte) bool {
	i := bytes.IndexByte(line, '#')
	return i > 0 && strings.IndexByte(blanks, line[i-1]) < 0 && !bytes.ContainsAny(bytes.TrimRight(line[i:], blanks), blanks)
}

// checkCharacters adds a finding for the first invisible character of a pattern or a name, the
// value of line number, and for each HTML entity in it. It reports whether one is invisible.
func (c *checker) checkCharacters(number int, value []byte) (invisible bool) {
	at := valueAt(c.lines[number-1], value)
	if i := bytes.IndexFunc(value, isInvisible); i >= 0 {
		r, _ := utf8.DecodeRune(value[i:])
		c.add("invisible-character", number, at+i, "%U is invisible, but counts: delete it", r)
		invisible = true
	}
	for _, e := range entities {
		if i := bytes.Index(value, []byte(e.name)); i >= 0 {
			c.add("html-entity", number, at+i, "%s has no meaning outside HTML: write %s", e.name, e.meant)
		}
	}
	return invisible
}

// entities are what HTML editors make of characters.
var entities = []struct{ name, meant string }{{"&amp;", "&"}, {"&lt;", "%3C"}, {"&gt;", "%3E"}, {"&quot;", "%22"}}

// isInvisible reports whether a character has no width, or that of a blank. Those that some
// scripts need within words, such as U+200C, are no mistakes.
func isInvisible(r rune) bool {
	switch r {
	case 0xA0, 0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF:
		return true
	}
	return false
}

// checkComment adds a finding for a disallow rule whose pattern ends at a "#", if that was likely meant
// as a part of the pattern: see joinsComment.
func (c *checker) checkComment(rule *robotstxt.Rule) {
	line := c.lines[rule.Line-1]
	if rule.Allow || len(rule.Pattern) == 0 || !joinsComment(line) {
		return
	}
	i := bytes.IndexByte(line, '#')
	closes := ""
	if matchesAll(rule.Pattern) {
		closes = ", which closes the whole site"
	}
	c.add("comment-in-pattern", rule.Line, i, "# begins a comment: the pattern is %s%s; no URL that a crawler asks for has a #", quote(rule.Pattern), closes)
}
