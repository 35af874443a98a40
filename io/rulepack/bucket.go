package rulepack

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"sort"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"robotsbatch/matcher/access"
)

// A bucket holds the authorities whose hashes fall into one range, in the order of
// their hashes, then of schemes, then of texts:
//
//	0  u32  checksum of the bucket's number and of all that follows
//	4  u32  number of authorities
//	8  u16  for each authority: its fingerprint, the low bits of its hash; zeros up to
//	        the next multiple of 16 authorities
//	   u32  for each authority: where its text ends
//	   12   bytes for each authority, see origin
//	        the texts, without their schemes
const (
	bucketHeaderSize = 8
	printBlock       = 16 // fingerprints that are compared together
	originSize       = 12

	// perBucket is how many authorities a bucket has on average. Fewer make the
	// directory larger; more make searching a bucket longer, and leave more room
	// empty at the end of a page.
	perBucket = 8
	// scanned is how many authorities a bucket may have to be looked through one by one.
	scanned = 4 * perBucket
	// pageSize is the operating system's unit of reading. No bucket crosses the end
	// of a page unless it is larger than one.
	pageSize = 4096

	// MaxAuthority is the longest authority that a pack can have, in bytes. A name
	// in the DNS has at most 255 (RFC 1035 §2.3.4).
	MaxAuthority = 2048
)

// hashOf is the hash of an authority.
func hashOf(authority []byte) uint64 { return xxh3.Hash(authority) }

// bucketOf is the bucket of a hash: buckets divide the range of hashes evenly.
func bucketOf(hash uint64, buckets uint32) uint32 {
	bucket, _ := bits.Mul64(hash, uint64(buckets))
	return uint32(bucket)
}

// noBody is the number of no body.
const noBody = math.MaxUint32

// origin is what a pack knows of an authority:
//
//	 0  u32  number of its body, noBody for none
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

// unknown is what is known of an authority that is not in the pack: no authority in
// one has this outcome.
var unknown = origin{body: noBody, outcome: uint8(access.Unknown)}

const (
	schemeMask = 3
	// flagLimited: the size limit, or the crawler, cut the body.
	flagLimited = 4
	// flagStale: its rules are the last good copy.
	flagStale = 8
)

func (o origin) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, o.body)
	b = binary.LittleEndian.AppendUint32(b, o.fetched)
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

// schemes are those that texts lack, by their numbers.
var schemes = [...]string{httpScheme: http, httpsScheme: https, ftpScheme: ftp}

// cutScheme splits an authority into the number of its scheme and the text behind. It
// compares with constants, which takes a fraction of the time of a loop over schemes.
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

// compareAuthorities is the order of authorities of one hash.
func compareAuthorities(a, b []byte) int {
	schemeA, textA := cutScheme(a)
	schemeB, textB := cutScheme(b)
	return cmp.Or(cmp.Compare(schemeA, schemeB), bytes.Compare(textA, textB))
}

// bucket is a bucket that was checked. What follows it in the file may be behind it.
type bucket []byte

var (
	errBucketLayout   = errors.New("layout")
	errBucketChecksum = errors.New("checksum")
)

// check checks everything about a bucket but what it says of authorities. number is
// the bucket's.
func (b bucket) check(number uint32) error {
	if len(b) < bucketHeaderSize || uint64(le32(b[4:])) > uint64(len(b)) || b.texts() > len(b) {
		return errBucketLayout
	}
	end, room := uint32(0), uint64(len(b)-b.texts())
	for i := range b.count() {
		next := b.end(i)
		if next < end || uint64(next) > room {
			return errBucketLayout
		}
		end = next
	}
	if bucketChecksum(number, b[4:b.size()]) != le32(b) {
		return errBucketChecksum
	}
	return nil
}

// bucketChecksum covers the number, so that no bucket is taken for another.
func bucketChecksum(number uint32, data []byte) uint32 {
	return updateChecksum(checksum(binary.LittleEndian.AppendUint32(make([]byte, 0, 4), number)), data)
}

