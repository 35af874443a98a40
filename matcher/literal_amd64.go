//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// minPairs is how many places indexPair looks at at least.
const minPairs = 16

// indexPair returns the first place in s that has first, and last gap octets
// behind; -1 if there is none. There are at least minPairs places for both.
func indexPair(s []byte, gap int, first, last byte) int {
	if cpu.X86.HasAVX2 {
		return indexPairAVX2(s, gap, first, last)
	}
	return indexPairPortable(s, gap, first, last)
}

// indexPairAVX2 is indexPair for processors with AVX2.
//
//go:noescape
func indexPairAVX2(s []byte, gap int, first, last byte) int
