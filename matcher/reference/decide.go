package reference

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Decision is the outcome for one chain of agents and one path.
type Decision struct {
	// Allowed is the verdict.
	Allowed bool
	// Reason is allow_rule, disallow_rule, no_rule_matched, no_group or
	// robots_txt.
	Reason string
	// Rule, Line and Agent come with allow_rule and disallow_rule: the rule as
	// written, its line number from 1, and the user-agent line that makes its
	// group concern the agent. Octets that are not UTF-8 are written as %XX.
	Rule  string
	Line  int
	Agent string
}

// everyone is the agent's name that stands for all of them.
const everyone = "*"

// Decide gives the verdict on a path, with its query, for a chain of product
// tokens, the most specific first: the first one that has a group decides,
// after them the groups for everyone (RFC 9309 §2.2.1, §2.2.2).
func Decide(f File, chain []string, path string, p Profile) Decision {
	if p == RFC9309 && IsRobotsTxt(path) {
		return Decision{Allowed: true, Reason: "robots_txt"}
	}
	for _, name := range append(chain[:len(chain):len(chain)], everyone) {
		if rules, found := rulesFor(f, name, p); found {
			return mostSpecific(rules, NewPath(path, p), p)
		}
	}
	return Decision{Allowed: true, Reason: "no_group"}
}

// groupRule is a rule and the user-agent line that it obeys.
type groupRule struct {
	Rule
	agent string
}

// rulesFor merges all the groups that concern an agent, in file order, and
// tells whether there is any; there may be one without rules.
func rulesFor(f File, name string, p Profile) (rules []groupRule, found bool) {
	for _, group := range f.Groups {
		for _, agent := range group.Agents {
			if !concerns(agent.Value, name, p) {
				continue
			}
			found = true
			for _, rule := range group.Rules {
				rules = append(rules, groupRule{rule, agent.Value})
			}
			break // the first such line stands for the group
		}
	}
	return rules, found
}

// concerns tells whether a user-agent line's value means the agent.
// RFC9309: two readings count, so that agents with digits find their groups.
func concerns(value, name string, p Profile) bool {
	if name == everyone {
		return value == "*" || len(value) > 1 && value[0] == '*' && isOneOf(value[1], blank)
	}
	token := value[:len(value)-len(strings.TrimLeft(value, letters+"-_"))]
	word := value
	if end := strings.IndexAny(value, blank+"/"); end >= 0 {
		word = value[:end]
	}
	return name != "" && (lower(token) == lower(name) || p == RFC9309 && lower(word) == lower(name))
}

// mostSpecific finds the matching rule whose pattern has the most octets; of
// two that have as many an allow, and of two of one kind the first.
func mostSpecific(rules []groupRule, path Path, p Profile) Decision {
	best, bestLength := Decision{Allowed: true, Reason: "no_rule_matched"}, 0
	for _, rule := range rules {
		length := matchedLength(rule.Rule, path, p)
		if length > bestLength || length == bestLength && rule.Allow && !best.Allowed {
			best, bestLength = decided(rule), length
		}
	}
	return best
}

// matchedLength is the length of the rule's pattern if it matches, else 0.
// Google: an allow rule for an index page stands for its folder as well.
func matchedLength(rule Rule, path Path, p Profile) int {
	if pattern := NewPattern(rule.Pattern, p); pattern.Match(path) {
		return pattern.Length()
	}
	slash := strings.LastIndexByte(rule.Pattern, '/')
	if p == Google && rule.Allow && slash >= 0 && strings.HasPrefix(rule.Pattern[slash:], "/index.htm") {
		if pattern := NewPattern(rule.Pattern[:slash+1]+"$", p); pattern.Match(path) {
			return pattern.Length()
		}
	}
	return 0
}

func decided(rule groupRule) Decision {
	reason := "disallow_rule"
	if rule.Allow {
		reason = "allow_rule"
	}
	return Decision{rule.Allow, reason, printable(rule.Text), rule.Line, printable(rule.agent)}
}

// printable writes octets that are not UTF-8 as %XX.
func printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}
