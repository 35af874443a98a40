package reference

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Decision is the decision for one chain of agents and one path.
type Decision struct {
	// Allowed is the verdict.
	Allowed bool
	// Reason is allow_rule, disallow_rule, no_rule_matched, no_group or robots_txt.
	Reason string
	// Rule, Line and Agent are set for allow_rule and disallow_rule: the rule as written,
	// its line number from 1, and the value of the user-agent line that applies it to the
	// agent. Bytes that are not UTF-8 are written as %XX.
	Rule  string
	Line  int
	Agent string
}

// everyone is the name that stands for all agents.
const everyone = "*"

// Decide decides on a path, with its query, for a chain of product tokens, most specific
// first. The first one that has a group decides, else the groups for everyone (RFC 9309
// §2.2.1, §2.2.2).
func Decide(f File, chain []string, path string, p Profile) Decision {
	spelt := NewPath(path, p)
	if p == RFC9309 && spelt.plain == robotsTxtPath {
		return Decision{Allowed: true, Reason: "robots_txt"}
	}
	for _, name := range append(chain[:len(chain):len(chain)], everyone) {
		if rules, found := rulesFor(f, name, p); found {
			return mostSpecific(rules, spelt)
		}
	}
	return Decision{Allowed: true, Reason: "no_group"}
}

// groupRule is a rule with the user-agent line that applies it.
type groupRule struct {
	Rule
	agent string
}

// rulesFor merges all groups of an agent, in file order. found reports whether there is
// any; it may have no rules.
func rulesFor(f File, name string, p Profile) (rules []groupRule, found bool) {
	for _, group := range f.Groups {
		for _, agent := range group.Agents {
			if !concerns(agent.Value, name, p) {
				continue
			}
			found, rules = true, slices.Grow(rules, len(group.Rules))
			for _, rule := range group.Rules {
				rules = append(rules, groupRule{rule, agent.Value})
			}
			break // the first such line is reported for the group
		}
	}
	return rules, found
}

// concerns reports whether the value of a user-agent line names the agent.
// RFC9309: the value may also be taken up to the first blank or slash, so that agents with
// digits find their groups.
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

// mostSpecific finds the matching rule with the longest pattern. If two are equally long,
// allow wins over disallow, and then the first rule.
func mostSpecific(rules []groupRule, path Path) Decision {
	best, bestLength := Decision{Allowed: true, Reason: "no_rule_matched"}, 0
	for _, rule := range rules {
		length := matchedLength(rule.Rule, path)
		if length > bestLength || length == bestLength && rule.Allow && !best.Allowed {
			best, bestLength = decided(rule), length
		}
	}
	return best
}

// patternsOf returns the patterns of a rule. The length of the first one that matches counts.
// Google: an allow rule for an index page also allows its directory.
func patternsOf(pattern string, kind kind, p Profile) []Pattern {
	patterns := []Pattern{NewPattern(pattern, p)}
	slash := strings.LastIndexByte(pattern, '/')
	if p == Google && kind == allow && slash >= 0 && strings.HasPrefix(pattern[slash:], "/index.htm") {
		patterns = append(patterns, NewPattern(pattern[:slash+1]+"$", p))
	}
	return patterns
}

// matchedLength returns the length of the rule's pattern that matches, else 0.
func matchedLength(rule Rule, path Path) int {
	for _, pattern := range rule.matched {
		if pattern.Match(path) {
			return pattern.Length()
		}
	}
	return 0
}

// decided returns the decision of a rule.
func decided(rule groupRule) Decision {
	reason := "disallow_rule"
	if rule.Allow {
		reason = "allow_rule"
	}
	return Decision{rule.Allow, reason, printable(rule.Text), rule.Line, printable(rule.agent)}
}

// printable writes bytes that are not UTF-8 as %XX.
func printable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
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
