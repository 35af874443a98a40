package batch

// likeRunPortable is likeRun32 and likeRun64 in plain Go.
func likeRunPortable[O int32 | int64](prefix, data []byte, offsets []O) int {
	if len(prefix) >= likeEnds {
		return likeRunByEnds(prefix, data, offsets)
	}
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

// likeEnds is how many octets likeRunByEnds compares at each end of a prefix.
const likeEnds = 16

// likeRunByEnds is likeRunPortable for prefixes of at least likeEnds octets. Most are
// no longer than their ends, and are compared without a call.
func likeRunByEnds[O int32 | int64](prefix, data []byte, offsets []O) int {
	n := len(prefix)
	var middle []byte
	if n > 2*likeEnds {
		middle = prefix[likeEnds : n-likeEnds]
	}
	head0, head1 := octets8(prefix), octets8(prefix[8:])
	tail0, tail1 := octets8(prefix[n-likeEnds:]), octets8(prefix[n-8:])
	low := int(offsets[0])
	for i, offset := range offsets[1:] {
		end := int(offset)
		if end-low < n {
			return i
		}
		s := data[low : low+n]
		head, tail := (*[likeEnds]byte)(s), (*[likeEnds]byte)(s[len(s)-likeEnds:])
		unlike := (octets8(head[:]) ^ head0) | (octets8(head[8:]) ^ head1) |
			(octets8(tail[:]) ^ tail0) | (octets8(tail[8:]) ^ tail1)
		if unlike != 0 || len(middle) > 0 && string(s[likeEnds:likeEnds+len(middle)]) != string(middle) {
			return i
		}
		low = end
	}
	return len(offsets) - 1
}
