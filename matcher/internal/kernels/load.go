//go:build !(amd64 || arm64) || nounsafe || purego

package kernels

import "encoding/binary"

// Load32 returns the little-endian number at b[i]. These loads are checked; load_unsafe.go
// has the unchecked ones.
func Load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }

// Load64 returns the little-endian number of eight bytes at b[i].
func Load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// Load8 returns b[i].
func Load8(b []byte, i int) byte { return b[i] }

// FirstWithout returns the index of the first of n signatures at b[at] that has no bit of
// missing; n if there is none.
func FirstWithout(b []byte, at, n int, missing Signature) int {
	rest := b[at : at+n*SignatureSize]
	for ; len(rest) >= 4*SignatureSize; rest = rest[4*SignatureSize:] {
		switch i := n - len(rest)/SignatureSize; {
		case Signature(binary.LittleEndian.Uint64(rest))&missing == 0:
			return i
		case Signature(binary.LittleEndian.Uint64(rest[SignatureSize:]))&missing == 0:
			return i + 1
		case Signature(binary.LittleEndian.Uint64(rest[2*SignatureSize:]))&missing == 0:
			return i + 2
		case Signature(binary.LittleEndian.Uint64(rest[3*SignatureSize:]))&missing == 0:
			return i + 3
		}
	}
	for len(rest) >= SignatureSize && Signature(binary.LittleEndian.Uint64(rest))&missing != 0 {
		rest = rest[SignatureSize:]
	}
	return n - len(rest)/SignatureSize
}
