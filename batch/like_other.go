//go:build !amd64 || purego

package batch

// likeRun returns how many values in a row, from the first on, start with
// prefix. Value i is data[offsets[i]:offsets[i+1]].
func likeRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	return likeRunPortable(prefix, data, offsets)
}
