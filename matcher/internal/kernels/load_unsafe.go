//go:build (amd64 || arm64) && !nounsafe && !purego

package kernels

import "unsafe"

// Load32 returns the little-endian number at b[i] without checking i, which comes from
// compiled rules: their offsets are checked when they are compiled or opened. load.go has
// the checked loads, for other processors and the build tags nounsafe and purego; purego
// also leaves out the assembly. The tests run with each.
func Load32(b []byte, i int) uint32 {
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// Load64 returns the little-endian number of eight bytes at b[i], without checking i.
func Load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

// Load8 returns b[i], without checking i.
func Load8(b []byte, i int) byte {
	return *(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}
