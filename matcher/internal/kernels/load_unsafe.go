//go:build (amd64 || arm64) && !nounsafe && !purego

package kernels

import "unsafe"

// Load32 reads a little-endian number at byte i of b without looking whether it is
// there: i is from compiled rules, whose every offset was checked when they were made
// or opened. The twins of this and the others, for other machines and for the build
// tags nounsafe and purego, which is without assembly, too, are in load.go; the tests
// run with each.
func Load32(b []byte, i int) uint32 {
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// Load64 is Load32 for eight bytes.
func Load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// Load8 returns byte i of b.
func Load8(b []byte, i int) byte {
	return *(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// FirstWithout returns which of n signatures, from byte at of b on, is the first
// that has nothing of missing; n if there is none.
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
