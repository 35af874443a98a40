package captures

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/access"
)

// key identifies a URL: the first bytes of its SHA-256.
type key [16]byte

func (k key) compare(l key) int { return bytes.Compare(k[:], l[:]) }

// keys is a set of keys. add may leave duplicates; compact sorts it and removes them.
type keys []key

// add adds a key. It removes duplicates before it would need more memory, because many keys
// repeat.
func (k *keys) add(one key) {
	if len(*k) == cap(*k) {
		k.compact()
	}
	*k = append(*k, one)
}

// compact sorts the keys and removes duplicates.
func (k *keys) compact() {
	slices.SortFunc(*k, key.compare)
	*k = slices.Compact(*k)
}

// find returns the index of a key. compact must have been called after the last add.
func (k keys) find(one key) (index int, found bool) {
	return slices.BinarySearchFunc(k, one, key.compare)
}

// captureRecord is a capture as a record of a sorter:
//
//	 0  16   key of the URL
//	16  i64  time in nanoseconds since 1970, or unknownTime
//	24  u64  order
//	32  u64  the body, as Bodies numbered it; of a revisit, the name of the fetch that has it
//	40  16   key of a redirect's target; of a 2xx and a revisit, the names of record and payload
//	56  u16  source
//	58  i16  status, -1 for an invalid one
//	60  u16  flags
//	62  u16  length of the authority, 0 if the URL is not that of a robots.txt
//	64       the authority
type captureRecord []byte

// Where the fields of a captureRecord start, and recordHead, where they end.
const timeAt, orderAt, bodyAt, targetAt, sourceAt, statusAt, flagsAt, lengthAt, recordHead = 16, 24, 32, 40, 56, 58, 60, 62, 64

// Flags of a captureRecord.
const (
	flagFailed  = 1 << iota
	flagTarget  // there is a target
	flagRenewed // it is "not modified", and has the body of an earlier 2xx
	flagRevisit // it has the body of another 2xx, which is not found yet; with flagFailed nobody has it
	flagDropped // it stands for all captures of its URL up to its time, which a pack may not have kept
	flagUnread  // with flagFailed: Capture.Unread
)

// gone is the body of a 2xx that a pack may not have kept: everything is denied.
const gone = math.MaxUint64

// newCaptureRecord returns a record with the time, source, order and status of x, in memory if
// that is large enough. URL, body and target are still missing.
func newCaptureRecord(memory []byte, x *Capture, source int, order uint64) captureRecord {
	r := captureRecord(append(memory[:0], make([]byte, recordHead)...))
	status := int16(-1) // invalid
	if 0 <= x.Status && x.Status <= math.MaxInt16 {
		status = int16(x.Status)
	}
	r.setFetch(nanoseconds(x.Time), source, status, x.Failed)
	binary.LittleEndian.PutUint64(r[orderAt:], order)
	if x.Unread {
		r[flagsAt] |= flagUnread
	}
	return r
}

// setFetch sets the time, source and status of a record that is all zeros.
func (r captureRecord) setFetch(nanoseconds int64, source int, status int16, failed bool) {
	binary.LittleEndian.PutUint64(r[timeAt:], uint64(nanoseconds))
	binary.LittleEndian.PutUint16(r[sourceAt:], uint16(source))
	binary.LittleEndian.PutUint16(r[statusAt:], uint16(status))
	if failed {
		r[flagsAt] = flagFailed
	}
}

// withURL returns the record with the key of its URL, and with the authority if the URL is
// that of a robots.txt. It may reuse r's memory.
func (r captureRecord) withURL(hash key, authority []byte) captureRecord {
	copy(r, hash[:])
	binary.LittleEndian.PutUint16(r[lengthAt:], uint16(len(authority)))
	return append(r, authority...)
}

// setBody sets the body's number.
func (r captureRecord) setBody(kept uint64) { binary.LittleEndian.PutUint64(r[bodyAt:], kept) }

// setTarget sets the key of the URL that the capture redirects to.
func (r captureRecord) setTarget(target key) {
	copy(r[targetAt:], target[:])
	r[flagsAt] |= flagTarget
}

