//go:build !purego

package kernels

import "golang.org/x/sys/cpu"

// hasAVX512 tells whether there is what the kernels for AVX-512 take, with BMI2.
var hasAVX512 = cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2

// Sign sets signatures to those of texts in data.
func (t *SignatureTable) Sign(signatures []Signature, data []byte, texts []Bounds) {
	switch {
	case hasAVX512:
		signAVX512(signatures, data, texts, &t.roles)
	case cpu.X86.HasAVX2:
		signAVX2(signatures, data, texts, &t.bits)
	default:
		t.signPortable(signatures, data, texts)
	}
}

// signAVX2 is Sign for processors with AVX2. It does not look whether the bounds are
// inside data, and sets a signature for each of them.
//
//go:noescape
func signAVX2(signatures []Signature, data []byte, texts []Bounds, byteBits *[256]Signature)

// signAVX512 is signAVX2 for processors with hasAVX512.
//
//go:noescape
func signAVX512(signatures []Signature, data []byte, texts []Bounds, byteRoles *[128]uint8)

// FirstFit returns the first of some paths' signatures that has all bits of one of
// the signatures of some suffixes, and the first suffix of which it has; or the
// first that has HardBits, and suffix 0; or the number of paths.
func FirstFit(paths []Signature, suffixes []byte) (path, suffix int) {
	if cpu.X86.HasAVX2 {
		return firstFitAVX2(paths, suffixes)
	}
	return firstFitPortable(paths, suffixes)
}

// firstFitAVX2 is FirstFit for processors with AVX2.
//
//go:noescape
func firstFitAVX2(paths []Signature, suffixes []byte) (path, suffix int)

// MinPairs is how many places IndexPair looks at at least.
const MinPairs = 16

// IndexPair returns the first place in s that has first, and last gap bytes behind; -1
// if there is none. There are at least MinPairs places for both.
func IndexPair(s []byte, gap int, first, last byte) int {
	if cpu.X86.HasAVX2 {
		return indexPairAVX2(s, gap, first, last)
	}
	return indexPairPortable(s, gap, first, last)
}

// indexPairAVX2 is IndexPair for processors with AVX2.
//
//go:noescape
func indexPairAVX2(s []byte, gap int, first, last byte) int

// HasControl tells whether there is a NUL, CR or LF in data.
func HasControl(data []byte) bool {
	// Hardly any column of URLs has a byte of at most '\r', and to know that takes a
	// third of the time of looking for three bytes one after the other.
	return (len(data) < 32 || !cpu.X86.HasAVX2 || mayHaveControl(data)) && hasControlPortable(data)
}

// mayHaveControl tells whether there is a byte of at most '\r' in data, which has at
// least 32.
//
//go:noescape
func mayHaveControl(data []byte) bool

// hostWindow is how many bytes plainHostAVX2 looks at.
const hostWindow = 32

// PlainHost returns where the authority that begins at start ends, and whether it
// is a host as keys have it, without port: labels of bytes that stand for themselves,
// none of them empty.
func (t *HostTable) PlainHost(url []byte, start int) (end int, plain bool) {
	if cap(url)-start >= hostWindow && cpu.X86.HasAVX2 {
		n := plainHostAVX2(url[start:], &t.nibbles)
		if end := start + n; n > 0 && end < len(url) && t.roles[url[end]]&endsAuthority != 0 {
			return end, true
		}
	}
	return t.plainHostPortable(url, start)
}

// plainHostAVX2 returns how many of the hostWindow bytes from where url begins, some
// of them maybe behind its end in the same memory, are a host as keys have it; 0 if
// that is none, if a label of it is empty or if all of them are.
//
//go:noescape
func plainHostAVX2(url []byte, nibbles *[64]byte) int

// minPrefix is the shortest prefix that the assembly takes.
const minPrefix = 8

// PrefixRun returns how many values in a row, from the first on, start with
// prefix. Value i is data[offsets[i]:offsets[i+1]]; the offsets must not fall, and
// must lie inside data.
func PrefixRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	if len(prefix) < minPrefix || !cpu.X86.HasAVX2 {
		return prefixRunPortable(prefix, data, offsets)
	}
	switch offsets := any(offsets).(type) {
	case []int32:
		return prefixRun32(prefix, data, offsets)
	case []int64:
		return prefixRun64(prefix, data, offsets)
	}
	panic("unreachable")
}

// prefixRun32 and prefixRun64 are PrefixRun for processors with AVX2 and prefixes
// of at least minPrefix bytes. They do not check the offsets.

//go:noescape
func prefixRun32(prefix, data []byte, offsets []int32) int

//go:noescape
func prefixRun64(prefix, data []byte, offsets []int64) int
