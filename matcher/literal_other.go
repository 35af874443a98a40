//go:build !amd64 || purego

package matcher

import "math"

// minPairs is how many places indexPair looks at at least: here it is not used.
const minPairs = math.MaxInt

func indexPair(s []byte, gap int, first, last byte) int {
	return indexPairPortable(s, gap, first, last)
}
