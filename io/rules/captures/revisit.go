package captures

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
)

// Name identifies a record, its payload, or the fetch of a URL in a second, to which a revisit
// may refer; 0 is none. Strangers, who choose the payloads, cannot choose the name of another.
type Name uint64

// NameOf returns the name of a record's id or a payload's digest, as written; 0 for none.
func NameOf(text []byte) Name {
	if len(text) == 0 {
		return 0
	}
	sum := sha256.Sum256(text)
	return max(Name(binary.LittleEndian.Uint64(sum[:])), 1)
}

// fetchName returns the name of the fetch of a URL in a second.
func fetchName(node key, second uint32) Name {
	var text [len(node) + 4]byte
	binary.LittleEndian.PutUint32(text[copy(text[:], node[:]):], second)
	return NameOf(text[:])
}

// setRevisit makes a capture one that has the body of another.
func (a *adder) setRevisit(r waiting, x *Capture) {
	r[60] |= flagRevisit
	if node, _, ok := a.node(x.OriginalURL); ok && !x.OriginalTime.IsZero() {
		r.setKept(uint64(fetchName(node, momentOf(x.OriginalTime))))
	}
}

// setNames notes the names of a 2xx, or those that a revisit refers to, where a redirect has
// its target.
func (r waiting) setNames(x *Capture) {
	binary.LittleEndian.PutUint64(r[40:], uint64(x.Record))
	binary.LittleEndian.PutUint64(r[48:], uint64(x.Digest))
}

// names returns the names of a 2xx, or those that a revisit refers to, the best first. A
// revisit has the third where its body will be.
func (r waiting) names() [3]Name {
	names := [...]Name{Name(binary.LittleEndian.Uint64(r[40:])), Name(binary.LittleEndian.Uint64(r[48:])), Name(r.kept())}
	if !r.isRevisit() {
		names[2] = fetchName(r.key(), secondOf(r.time()))
	}
	return names
}

func (r waiting) isRevisit() bool { return r[60]&flagRevisit != 0 }

// isRevisitOf reports whether a revisit has the URL, time, source and names of another.
func (r waiting) isRevisitOf(s waiting) bool {
	return len(r) > 0 && r.isRevisit() && bytes.Equal(r[:24], s[:24]) && bytes.Equal(r[32:58], s[32:58])
}

// noteRevisit notes what a revisit refers to.
func (s *Set) noteRevisit(r waiting) {
	if s.revisited == nil {
		s.revisited = make(map[Name]uint64)
	}
	for _, name := range r.names() {
		if name != 0 {
			s.revisited[name] = 0
		}
	}
}

// findRevisited finds the bodies of the 2xx that revisits refer to.
func (s *Set) findRevisited(ctx context.Context) error {
	if len(s.revisited) == 0 {
		return nil
	}
	return s.sorter.Merge(func(data []byte) error {
		x := waiting(data)
		if x.isRevisit() || x.kept() == 0 {
			return nil
		}
		for _, name := range x.names() {
			if kept, wanted := s.revisited[name]; wanted && kept == 0 {
				s.revisited[name] = x.kept()
			}
		}
		return context.Cause(ctx)
	})
}

// resolveRevisit makes a revisit what it refers to: a 2xx, or a fetch without an answer if no source
// has that. A new revisit may refer to a 2xx that the pack being updated has dropped: its body is gone.
func (s *Set) resolveRevisit(x waiting) {
	for _, name := range x.names() {
		if kept := s.revisited[name]; kept != 0 {
			x.setKept(kept)
			x[60] &^= flagRevisit
			return
		}
	}
	if s.old.pack && x.order() >= 1<<orderBits {
		x.setKept(gone)
		x[60] &^= flagRevisit
		return
	}
	x[60] |= flagFailed
	s.update(x.source(), func(s *Stats) { s.Lost++ })
}
