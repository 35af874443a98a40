//go:build !(amd64 || arm64) || purego

package matcher

import "encoding/binary"

// load8, load32 and load64 read a little-endian number at octet i of b; see
// load_unsafe.go for the twins that do not look whether it is there.

func load32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }

func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

func load8(b []byte, i int) byte { return b[i] }
