//go:build !amd64 || purego

package batch

// recallAll sets hashes to the placeOf one octet of each URL in a column, or, where a
// URL has the beginning that is kept in its place, to that placeOf with isKept. Its place
// is that for two octets if the mark there is that of its hash, else that for one.
func recallAll[O int32 | int64](starts *beginnings, data []byte, offsets []O, hashes []uint64) {
	recallAllPortable(starts, data, offsets, hashes)
}
