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

// NameOf returns the name of a WARC record's id or a payload's digest, as written; 0 for an
// empty text.
func NameOf(text []byte) Name {
	if len(text) == 0 {
		return 0
	}
	sum := sha256.Sum256(text)
	return max(Name(binary.LittleEndian.Uint64(sum[:])), 1)
}

// fetchName returns the name of the fetch of a URL, given its key, in a second since 1970.
func fetchName(url key, second uint32) Name {
	var text [len(url) + 4]byte
	n := copy(text[:], url[:])
	binary.LittleEndian.PutUint32(text[n:], second)
	return NameOf(text[:])
}

// setRevisit makes r a revisit, and sets the name of the fetch that it refers to if x says
// which.
func (a *adder) setRevisit(r captureRecord, x *Capture) {
	r[flagsAt] |= flagRevisit
	if hash, _, ok := a.urlKey(x.OriginalURL); ok && !x.OriginalTime.IsZero() {
		r.setBody(uint64(fetchName(hash, toSecond(x.OriginalTime))))
	}
}

// setNames stores the names of the record and the payload: a 2xx has its own, a revisit those
// that it refers to.
func (r captureRecord) setNames(x *Capture) {
	binary.LittleEndian.PutUint64(r[targetAt:], uint64(x.Record))
	binary.LittleEndian.PutUint64(r[targetAt+8:], uint64(x.Digest))
}

// names returns the names of the record, the payload and the fetch, in this order of
// preference: a 2xx has its own, a revisit those that it refers to. 0 is none.
func (r captureRecord) names() [3]Name {
	names := [...]Name{Name(binary.LittleEndian.Uint64(r[targetAt:])), Name(binary.LittleEndian.Uint64(r[targetAt+8:])), Name(r.body())}
	if !r.isRevisit() {
		names[2] = fetchName(r.key(), nanoToSecond(r.time()))
	}
	return names
}

func (r captureRecord) isRevisit() bool { return r[flagsAt]&flagRevisit != 0 }

// isSameRevisit reports whether r is a revisit with the URL, time, source and names of s.
func (r captureRecord) isSameRevisit(s captureRecord) bool {
	return len(r) > 0 && r.isRevisit() && bytes.Equal(r[:orderAt], s[:orderAt]) && bytes.Equal(r[bodyAt:statusAt], s[bodyAt:statusAt])
}

// noteRevisit notes the names that a revisit refers to, so that findRevisited finds their
// bodies.
func (s *Set) noteRevisit(r captureRecord) {
	if s.revisited == nil {
		s.revisited = make(map[Name]uint64)
	}
	for _, name := range r.names() {
		if name != 0 {
			s.revisited[name] = 0
		}
	}
}

// findRevisited finds the bodies of the names that revisits refer to, in a pass over all
// captures.
func (s *Set) findRevisited(ctx context.Context) error {
	if len(s.revisited) == 0 {
		return nil
	}
	return s.sorter.Merge(func(data []byte) error {
		x := captureRecord(data)
		if x.isRevisit() || x.body() == 0 {
			return nil
		}
		for _, name := range x.names() {
			if _, wanted := s.revisited[name]; wanted {
				s.revisited[name] = x.body() // of fetches in one second the last counts
			}
		}
		return context.Cause(ctx)
	})
}

// resolveRevisit makes a revisit a 2xx with the body that it refers to. If no source has that,
// it becomes a fetch without an answer; but a new revisit, in a set that continues a pack, may
// refer to a 2xx that the pack dropped, and becomes a 2xx whose body is gone.
func (s *Set) resolveRevisit(x captureRecord) {
	for _, name := range x.names() {
		if kept := s.revisited[name]; kept != 0 {
			x.setBody(kept)
			x[flagsAt] &^= flagRevisit
			return
		}
	}
	if s.old.pack && x.order()>>fileShift != 0 { // it was read from a file now, and is not of the pack
		x.setBody(gone)
		x[flagsAt] &^= flagRevisit
		return
	}
	x[flagsAt] |= flagFailed
	s.update(x.source(), func(s *Stats) { s.Lost++ })
}
