package matcher

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
		set |= bits[s[0]] | bits[s[1]] | bits[s[2]] | bits[s[3]] | bits[s[4]] | bits[s[5]] | bits[s[6]] | bits[s[7]]
		s = s[8:]
	}
	for _, c := range s {
		set |= bits[c]
	}
	return set
}

// literalSet is the set that a path must have to contain s.
func literalSet(s []byte) octetSet { return setOf(s) &^ (workBit | fragmentBit) }
