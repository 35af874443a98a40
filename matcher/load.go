//go:build !(amd64 || arm64) || nounsafe || purego

package matcher

import "encoding/binary"

// load8, load32 and load64 read a little-endian number at octet i of b; see
// load_unsafe.go for the twins that do not look whether it is there.

func load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }

func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

func load8(b []byte, i int) byte { return b[i] }

// firstWithout returns which of n sketches, from octet at of b on, is the first
// that has nothing of missing; n if there is none.
func firstWithout(b []byte, at, n int, missing Sketch) int {
	rest := b[at : at+n*sketchSize]
	for ; len(rest) >= 4*sketchSize; rest = rest[4*sketchSize:] {
		switch i := n - len(rest)/sketchSize; {
		case Sketch(le64(rest))&missing == 0:
			return i
		case Sketch(le64(rest[sketchSize:]))&missing == 0:
			return i + 1
		case Sketch(le64(rest[2*sketchSize:]))&missing == 0:
			return i + 2
		case Sketch(le64(rest[3*sketchSize:]))&missing == 0:
			return i + 3
		}
	}
	for len(rest) >= sketchSize && Sketch(le64(rest))&missing != 0 {
		rest = rest[sketchSize:]
	}
	return n - len(rest)/sketchSize
}
