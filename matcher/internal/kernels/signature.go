package kernels

import (
	"encoding/binary"
	"math/bits"
)

// Signature is a set of features of a text, in 64 bits. If a text contains another one, it
// has all bits of the other's signature. A wildcard suffix can match a path only if the
// path's signature has all bits of the signature of its literals. This test rejects most
// suffixes without another look at the path.
//
// A bit stands for some bytes: a rare byte has a bit of its own, the commonest have none.
// Or it stands for some segment 4-grams, the four bytes after a slash: most literals of
// wildcard rules start with a slash, and their bytes are common ones.
type Signature uint64

const (
	// FragmentBit: the text has a '#'.
	FragmentBit Signature = 1 << 63
	// WorkBit: the text has a byte that may need normalisation.
	WorkBit Signature = 1 << 62
	// HardBits: the path may have several spellings, or a fragment to be cut off.
	HardBits = WorkBit | FragmentBit

	// SignatureSize is the size of a signature in compiled rules.
	SignatureSize = 8

	gramSize = 4
	// gramShift is the lowest of the 32 bits of the segment 4-grams. The bits of bytes are
	// below it.
	gramShift = 30

	// isWork marks the role of a byte that sets WorkBit. A byte that is not ASCII sets only
	// that bit.
	isWork = 0x80
	// noBit is the role of a byte that sets no bit. Its bit is cleared before 4-grams are
	// added.
	noBit = gramShift
)

// SignatureTable has the bits that each byte sets.
type SignatureTable struct {
	bits [256]Signature
	// roles has the same for ASCII in a compact form: the number of the byte's bit, plus
	// isWork.
	roles [128]uint8
}

// NewSignatureTable makes a table. work reports whether a path with a byte may need
// normalisation.
func NewSignatureTable(work func(c byte) bool) *SignatureTable {
	t := new(SignatureTable)
	for i, group := range [gramShift]string{
		"?", "=", "&", "%", "-", "_", ".", "+,:;~", "!$()*'@", "012", "345", "6789",
		"bB", "cC", "dD", "fF", "gG", "hH", "jJqQ", "kK", "lL", "mM", "pP", "uU", "vV", "wW", "xXzZ", "yY",
		"EORSTIAN", // those that are not lower-case letters
		"\"<>[\\]^`{|}",
	} {
		for _, c := range []byte(group) {
			t.bits[c] |= 1 << i
		}
	}
	t.bits['#'] |= FragmentBit
	for c := range t.bits {
		if work(byte(c)) {
			t.bits[c] |= WorkBit
		}
	}
	for c := range t.roles {
		t.roles[c] = noBit
		if bit := t.bits[c] &^ WorkBit; bit != 0 {
			t.roles[c] = uint8(bits.TrailingZeros64(uint64(bit)))
		}
		if t.bits[c]&WorkBit != 0 {
			t.roles[c] |= isWork
		}
	}
	return t
}

// Bounds are the start and end of a text in a byte array.
type Bounds struct{ Low, High int }

// Of returns the signature of a text.
func (t *SignatureTable) Of(text []byte) Signature {
	signatures, texts := [1]Signature{}, [1]Bounds{{0, len(text)}}
	t.Sign(signatures[:], text, texts[:])
	return signatures[0]
}

// signPortable is the plain Go twin of Sign.
func (t *SignatureTable) signPortable(signatures []Signature, data []byte, texts []Bounds) {
	for i, text := range texts {
		s := data[text.Low:text.High]
		signatures[i] = t.bytesOf(s) | gramsOf(s)
	}
}

// bytesOf returns the signature of a text's bytes: the union of the bits that the table has
// for each byte.
func (t *SignatureTable) bytesOf(s []byte) (set Signature) {
	for _, c := range s {
		set |= t.bits[c]
	}
	return set
}

// gramsOf returns the bits that the segment 4-grams of a text set.
func gramsOf(s []byte) (set Signature) {
	for ; len(s) > gramSize; s = s[1:] {
		if s[0] == '/' {
			set |= gramBit(binary.LittleEndian.Uint32(s[1:]))
		}
	}
	return set
}

// gramBit hashes a 4-gram to one of the 32 bits: it multiplies by 2^32 divided by the golden ratio, and
// takes the highest 5 bits (Fibonacci hashing: Knuth, The Art of Computer Programming, 6.4).
func gramBit(gram uint32) Signature { return 1 << gramShift << (gram * 0x9E3779B1 >> 27) }

// FirstWithout returns the index of the first of n signatures at b[at] that has no bit of
// missing; n if there is none.
func FirstWithout(b []byte, at, n int, missing Signature) int {
	i := 0
	for ; i < n && Signature(Load64(b, at))&missing != 0; at += SignatureSize {
		i++
	}
	return i
}

// FirstFit returns the first path whose signature has HardBits or all bits of a suffix's
// signature; len(paths) if there is none.
func FirstFit(paths []Signature, suffixes []byte) (path int) {
	n := len(suffixes) / SignatureSize
	for i, path := range paths {
		if path&HardBits != 0 || FirstWithout(suffixes, 0, n, ^path) < n {
			return i
		}
	}
	return len(paths)
}
