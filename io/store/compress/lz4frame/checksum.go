package lz4frame

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH32.
const (
	prime1 uint32 = 2654435761
	prime2 uint32 = 2246822519
	prime3 uint32 = 3266489917
	prime4 uint32 = 668265263
	prime5 uint32 = 374761393
)

// checksum returns the XXH32 of p, with the seed 0.
func checksum(p []byte) uint32 {
	n, h := uint32(len(p)), prime5
	if len(p) >= 16 {
		a, b, c, d := prime1, prime2, uint32(0), uint32(0) // the four accumulators
		a += b                                             // in two steps: the sums of constants would overflow
		d -= prime1
		for ; len(p) >= 16; p = p[16:] {
			a = round(a, p[0:4])
			b = round(b, p[4:8])
			c = round(c, p[8:12])
			d = round(d, p[12:16])
		}
		h = bits.RotateLeft32(a, 1) + bits.RotateLeft32(b, 7) + bits.RotateLeft32(c, 12) + bits.RotateLeft32(d, 18)
	}
	h += n
	for ; len(p) >= 4; p = p[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(p)*prime3, 17) * prime4
	}
	for _, v := range p {
		h = bits.RotateLeft32(h+uint32(v)*prime5, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}

// round adds the first four bytes of p to an accumulator.
func round(v uint32, p []byte) uint32 {
	return bits.RotateLeft32(v+binary.LittleEndian.Uint32(p)*prime2, 13) * prime1
}
