package rulepack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sort"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
)

// A bucket holds the authorities whose hashes fall into one range, in the order of
// their hashes, then of schemes, then of texts:
//
//	0  u32  checksum of the bucket's number and of all that follows
//	4  u32  number of authorities, plus wideBucket
//	8  u16  for each authority: its fingerprint, the low bits of its hash; zeros up to
//	        the next multiple of 16 authorities
//	   u16  for each authority: where its record ends, counted from the first one's
//	        start; u32 with wideBucket
//	        for each authority its record: 12 bytes, see origin, and its text,
//	        without the scheme
//
// So what finds an authority is in the first 64 bytes of most buckets, and what is known of
// it in as many others.
const (
	bucketHeaderSize = 8
	fingerprintBlock = 16 // fingerprints compared at once
	originSize       = 12
	// wideBucket is set in the number of authorities of a bucket whose records are longer
	// than 16 bits can say.
	wideBucket = 1 << 31

	// perBucket is the average number of authorities in a bucket. Smaller buckets make
	// the directory larger; larger ones take longer to search, and leave more room
	// empty at the end of a page.
	perBucket = 8
	// scanned is the most authorities of a bucket that is searched linearly.
	scanned = 4 * perBucket
	// pageSize is the operating system's unit of reading. No bucket crosses the end
	// of a page unless it is larger than one.
	pageSize = 4096

	// MaxAuthority is the most bytes of an authority in a pack. A name in the DNS has
	// at most 255 (RFC 1035 §2.3.4).
	MaxAuthority = 2048
)

// hashOf returns the hash of an authority.
func hashOf(authority []byte) uint64 { return xxh3.Hash(authority) }

// bucketOf returns the bucket of a hash: buckets divide the range of hashes evenly.
func bucketOf(hash uint64, buckets uint32) uint32 {
	bucket, _ := bits.Mul64(hash, uint64(buckets))
	return uint32(bucket)
}

// noBody stands for a body where there is none.
const noBody = matcher.NoBody

// origin is what a pack knows about an authority:
//
//	 0  u32  where its body is in the rules, in matcher.BodyAlignment bytes; noBody
//	        for none
//	 4  u32  when it was fetched, in seconds since 1970; 0: unknown
//	 8  u16  status of the fetch, 0: unknown
//	10  u8   access.Outcome
//	11  u8   the scheme, and the flags below
type origin struct {
	body    uint32
	fetched uint32
	status  uint16
	outcome uint8
	flags   uint8
}

// unknown is the origin of an authority that is not in the pack.
var unknown = origin{body: noBody, outcome: uint8(access.Unknown)}

// notYet is the origin of an authority of which nothing is known from before Options.AsOf,
// or from before the pack's own moment.
var notYet = origin{body: noBody, outcome: uint8(access.Unknown), flags: flagNotYet}

func (o origin) isNotYet() bool {
	o.flags &^= schemeMask
	return o == notYet
}

const (
	schemeMask = 3
	// flagLimited: the size limit, or the crawler, cut the body.
	flagLimited = 4
	// flagStale: its rules are the last good copy.
	flagStale = 8
	// flagNotYet: nothing is known yet; see notYet.
	flagNotYet = 16
)

// appendTo appends the record of an origin, which readOrigin reads.
func (o origin) appendTo(b []byte) []byte {
	b = append32(b, o.body, o.fetched)
	b = binary.LittleEndian.AppendUint16(b, o.status)
	return append(b, o.outcome, o.flags)
}

func readOrigin(b []byte) origin {
	return origin{body: le32(b), fetched: le32(b[4:]), status: le16(b[8:]), outcome: b[10], flags: b[11]}
}

// The numbers of schemes.
const (
	noScheme = iota
	httpScheme
	httpsScheme
	ftpScheme
)

const (
	http  = "http://"
	https = "https://"
	ftp   = "ftp://"
)

// schemes are the schemes that are cut off authorities, by their numbers.
var schemes = [...]string{httpScheme: http, httpsScheme: https, ftpScheme: ftp}

