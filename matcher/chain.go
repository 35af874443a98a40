package matcher

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"robotsbatch/matcher/robotstxt"
)

// Profile is the dialect of the protocol to follow; see [robotstxt.Profile].
type Profile = robotstxt.Profile

// Everyone is the name of the rules for all crawlers (RFC 9309 §2.2.1).
const Everyone = "*"

// Chain is a list of product tokens that share one verdict, most specific first. The first
// name that has a group decides, else the groups of [Everyone]. A chain that is [Everyone]
// alone asks for those groups only.
type Chain []string

// ParseChain parses names separated by commas, such as "Googlebot-News,Googlebot". A name
// with white space, a slash, a parenthesis or a semicolon is a User-Agent header rather
// than a product token (RFC 9309 §2.2.1): the error names the token to use in its place. An
// empty or partly wild name is an error, too, and so is [Everyone] before another name.
func ParseChain(s string) (Chain, error) {
	var chain Chain
	if strings.ContainsAny(s, "/();") {
		return nil, headerError(s)
	}
	for _, name := range strings.Split(s, ",") {
		if err := checkToken(name); err != nil {
			return nil, err
		}
		chain = append(chain, name)
	}
	for i, name := range chain {
		if name == Everyone && i < len(chain)-1 {
			return nil, fmt.Errorf("agent %q: %q stands for everyone and can only come last", s, Everyone)
		}
	}
	return chain, nil
}

// String returns the chain as ParseChain takes it.
func (c Chain) String() string { return strings.Join(c, ",") }

// Related reports whether the names of a chain look like those of one crawler: each shares
// its first three letters or more with the one before it, as Googlebot-News and Googlebot
// do. The names of a chain of one, and Everyone, are always related.
func (c Chain) Related() bool {
	const least = 3
	for i := 1; i < len(c); i++ {
		name, next := c[i-1], c[i]
		if n := min(least, len(name), len(next)); next != Everyone && !strings.EqualFold(name[:n], next[:n]) {
			return false
		}
	}
	return true
}

// foreign matches marks of shells, robots.txt lines and other notations where no name of a group
// has them. Names such as LWP::Simple, Xenu's and NetShift= exist.
var foreign = regexp.MustCompile(`(?i)["\x60#<>\[\]{}|]|^[':=]|[':]$|^user-?agent[:=]`)

// checkToken returns an error for a name that is neither a product token nor [Everyone]. It
// is more lenient than RFC 9309 §2.2.1: names with digits and dots exist.
func checkToken(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("an agent's name is empty: give a product token such as CCBot, or %q for the rules for everyone", Everyone)
	case strings.ContainsFunc(name, unicode.IsSpace):
		return fmt.Errorf("agent %q has a blank in it, and no product token has one: is it %s?", name, strings.Join(strings.Fields(name), ""))
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }):
		return fmt.Errorf("agent %q: a product token has no control characters in it", name)
	case name != Everyone && strings.Contains(name, Everyone):
		return fmt.Errorf("agent %q: a product token has no %q in it", name, Everyone)
	case foreign.MatchString(name):
		return fmt.Errorf("agent %q: a product token has none of \"`#<>[]{}| in it, and no quote or colon around it", name)
	}
	return nil
}

// headerError returns the error for an agent that looks like a User-Agent header. Its text suggests
// a product token, unless the header begins as those of browsers do, or is a URL.
func headerError(s string) error {
	if token := tokenOfHeader(s); token != "" && !strings.EqualFold(token, "Mozilla") && !strings.Contains(token, ":") {
		return fmt.Errorf("agent %q looks like a User-Agent header; give its product token: %s", s, token)
	}
	return fmt.Errorf("agent %q looks like a User-Agent header; give the crawler's product token, such as CCBot", s)
}

// tokenOfHeader returns the product token in a User-Agent header: the product after
// "compatible;", else the first product; "" if there is none.
func tokenOfHeader(header string) string {
	const compatible = "compatible;"
	s := header
	for i := range len(s) - len(compatible) + 1 { // not in the lower case of s, whose offsets may differ
		if strings.EqualFold(s[i:i+len(compatible)], compatible) {
			s = s[i+len(compatible):]
			break
		}
	}
	s = strings.TrimLeft(s, " \t\r\n\v\f(;/,")
	if i := strings.IndexAny(s, " \t\r\n\v\f/();,"); i >= 0 {
		s = s[:i]
	}
	return s
}

// choice is a group that a chain obeys, with the user-agent line that names the chain.
type choice struct {
	group int
	agent robotstxt.Agent
}

// ChosenGroups returns the groups that chain obeys: one user-agent line for each group, in
// file order, and the name of the chain that these lines match. That is the first name with
// a group, else [Everyone] (RFC 9309 §2.2.1).
func ChosenGroups(f *robotstxt.File, chain Chain) (name string, lines []robotstxt.Agent) {
	agents := NewAgents([]Chain{chain})
	var s selector
	s.choose(f, agents)
	name = Everyone
	number := agents.obeyed(0, s.has)
	if number != everyone {
		name = agents.names[number]
	}
	for _, c := range s.groupsOf(number) {
		lines = append(lines, c.agent)
	}
	return name, lines
}
