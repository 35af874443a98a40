package matcher

import (
	"bytes"
	"strings"

	"robotsbatch/matcher/robotstxt"
)

// Shadowed is a rule that never decides: some other rule of the trie beats it on every
// path that it matches.
type Shadowed struct {
	// Rule is the one that never decides.
	Rule RuleInfo
	// By is a rule that beats it; it matches all that Rule does, or where Rule's pattern
	// starts with '*' at least a part of that.
	By RuleInfo
}

// maxShadowed is how many rules a trie may have for Shadowed to look at them.
const maxShadowed = 20_000

// Shadowed returns the rules of t that can never decide, in the order of their lines. What
// it returns is proven; it misses only rules that are shadowed by several others together,
// each of a part of their paths, and some with a '?'.
//
// For the proof, each rule's pattern becomes a path by putting a fresh byte, one that no
// pattern has, in place of every wildcard and behind the end, where any text may follow:
//
//	/a*.js   the path   /a!.js!
//
// If Match decides by the rule itself, the rule is alive. Else it decides by a better
// rule, of which no literal can have matched the fresh bytes: they are below its
// wildcards or behind its end. So whatever text replaces them, that rule still matches,
// and it beats the first rule on every path.
//
// A trie without notes (see OpenBody), one with more than 20,000 rules, or one whose
// patterns use every byte that could be fresh, has none to report. It takes the time of
// one or two Matches for each rule.
func (t *Trie) Shadowed() []Shadowed {
	if ruleCount(t.notes) > maxShadowed {
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

// shadows returns a rule that beats the rule of a line, if that can never decide. patterns
// are those of all rules, by line.
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

// coversSpelling reports whether what better rules make of a witness holds for all paths
// that c matches, though these may be compared in two spellings: of patterns with a
// literal '?' against the query spelling. Without a wildcard, a better pattern without
// '?' lies before the query, where both spellings are one.
func coversSpelling(better []pattern, c pattern) bool {
	for _, b := range better {
		if b.query != c.query && (b.query || bytes.IndexByte(b.text, star) >= 0) {
			return false
		}
	}
	return true
}

// witnesses are paths that stand for all that a pattern matches; see Shadowed. Every path
// starts with a slash, so a wildcard at the start stands for a slash and any text, or for
// nothing where a slash follows it.
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

// freshByte returns a byte that is in no pattern, and that paths have as it is.
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
