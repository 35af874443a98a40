package rulepack

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"robotsbatch/matcher"
)

// mostStatements is the number of different statements whose compiled form is cached for other
// bodies. Many sites have the same ones, because a network or their software writes them. Those
// with more than longestStatements bytes of Records.Statements are not cached.
const (
	mostStatements    = 1 << 14
	longestStatements = 4 << 10
)

// statements is a cache of compiled statements by their key, which the head of a body has. So a lookup
// reads no records of a body whose statements were compiled for another body.
type statements struct {
	// slots is a hash table of keys with linear probing. It is read without a lock; at least
	// half of it is free.
	slots [2 * mostStatements]atomic.Pointer[cachedStatements]

	mu    sync.Mutex
	count int
	most  int // mostStatements, except in tests
}

type cachedStatements struct {
	key   matcher.StatementsKey
	usage *matcher.Usage // nil: they say nothing of what is wanted
}

// slot returns the slot that has a key and its contents, or the free slot where the key
// belongs and nil.
func (s *statements) slot(key matcher.StatementsKey) (*atomic.Pointer[cachedStatements], *cachedStatements) {
	for i := binary.LittleEndian.Uint64(key[:]); ; i++ {
		slot := &s.slots[i%uint64(len(s.slots))]
		if kept := slot.Load(); kept == nil || kept.key == key {
			return slot, kept
		}
	}
}

// find returns the compiled statements of a body, by the key in its head. ok is false if
// they are not cached. u is nil if they say nothing that is asked for.
func (s *statements) find(info *matcher.BodyInfo) (u *matcher.Usage, ok bool) {
	if !info.HasSaid {
		return nil, false
	}
	if _, kept := s.slot(info.Said); kept != nil {
		return kept.usage, true
	}
	return nil, false
}

// compile returns the compiled statements of a body with records r, and caches them for bodies
// with the same key. With explanations they are not cached, because their line numbers differ
// between bodies. nil is returned for a body without statements.
func (s *statements) compile(p *Pack, r *Records) *matcher.Usage {
	if r.Statements == nil {
		return nil
	}
	if p.usage.Explain || len(r.Statements) > longestStatements {
		return matcher.CompileUsage(r.ParseStatements(p.info.Profile), p.agents, p.usage)
	}
	key := matcher.KeyOfStatements(r.Statements)
	if _, kept := s.slot(key); kept != nil {
		return kept.usage
	}
	u := matcher.CompileUsage(r.ParseStatements(p.info.Profile), p.agents, p.usage)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, other := s.slot(key)
	switch {
	case other != nil: // from another goroutine
		return other.usage
	case s.count == s.most:
		return u
	}
	slot.Store(&cachedStatements{key: key, usage: u})
	s.count++
	return u
}
