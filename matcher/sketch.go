package matcher

import "math/bits"

// Sketch says what is in a text, folded to 64 bits: if one text is part of
// another, all bits of its sketch are in the other's. A tail can match only if
// the path's sketch has every bit of its literals', which settles most tails
// without looking at the path again.
//
// A bit stands for some octets, rare ones having one of their own and the
// commonest none, or for some of the heads of segments, the four octets that follow a
// slash: most literals of wildcard rules are the beginnings of a path's segments, and
// their octets are common ones.
type Sketch uint64

const (
	// fragmentBit: there is a '#'.
	fragmentBit Sketch = 1 << 63
	// workBit: there is an octet for which a path may not be normal.
	workBit Sketch = 1 << 62

	// headSize is how many octets a head has.
	headSize = 4
	// headShift is where the bits of the heads begin, 32 of them. Those of the
	// octets are below.
	headShift = 30
)

// octetBits has the bits of every octet. Each of these texts has one.
var octetBits = func() (table [256]Sketch) {
	for c := range table {
		if needsWork[c] {
			table[c] |= workBit
		}
	}
	for i, octets := range [headShift]string{
		"?", "=", "&", "%", "-", "_", ".", "+,:;~", "!$()*'@", "012", "345", "6789",
		"bB", "cC", "dD", "fF", "gG", "hH", "jJqQ", "kK", "lL", "mM", "pP", "uU", "vV", "wW", "xXzZ", "yY",
		"EORSTIAN", // where these are not in lower case
		"\"<>[\\]^`{|}",
	} {
		for _, c := range []byte(octets) {
			table[c] |= 1 << i
		}
	}
	table['#'] |= fragmentBit
	return table
}()

// SketchOf is the sketch of a text.
func SketchOf(s []byte) Sketch {
	sketches, texts := [1]Sketch{}, [1]bounds{{0, len(s)}}
	sketchAll(sketches[:], s, texts[:])
	return sketches[0]
}

// bounds are where in an array of octets a text begins and ends.
type bounds struct{ low, high int }

// sketchAllPortable is sketchAll in plain Go.
func sketchAllPortable(sketches []Sketch, data []byte, texts []bounds) {
	for i, text := range texts {
		s := data[text.low:text.high]
		sketches[i] = octetsOf(s) | headsOf(s)
	}
}

// octetsOf is the part of a sketch that octets have.
func octetsOf(s []byte) (set Sketch) {
	last := len(s) - 8
	if last < 0 {
		for _, c := range s {
			set |= octetBits[c]
		}
		return set
	}
	for i := 0; i < last; i += 8 {
		set |= octetsOf4(s, i) | octetsOf4(s, i+4)
	}
	return set | octetsOf4(s, last) | octetsOf4(s, last+4) // some maybe for the second time
}

// octetsOf4 is octetsOf for the four octets at s[i].
func octetsOf4(s []byte, i int) Sketch {
	t := &octetBits
	return t[load8(s, i)] | t[load8(s, i+1)] | t[load8(s, i+2)] | t[load8(s, i+3)]
}

// headsOf is the part of a sketch that the heads of segments have.
func headsOf(s []byte) (set Sketch) {
	for ; len(s) >= 8+headSize; s = s[8:] {
		for slashes := slashesIn(le64(s)); slashes != 0; slashes &= slashes - 1 {
			at := bits.TrailingZeros64(slashes) / 8
			set |= headBit(le32(s[at+1:]))
		}
	}
	for ; len(s) > headSize; s = s[1:] {
		if s[0] == '/' {
			set |= headBit(le32(s[1:]))
		}
	}
	return set
}

// slashesIn returns the top bit of each octet of word that is a slash.
func slashesIn(word uint64) uint64 {
	const low7 = 0x7F7F7F7F7F7F7F7F
	other := word ^ 0x2F2F2F2F2F2F2F2F // zero where it is one
	return ^((other&low7 + low7) | other | low7)
}

// headBit spreads the heads over the bits that are theirs.
func headBit(head uint32) Sketch { return 1 << headShift << (head * 0x9E3779B1 >> 27) }

// literalSketch is the sketch that a path must have to contain s.
func literalSketch(s []byte) Sketch { return SketchOf(s) &^ (workBit | fragmentBit) }
