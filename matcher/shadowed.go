package matcher

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
	rules := t.Parsed()
	fresh := FreshByte(rules, t.Profile())
	if fresh == "" {
		return nil
	}
	byLine := make(map[int]*ParsedRule, len(rules))
	for i := range rules {
		byLine[rules[i].Line] = &rules[i]
	}
	var found []Shadowed
	var target Target
	for i := range rules {
		if by, ok := t.shadows(&target, byLine, &rules[i], fresh); ok {
			found = append(found, Shadowed{Rule: rules[i].RuleInfo, By: by})
		}
	}
	return found
}

// shadows returns a rule that beats another one on all its paths; ok is false if none is found.
// byLine has all rules, by line; fresh is what FreshByte returns for them; target is memory.
func (t *Trie) shadows(target *Target, byLine map[int]*ParsedRule, rule *ParsedRule, fresh string) (by RuleInfo, ok bool) {
	for _, path := range rule.Witnesses(t.Profile(), fresh) {
		target.Set(path, t.Profile())
		d := t.Match(target)
		if !d.Reason.HasRule() {
			return by, false
		}
		by = t.Rule(d.Rule)
		if better := byLine[by.Line]; by.Line == rule.Line || better == nil || !better.Covers(rule, t.Profile()) {
			return by, false
		}
	}
	return by, by.Line > 0 // 0: the rule has no witness, because it matches nothing
}
