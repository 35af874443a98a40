package captures

import (
	"bytes"
	"cmp"
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

// keys are a set of keys, sorted and each there once after compact.
type keys []key

func (k *keys) add(one key) {
	if len(*k) == cap(*k) { // many are the same
		k.compact()
	}
	*k = append(*k, one)
}

func (k *keys) compact() {
	slices.SortFunc(*k, key.compare)
	*k = slices.Compact(*k)
}

// find returns the index of a key that is there, after compact.
func (k keys) find(one key) (index int, found bool) {
	return slices.BinarySearchFunc(k, one, key.compare)
}

// waiting is a capture that waits to be resolved:
//
//	 0  16   key of the URL
//	16  i64  time in nanoseconds since 1970, or unknownTime
//	24  u64  order
//	32  u64  the body, as Bodies named it; of a revisit, the name of the fetch that has it
//	40  16   key of a redirect's target; of a 2xx and a revisit, the names of record and payload
//	56  u16  source
//	58  i16  status, -1 for one that is none
//	60  u16  flags
//	62  u16  length of the authority, 0 when the URL is not that of a robots.txt
//	64       the authority
type waiting []byte

const waitingSize = 64

// Flags of a waiting capture.
const (
	flagFailed  = 1 << iota
	flagTarget  // there is a target
	flagRenewed // it is "not modified", and has the body of an earlier 2xx
	flagRevisit // it has the body of another 2xx, which is not known yet, or with flagFailed nowhere
	flagDropped // it stands for all captures of its URL up to its time, of which a pack has none
	flagUnread  // with flagFailed: Capture.Unread
)

// gone is the body of a 2xx that a pack does not have any more, or may not: all is denied.
const gone = math.MaxUint64

// newWaiting returns a waiting capture with the time, status and place in order of x, in the memory of
// an earlier one. What depends on the URL and the answer is still missing.
func newWaiting(memory []byte, x *Capture, source int, order uint64) waiting {
	r := waiting(append(memory[:0], make([]byte, waitingSize)...))
	r.set(nanoseconds(x.Time), source, clampStatus(x.Status), x.Failed)
	binary.LittleEndian.PutUint64(r[24:], order)
	if x.Unread {
		r[60] |= flagUnread
	}
	return r
}

// set sets fields of a waiting capture that is zero so far.
func (r waiting) set(nanoseconds int64, source int, status int16, failed bool) {
	binary.LittleEndian.PutUint64(r[16:], uint64(nanoseconds))
	binary.LittleEndian.PutUint16(r[56:], uint16(source))
	binary.LittleEndian.PutUint16(r[58:], uint16(status))
	if failed {
		r[60] = flagFailed
	}
}

// withURL returns a waiting capture with the key of its URL, and with the authority if the URL is that
// of a robots.txt. It may reuse r's memory.
func (r waiting) withURL(node key, authority []byte) waiting {
	copy(r, node[:])
	binary.LittleEndian.PutUint16(r[62:], uint16(len(authority)))
	return append(r, authority...)
}

func (r waiting) setKept(kept uint64) { binary.LittleEndian.PutUint64(r[32:], kept) }

func (r waiting) setTarget(target key) {
	copy(r[40:], target[:])
	r[60] |= flagTarget
}

func (r waiting) renew(kept uint64) {
	r.setKept(kept)
	r[60] |= flagRenewed
}

func (r waiting) key() key      { return key(r[:16]) }
func (r waiting) time() int64   { return int64(binary.LittleEndian.Uint64(r[16:])) }
func (r waiting) order() uint64 { return binary.LittleEndian.Uint64(r[24:]) }
func (r waiting) kept() uint64  { return binary.LittleEndian.Uint64(r[32:]) }
func (r waiting) target() key   { return key(r[40:56]) }
func (r waiting) source() int   { return int(binary.LittleEndian.Uint16(r[56:])) }
func (r waiting) status() int   { return int(int16(binary.LittleEndian.Uint16(r[58:]))) }

// isBody reports whether it is a 2xx, and not another answer that renews one.
func (r waiting) isBody() bool      { return r.kept() != 0 && r[60]&(flagRenewed|flagRevisit) == 0 }
func (r waiting) failed() bool      { return r[60]&flagFailed != 0 }
func (r waiting) isUnread() bool    { return r[60]&flagUnread != 0 }
func (r waiting) isDropped() bool   { return r[60]&flagDropped != 0 }
func (r waiting) hasTarget() bool   { return r[60]&flagTarget != 0 }
func (r waiting) authority() []byte { return r[waitingSize:r.size()] }
func (r waiting) size() int         { return waitingSize + int(binary.LittleEndian.Uint16(r[62:])) }

// second is that from which on it says something, in the form of access.Interval.From.
func (r waiting) second() uint32 {
	if r.isDropped() {
		return 0
	}
	return secondOf(r.time())
}

// repeats reports whether a capture is another one once more, whatever its order.
func (r waiting) repeats(s waiting) bool {
	return bytes.Equal(r[:24], s[:24]) && r.kept() == s.kept() && bytes.Equal(r[56:], s[56:]) && (!r.hasTarget() && !r.isRevisit() || r.target() == s.target())
}

// fetch returns what package access needs. Fractions of seconds only order captures.
func (r waiting) fetch() access.Fetch {
	f := access.Fetch{Status: r.status(), Failed: r.failed(), Renewed: r[60]&flagRenewed != 0, Second: int64(r.second())}
	if r.isUnread() {
		f.Second = 0
	}
	return f
}

// waitingForm sorts waiting captures by URL, then by source, then oldest first.
var waitingForm = runs.Form{
	Head: waitingSize,
	Size: func(head []byte) int { return waiting(head).size() },
	Key:  binary.BigEndian.Uint64, // the order of keys
	Compare: func(a, b []byte) int {
		r, s := waiting(a), waiting(b)
		return cmp.Or(r.key().compare(s.key()), cmp.Compare(r.source(), s.source()),
			cmp.Compare(r.time(), s.time()), cmp.Compare(r.order(), s.order()))
	},
}

func clampStatus(status int) int16 {
	if status < 0 || status > math.MaxInt16 {
		return -1
	}
	return int16(status)
}

// unknownTime sorts before every other time.
const unknownTime = math.MinInt64

// The years for which nanoseconds since 1970 are defined.
const firstYear, lastYear = 1700, 2200

func nanoseconds(t time.Time) int64 {
	if year := t.Year(); year < firstYear || year > lastYear {
		return unknownTime
	}
	return t.UnixNano()
}

func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == unknownTime {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}
