//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// firstFit returns the first of some paths' sketches that has all bits of one of
// the sketches of some tails, and the first tail of which it has; or the first
// that has hard bits, and tail 0; or the number of paths.
func firstFit(paths []Sketch, tails []byte) (path, tail int) {
	switch {
	case hasAVX512:
		return firstFitAVX512(paths, tails)
	case cpu.X86.HasAVX2:
		return firstFitAVX2(paths, tails)
	}
	return firstFitPortable(paths, tails)
}

// firstFitAVX2 is firstFit for processors with AVX2.
//
//go:noescape
func firstFitAVX2(paths []Sketch, tails []byte) (path, tail int)

// firstFitAVX512 is firstFit for processors with hasAVX512.
//
//go:noescape
func firstFitAVX512(paths []Sketch, tails []byte) (path, tail int)