// cutScheme splits an authority into the number of its scheme and the rest, text. It compares
// with constants, which is several times faster than a loop over schemes.
func cutScheme(authority []byte) (scheme uint8, text []byte) {
	switch n := len(authority); {
	case n > len(https) && string(authority[:len(https)]) == https:
		return httpsScheme, authority[len(https):]
	case n > len(http) && string(authority[:len(http)]) == http:
		return httpScheme, authority[len(http):]
	case n > len(ftp) && string(authority[:len(ftp)]) == ftp:
		return ftpScheme, authority[len(ftp):]
	}
	return noScheme, authority
}

// compareAuthorities orders authorities with equal hashes: by scheme, then by the rest of the
// text.
func compareAuthorities(a, b []byte) int {
	schemeA, textA := cutScheme(a)
	schemeB, textB := cutScheme(b)
	return cmp.Or(cmp.Compare(schemeA, schemeB), bytes.Compare(textA, textB))
}

// bucket is a checked bucket. The slice may extend past the bucket's end. Its file can be
// written to after the check: then it may say anything, but nothing reads outside.
type bucket []byte

var (
	errBucketLayout   = errors.New("layout")
	errBucketChecksum = errors.New("checksum")
)

// check checks a bucket's layout and checksum, but not the order of its authorities or what is
// known of each. number is the bucket's index in the pack. The error is errBucketLayout or
// errBucketChecksum.
func (b bucket) check(number uint32) error {
	const leastSize = 2 + 2 + originSize // of an authority: its fingerprint, the end of its record, and the record
	if len(b) < bucketHeaderSize || uint64(b.count())*leastSize > uint64(len(b)) || b.records() > len(b) {
		return errBucketLayout
	}
	end, room := uint32(0), uint64(len(b)-b.records())
	for i := range b.count() {
		next := b.end(i)
		if uint64(next) < uint64(end)+originSize || uint64(next) > room {
			return errBucketLayout
		}
		end = next
	}
	if bucketChecksum(number, b[4:b.size()]) != le32(b) {
		return errBucketChecksum
	}
	return nil
}

// bucketChecksum returns the checksum of a bucket's data and its number, so that one bucket
// cannot pass for another.
func bucketChecksum(number uint32, data []byte) uint32 {
	return updateChecksum(checksum(append32(make([]byte, 0, 4), number)), data)
}

func (b bucket) count() int { return int(le32(b[4:]) &^ wideBucket) }

// fingerprints returns the fingerprints.
func (b bucket) fingerprints() []byte { return b[bucketHeaderSize:b.ends()] }

// ends returns where the ends of records start in the bucket, in bytes.
func (b bucket) ends() int {
	return bucketHeaderSize + 2*((b.count()+fingerprintBlock-1)&^(fingerprintBlock-1))
}

// records returns where the records start in the bucket, in bytes.
func (b bucket) records() int {
	if b.wide() {
		return b.ends() + 4*b.count()
	}
	return b.ends() + 2*b.count()
}

func (b bucket) wide() bool { return le32(b[4:])&wideBucket != 0 }

// end returns where the record of authority i ends, in bytes from the start of the first
// record.
func (b bucket) end(i int) uint32 {
	if b.wide() {
		return le32(b[b.ends()+4*i:])
	}
	return uint32(le16(b[b.ends()+2*i:]))
}

// record returns the record of authority i. It is valid as long as the bucket. If the file was
// written to after check and the offsets are wrong, it returns noRecord.
func (b bucket) record(i int) bucketEntry {
	start, end := uint64(0), uint64(b.end(i))
	if i > 0 {
		start = uint64(b.end(i - 1))
	}
	at := uint64(b.records())
	if start+originSize > end || at+end > uint64(len(b)) {
		return noRecord
	}
	return bucketEntry(b[at+start : at+end])
}

// bucketEntry is an authority's record in a bucket: its origin and its text without the
// scheme.
type bucketEntry []byte

func (r bucketEntry) origin() origin { return readOrigin(r) }
func (r bucketEntry) text() []byte   { return r[originSize:] }

// noRecord is the record of an authority of which nothing is known.
var noRecord = bucketEntry(unknown.appendTo(nil))

