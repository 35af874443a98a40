//go:build !amd64 || purego

package batch

// recallAll sets hashes to the placeOf one octet of each URL in a column, or, where a
// URL has the beginning that is kept in its place for one octet or else for two, to
// that placeOf with isKept.
func recallAll[O int32 | int64](starts *[places]beginning, data []byte, offsets []O, hashes []uint64) {
	recallAllPortable(starts, data, offsets, hashes)
}
