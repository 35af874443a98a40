package captures

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"time"

	"robotsbatch/io/store/runs"
	"robotsbatch/matcher/access"
)

// key identifies a URL: the first bytes of its SHA-256.
type key [16]byte

func (k key) compare(l key) int { return bytes.Compare(k[:], l[:]) }

// record is a waiting capture:
//
//	 0  16   key of the URL
//	16  i64  time in nanoseconds since 1970, or unknownTime
//	24  u64  order
//	32  u64  the body, as Bodies named it
//	40  16   key of a redirect's target
//	56  u16  source
//	58  i16  status, -1 for one that is none
//	60  u16  flags
//	62  u16  length of the authority, 0 when the URL is not that of a robots.txt
//	64       the authority
type record []byte

const recordSize = 64

// Flags of a record.
const (
	flagFailed = 1 << iota
	flagTarget // there is a target
)

// newRecord returns a record of a capture without its key and authority, in the memory
// of an earlier record.
func newRecord(memory []byte, x *Capture, source int, order uint64) record {
	r := append(memory[:0], make([]byte, recordSize)...)
	binary.LittleEndian.PutUint64(r[16:], uint64(nanoseconds(x.Time)))
	binary.LittleEndian.PutUint64(r[24:], order)
	binary.LittleEndian.PutUint16(r[56:], uint16(source))
	binary.LittleEndian.PutUint16(r[58:], uint16(clampStatus(x.Status)))
	if x.Failed {
		r[60] = flagFailed
	}
	return r
}

// of adds the key and the authority to a record.
func (r record) of(node key, authority []byte) record {
	copy(r, node[:])
	binary.LittleEndian.PutUint16(r[62:], uint16(len(authority)))
	return append(r, authority...)
}

func (r record) setKept(kept uint64) { binary.LittleEndian.PutUint64(r[32:], kept) }

func (r record) setTarget(target key) {
	copy(r[40:], target[:])
	r[60] |= flagTarget
}

func (r record) key() key          { return key(r[:16]) }
func (r record) time() int64       { return int64(binary.LittleEndian.Uint64(r[16:])) }
func (r record) order() uint64     { return binary.LittleEndian.Uint64(r[24:]) }
func (r record) kept() uint64      { return binary.LittleEndian.Uint64(r[32:]) }
func (r record) target() key       { return key(r[40:56]) }
func (r record) source() int       { return int(binary.LittleEndian.Uint16(r[56:])) }
func (r record) status() int       { return int(int16(binary.LittleEndian.Uint16(r[58:]))) }
func (r record) failed() bool      { return r[60]&flagFailed != 0 }
func (r record) hasTarget() bool   { return r[60]&flagTarget != 0 }
func (r record) authority() []byte { return r[recordSize:r.size()] }
func (r record) size() int         { return recordSize + int(binary.LittleEndian.Uint16(r[62:])) }

// fetch returns what package access needs, except for a redirect's target. Its time is
// rounded down to a second: fractions only order captures.
func (r record) fetch() access.Fetch {
	return access.Fetch{Status: r.status(), Failed: r.failed(), Time: timeOf(r.time()).Truncate(time.Second)}
}

// recordForm sorts records by URL, then by source, then oldest first.
var recordForm = runs.Form{
	Head: recordSize,
	Size: func(head []byte) int { return record(head).size() },
	Key:  binary.BigEndian.Uint64, // the order of keys
	Compare: func(a, b []byte) int {
		r, s := record(a), record(b)
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
