package encode

import (
	"encoding/binary"
	"math/bits"
)

// appendHybrid appends numbers of width bits as runs of equal ones and groups of
// eight that are packed.
func appendHybrid[T byte | int32](dst []byte, values []T, width int) []byte {
	for i := 0; i < len(values); {
		if n := runLength(values[i:], len(values)); n >= 8 || i+n == len(values) {
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			for v, b := uint64(values[i]), 0; b < width; b += 8 {
				dst = append(dst, byte(v>>b))
			}
			i += n
			continue
		}
		begin := i
		for i < len(values) && (i == begin || runLength(values[i:], 8) < 8) {
			i = min(i+8, len(values))
		}
		dst = binary.AppendUvarint(dst, uint64(i-begin+7)/8<<1|1)
		dst = appendPacked(dst, values[begin:i], width)
	}
	return dst
}

// runLength returns how many values at the beginning are equal, most at most.
func runLength[T byte | int32](values []T, most int) int {
	n := 1
	if levels, ok := any(values).([]byte); ok {
		most = min(most, len(levels))
		for eight := uint64(levels[0]) * 0x0101010101010101; n+8 <= most && binary.LittleEndian.Uint64(levels[n:]) == eight; {
			n += 8
		}
	}
	for n < len(values) && n < most && values[n] == values[0] {
		n++
	}
	return n
}

// appendBits packs bytes that are 0 or 1.
func appendBits(dst, values []byte) []byte {
	for ; len(values) >= 8; values = values[8:] {
		dst = append(dst, byte(binary.LittleEndian.Uint64(values)*0x0102040810204080>>56))
	}
	if len(values) > 0 {
		dst = append(dst, 0)
		for i, v := range values {
			dst[len(dst)-1] |= v << i
		}
	}
	return dst
}

// appendPacked packs numbers, the lowest bit first, in whole groups of eight.
func appendPacked[T byte | int32](dst []byte, values []T, width int) []byte {
	buffer, have := uint64(0), 0
	end := len(dst) + (len(values)+7)/8*width
	for _, v := range values {
		buffer |= uint64(v) << have
		for have += width; have >= 8; have -= 8 {
			dst = append(dst, byte(buffer))
			buffer >>= 8
		}
	}
	if have > 0 {
		dst = append(dst, byte(buffer))
	}
	for len(dst) < end {
		dst = append(dst, 0)
	}
	return dst
}

// widthOf is how many bits the numbers up to most have.
func widthOf(most int) int { return bits.Len(uint(most)) }

// appendLevels appends a page's n levels, up to most, behind their length. levels
// is nil when all are level.
func appendLevels(dst, levels []byte, n int, level, most byte) []byte {
	begin := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if levels != nil {
		dst = appendHybrid(dst, levels, widthOf(int(most)))
	} else if n > 0 {
		dst = append(binary.AppendUvarint(dst, uint64(n)<<1), level)
	}
	binary.LittleEndian.PutUint32(dst[begin:], uint32(len(dst)-begin-4))
	return dst
}
