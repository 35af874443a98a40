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
	printBlock       = 16 // fingerprints compared at once
	originSize       = 12

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

// noBody stands for the number of a body where there is none.
const noBody = math.MaxUint32

// origin is what a pack knows about an authority:
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

// unknown is the origin of an authority that is not in the pack. No authority in a pack
// has this outcome.
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

// schemes are the schemes that are cut off authorities, by their numbers.
var schemes = [...]string{httpScheme: http, httpsScheme: https, ftpScheme: ftp}

// cutScheme splits an authority into the number of its scheme and the rest. It compares
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

// compareAuthorities orders authorities with equal hashes.
func compareAuthorities(a, b []byte) int {
	schemeA, textA := cutScheme(a)
	schemeB, textB := cutScheme(b)
	return cmp.Or(cmp.Compare(schemeA, schemeB), bytes.Compare(textA, textB))
}

// bucket is a checked bucket. The slice may extend past the bucket's end.
type bucket []byte

var (
	errBucketLayout   = errors.New("layout")
	errBucketChecksum = errors.New("checksum")
)

// check checks everything about a bucket except its authorities' origins and order.
// number is the bucket's number.
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

// bucketChecksum covers the number, so that no bucket can pass for another.
func bucketChecksum(number uint32, data []byte) uint32 {
	return updateChecksum(checksum(binary.LittleEndian.AppendUint32(make([]byte, 0, 4), number)), data)
}

func (b bucket) count() int { return int(le32(b[4:])) }

// prints returns the fingerprints.
func (b bucket) prints() []byte { return b[bucketHeaderSize:b.ends()] }

// ends, origins and texts return where these columns start.
func (b bucket) ends() int {
	return bucketHeaderSize + 2*((b.count()+printBlock-1)&^(printBlock-1))
}
func (b bucket) origins() int { return b.ends() + 4*b.count() }
func (b bucket) texts() int   { return b.origins() + originSize*b.count() }

// end returns where the text of authority i ends among the texts.
func (b bucket) end(i int) uint32 { return le32(b[b.ends()+4*i:]) }

func (b bucket) origin(i int) origin { return readOrigin(b[b.origins()+originSize*i:]) }

// size returns the bucket's size in bytes.
func (b bucket) size() int {
	size := b.texts()
	if n := b.count(); n > 0 {
		size += int(b.end(n - 1))
	}
	return size
}

// text returns authority i without its scheme.
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

// find returns the index of an authority in the bucket.
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

// likePrint returns a set of bits, one for each of the first printBlock fingerprints
// that equals print, and rarely for another: fingerprint 4i+j has bit 16j+i. It
// compares all at once, because a branch on the number of authorities in a bucket could
// not be predicted.
func likePrint(prints []byte, print uint16) uint64 {
	prints = prints[:2*printBlock]
	all := uint64(print) * 0x0001_0001_0001_0001
	return zeroLanes(le64(prints)^all) | zeroLanes(le64(prints[8:])^all)<<1 |
		zeroLanes(le64(prints[16:])^all)<<2 | zeroLanes(le64(prints[24:])^all)<<3
}

// zeroLanes returns bit 16j for each 16-bit lane j that is zero. A lane of 1 right
// above a zero lane is also reported.
func zeroLanes(x uint64) uint64 {
	return (x - 0x0001_0001_0001_0001) &^ x >> 15 & 0x0001_0001_0001_0001
}

// match reports whether authority i equals the argument.
func (b bucket) match(i int, authority []byte) bool {
	scheme, text := cutScheme(authority)
	return b.origin(i).flags&schemeMask == scheme && bytes.Equal(b.text(i), text)
}

// search finds an authority by binary search, so that a bucket full of hosts chosen for
// their hashes stays cheap.
func (b bucket) search(hash uint64, authority []byte) (place int, known bool) {
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
