package matcher

import "math/bits"

// samePrefix returns in how many octets s agrees with a label, whose first
// octet is lowest. More than the label's length stands for all of it.
func samePrefix(s []byte, label uint64) int {
	if len(s) >= 8 {
		return bits.TrailingZeros64(load64(s, 0)^label) >> 3
	}
	for i, c := range s {
		if c != byte(label>>(8*i)) {
			return i
		}
	}
	return len(s)
}

// commonPrefix returns in how many octets s agrees with t.
func commonPrefix(s, t []byte) int {
	n := min(len(s), len(t))
	i := 0
	for ; i+8 <= n; i += 8 {
		if differ := load64(s, i) ^ load64(t, i); differ != 0 {
			return i + bits.TrailingZeros64(differ)>>3
		}
	}
	for i < n && s[i] == t[i] {
		i++
	}
	return i
}

// hasChild tells whether a node with these two words of branches has a child
// for an octet.
func hasChild(low, high uint64, octet byte) bool {
	word := low
	if octet >= 64 {
		word = high
	}
	return octet < 128 && word>>(octet&63)&1 != 0
}

// childIndex returns which child of a node octet c leads to.
func childIndex(low, high uint64, c byte) int {
	bit := uint64(1) << (c & 63)
	if c < 64 {
		return bits.OnesCount64(low & (bit - 1))
	}
	return bits.OnesCount64(low) + bits.OnesCount64(high&(bit-1))
}
