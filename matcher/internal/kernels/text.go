package kernels

import (
	"encoding/binary"
)

// indexPairPortable is the plain Go twin of IndexPair.
func indexPairPortable(s []byte, gap int, first, last byte) int {
	for at, c := range s[:len(s)-gap] {
		if c == first && s[at+gap] == last {
			return at
		}
	}
	return -1
}

// HostTable has the role of each byte in a host.
type HostTable struct {
	roles [256]uint8
	// nibbles encodes the set of bytes of plain hosts in two rows of 16 elements. A byte is
	// in the set if its lower half's element in the first row and its upper half's element
	// in the second row share a bit. Each row is there twice, once for each half of a
	// register.
	nibbles [64]byte
}

// The roles of a byte are flags.
const (
	inLabel       = 1 << iota // it may be in a label of a plain host
	endsAuthority             // the authority ends before it
)

// NewHostTable makes a table. label reports whether a byte may be in a label, end whether
// it ends the authority. Both are called for ASCII only.
func NewHostTable(label, end func(c byte) bool) *HostTable {
	t := new(HostTable)
	for c := range t.roles {
		if label(byte(c)) {
			t.roles[c] |= inLabel
		}
		if end(byte(c)) {
			t.roles[c] |= endsAuthority
		}
	}
	// Upper half h has bit h in the second row; a lower half has, in the first, the bit of each upper half with
	// which it makes a byte of the set.
	for c := range 128 {
		if c == '.' || t.roles[c]&inLabel != 0 {
			t.nibbles[c&15] |= 1 << (c >> 4)
			t.nibbles[16+c&15] |= 1 << (c >> 4)
		}
	}
	for high := range 8 {
		t.nibbles[32+high], t.nibbles[48+high] = 1<<high, 1<<high
	}
	return t
}

// plainHostPortable is the plain Go twin of PlainHost.
func (t *HostTable) plainHostPortable(url []byte, start int) (end int, plain bool) {
	end, plain = start, true
	label := start
	for {
		for end < len(url) && t.roles[url[end]]&inLabel != 0 {
			end++
		}
		if end == len(url) || t.roles[url[end]]&endsAuthority != 0 {
			return end, plain && end > label
		}
		plain = plain && url[end] == '.' && end > label
		end++
		label = end
	}
}

// prefixRunPortable is the plain Go twin of PrefixRun.
func prefixRunPortable[O int32 | int64](prefix, data []byte, offsets []O) int {
	if len(prefix) >= prefixEnds {
		return prefixRunByEnds(prefix, data, offsets)
	}
	n := O(len(prefix))
	low := offsets[0]
	for i, end := range offsets[1:] {
		if end-low < n || string(data[low:low+n]) != string(prefix) {
			return i
		}
		low = end
	}
	return len(offsets) - 1
}

// prefixEnds is the number of bytes prefixRunByEnds compares at the start and at the end of a
// prefix.
const prefixEnds = 16

// prefixRunByEnds does what prefixRunPortable does, for prefixes of at least prefixEnds
// bytes. It compares start and end without a call; most prefixes have nothing between.
func prefixRunByEnds[O int32 | int64](prefix, data []byte, offsets []O) int {
	word := func(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }
	n := len(prefix)
	var middle []byte
	if n > 2*prefixEnds {
		middle = prefix[prefixEnds : n-prefixEnds]
	}
	// The two words at each end, which overlap in a prefix of less than four.
	head0, head1 := word(prefix), word(prefix[8:])
	tail0, tail1 := word(prefix[n-prefixEnds:]), word(prefix[n-8:])
	low := int(offsets[0])
	for i, offset := range offsets[1:] {
		end := int(offset)
		if end-low < n {
			return i
		}
		s := data[low : low+n]
		head, tail := (*[prefixEnds]byte)(s), (*[prefixEnds]byte)(s[len(s)-prefixEnds:])
		differ := (word(head[:]) ^ head0) | (word(head[8:]) ^ head1) |
			(word(tail[:]) ^ tail0) | (word(tail[8:]) ^ tail1)
		if differ != 0 || len(middle) > 0 && string(s[prefixEnds:prefixEnds+len(middle)]) != string(middle) {
			return i
		}
		low = end
	}
	return len(offsets) - 1
}
