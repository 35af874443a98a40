package extent

import (
	"bytes"
	"slices"

	"robotsbatch/matcher"
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
	// Allowed and Denied are an allowed and a denied path, with query; empty if there is none
	// or none was found.
	Allowed, Denied string
}

// Of returns the extent of a trie's rules. The trie must have notes; set Compiler.Explain
// to get them.
func Of(t *matcher.Trie) Result {
	s := &search{trie: t, profile: t.Profile(), rules: t.Parsed(), byLine: make(map[int]*matcher.ParsedRule)}
	for i := range s.rules {
		s.byLine[s.rules[i].Line] = &s.rules[i]
	}
	s.tryRules()
	if s.open[denying] || s.open[allowing] {
		s.trySamples()
	}
	return s.result()
}

// The two questions: is any path denied, is any path allowed? They are indices.
const (
	denying = iota
	allowing
)

// search looks for a denied path and an allowed path.
type search struct {
	trie    *matcher.Trie
	profile matcher.Profile
	target  matcher.Target
	rules   []matcher.ParsedRule
	byLine  map[int]*matcher.ParsedRule
	found   [2][]byte // by question, a path that answers it; nil for none yet
	open    [2]bool   // by question, whether paths that were not tried may answer it
}

// questionOf returns the question that a path with this verdict answers.
func questionOf(allowed bool) int {
	if allowed {
		return allowing
	}
	return denying
}

// tryRules tries the witnesses of each rule, made with a fresh byte. Where the proof of the package
// comment does not hold, it opens a question that they leave without an answer.
func (s *search) tryRules() {
	fresh := matcher.FreshByte(s.rules, s.profile)
	if fresh == "" {
		s.open = [2]bool{true, true}
		return
	}
	s.try([]byte("/" + fresh))
	for i := range s.rules {
		rule := &s.rules[i]
		question := questionOf(rule.Allow)
		if s.found[question] != nil {
			continue
		}
		for _, path := range rule.Witnesses(s.profile, fresh) {
			// by is nil if the only path that the rule matches is /robots.txt.
			if by := s.try(path); s.found[question] == nil && by != nil && !by.Covers(rule, s.profile) {
				s.open[question] = true
			}
		}
	}
}

// try decides a path, and keeps it as the answer of a question that has none. It returns the
// rule that decides, nil for none. It does nothing for /robots.txt, which is always allowed.
func (s *search) try(path []byte) *matcher.ParsedRule {
	if isRobotsTxt, _ := matcher.IsRobotsTxt(path, s.profile); isRobotsTxt {
		return nil
	}
	s.target.Set(path, s.profile)
	d := s.trie.Match(&s.target)
	question := questionOf(d.Allowed)
	if s.found[question] == nil {
		s.found[question] = path
	}
	if !d.Reason.HasRule() {
		return nil
	}
	return s.byLine[s.trie.Rule(d.Rule).Line]
}

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
			rule := s.rules[i]
			paths := rule.Witnesses(s.profile, sample)
			if path, query, ok := bytes.Cut(rule.Pattern, []byte("?")); ok { // its URLs may have %2F for a slash
				rule.Pattern = slices.Concat(path, []byte("?"), bytes.ReplaceAll(query, []byte("/"), []byte("%2F")))
				paths = append(paths, rule.Witnesses(s.profile, sample)...)
			}
			for _, path := range paths {
				s.try(path)
			}
		}
	}
}

// result returns the extent that the paths that were found and the open questions prove.
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
