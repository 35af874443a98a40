package matcher

import (
	"bytes"
	"cmp"
	"slices"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Traced is a rule that matches a path.
type Traced struct {
	RuleInfo
	// Pattern is the rule's pattern as it is compared: normalised, with each '*' as
	// written, and "%2A" and "%24" for a literal '*' and '$'.
	Pattern string
	// Length is the length of the normalised pattern in bytes (RFC 9309 §2.2.2), where
	// "%2A" and "%24" count as one.
	Length int
}

// Trace returns the rules of t that match a path as urls.Scratch.Split returns it: the most
// specific rule first, which is the one that Match decides by.
//
// It is for explanations and uses a simple, slow algorithm: it compares each rule by
// itself, in time linear in the path for each literal of the pattern. A trie without notes
// (see OpenBody) has no rules to return.
func (t *Trie) Trace(path []byte) []Traced {
	profile := t.Profile()
	plain, query := path, path
	if profile == robotstxt.RFC9309 {
		plain, query = urls.Normalise(path), urls.NormaliseQuery(path)
	}
	var found []Traced
	for _, rule := range t.Parsed() {
		for _, source := range rule.patterns(profile) {
			var c pattern
			if _, ok := c.compile(nil, source, profile); !ok {
				continue
			}
			target := plain
			if c.query {
				target = query
			}
			if c.matches(target) {
				found = append(found, Traced{RuleInfo: rule.RuleInfo, Pattern: NormalPattern(source, profile), Length: c.length})
				break // if both patterns match, the one as written is longer
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Traced) int {
		return cmp.Or(cmp.Compare(b.Length, a.Length), compareBool(b.Allow, a.Allow), cmp.Compare(a.Line, b.Line))
	})
	return found
}

// matches reports whether the pattern matches a path, given in the spelling that the pattern is
// compared with. It takes the first occurrence of each literal, which leaves the most of the
// path to the literals that follow.
func (c *pattern) matches(path []byte) bool {
	literal, suffix, wild := bytes.Cut(c.text, []byte{star})
	rest, ok := bytes.CutPrefix(path, literal)
	if !ok {
		return false
	}
	if !wild {
		return !c.anchored || len(rest) == 0
	}
	for {
		literal, suffix, wild = bytes.Cut(suffix, []byte{star})
		if !wild {
			break
		}
		at := bytes.Index(rest, literal)
		if at < 0 {
			return false
		}
		rest = rest[at+len(literal):]
	}
	if c.anchored {
		return bytes.HasSuffix(rest, literal)
	}
	return bytes.Contains(rest, literal)
}

// NormalPattern returns the pattern of a rule as it is compared under a profile; see
// Traced.Pattern.
func NormalPattern(source []byte, p Profile) string {
	var spelled []byte
	var c pattern // its query field carries over from one literal to the next
	end := ""
	if n := len(source); n > 0 && source[n-1] == '$' { // it anchors, and stays as it is
		source, end = source[:n-1], "$"
	}
	for i, literal := range bytes.Split(source, []byte("*")) {
		if i > 0 {
			spelled = append(spelled, '*')
		}
		if p == robotstxt.Google {
			spelled = c.appendGoogle(spelled, literal)
			continue
		}
		for _, char := range c.appendRFC9309(nil, literal) {
			if char == '*' {
				spelled = urls.AppendEscape(spelled, char)
			} else {
				spelled = append(spelled, char)
			}
		}
	}
	// A '$' at the end that was escaped in the source must not look as if it anchored.
	if n := len(spelled); p == robotstxt.RFC9309 && end == "" && n > 0 && spelled[n-1] == '$' {
		spelled = urls.AppendEscape(spelled[:n-1], '$')
	}
	return string(spelled) + end
}
