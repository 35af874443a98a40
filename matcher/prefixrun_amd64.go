//go:build !purego

package matcher

import "golang.org/x/sys/cpu"

// minPrefix is the shortest prefix that the assembly takes.
const minPrefix = 8

// PrefixRun returns how many values in a row, from the first on, start with
// prefix. Value i is data[offsets[i]:offsets[i+1]]; the offsets must not fall, and
// must lie inside data.
func PrefixRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	if len(prefix) < minPrefix || !cpu.X86.HasAVX2 {
		return prefixRunPortable(prefix, data, offsets)
	}
	switch offsets := any(offsets).(type) {
	case []int32:
		return prefixRun32(prefix, data, offsets)
	case []int64:
		return prefixRun64(prefix, data, offsets)
	}
	panic("unreachable")
}

// prefixRun32 and prefixRun64 are PrefixRun for processors with AVX2 and prefixes
// of at least minPrefix bytes. They do not check the offsets.

//go:noescape
func prefixRun32(prefix, data []byte, offsets []int32) int

//go:noescape
func prefixRun64(prefix, data []byte, offsets []int64) int
