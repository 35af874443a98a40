//go:build !(amd64 || arm64) || nounsafe || purego

package kernels

import "encoding/binary"

// Load32 reads a little-endian number at byte i of b; see load_unsafe.go for the twin
// of this and the others that do not look whether it is there.
func Load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }

// Load64 is Load32 for eight bytes.
func Load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

// Load8 returns byte i of b.
func Load8(b []byte, i int) byte { return b[i] }

// FirstWithout returns which of n signatures, from byte at of b on, is the first
// that has nothing of missing; n if there is none.
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
