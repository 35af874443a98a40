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
