package lint

import (
	"bytes"
	"slices"
	"strings"

	"robotsbatch/matcher/robotstxt"
)

// checkAgents adds findings about the values of the user-agent lines of a group.
func (c *checker) checkAgents(g *robotstxt.Group) {
	for _, a := range g.Agents {
		if !a.Everyone() {
			c.checkAgent(a)
		} else if rest := bytes.Trim(a.Value[1:], blanks); len(rest) > 0 {
			c.addAgent("agent-with-more", a, "the line is for everyone: what follows * is ignored")
		}
	}
}

// addAgent adds a finding at the value of a user-agent line; see add.
func (c *checker) addAgent(code string, a robotstxt.Agent, format string, args ...any) {
	c.add(code, a.Line, valueAt(c.lines[a.Line-1], a.Value), format, args...)
}

// checkAgent adds findings about the value of a user-agent line that is not for everyone: at
// most one about its form, and one about its spelling.
func (c *checker) checkAgent(a robotstxt.Agent) {
	token, word := a.Names(robotstxt.RFC9309)
	rest := a.Value[len(word):] // empty, or starts with a slash or a blank
	if c.checkCharacters(a.Line, a.Value) {
		return
	}
	switch {
	case len(a.Value) == 0:
		c.addAgent("agent-names-nobody", a, "the line names no crawler")
	case isHeader(a.Value):
		c.addHeader(a, token)
	case len(token) == 0 && !robotstxt.IsName(word):
		c.addAgent("agent-names-nobody", a, "%s names no crawler: a product token has letters, - and _, and * stands alone", quote(a.Value))
	case isList(a.Value):
		c.addAgent("agent-list", a, "a user-agent line is for one crawler, and this one for %s: each other takes a line of its own (RFC 9309, erratum 8895)", c.quotedName(a))
	case bytes.ContainsAny(rest, blanks):
		c.addAgent("agent-with-blanks", a, "a product token has no blanks: the line names %s", c.quotedName(a))
	case len(rest) > 0 || !robotstxt.IsName(word):
		c.addAgent("agent-with-more", a, "the line names %s: what follows is no part of a name", c.quotedName(a))
	case len(token) < len(word) && c.profile == robotstxt.Google:
		c.addAgent("agent-beyond-grammar", a, "google ends a name at its first character that is no letter, - or _: the line names %s, and not %s", c.quotedName(a), quote(word))
	}
	c.checkSpelling(a, token)
}

// quotedName returns the name of the agent that a line is for under the profile, for a message:
// quoted, or "nobody".
func (c *checker) quotedName(a robotstxt.Agent) string {
	if name := a.Crawler(c.profile); len(name) > 0 {
		return quote(name)
	}
	return "nobody"
}

// isList reports whether a value has several names, separated by ',', ';' or '|'.
func isList(value []byte) bool {
	names := bytes.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' || r == '|' })
	for _, name := range names {
		if !robotstxt.IsName(bytes.Trim(name, blanks)) {
			return false
		}
	}
	return len(names) > 1
}

// isHeader reports whether a value looks like a User-Agent header.
func isHeader(value []byte) bool {
	lower := strings.ToLower(string(value))
	return strings.HasPrefix(lower, "mozilla/") && strings.Contains(lower, "(") || strings.Contains(lower, "(compatible")
}

// addHeader adds a finding for a line whose value is a whole User-Agent header. token is the product
// token that the line has with that value, empty for none. The finding says what to write.
func (c *checker) addHeader(a robotstxt.Agent, token []byte) {
	names := "names nobody"
	if len(token) > 0 {
		names = "names " + quote(token)
	}
	advice := " alone"
	if meant := tokenInHeader(string(a.Value)); meant != "" && !strings.EqualFold(meant, string(token)) {
		advice = ", " + quote([]byte(meant))
	}
	c.addAgent("agent-header", a, "a User-Agent header %s: give the product token%s", names, advice)
}

// tokenInHeader returns the first product in a User-Agent header that is a known token or ends
// as crawlers' tokens do; "" if there is none.
func tokenInHeader(header string) string {
	if _, after, found := strings.Cut(header, "compatible;"); found {
		header = after
	}
	for _, product := range strings.FieldsFunc(header, func(r rune) bool { return strings.ContainsRune(" ();,", r) }) {
		name, _, _ := strings.Cut(product, "/")
		lower := strings.ToLower(name)
		if slices.Contains(knownTokens(), lower) {
			return name
		}
		for _, end := range []string{"bot", "spider", "crawler"} {
			if len(lower) > len(end) && lower != "robot" && strings.HasSuffix(lower, end) {
				return name
			}
		}
	}
	return ""
}

// checkSpelling adds a finding for a name that is a company's or a product's rather than a
// crawler's, or that is likely misspelt. The names of many crawlers are similar, so only typing
// errors count. token is the product token of the line.
func (c *checker) checkSpelling(a robotstxt.Agent, token []byte) {
	if names := meantNames[strings.ToLower(string(token))]; names != "" {
		c.addAgent("agent-other-name", a, "no crawler is known as %s: was %s meant?", quote(token), names)
		return
	}
	const least = 6 // bytes; shorter names are similar by chance
	_, word := a.Names(robotstxt.RFC9309)
	lower := strings.ToLower(string(token))
	if len(lower) < least || len(word) > len(token) || slices.Contains(knownTokens(), lower) {
		return
	}
	for i, known := range knownTokens() {
		if isMisspelt(lower, known) {
			c.addAgent("agent-misspelt", a, "%s is not known here: was %s meant?", quote(token), tokens[i])
			return
		}
	}
}

// isMisspelt reports whether name differs from meant by a typing error: two neighbours swapped,
// a letter left out or doubled, or "_" for "-". They are in lower case, and not equal.
func isMisspelt(name, meant string) bool {
	if strings.ReplaceAll(name, "_", "-") == strings.ReplaceAll(meant, "_", "-") {
		return true
	}
	same := 0 // common prefix
	for same < len(name) && same < len(meant) && name[same] == meant[same] {
		same++
	}
	rest, restMeant := name[same:], meant[same:]
	switch len(rest) - len(restMeant) {
	case 0:
		return len(rest) > 1 && rest[0] == restMeant[1] && rest[1] == restMeant[0] && rest[2:] == restMeant[2:]
	case -1: // a letter is left out, but not the first: the rest may name another crawler
		return same > 0 && rest == restMeant[1:]
	case 1:
		return same > 0 && rest[0] == name[same-1] && rest[1:] == restMeant
	}
	return false
}
