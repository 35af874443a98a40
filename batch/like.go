package batch

// likeRunPortable is likeRun32 and likeRun64 in plain Go.
func likeRunPortable[O int32 | int64](prefix, data []byte, offsets []O) int {
	n := O(len(prefix))
	low := offsets[0]
	for i, end := range offsets[1:] {
		if end-low < n || string(data[low:low+n]) != string(prefix) {
			return i
		}
		low = end
	}
	return len(offsets) - 1
}
