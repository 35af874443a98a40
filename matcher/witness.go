package matcher

import (
	"bytes"
	"strings"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// ParsedRule is a rule of a trie, parsed from its line.
type ParsedRule struct {
	RuleInfo
	// Pattern is as written.
	Pattern []byte
}

// Parsed parses the rules of a trie from its notes. It returns each line once, in the order of
// the lines; none for a trie without notes (see OpenBody).
func (t *Trie) Parsed() []ParsedRule {
	var rules []ParsedRule
	body := []byte("User-agent: *") // then each rule's line
	for _, info := range t.Written() {
		rules = append(rules, ParsedRule{RuleInfo: info})
		body = append(append(body, '\n'), info.Text...)
	}
	parsed := robotstxt.Parse(body, robotstxt.Options{Profile: t.Profile(), Limit: len(body)}).Groups[0].Rules
	rules = rules[:min(len(rules), len(parsed))] // notes that were changed may have other lines
	for i := range rules {
		rules[i].Allow, rules[i].Pattern = parsed[i].Allow, parsed[i].Pattern
	}
	return rules
}

// patterns returns the patterns that the rule is compiled to: one, or two under Google; see
// indexPattern. Nothing matches an empty one, or one that starts with neither '/' nor '*'.
func (r *ParsedRule) patterns(p Profile) [][]byte {
	if p == robotstxt.Google && r.Allow {
		if directory, ok := indexPattern(r.Pattern); ok {
			return [][]byte{r.Pattern, directory}
		}
	}
	return [][]byte{r.Pattern}
}

// Witnesses returns paths that the rule matches: each of its patterns with text in place of
// each wildcard, and at the end if any text may follow. It returns none for a rule that cannot
// match anything.
//
// Every path starts with a slash. So a wildcard at the start of a pattern stands for a slash
// and text, or for nothing if a slash follows it.
func (r *ParsedRule) Witnesses(p Profile, text string) (paths [][]byte) {
	for _, pattern := range r.patterns(p) {
		if len(pattern) == 0 || pattern[0] != '/' && pattern[0] != '*' {
			continue
		}
		if p == robotstxt.Google { // its parser changes escapes in patterns, not in paths
			pattern = []byte(NormalPattern(pattern, p))
		}
		literal, anchored := bytes.CutSuffix(pattern, []byte("$"))
		if !anchored {
			literal = append(bytes.Clone(literal), '*')
		}
		for bytes.Contains(literal, []byte("**")) {
			literal = bytes.ReplaceAll(literal, []byte("**"), []byte("*"))
		}
		path := bytes.ReplaceAll(literal, []byte("*"), []byte(text))
		if literal[0] == '/' {
			paths = append(paths, path)
			continue
		}
		paths = append(paths, append([]byte("/"), path...))
		if len(literal) > 1 && literal[1] == '/' {
			paths = append(paths, path[len(text):]) // the wildcard stands for nothing
		}
	}
	return paths
}

// Covers reports whether r beats other on all paths that other matches. Call it if r decides the
// witnesses of other that were made with a fresh byte (FreshByte). Then it mostly is true: see
// Trie.Shadowed. It may be false if only one of the two has a literal '?', because that one is
// compared with the query spelling of paths, and the other with the plain one.
func (r *ParsedRule) Covers(other *ParsedRule, p Profile) bool {
	if p == robotstxt.Google || r.hasQuery() == other.hasQuery() {
		return true
	}
	if r.hasQuery() {
		return false
	}
	literal := bytes.TrimRight(bytes.TrimSuffix(r.Pattern, []byte("$")), "*")
	if !bytes.ContainsRune(literal, '*') {
		return true // r ends before the query, where both spellings are equal
	}
	// So it does if it matches what other's paths begin with.
	start := []byte("/")
	if before, _, _ := bytes.Cut(other.Pattern, []byte("?")); before != nil && other.Pattern[0] == '/' {
		start, _, _ = bytes.Cut(before, []byte("*"))
	}
	return matchesStart(r.Pattern, start)
}

// hasQuery reports whether the rule is compared with the query spelling of paths.
func (r *ParsedRule) hasQuery() bool { return bytes.IndexByte(r.Pattern, '?') >= 0 }

// matchesStart reports whether a pattern matches every path that begins with a text.
func matchesStart(pattern, text []byte) bool {
	if bytes.HasSuffix(pattern, []byte("$")) {
		return false
	}
	for i, literal := range bytes.Split(pattern, []byte("*")) {
		found := bytes.Index(text, literal)
		if found < 0 || i == 0 && found > 0 {
			return false
		}
		text = text[found+len(literal):]
	}
	return true
}

// FreshByte returns a byte, as a string, that no spelling of the rules' patterns has and that
// needs no escape in a path; "" if there is none. It is no hex digit, which would make an escape
// after a "%".
func FreshByte(rules []ParsedRule, p Profile) string {
	if p == robotstxt.Google {
		return "\xFF" // escaped in patterns, unchanged in paths
	}
	const candidates = "!~'(),;@+=&:_zqjxkwvyhugmplnrtiosZQJXKWVYHUGMPLNRTIOS-."
	var used [256]bool
	for i := range rules {
		for at, c := range rules[i].Pattern {
			used[c] = true
			if decoded, ok := urls.Unescape(rules[i].Pattern, at); ok {
				used[decoded] = true
			}
		}
	}
	i := strings.IndexFunc(candidates, func(r rune) bool { return !used[r] })
	if i < 0 {
		return ""
	}
	return candidates[i : i+1]
}
