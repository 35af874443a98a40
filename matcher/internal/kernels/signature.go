package kernels

import (
	"encoding/binary"
	"math/bits"
)

// Signature says what is in a text, folded to 64 bits: if one text is part of
// another, all bits of its signature are in the other's. A wildcard suffix can match
// only if the path's signature has every bit of its literals', which settles most
// suffixes without looking at the path again.
//
// A bit stands for some bytes, rare ones having one of their own and the commonest
// none, or for some of the segment 4-grams, the four bytes that follow a slash: most
// literals of wildcard rules begin where a path's segments do, and their bytes are
// common ones.
type Signature uint64

const (
	// FragmentBit: there is a '#'.
	FragmentBit Signature = 1 << 63
	// WorkBit: there is a byte for which a path may not be normal.
	WorkBit Signature = 1 << 62
	// HardBits: the path may have several spellings, or an end that is cut off.
	HardBits = WorkBit | FragmentBit

	// SignatureSize is how many bytes a signature takes in compiled rules.
	SignatureSize = 8

	gramSize = 4
	// gramShift is where the bits of the segment 4-grams begin, 32 of them. Those of
	// the bytes are below.
	gramShift = 30

	// isWork marks the role of a byte that has the WorkBit. Those that are not in
	// ASCII have that and nothing else.
	isWork = 0x80
	// noBit is the role of a byte without a bit: its bit is cleared before that of a
	// 4-gram may be set.
	noBit = gramShift
)

// SignatureTable has the bits of every byte.
type SignatureTable struct {
	bits [256]Signature
	// roles are the bits of ASCII, of which a byte has one at most: its number, and
	// isWork.
	roles [128]uint8
}

// NewSignatureTable makes the table for paths that may not be normal where one of the
// bytes is that work tells.
func NewSignatureTable(work func(c byte) bool) *SignatureTable {
	t := new(SignatureTable)
	for i, group := range [gramShift]string{
		"?", "=", "&", "%", "-", "_", ".", "+,:;~", "!$()*'@", "012", "345", "6789",
		"bB", "cC", "dD", "fF", "gG", "hH", "jJqQ", "kK", "lL", "mM", "pP", "uU", "vV", "wW", "xXzZ", "yY",
		"EORSTIAN", // where these are not in lower case
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

// Bounds are where in an array of bytes a text begins and ends.
type Bounds struct{ Low, High int }

// Of is the signature of a text.
func (t *SignatureTable) Of(text []byte) Signature {
	signatures, texts := [1]Signature{}, [1]Bounds{{0, len(text)}}
	t.Sign(signatures[:], text, texts[:])
	return signatures[0]
}

// signPortable is Sign in plain Go.
func (t *SignatureTable) signPortable(signatures []Signature, data []byte, texts []Bounds) {
	for i, text := range texts {
		s := data[text.Low:text.High]
		signatures[i] = t.bytesOf(s) | gramsOf(s)
	}
}

// bytesOf is the part of a signature that bytes have.
func (t *SignatureTable) bytesOf(s []byte) (set Signature) {
	last := len(s) - 8
	if last < 0 {
		for _, c := range s {
			set |= t.bits[c]
		}
		return set
	}
	for i := 0; i < last; i += 8 {
		set |= t.bytesOf4(s, i) | t.bytesOf4(s, i+4)
	}
	return set | t.bytesOf4(s, last) | t.bytesOf4(s, last+4) // some maybe for the second time
}

// bytesOf4 is bytesOf for the four bytes at s[i].
func (t *SignatureTable) bytesOf4(s []byte, i int) Signature {
	return t.bits[Load8(s, i)] | t.bits[Load8(s, i+1)] | t.bits[Load8(s, i+2)] | t.bits[Load8(s, i+3)]
}

// gramsOf is the part of a signature that the segment 4-grams have.
func gramsOf(s []byte) (set Signature) {
	for ; len(s) >= 8+gramSize; s = s[8:] {
		for slashes := slashesIn(binary.LittleEndian.Uint64(s)); slashes != 0; slashes &= slashes - 1 {
			at := bits.TrailingZeros64(slashes) / 8
			set |= gramBit(binary.LittleEndian.Uint32(s[at+1:]))
		}
	}
	for ; len(s) > gramSize; s = s[1:] {
		if s[0] == '/' {
			set |= gramBit(binary.LittleEndian.Uint32(s[1:]))
		}
	}
	return set
}

// slashesIn returns the top bit of each byte of word that is a slash.
func slashesIn(word uint64) uint64 {
	const low7 = 0x7F7F7F7F7F7F7F7F
	other := word ^ 0x2F2F2F2F2F2F2F2F // zero where it is one
	return ^((other&low7 + low7) | other | low7)
}

// gramBit spreads the 4-grams over the bits that are theirs.
func gramBit(gram uint32) Signature { return 1 << gramShift << (gram * 0x9E3779B1 >> 27) }

// firstFitPortable is FirstFit in plain Go.
func firstFitPortable(paths []Signature, suffixes []byte) (path, suffix int) {
	n := len(suffixes) / SignatureSize
	for i, path := range paths {
		if path&HardBits != 0 {
			return i, 0
		}
		if suffix := FirstWithout(suffixes, 0, n, ^path); suffix < n {
			return i, suffix
		}
	}
	return len(paths), 0
}
