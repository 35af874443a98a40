//go:build !purego

package batch

import "golang.org/x/sys/cpu"

// recallAll sets hashes to the placeOf one octet of each URL in a column, or, where a
// URL has the beginning that is kept in its place, to that placeOf with isKept. Its place
// is that for two octets if the mark there is that of its hash, else that for one.
func recallAll[O int32 | int64](starts *beginnings, data []byte, offsets []O, hashes []uint64) {
	done := 0
	if cpu.X86.HasAVX2 {
		switch offsets := any(offsets).(type) {
		case []int32:
			done = recallAll32(starts, data, offsets, hashes)
		case []int64:
			done = recallAll64(starts, data, offsets, hashes)
		}
	}
	recallAllPortable(starts, data, offsets[done:], hashes[done:])
}

// recallAll32 is recallAll for the first URLs of a column, as many as it returns:
// it leaves out those that begin in the last 64 octets of data.
//
//go:noescape
func recallAll32(starts *beginnings, data []byte, offsets []int32, hashes []uint64) (done int)

// recallAll64 is recallAll32 for offsets of eight octets.
//
//go:noescape
func recallAll64(starts *beginnings, data []byte, offsets []int64, hashes []uint64) (done int)
