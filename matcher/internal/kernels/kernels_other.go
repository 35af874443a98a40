//go:build !amd64 || purego

package kernels

import "math"

// Sign sets signatures to those of texts in data.
func (t *SignatureTable) Sign(signatures []Signature, data []byte, texts []Bounds) {
	t.signPortable(signatures, data, texts)
}

// FirstFit returns the first of some paths' signatures that has all bits of one of
// the signatures of some suffixes, and the first suffix of which it has; or the
// first that has HardBits, and suffix 0; or the number of paths.
func FirstFit(paths []Signature, suffixes []byte) (path, suffix int) {
	return firstFitPortable(paths, suffixes)
}

// MinPairs is how many places IndexPair looks at at least: here it is not used.
const MinPairs = math.MaxInt

// IndexPair returns the first place in s that has first, and last gap bytes behind; -1
// if there is none. There are at least MinPairs places for both.
func IndexPair(s []byte, gap int, first, last byte) int {
	return indexPairPortable(s, gap, first, last)
}

// HasControl tells whether there is a NUL, CR or LF in data.
func HasControl(data []byte) bool { return hasControlPortable(data) }

// PlainHost returns where the authority that begins at start ends, and whether it
// is a host as keys have it, without port: labels of bytes that stand for themselves,
// none of them empty.
func (t *HostTable) PlainHost(url []byte, start int) (end int, plain bool) {
	return t.plainHostPortable(url, start)
}

// PrefixRun returns how many values in a row, from the first on, start with
// prefix. Value i is data[offsets[i]:offsets[i+1]]; the offsets must not fall, and
// must lie inside data.
func PrefixRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	return prefixRunPortable(prefix, data, offsets)
}