func (b bucket) origin(i int) origin { return b.record(i).origin() }

// size returns the bucket's size in bytes, from its checksum to the end of its last record.
func (b bucket) size() int {
	size := b.records()
	if n := b.count(); n > 0 {
		size += int(b.end(n - 1))
	}
	return size
}

// appendAuthority appends the text of authority i, with its scheme, to dst.
func (b bucket) appendAuthority(dst []byte, i int) []byte {
	r := b.record(i)
	return append(append(dst, schemes[r.origin().flags&schemeMask]...), r.text()...)
}

// likely returns the index of the first authority whose fingerprint equals that of hash. It is
// nearly always the authority that has the hash, but the caller must compare the texts. It
// returns -1 if no fingerprint is equal, or if the bucket has more than fingerprintBlock
// authorities, which find searches.
func (b bucket) likely(hash uint64) int {
	if count := b.count(); count <= fingerprintBlock && len(b) >= bucketHeaderSize+2*fingerprintBlock {
		for equal := equalFingerprints(b[bucketHeaderSize:], uint16(hash)); equal != 0; equal &= equal - 1 {
			if i := fingerprintIndex(bits.TrailingZeros64(equal)); i < count { // the rest is padding
				return i
			}
		}
	}
	return -1
}

// fingerprintIndex returns the index of a fingerprint by its bit in the result of
// equalFingerprints: 4i+j for bit 16j+i.
func fingerprintIndex(bit int) int { return bit&3*4 + bit>>4 }

// find returns the index of an authority in the bucket; known is false if the bucket does not
// have it. hash is the authority's hash.
func (b bucket) find(hash uint64, authority []byte) (index int, known bool) {
	count, prints := b.count(), b.fingerprints()
	if count > scanned {
		return b.search(hash, authority)
	}
	for first := 0; first < count; first += fingerprintBlock {
		for equal := equalFingerprints(prints[2*first:], uint16(hash)); equal != 0; equal &= equal - 1 {
			i := first + fingerprintIndex(bits.TrailingZeros64(equal))
			if i < count && b.record(i).is(authority) { // from count on there is padding
				return i, true
			}
		}
	}
	return 0, false
}

// is reports whether a record is that of an authority.
func (r bucketEntry) is(authority []byte) bool {
	scheme, text := cutScheme(authority)
	return r[originSize-1]&schemeMask == scheme && bytes.Equal(r.text(), text)
}

// equalFingerprints returns a set of bits, one for each of the first fingerprintBlock
// fingerprints that equals print, and rarely for another: fingerprint 4i+j has bit 16j+i. It
// compares all at once, because a branch on the number of authorities in a bucket could not be
// predicted.
func equalFingerprints(prints []byte, print uint16) uint64 {
	prints = prints[:2*fingerprintBlock]
	all := uint64(print) * 0x0001_0001_0001_0001
	return zeroLanes(le64(prints)^all) | zeroLanes(le64(prints[8:])^all)<<1 |
		zeroLanes(le64(prints[16:])^all)<<2 | zeroLanes(le64(prints[24:])^all)<<3
}

// zeroLanes returns bit 16j for each 16-bit lane j that is zero. A lane of 1 right
// above a zero lane is also reported: subtracting 1 from each lane sets the top bit of a lane
// in which it was clear only if that lane borrows.
func zeroLanes(x uint64) uint64 {
	return (x - 0x0001_0001_0001_0001) &^ x >> 15 & 0x0001_0001_0001_0001
}

// search returns what find does, by binary search: for buckets of hosts that were chosen for
// their hashes to make lookups slow.
func (b bucket) search(hash uint64, authority []byte) (index int, known bool) {
	var memory [MaxAuthority + 8]byte
	return sort.Find(b.count(), func(i int) int {
		other := b.appendAuthority(memory[:0], i)
		return cmp.Or(cmp.Compare(hash, hashOf(other)), compareAuthorities(authority, other))
	})
}

// bitmap is a set of numbers that only grows and is safe for concurrent use.
type bitmap []atomic.Uint32

