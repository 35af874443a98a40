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
	return set | t.bytesOf4(s, last) | t.bytesOf4(s, last+4) // these may overlap bytes seen before
}

// bytesOf4 returns the bits that the four bytes at s[i] set.
func (t *SignatureTable) bytesOf4(s []byte, i int) Signature {
	return t.bits[Load8(s, i)] | t.bits[Load8(s, i+1)] | t.bits[Load8(s, i+2)] | t.bits[Load8(s, i+3)]
}

// gramsOf returns the bits that the segment 4-grams of a text set.
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
	other := word ^ 0x2F2F2F2F2F2F2F2F // a zero byte for each slash
	return ^((other&low7 + low7) | other | low7)
}

// gramBit hashes a 4-gram to one of the 32 bits.
func gramBit(gram uint32) Signature { return 1 << gramShift << (gram * 0x9E3779B1 >> 27) }

// FirstWithout returns the index of the first of n signatures at b[at] that has no bit of
// missing; n if there is none.
func FirstWithout(b []byte, at, n int, missing Signature) int {
	i := 0
	for ; i <= n-4; i, at = i+4, at+4*SignatureSize {
		switch {
		case Signature(Load64(b, at))&missing == 0:
			return i
		case Signature(Load64(b, at+SignatureSize))&missing == 0:
			return i + 1
		case Signature(Load64(b, at+2*SignatureSize))&missing == 0:
			return i + 2
		case Signature(Load64(b, at+3*SignatureSize))&missing == 0:
			return i + 3
		}
	}
	for ; i < n && Signature(Load64(b, at))&missing != 0; at += SignatureSize {
		i++
	}
	return i
}

// firstFitPortable is the plain Go twin of FirstFit.
func firstFitPortable(paths []Signature, suffixes []byte) (path int) {
	n := len(suffixes) / SignatureSize
	for i, path := range paths {
		if path&HardBits != 0 || FirstWithout(suffixes, 0, n, ^path) < n {
			return i
		}
	}
	return len(paths)
}
