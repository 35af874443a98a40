//go:build !amd64 || purego

package matcher

// PrefixRun returns how many values in a row, from the first on, start with
// prefix. Value i is data[offsets[i]:offsets[i+1]]; the offsets must not fall, and
// must lie inside data.
func PrefixRun[O int32 | int64](prefix, data []byte, offsets []O) int {
	return prefixRunPortable(prefix, data, offsets)
}
