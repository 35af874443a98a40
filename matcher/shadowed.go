package matcher

import (
	"bytes"
	"strings"

	"robotsbatch/matcher/robotstxt"
)

// Shadowed is a rule that never decides: a better rule matches every path that it matches.
type Shadowed struct {
	// Rule never decides.
	Rule RuleInfo
	// By is a rule that beats it. By matches everything that Rule matches, or a part of it
	// if Rule's pattern starts with '*'.
	By RuleInfo
}

// maxShadowed is the most rules of a trie that Shadowed looks at.
const maxShadowed = 20_000

// Shadowed returns the rules of t that can never decide, in the order of their lines. Each
// one is proven. Shadowed misses rules that several others shadow together, each for a part
// of the paths, and some rules with a '?'.
//
// The proof makes a path of each rule's pattern: it replaces every wildcard, and the end if
// any text may follow, by a fresh byte, one that no pattern has.
//
//	/a*.js   the path   /a!.js!
//
// If Match decides this path by the rule itself, the rule is alive. Otherwise a better rule
// decides. None of its literals can have matched a fresh byte, so the fresh bytes are under
// its wildcards or after its end. Whatever text replaces them, the better rule still
// matches. So it beats the first rule on every path.
//
// The result is empty for a trie without notes (see OpenBody), with more than 20,000 rules,
// or whose patterns leave no fresh byte. Shadowed takes the time of one or two calls of
// Match for each rule.
func (t *Trie) Shadowed() []Shadowed {
	if t.ruleCount() > maxShadowed {
		return nil
	}
	rules := t.writtenRules()
	fresh, ok := t.freshByte(rules)
	if !ok {
		return nil
	}
	patterns := make(map[int][]pattern, len(rules)) // by line
	for i := range rules {
		for _, source := range rules[i].sources(t.Profile()) {
			var c pattern
			if _, ok := c.compile(nil, source, t.Profile()); ok {
				patterns[rules[i].Line] = append(patterns[rules[i].Line], c)
			}
		}
	}
	var found []Shadowed
	for i := range rules {
		if by, ok := t.shadows(patterns, rules[i].Line, fresh); ok {
			found = append(found, Shadowed{Rule: rules[i].RuleInfo, By: by})
		}
	}
	return found
}

// shadows returns a rule that beats the rule of a line on all its paths; ok is false if
// there is none. patterns has those of all rules, by line.
func (t *Trie) shadows(patterns map[int][]pattern, line int, fresh byte) (by RuleInfo, ok bool) {
	var target Target
	for _, c := range patterns[line] {
		for _, path := range c.witnesses(fresh) {
			target.Set(path, t.Profile())
			d := t.Match(&target)
			if !d.Reason.HasRule() {
				return by, false
			}
			if by = t.Rule(d.Rule); by.Line == line || !coversSpelling(patterns[by.Line], c) {
				return by, false
			}
		}
	}
	return by, by.Line > 0
}

// coversSpelling reports whether the decision of a better rule for a witness of c holds for
// all paths that c matches. It may not where the rules are compared with two spellings of a
// path: a pattern with a literal '?' sees the query spelling, others do not. A better
// pattern without wildcard and '?' ends before the query, where both spellings are equal.
func coversSpelling(better []pattern, c pattern) bool {
	for _, b := range better {
		if b.query != c.query && (b.query || bytes.IndexByte(b.text, star) >= 0) {
			return false
		}
	}
	return true
}

// witnesses returns paths that stand for all paths that a pattern matches; see Shadowed.
// Every path starts with a slash. So a wildcard at the start stands for a slash and any
// text, or for nothing if a slash follows it.
func (c *pattern) witnesses(fresh byte) [][]byte {
	text := bytes.ReplaceAll(c.text, []byte{star}, []byte{fresh})
	if !c.anchored {
		text = append(text, fresh)
	}
	if c.prefix > 0 {
		return [][]byte{text}
	}
	paths := [][]byte{append([]byte{'/'}, text...)}
	if len(text) > 1 && text[1] == '/' {
		paths = append(paths, text[1:])
	}
	return paths
}

// freshByte returns a byte that no pattern has and that needs no escape in a path.
func (t *Trie) freshByte(rules []writtenRule) (byte, bool) {
	const candidates = "!~'(),;@+=&:_zqjxkwvyhugmplnrtiosZQJXKWVYHUGMPLNRTIOS9876543210-."
	var used [256]bool
	for i := range rules {
		for _, char := range NormalPattern(rules[i].pattern, robotstxt.RFC9309) + string(rules[i].pattern) {
			if char < 256 {
				used[char] = true
			}
		}
	}
	at := strings.IndexFunc(candidates, func(r rune) bool { return !used[r] })
	if at < 0 {
		return 0, false
	}
	return candidates[at], true
}