func (r captureRecord) key() key      { return key(r[:16]) }
func (r captureRecord) time() int64   { return int64(binary.LittleEndian.Uint64(r[timeAt:])) }
func (r captureRecord) order() uint64 { return binary.LittleEndian.Uint64(r[orderAt:]) }
func (r captureRecord) body() uint64  { return binary.LittleEndian.Uint64(r[bodyAt:]) }
func (r captureRecord) target() key   { return key(r[targetAt:sourceAt]) }
func (r captureRecord) source() int   { return int(binary.LittleEndian.Uint16(r[sourceAt:])) }
func (r captureRecord) status() int   { return int(int16(binary.LittleEndian.Uint16(r[statusAt:]))) }

// isBody reports whether the capture is a 2xx with a body of its own, unlike a 304 or a
// revisit.
func (r captureRecord) isBody() bool {
	return r.body() != 0 && r[flagsAt]&(flagRenewed|flagRevisit) == 0
}
func (r captureRecord) failed() bool      { return r[flagsAt]&flagFailed != 0 }
func (r captureRecord) isUnread() bool    { return r[flagsAt]&flagUnread != 0 }
func (r captureRecord) isDropped() bool   { return r[flagsAt]&flagDropped != 0 }
func (r captureRecord) hasTarget() bool   { return r[flagsAt]&flagTarget != 0 }
func (r captureRecord) authority() []byte { return r[recordHead:r.size()] }
func (r captureRecord) size() int         { return recordHead + int(binary.LittleEndian.Uint16(r[lengthAt:])) }

// second returns the second since 1970 from which on the capture counts; 0 if its time is unknown.
func (r captureRecord) second() uint32 {
	if r.isDropped() {
		return 0
	}
	return nanoToSecond(r.time())
}

// equals reports whether r and s are the same capture, whatever their order. A 2xx and its copy in a
// pack may differ in the names of record and payload, which a pack does not keep.
func (r captureRecord) equals(s captureRecord) bool {
	refersToOther := r.hasTarget() || r.isRevisit()
	return bytes.Equal(r[:orderAt], s[:orderAt]) && r.body() == s.body() && bytes.Equal(r[sourceAt:], s[sourceAt:]) && (!refersToOther || r.target() == s.target())
}

// fetch returns the capture as package access judges it, with its time in whole seconds.
func (r captureRecord) fetch() access.Fetch {
	f := access.Fetch{Status: r.status(), Failed: r.failed(), Renewed: r[flagsAt]&flagRenewed != 0, Second: int64(r.second())}
	if r.isUnread() {
		f.Second = 0
	}
	return f
}

// captureForm sorts captures by URL, then by source, then oldest first.
var captureForm = runs.Form{
	Head: recordHead,
	Size: func(head []byte) int { return captureRecord(head).size() },
	Key:  binary.BigEndian.Uint64, // the order of keys
	Compare: func(a, b []byte) int {
		r, s := captureRecord(a), captureRecord(b)
		return cmp.Or(r.key().compare(s.key()), cmp.Compare(r.source(), s.source()),
			cmp.Compare(r.time(), s.time()), cmp.Compare(r.order(), s.order()))
	},
}

// unknownTime sorts before every other time.
const unknownTime = math.MinInt64

// firstYear is the first year whose nanoseconds since 1970 fit into an int64, LastYear the last whose
// seconds since 1970 fit into the 32 bits that a pack has. A time after LastYear is an error.
const firstYear, LastYear = 1700, 2105

// nanoseconds returns the nanoseconds from 1970 to a time; unknownTime for the zero time and others out
// of range.
func nanoseconds(t time.Time) int64 {
	if year := t.Year(); year < firstYear || year > LastYear {
		return unknownTime
	}
	return t.UnixNano()
}

// timeOf is the inverse of the function nanoseconds; the zero time is unknown.
func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == unknownTime {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}

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

// wantRevisited adds the names that a revisit refers to to s.revisited, for which findRevisited finds
// the bodies.
func (s *Set) wantRevisited(r captureRecord) {
	if s.revisited == nil {
		s.revisited = make(map[Name]uint64)
	}
	for _, name := range r.names() {
		if name != 0 {
			s.revisited[name] = 0
		}
	}
}

// findRevisited sets in s.revisited the bodies of the names that revisits refer to, in a pass over all
// captures. A name that no 2xx has stays 0.
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
