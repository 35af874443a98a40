package rulepack

import (
	"sync"

	"robotsbatch/matcher"
)

// Many sites have the same statements, because a network or their software writes them.
// These bound how many of them, once compiled, are kept for the bodies that follow.
const (
	mostStatements    = 1024
	longestStatements = 4 << 10 // bytes of Records.Statements
)

// statements are compiled statements by their text.
type statements struct {
	mu     sync.Mutex
	byText map[string]*matcher.Usage
}

// get returns what a body's records say of uses, compiled or shared; nil for nothing.
func (s *statements) get(p *Pack, r *Records) *matcher.Usage {
	s.mu.Lock()
	u, known := s.byText[string(r.Statements)]
	s.mu.Unlock()
	if known {
		return u
	}
	u = r.usageFor(p.agents, p.info.Profile, p.usage)
	if len(r.Statements) <= longestStatements {
		s.mu.Lock()
		if s.byText == nil {
			s.byText = make(map[string]*matcher.Usage)
		}
		if len(s.byText) < mostStatements {
			s.byText[string(r.Statements)] = u
		}
		s.mu.Unlock()
	}
	return u
}
