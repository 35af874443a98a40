package extent

import (
	"bytes"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Extent is how much of a site is denied.
type Extent uint8

const (
	// Undecided: no answer was found; see the package comment.
	Undecided Extent = iota
	// None: every path is allowed.
	None
	// Some paths are denied, and others allowed.
	Some
	// All: every path is denied but /robots.txt.
	All
)

var names = [...]string{"", "none", "some", "all"}

// String returns the extent as outputs write it: "none", "some", "all", or "" for
// Undecided.
func (e Extent) String() string { return names[e] }

// Result is the extent of a group, with examples.
type Result struct {
	Extent Extent
	// Allowed and Denied are an allowed and a denied path; empty if there is none or none
	// was found.
	Allowed, Denied string
}

// Of returns the extent of a trie's rules. The trie must have notes; set Compiler.Explain
// to get them.
func Of(t *matcher.Trie) Result {
	s := newSearch(t)
	s.tryRules()
	if s.open[denying] || s.open[allowing] {
		s.trySamples()
	}
	return s.result()
}

// The two questions: is any path denied, is any path allowed?
const (
	denying = iota
	allowing
)

// search looks for a denied path and an allowed path.
type search struct {
	trie    *matcher.Trie
	profile matcher.Profile
	target  matcher.Target
	rules   []robotstxt.Rule
	byLine  map[int]*robotstxt.Rule
	found   [2][]byte // a denied path and an allowed path
	open    [2]bool   // neither found nor excluded
}

func newSearch(t *matcher.Trie) *search {
	s := &search{trie: t, profile: t.Profile(), byLine: make(map[int]*robotstxt.Rule)}
	body := []byte("User-agent: *")
	var lines []int
	for line, text := range t.Lines() {
		lines = append(lines, line)
		body = append(append(body, '\n'), text...)
	}
	f := robotstxt.Parse(body, robotstxt.Options{Profile: s.profile, Limit: len(body)})
	s.rules = f.Groups[0].Rules
	if s.profile == robotstxt.Google { // Google's parser changes escapes in patterns, not in paths
		for i := range s.rules {
			s.rules[i].Pattern = []byte(matcher.NormalPattern(s.rules[i].Pattern, s.profile))
		}
	}
	for i := range min(len(lines), len(s.rules)) { // the numbers are equal unless a pack is corrupt
		s.byLine[lines[i]] = &s.rules[i]
	}
	return s
}

// tryRules tries one or two paths for each rule, made with a fresh byte.
func (s *search) tryRules() {
	fresh, ok := s.freshByte()
	if !ok {
		s.open = [2]bool{true, true}
		return
	}
	s.try([]byte{'/', fresh})
	for i := range s.rules {
		rule := &s.rules[i]
		question := denying
		if rule.Allow {
			question = allowing
		}
		if s.found[question] != nil || !matchesAny(rule.Pattern) {
			continue
		}
		for _, path := range s.paths(rule, string(fresh)) {
			if by := s.try(path); s.found[question] == nil && !s.covers(by, rule) {
				s.open[question] = true
			}
		}
	}
}

// try decides a path and returns the rule that decides, nil for none.
func (s *search) try(path []byte) *robotstxt.Rule {
	if is, _ := matcher.IsRobotsTxt(path, s.profile); is {
		return nil
	}
	s.target.Set(path, s.profile)
	d := s.trie.Match(&s.target)
	question := denying
	if d.Allowed {
		question = allowing
	}
	if s.found[question] == nil {
		s.found[question] = path
	}
	if !d.Reason.HasRule() {
		return nil
	}
	return s.byLine[s.trie.Rule(d.Rule).Line]
}

// covers reports whether by decides all paths of rule. by is the rule that decided rule's
// path with fresh bytes. It is nil for /robots.txt, which is then the only path of rule.
func (s *search) covers(by, rule *robotstxt.Rule) bool {
	if by == nil || s.profile == robotstxt.Google || hasQuery(by) == hasQuery(rule) {
		return true
	}
	if hasQuery(by) {
		return false
	}
	literal := bytes.TrimRight(bytes.TrimSuffix(by.Pattern, []byte("$")), "*")
	if !bytes.ContainsRune(literal, '*') {
		return true // it ends before the query
	}
	// So it does if it matches what rule's paths begin with.
	start := []byte("/")
	if before, _, _ := bytes.Cut(rule.Pattern, []byte("?")); before != nil && rule.Pattern[0] == '/' {
		start, _, _ = bytes.Cut(before, []byte("*"))
	}
	return matchesStart(by.Pattern, start)
}

// matchesStart reports whether a pattern matches every path that begins with a text.
func matchesStart(pattern, text []byte) bool {
	if bytes.HasSuffix(pattern, []byte("$")) {
		return false
	}
	for i, literal := range bytes.Split(pattern, []byte("*")) {
		at := bytes.Index(text, literal)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		text = text[at+len(literal):]
	}
	return true
}

// hasQuery reports whether a rule is compared with the query spelling of paths.
func hasQuery(rule *robotstxt.Rule) bool { return bytes.IndexByte(rule.Pattern, '?') >= 0 }

// samples replace wildcards where there is no proof. A path with %2F in its query has two
// spellings.
var samples = []string{"", "/", "a", "?", "%2F", "?/%2F"}

// trySamples tries more paths for the questions that are still open.
func (s *search) trySamples() {
	for _, sample := range samples {
		s.try([]byte("/" + sample))
		for i := range s.rules {
			if s.found[denying] != nil && s.found[allowing] != nil {
				return
			}
			if !matchesAny(s.rules[i].Pattern) {
				continue
			}
			for _, path := range paths(s.rules[i].Pattern, sample) {
				s.try(path)
			}
			if at := bytes.IndexByte(s.rules[i].Pattern, '?'); at >= 0 {
				escaped := bytes.ReplaceAll(s.rules[i].Pattern[at+1:], []byte("/"), []byte("%2F"))
				for _, path := range paths(append(bytes.Clone(s.rules[i].Pattern[:at+1]), escaped...), sample) {
					s.try(path)
				}
			}
		}
	}
}

func (s *search) result() Result {
	denied, allowed := s.found[denying] != nil, s.found[allowing] != nil
	r := Result{Denied: string(s.found[denying]), Allowed: string(s.found[allowing])}
	switch {
	case denied && allowed:
		r.Extent = Some
	case allowed && !s.open[denying]:
		r.Extent = None
	case denied && !s.open[allowing]:
		r.Extent = All
	}
	return r
}

// matchesAny reports whether a pattern can match anything.
func matchesAny(pattern []byte) bool {
	return len(pattern) > 0 && (pattern[0] == '/' || pattern[0] == '*')
}

// paths returns paths that a rule matches, with text in place of wildcards.
func (s *search) paths(rule *robotstxt.Rule, text string) [][]byte {
	all := paths(rule.Pattern, text)
	slash := bytes.LastIndexByte(rule.Pattern, '/')
	if s.profile == robotstxt.Google && rule.Allow && slash >= 0 && bytes.HasPrefix(rule.Pattern[slash:], []byte("/index.htm")) {
		// Google's parser allows the directory as well.
		all = append(all, paths(append(bytes.Clone(rule.Pattern[:slash+1]), '$'), text)...)
	}
	return all
}

// paths returns paths that a pattern matches. It puts text in place of each wildcard, and
// at the end if any text may follow.
func paths(pattern []byte, text string) [][]byte {
	literal, anchored := bytes.CutSuffix(pattern, []byte("$"))
	if !anchored {
		literal = append(bytes.Clone(literal), '*')
	}
	for bytes.Contains(literal, []byte("**")) {
		literal = bytes.ReplaceAll(literal, []byte("**"), []byte("*"))
	}
	path := bytes.ReplaceAll(literal, []byte("*"), []byte(text))
	if literal[0] == '/' {
		return [][]byte{path}
	}
	// A wildcard at the start stands for a slash and any text, or for nothing if a slash
	// follows.
	all := [][]byte{append([]byte("/"), path...)}
	if len(literal) > 1 && literal[1] == '/' {
		all = append(all, path[len(text):])
	}
	return all
}

// freshByte returns a byte that no spelling of a pattern has and that needs no escape in a
// path. It is not a hex digit, because it would make an escape after a "%".
func (s *search) freshByte() (fresh byte, ok bool) {
	if s.profile == robotstxt.Google {
		return 0xFF, true // escaped in patterns, unchanged in paths
	}
	const candidates = "!~'(),;@+=&:_zqjxkwvyhugmplnrtiosZQJXKWVYHUGMPLNRTIOS-."
	var used [256]bool
	for i := range s.rules {
		pattern := s.rules[i].Pattern
		for at, c := range pattern {
			used[c] = true
			if decoded, ok := urls.Unescape(pattern, at); ok {
				used[decoded] = true
			}
		}
	}
	at := strings.IndexFunc(candidates, func(r rune) bool { return !used[r] })
	if at < 0 {
		return 0, false
	}
	return candidates[at], true
}
