package matcher

import "encoding/binary"

// prefixRunPortable is PrefixRun in plain Go.
func prefixRunPortable[O int32 | int64](prefix, data []byte, offsets []O) int {
	if len(prefix) >= prefixEnds {
		return prefixRunByEnds(prefix, data, offsets)
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

// prefixEnds is how many bytes prefixRunByEnds compares at each end of a prefix.
const prefixEnds = 16

// prefixRunByEnds is prefixRunPortable for prefixes of at least prefixEnds bytes.
// It compares the ends first, without a call: most prefixes have nothing between.
func prefixRunByEnds[O int32 | int64](prefix, data []byte, offsets []O) int {
	word := func(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }
	n := len(prefix)
	var middle []byte
	if n > 2*prefixEnds {
		middle = prefix[prefixEnds : n-prefixEnds]
	}
	head0, head1 := word(prefix), word(prefix[8:])
	tail0, tail1 := word(prefix[n-prefixEnds:]), word(prefix[n-8:])
	low := int(offsets[0])
	for i, offset := range offsets[1:] {
		end := int(offset)
		if end-low < n {
			return i
		}
		s := data[low : low+n]
		head, tail := (*[prefixEnds]byte)(s), (*[prefixEnds]byte)(s[len(s)-prefixEnds:])
		differ := (word(head[:]) ^ head0) | (word(head[8:]) ^ head1) |
			(word(tail[:]) ^ tail0) | (word(tail[8:]) ^ tail1)
		if differ != 0 || len(middle) > 0 && string(s[prefixEnds:prefixEnds+len(middle)]) != string(middle) {
			return i
		}
		low = end
	}
	return len(offsets) - 1
}
