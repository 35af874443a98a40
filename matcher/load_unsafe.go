//go:build (amd64 || arm64) && !nounsafe && !purego

package matcher

import "unsafe"

// load8, load32 and load64 read a little-endian number at octet i of b without looking
// whether it is there: i is from compiled rules, whose every offset was checked
// when they were made or opened. These functions' twins for other machines, and for the
// build tags nounsafe and purego, which is without assembly, too, are in load.go; the
// tests run with each.

func load32(b []byte, i int) uint32 {
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

func load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

func load8(b []byte, i int) byte {
	return *(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// firstWithout returns which of n sketches, from octet at of b on, is the first
// that has nothing of missing; n if there is none.
func firstWithout(b []byte, at, n int, missing Sketch) int {
	i := 0
	for ; i <= n-4; i, at = i+4, at+4*sketchSize {
		switch {
		case Sketch(load64(b, at))&missing == 0:
			return i
		case Sketch(load64(b, at+sketchSize))&missing == 0:
			return i + 1
		case Sketch(load64(b, at+2*sketchSize))&missing == 0:
			return i + 2
		case Sketch(load64(b, at+3*sketchSize))&missing == 0:
			return i + 3
		}
	}
	for ; i < n && Sketch(load64(b, at))&missing != 0; at += sketchSize {
		i++
	}
	return i
}
