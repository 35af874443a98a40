package lint

import (
	"bytes"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// checkRule adds findings about a rule that do not depend on other rules. After a finding that
// makes the rest of the pattern meaningless it stops.
func (c *checker) checkRule(rule *robotstxt.Rule) {
	line := c.lines[rule.Line-1]
	at := valueAt(line, rule.Pattern)
	pattern := rule.Pattern
	if len(pattern) == 0 {
		if rule.Allow {
			c.add("empty-allow", rule.Line, valueAt(line, content(line)), "an allow without a pattern has no effect")
		}
		return
	}
	c.checkComment(rule)
	c.checkCharacters(rule.Line, pattern)
	matchesNothing := pattern[0] != '/' && pattern[0] != '*'
	if i := bytes.IndexAny(pattern, blanks); i >= 0 {
		effect := ", so it matches only URLs with a blank: write %20 if one is meant, else"
		if matchesNothing {
			effect = ":"
		}
		c.add("blank-in-pattern", rule.Line, at+i, "the blank is part of the pattern%s give each rule one pattern, and start comments with #", effect)
		return
	}
	if matchesNothing {
		return // addWithoutSlash has said so
	}
	if !rule.Allow && c.profile == robotstxt.RFC9309 && matcher.NormalPattern(pattern, robotstxt.RFC9309) == "/robots.txt$" {
		c.add("dead-rule", rule.Line, valueAt(line, content(line)), "the rule never decides: /robots.txt is always allowed")
	}
	c.checkEscapes(rule.Line, at, pattern)
	if i := bytes.IndexByte(pattern[:len(pattern)-1], '$'); i >= 0 {
		c.add("dollar-inside", rule.Line, at+i, "$ means the end of the URL only at the end of the pattern: here it is an ordinary character")
	}
}

// checkEscapes adds a finding for the first fault in the percent-encoding of a pattern, which
// starts at byte start of line number.
func (c *checker) checkEscapes(number, start int, pattern []byte) {
	for i := 0; i < len(pattern); i++ {
		char := pattern[i]
		decoded, isEscape := urls.Unescape(pattern, i)
		switch {
		case char == '%' && !isEscape:
			c.add("broken-escape", number, start+i, "%% without two hex digits means itself: write %%25, or add the missing digit")
			return
		case decoded == '%' && i+4 < len(pattern) && isHex(pattern[i+3]) && isHex(pattern[i+4]):
			c.add("double-escape", number, start+i, "%s is an escaped escape: it matches only URLs that contain it in this form", pattern[i:i+5])
			return
		case isEscape:
			if c.profile == robotstxt.Google && urls.IsUnreserved(decoded) {
				written := bytes.ToUpper(pattern[i : i+3]) // of the pattern's digits, and not of the URL's
				c.add("escape-as-written", number, start+i, "google compares %s as %s: the rule does not match URLs with another spelling of it, such as %q",
					pattern[i:i+3], written, string(rune(decoded)))
				return
			}
			i += 2
		case c.profile == robotstxt.Google && (char < 0x21 || char == 0x7F || bytes.IndexByte([]byte("\"<>\\^`{|}"), char) >= 0):
			c.add("unescaped-character", number, start+i, "google compares %q as written: the rule does not match URLs that have it as %%%02X", string(rune(char)), char)
			return
		}
	}
}

// isHex reports whether a byte is a hex digit. 0x20 is the bit that makes a letter lower case.
func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
