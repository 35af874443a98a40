package rulepack

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"

	"robotsbatch/matcher"
)

// Many sites have the same statements, because a network or their software writes them.
// These bound how many of them, once compiled, are kept for the bodies that follow.
const (
	mostStatements    = 4096
	longestStatements = 4 << 10 // bytes of Records.Statements
)

// statements are compiled statements that bodies share: those of the same text are compiled
// once, and those that say the same to the agents are one in memory. So most lookups find
// them in the processor's cache, with one load of four bytes for the body.
type statements struct {
	bodies []atomic.Uint32                 // by number, what is known of a body
	shared []atomic.Pointer[matcher.Usage] // by index

	mu        sync.Mutex
	byText    map[string]uint32 // what is known of bodies with a text
	byContent map[string]uint32
}

// What is known of a body's statements. What follows are indices of shared ones, plus
// firstShared.
const (
	unread  = iota // not read so far
	apart          // not shared: they are in Pack.made
	nothing        // they say nothing of what is wanted
	firstShared
)

func newStatements(bodies uint32) *statements {
	return &statements{
		bodies: make([]atomic.Uint32, bodies), shared: make([]atomic.Pointer[matcher.Usage], mostStatements),
		byText: make(map[string]uint32), byContent: make(map[string]uint32),
	}
}

// find returns what a body says of uses; ok is false if that is not shared. place is where
// the body is.
func (s *statements) find(p *Pack, number, place uint32) (u *matcher.Usage, ok bool, err error) {
	if uint64(number) >= uint64(len(s.bodies)) {
		return nil, false, nil
	}
	known := s.bodies[number].Load()
	if known == unread {
		r := readRow(p.rows, number)
		if r.rules[0] != uint64(place)*matcher.BodyAlignment {
			return nil, false, p.damagedBody(place, errors.New("it has another's number"))
		}
		text, err := p.bodyStatements(number, r)
		if err != nil {
			return nil, false, err
		}
		_, known = s.get(p, text)
		s.bodies[number].Store(known)
	}
	switch known {
	case apart:
		return nil, false, nil
	case nothing:
		return nil, true, nil
	}
	return s.shared[known-firstShared].Load(), true, nil
}

// get returns what the statements of a body's records say of uses, compiled or shared, and
// what is then known of the body. It changes the text.
func (s *statements) get(p *Pack, text []byte) (u *matcher.Usage, known uint32) {
	if len(text) == 0 {
		return nil, nothing
	}
	if !p.usage.Explain { // nobody asks for the numbers of the lines
		text = appendLines(text[:0], text)
	}
	s.mu.Lock()
	known = s.byText[string(text)]
	s.mu.Unlock()
	switch {
	case known >= firstShared:
		return s.shared[known-firstShared].Load(), known
	case known == nothing:
		return nil, known
	}
	u = matcher.CompileUsage(parseStatements(text, p.info.Profile), p.agents, p.usage)
	if len(text) > longestStatements {
		return u, apart
	}
	content := u.AppendContent(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.byContent[string(content)]
	switch {
	case ok && u != nil:
		u = s.shared[known-firstShared].Load()
	case u == nil:
		known = nothing
	case len(s.byContent) < mostStatements:
		known = firstShared + uint32(len(s.byContent))
		s.shared[known-firstShared].Store(u)
		s.byContent[string(content)] = known
	default:
		return u, apart
	}
	if len(s.byText) < mostStatements {
		s.byText[string(text)] = known
	}
	return u, known
}

// appendLines appends the lines of a text that are not empty. dst may be the text's own
// beginning.
func appendLines(dst, text []byte) []byte {
	for line := range bytes.Lines(text) {
		if line[0] != '\n' {
			dst = append(dst, line...)
		}
	}
	return dst
}
