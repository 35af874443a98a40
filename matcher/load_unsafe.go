//go:build (amd64 || arm64) && !purego

package matcher

import "unsafe"

// load8, load32 and load64 read a little-endian number at octet i of b without looking
// whether it is there: i is from compiled rules, whose every offset was checked
// when they were made or opened. Their twins for other machines, and for the
// build tag purego, are in load.go; the tests run with both.

func load32(b []byte, i int) uint32 {
	return *(*uint32)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

func load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}

func load8(b []byte, i int) byte {
	return *(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}
