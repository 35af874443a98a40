//go:build !amd64 || purego

package kernels

import "math"

// Sign sets signatures[i] to the signature of data[texts[i].Low:texts[i].High].
func (t *SignatureTable) Sign(signatures []Signature, data []byte, texts []Bounds) {
	t.signPortable(signatures, data, texts)
}

// MinPairs is larger than any text: callers never use IndexPair here.
const MinPairs = math.MaxInt

// IndexPair returns the first i for which s[i] is first and s[i+gap] is last; -1 if there
// is none.
func IndexPair(s []byte, gap int, first, last byte) int {
	return indexPairPortable(s, gap, first, last)
}

// PlainHost returns the end of the authority that starts at start. plain reports whether
// that authority is a host without port, spelled as in a key: non-empty labels of bytes
// that need no decoding.
func (t *HostTable) PlainHost(url []byte, start int) (end int, plain bool) {
	return t.plainHostPortable(url, start)
}

// PrefixRun returns how many consecutive values, from the first one on, start with prefix.
// Value i is data[offsets[i]:offsets[i+1]]. Offsets must be in order and inside data.
func PrefixRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	return prefixRunPortable(prefix, data, offsets)
}