func newBitmap(n uint32) bitmap { return make(bitmap, (uint64(n)+31)/32) }

func (b bitmap) has(i uint32) bool { return b[i/32].Load()>>(i%32)&1 != 0 }
func (b bitmap) set(i uint32)      { b[i/32].Or(1 << (i % 32)) }

// bucketWriter writes buckets one after the other and builds the directory. It keeps
// one bucket in memory.
type bucketWriter struct {
	w         io.Writer
	buckets   uint32
	directory []uint64 // where each bucket that was written starts
	at        uint64   // bytes written so far

	// The authorities of the current bucket, as columns.
	count                 uint32
	fingerprints, records []byte
	ends                  []uint32
	buffer                []byte // reused

	intervals *intervalWriter // gets a bucket of intervals for each bucket; nil without a history
}

// newBucketWriter returns a writer for at most that many authorities.
func newBucketWriter(w io.Writer, authorities int64) *bucketWriter {
	buckets := uint32(min(authorities/perBucket+1, math.MaxUint32-1))
	return &bucketWriter{w: w, buckets: buckets, directory: make([]uint64, 0, int64(buckets)+1)}
}

// add adds an authority to the bucket of its hash, after it has written the buckets before.
// Authorities must come in ascending order of hash, scheme and text.
func (w *bucketWriter) add(hash uint64, o origin, authority []byte) error {
	if err := w.finishUpTo(bucketOf(hash, w.buckets)); err != nil {
		return err
	}
	scheme, text := cutScheme(authority)
	o.flags |= scheme
	w.records = append(o.appendTo(w.records), text...)
	if uint64(len(w.records)) > math.MaxUint32 {
		return fmt.Errorf("too many authorities have the same hash: together they have more than %d bytes", uint32(math.MaxUint32))
	}
	w.count++
	w.fingerprints = binary.LittleEndian.AppendUint16(w.fingerprints, uint16(hash))
	w.ends = append(w.ends, uint32(len(w.records)))
	return nil
}

// finish writes the last buckets and completes the directory.
func (w *bucketWriter) finish() error {
	err := w.finishUpTo(w.buckets)
	w.directory = append(w.directory, w.at)
	return err
}

// finishUpTo writes the buckets before number that are not written yet.
func (w *bucketWriter) finishUpTo(number uint32) error {
	for uint32(len(w.directory)) < number {
		if err := w.finishBucket(); err != nil {
			return err
		}
	}
	return nil
}

// finishBucket writes the current bucket, and that of the intervals, and begins an empty one.
// A bucket that fits into a page but not into the rest of the current page starts on the next
// page.
func (w *bucketWriter) finishBucket() error {
	for len(w.fingerprints)%(2*fingerprintBlock) != 0 { // a block of fingerprints, of 2 bytes each, is compared at once
		w.fingerprints = append(w.fingerprints, 0)
	}
	b := append32(w.buffer[:0], 0)          // the checksum is set below
	wide := len(w.records) > math.MaxUint16 // the ends do not fit in 16 bits
	if wide {
		w.count |= wideBucket
	}
	b = append32(b, w.count)
	b = append(b, w.fingerprints...)
	for _, end := range w.ends {
		if wide {
			b = append32(b, end)
		} else {
			b = binary.LittleEndian.AppendUint16(b, uint16(end))
		}
	}
	b = append(b, w.records...)
	binary.LittleEndian.PutUint32(b, bucketChecksum(uint32(len(w.directory)), b[4:]))
	w.buffer = b
	if err := w.intervals.finishBucket(uint32(len(w.directory))); err != nil {
		return err
	}
	w.count, w.fingerprints, w.ends, w.records = 0, w.fingerprints[:0], w.ends[:0], w.records[:0]
	if room := pageSize - w.at%pageSize; uint64(len(b)) > room && len(b) <= pageSize {
		if err := w.write(make([]byte, room)); err != nil {
			return err
		}
	}
	w.directory = append(w.directory, w.at)
	return w.write(b)
}

func (w *bucketWriter) write(data []byte) error {
	w.at += uint64(len(data))
	_, err := w.w.Write(data)
	return err
}
