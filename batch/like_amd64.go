//go:build !purego

package batch

import "golang.org/x/sys/cpu"

// minLike is the shortest prefix that the assembly takes.
const minLike = 8

// likeRun returns how many values in a row, from the first on, start with
// prefix. Value i is data[offsets[i]:offsets[i+1]].
func likeRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	if len(prefix) < minLike || !cpu.X86.HasAVX2 {
		return likeRunPortable(prefix, data, offsets)
	}
	switch offsets := any(offsets).(type) {
	case []int32:
		return likeRun32(prefix, data, offsets)
	case []int64:
		return likeRun64(prefix, data, offsets)
	}
	panic("unreachable")
}

// likeRun32 and likeRun64 are likeRun for processors with AVX2 and prefixes of
// at least minLike octets. They do not look whether the offsets, which must not
// fall, are inside data.

//go:noescape
func likeRun32(prefix, data []byte, offsets []int32) int

//go:noescape
func likeRun64(prefix, data []byte, offsets []int64) int
