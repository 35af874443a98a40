package matcher

import "math/bits"

// octetSet is a set of octets folded to 64 bits: if one string is part of
// another, all bits of its set are in the other's. Every octet that URLs and
// patterns often have has a bit of its own; capital letters share a few.
//
// A tail can match only if the path's set has every bit of its literals, which
// settles most tails without looking at the path again.
type octetSet = uint64

// Bits that do not stand for octets of patterns.
const (
	// fragmentBit: there is a '#'.
	fragmentBit octetSet = 1 << 63
	// workBit: there is an octet for which a path may not be normal.
	workBit octetSet = 1 << 62
)

// octetBits has the bits of every octet.
var octetBits = func() (table [256]octetSet) {
	next := 0
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789/?=&%-_.+*$:;,~!" {
		table[c] = 1 << next
		next++
	}
	const shared = 62 - 52 // bits left, for all other octets
	for c := range table {
		if table[c] == 0 {
			table[c] = 1 << (next + c%shared)
		}
		if needsWork[c] {
			table[c] |= workBit
		}
	}
	table['#'] = fragmentBit
	return table
}()

// setOf is the set of the octets of s.
func setOf(s []byte) (set octetSet) {
	bits := &octetBits
	for len(s) >= 8 {
		w := (*[8]byte)(s)
		set |= bits[w[0]] | bits[w[1]] | bits[w[2]] | bits[w[3]] | bits[w[4]] | bits[w[5]] | bits[w[6]] | bits[w[7]]
		s = s[8:]
	}
	for _, c := range s {
		set |= bits[c]
	}
	return set
}

// slashSet is a set of the pairs of octets that follow the slashes of s, folded
// to 64 bits: what octetSet is for octets. Most literals of wildcard rules are
// the beginnings of a path's segments, and their octets are common ones.
func slashSet(s []byte) (set uint64) {
	const ones, lows = 0x0101010101010101, 0x7F7F7F7F7F7F7F7F
	i := 0
	for ; i <= len(s)-10; i += 8 {
		x := load64(s, i) ^ ones*'/'
		// A high bit for each octet that is 0 in x, and no other: a set that
		// depended on where in a word an octet lies would miss matches.
		for zeros := ^(((x & lows) + lows) | x | lows); zeros != 0; zeros &= zeros - 1 {
			at := i + bits.TrailingZeros64(zeros)>>3
			set |= pairBit(s[at+1], s[at+2])
		}
	}
	for ; i <= len(s)-3; i++ {
		if s[i] == '/' {
			set |= pairBit(s[i+1], s[i+2])
		}
	}
	return set
}

// pairBit spreads the pairs of octets over 64 bits.
func pairBit(a, b byte) uint64 { return 1 << ((uint32(a)*0x9E3779B1 + uint32(b)*0x85EBCA6B) >> 26) }

// literalSet is the set that a path must have to contain s.
func literalSet(s []byte) octetSet { return setOf(s) &^ (workBit | fragmentBit) }
