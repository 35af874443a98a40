package captures

import "robotsbatch/matcher/access"

// Stats count the captures that were taken and what they mean.
type Stats struct {
	// Captures that were taken, those Elsewhere included.
	Captures int64
	// Elsewhere counts the captures of other URLs than robots.txt, which redirects may
	// lead to.
	Elsewhere int64
	// Ignored counts the captures whose URL can have no rules.
	Ignored int64
	// Compressed counts the bodies that were compressed though nothing said so,
	// and were decompressed.
	Compressed int64
	// Damaged counts the captures that were skipped because their body is
	// compressed and cannot be decompressed.
	Damaged int64
	// Longer counts the bodies that are longer than their Content-Length; all of
	// them is taken.
	Longer int64

	// Authorities counts those with a capture that is not after the time asked for, in
	// the first source that has one. Each is also in one of Rules, Unavailable and
	// Unreachable.
	Authorities int64
	// Rules counts authorities whose rules decide.
	Rules int64
	// Stale counts those among Rules whose rules are a last good copy.
	Stale int64
	// Unavailable counts authorities where everything is allowed.
	Unavailable int64
	// Unreachable counts authorities where nothing is allowed.
	Unreachable int64

	// Resolved counts authorities that a redirect decides whose target is known.
	Resolved int64
	// Unresolved counts authorities that another redirect decides, 304 and a
	// redirect without Location included.
	Unresolved int64
}

// Add adds another source's numbers.
func (s *Stats) Add(t Stats) {
	s.Captures += t.Captures
	s.Elsewhere += t.Elsewhere
	s.Ignored += t.Ignored
	s.Compressed += t.Compressed
	s.Damaged += t.Damaged
	s.Longer += t.Longer
	s.Authorities += t.Authorities
	s.Rules += t.Rules
	s.Stale += t.Stale
	s.Unavailable += t.Unavailable
	s.Unreachable += t.Unreachable
	s.Resolved += t.Resolved
	s.Unresolved += t.Unresolved
}

// count counts an authority of a source by what decides about it, which may be a
// redirect.
func (s *Set) count(said *change, redirect bool, source int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.statsOf(source)
	n.Authorities++
	switch said.access {
	case access.Rules:
		n.Rules++
		n.Stale += ones(said.stale)
	case access.AllowAll:
		n.Unavailable++
	case access.DisallowAll:
		n.Unreachable++
	}
	n.Resolved += ones(redirect && !said.unresolved)
	n.Unresolved += ones(said.unresolved)
}

func ones(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
