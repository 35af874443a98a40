package matcher

import "bytes"

// maxStrays is how many places that have a literal's first octet and its last one
// are looked at before another way is taken: octets can be made to have many.
const maxStrays = 16

// indexLiteral is bytes.Index for a literal of a rule. Those start with a slash
// more often than not, and so do many parts of a path: to look for two octets of
// a literal at once is faster.
func indexLiteral(s, literal []byte) int {
	gap := len(literal) - 1
	if gap < 1 {
		return bytes.Index(s, literal)
	}
	low := 0
	for range maxStrays {
		if len(s)-low-gap < minPairs {
			break
		}
		at := indexPair(s[low:], gap, literal[0], literal[gap])
		if at < 0 {
			return -1
		}
		if low += at; string(s[low+1:low+gap]) == string(literal[1:gap]) {
			return low
		}
		low++
	}
	if at := bytes.Index(s[low:], literal); at >= 0 {
		return low + at
	}
	return -1
}

// indexPairPortable is indexPair in plain Go.
func indexPairPortable(s []byte, gap int, first, last byte) int {
	for at, c := range s[:len(s)-gap] {
		if c == first && s[at+gap] == last {
			return at
		}
	}
	return -1
}
