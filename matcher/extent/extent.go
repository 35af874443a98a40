package extent

import (
	"bytes"
	"strings"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Extent is how many paths are denied.
type Extent uint8

const (
	// Undecided: it is not known; see the package comment.
	Undecided Extent = iota
	// None: every path is allowed.
	None
	// Some paths are denied, and others allowed.
	Some
	// All: every path is denied but /robots.txt.
	All
)

var names = [...]string{"", "none", "some", "all"}

// String is the extent as outputs write it: "none", "some", "all", or nothing where it is
// undecided.
func (e Extent) String() string { return names[e] }

// Result is the extent of what a group denies.
type Result struct {
	Extent Extent
	// Allowed and Denied are paths of either kind; empty where there is none, or none is
	// known.
	Allowed, Denied string
}

// Of says of which paths the rules of a trie deny. The trie must have notes, as one does
// that was compiled with Explain.
func Of(t *matcher.Trie) Result {
	s := newSearch(t)
	s.tryRules()
	if s.open[denying] || s.open[allowing] {
		s.trySamples()
	}
	return s.result()
}

// The two questions: is any path denied, is any allowed.
const (
	denying = iota
	allowing
)

// search looks for a path that is denied and one that is allowed.
type search struct {
	trie    *matcher.Trie
	profile matcher.Profile
	target  matcher.Target
	rules   []robotstxt.Rule
	byLine  map[int]*robotstxt.Rule
	found   [2][]byte // a path that is denied, and one that is allowed
	open    [2]bool   // it is not proven that there is none
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
	if s.profile == robotstxt.Google { // which spells patterns anew, but no paths
		for i := range s.rules {
			s.rules[i].Pattern = []byte(matcher.NormalPattern(s.rules[i].Pattern, s.profile))
		}
	}
	for i := range min(len(lines), len(s.rules)) { // equally many, unless a pack lies
		s.byLine[lines[i]] = &s.rules[i]
	}
	return s
}

// tryRules decides by one or two paths a rule, made with a fresh byte.
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

// try decides about a path, and returns the rule that does, nil for none.
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

// covers tells whether a rule that decides about the path of another, made with fresh
// bytes, decides about all paths of that. by is nil for /robots.txt, which is the only
// path of the other then.
func (s *search) covers(by, rule *robotstxt.Rule) bool {
	if by == nil || s.profile == robotstxt.Google || hasQuery(by) == hasQuery(rule) {
		return true
	}
	literal := bytes.TrimRight(bytes.TrimSuffix(by.Pattern, []byte("$")), "*")
	return !hasQuery(by) && !bytes.ContainsRune(literal, '*') // it lies before the query
}

// hasQuery tells whether a rule is compared with the spelling of paths for queries.
func hasQuery(rule *robotstxt.Rule) bool { return bytes.IndexByte(rule.Pattern, '?') >= 0 }

// samples are what is put in place of wildcards where there is no proof. With %2F in a
// query, spellings differ.
var samples = []string{"", "/", "a", "?", "%2F", "?/%2F"}

// trySamples looks for what is not found yet among more paths.
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

// matchesAny tells whether a pattern can match anything.
func matchesAny(pattern []byte) bool {
	return len(pattern) > 0 && (pattern[0] == '/' || pattern[0] == '*')
}

// paths are paths that a rule matches, with a text in place of wildcards.
func (s *search) paths(rule *robotstxt.Rule, text string) [][]byte {
	all := paths(rule.Pattern, text)
	slash := bytes.LastIndexByte(rule.Pattern, '/')
	if s.profile == robotstxt.Google && rule.Allow && slash >= 0 && bytes.HasPrefix(rule.Pattern[slash:], []byte("/index.htm")) {
		// Google's parser allows the directory, too.
		all = append(all, paths(append(bytes.Clone(rule.Pattern[:slash+1]), '$'), text)...)
	}
	return all
}

// paths are paths that a pattern matches: each wildcard, and what may follow the end, is
// replaced by the same text.
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
	// Its first wildcard stands for a slash and any text, or for nothing before a slash.
	all := [][]byte{append([]byte("/"), path...)}
	if len(literal) > 1 && literal[1] == '/' {
		all = append(all, path[len(text):])
	}
	return all
}

// freshByte returns a byte that no pattern has in any spelling, and that paths have as
// it is. It is no hex digit: behind a "%" it would make an escape.
func (s *search) freshByte() (fresh byte, ok bool) {
	if s.profile == robotstxt.Google {
		return 0xFF, true // patterns have it escaped, and paths as it is
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