func (b bucket) count() int { return int(le32(b[4:])) }

// prints are the fingerprints.
func (b bucket) prints() []byte { return b[bucketHeaderSize:b.ends()] }

// ends, origins and texts are where these columns start.
func (b bucket) ends() int {
	return bucketHeaderSize + 2*((b.count()+printBlock-1)&^(printBlock-1))
}
func (b bucket) origins() int { return b.ends() + 4*b.count() }
func (b bucket) texts() int   { return b.origins() + originSize*b.count() }

// end is where the text of authority i ends among the texts.
func (b bucket) end(i int) uint32 { return le32(b[b.ends()+4*i:]) }

func (b bucket) origin(i int) origin { return readOrigin(b[b.origins()+originSize*i:]) }

// size is how many bytes the bucket has.
func (b bucket) size() int {
	size := b.texts()
	if n := b.count(); n > 0 {
		size += int(b.end(n - 1))
	}
	return size
}

// text is the text of authority i, without its scheme.
func (b bucket) text(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = b.end(i - 1)
	}
	return b[b.texts():][start:b.end(i)]
}

// appendAuthority appends authority i to dst.
func (b bucket) appendAuthority(dst []byte, i int) []byte {
	return append(append(dst, schemes[b.origin(i).flags&schemeMask]...), b.text(i)...)
}

// find returns the place of an authority.
func (b bucket) find(hash uint64, authority []byte) (place int, known bool) {
	count, prints := b.count(), b.prints()
	if count > scanned {
		return b.search(hash, authority)
	}
	for start := 0; start < count; start += printBlock {
		for like := likePrint(prints[2*start:], uint16(hash)); like != 0; like &= like - 1 {
			bit := bits.TrailingZeros64(like)
			if i := start + bit&3*4 + bit>>4; i < count {
				if b.match(i, authority) {
					return i, true
				}
			}
		}
	}
	return 0, false
}

// likePrint returns a bit for each of the first printBlock fingerprints that is this
// one, and hardly ever for another: fingerprint 4i+j has bit 16j+i. It compares them
// all at once, so that no branch depends on how many authorities a bucket has, which
// cannot be predicted.
func likePrint(prints []byte, print uint16) uint64 {
	prints = prints[:2*printBlock]
	all := uint64(print) * 0x0001_0001_0001_0001
	return zeroLanes(le64(prints)^all) | zeroLanes(le64(prints[8:])^all)<<1 |
		zeroLanes(le64(prints[16:])^all)<<2 | zeroLanes(le64(prints[24:])^all)<<3
}

// zeroLanes returns bit 16j for each j for which 16 bits from there on are zero. A lane
// of 1 behind one of 0 counts as zero, too.
func zeroLanes(x uint64) uint64 {
	return (x - 0x0001_0001_0001_0001) &^ x >> 15 & 0x0001_0001_0001_0001
}

// match reports whether authority i is this one.
func (b bucket) match(i int, authority []byte) bool {
	scheme, text := cutScheme(authority)
	return b.origin(i).flags&schemeMask == scheme && bytes.Equal(b.text(i), text)
}

// search finds an authority by binary search, so that a bucket full of hosts that were
// chosen for their hashes costs no more than its logarithm.
func (b bucket) search(hash uint64, authority []byte) (place int, known bool) {
	var memory [MaxAuthority + 8]byte
	return sort.Find(b.count(), func(i int) int {
		other := b.appendAuthority(memory[:0], i)
		return cmp.Or(cmp.Compare(hash, hashOf(other)), compareAuthorities(authority, other))
	})
}

// bitmap is a set of numbers that only grows, for any number of goroutines.
type bitmap []atomic.Uint32

func newBitmap(n uint32) bitmap { return make(bitmap, (uint64(n)+31)/32) }

func (b bitmap) has(i uint32) bool { return b[i/32].Load()>>(i%32)&1 != 0 }
func (b bitmap) set(i uint32)      { b[i/32].Or(1 << (i % 32)) }
