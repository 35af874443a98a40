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
	s := &search{
		trie: t, profile: t.Profile(), rules: t.Parsed(),
		byLine: make(map[int]*matcher.ParsedRule), found: make(map[bool][]byte), open: make(map[bool]bool),
	}
	for i := range s.rules {
		s.byLine[s.rules[i].Line] = &s.rules[i]
	}
	s.tryRules()
	if s.open[true] || s.open[false] {
		s.trySamples()
	}
	return s.result()
}

// search looks for a denied path and an allowed path.
type search struct {
	trie    *matcher.Trie
	profile matcher.Profile
	target  matcher.Target
	rules   []matcher.ParsedRule
	byLine  map[int]*matcher.ParsedRule
	// By verdict, which is true for allowed:
	found map[bool][]byte // a path with the verdict; nil for none yet
	open  map[bool]bool   // whether paths that were not tried may have it, though none was found
}

// tryRules tries the witnesses of each rule, made with a fresh byte. They prove for each verdict
// whether any path has it, except where the proof of the package comment does not hold: then it sets
// s.open for the verdict.
func (s *search) tryRules() {
	fresh := matcher.FreshByte(s.rules, s.profile)
	if fresh == "" {
		s.open[true], s.open[false] = true, true
		return
	}
	s.try([]byte("/" + fresh))
	for i := range s.rules {
		rule := &s.rules[i]
		if s.found[rule.Allow] != nil {
			continue
		}
		for _, path := range rule.Witnesses(s.profile, fresh) {
			// by is nil if the only path that the rule matches is /robots.txt.
			if by := s.try(path); s.found[rule.Allow] == nil && by != nil && !by.Covers(rule, s.profile) {
				s.open[rule.Allow] = true
			}
		}
	}
}

// try decides a path, and keeps it in s.found if it is the first with its verdict. It returns the
// rule that decides, nil for none. It does nothing for /robots.txt, which is always allowed.
func (s *search) try(path []byte) *matcher.ParsedRule {
	if isRobotsTxt, _ := matcher.IsRobotsTxt(path, s.profile); isRobotsTxt {
		return nil
	}
	s.target.Set(path, s.profile)
	d := s.trie.Match(&s.target)
	if s.found[d.Allowed] == nil {
		s.found[d.Allowed] = path
	}
	if !d.Reason.HasRule() {
		return nil
	}
	return s.byLine[s.trie.Rule(d.Rule).Line]
}

// samples replace wildcards where there is no proof. A path with %2F in its query has two
// spellings.
var samples = []string{"", "/", "a", "?", "%2F", "?/%2F"}

// trySamples tries more paths, until one of each verdict is found.
func (s *search) trySamples() {
	for _, sample := range samples {
		s.try([]byte("/" + sample))
		for i := range s.rules {
			if len(s.found) == 2 {
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

// result returns the extent that s.found and s.open prove.
func (s *search) result() Result {
	r := Result{Denied: string(s.found[false]), Allowed: string(s.found[true])}
	switch {
	case len(s.found) == 2:
		r.Extent = Some
	case s.found[true] != nil && !s.open[false]:
		r.Extent = None
	case s.found[false] != nil && !s.open[true]:
		r.Extent = All
	}
	return r
}
