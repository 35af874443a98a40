package snappycut

import (
	"encoding/binary"

	"robotsbatch/io/store/compress/zstdcut"
)

// element is a literal or a copy.
type element struct {
	size   int // bytes of it in the block
	length int // bytes of content
	offset int // how far back a copy's bytes are; 0 for a literal
}

// The kinds of elements, by the two lowest bits of their first byte, the tag.
const (
	literal = iota
	copy1   // a copy whose offset has 11 bits, of which 8 follow the tag
	copy2   // 16 bits follow
	copy4   // 32 bits follow
)

// mostShort is the most bytes of a literal whose length is in its tag.
const mostShort = 60

// tagged is what a tag says of its element.
type tagged struct {
	size, length uint8  // as in element; 0 for a literal whose length follows the tag
	high         uint16 // the bits of the offset that are in the tag
	mask         uint32 // of the four bytes after the tag, as a little-endian number: the bits of the offset
}

// tags says what each tag says.
var tags = func() (tags [256]tagged) {
	for tag := range tags {
		bits := uint8(tag >> 2)
		switch tag & 3 {
		case literal:
			if bits < mostShort {
				tags[tag] = tagged{size: 1 + bits + 1, length: bits + 1}
			}
		case copy1:
			tags[tag] = tagged{size: 2, length: bits&7 + 4, high: uint16(bits>>3) << 8, mask: 1<<8 - 1}
		case copy2:
			tags[tag] = tagged{size: 3, length: bits + 1, mask: 1<<16 - 1}
		case copy4:
			tags[tag] = tagged{size: 5, length: bits + 1, mask: 1<<32 - 1}
		}
	}
	return tags
}()

// skipUnchanged skips the elements that are the same in the new block: those that lie in kept, the next range of the old
// content that is kept, and, if they are copies, copy bytes of it. The first element is at block[at:], and its content begins at byte low. nextAt and nextLow are at
// and low of the first element that is not skipped, because it differs or because only [readElement] can read it.
// nextAt is larger than len(block) if the last element is not whole. To read each element by readElement would double
// the time of a job.
func skipUnchanged(block []byte, at, low int, kept zstdcut.Range) (nextAt, nextLow int) {
	if low < kept.Low { // as most that are cut out: the loop would end at once
		return at, low
	}
	for at+5 <= len(block) { // the largest copy
		t := tags[block[at]]
		length := int(t.length)
		offset := int(uint32(t.high) | binary.LittleEndian.Uint32(block[at+1:])&t.mask) // 0 for a literal
		// Only readElement can read it, it begins or copies from before kept, or it ends after that.
		if length == 0 || low-offset < kept.Low || low+length > kept.High {
			break
		}
		at += int(t.size)
		low += length
	}
	return at, low
}

// readElement returns the element at the beginning of block. ok is false if that is not whole.
func readElement(block []byte) (e element, ok bool) {
	if len(block) == 0 {
		return e, false
	}
	var word [4]byte
	copy(word[:], block[1:])
	following := binary.LittleEndian.Uint32(word[:])
	t := tags[block[0]]
	e = element{size: int(t.size), length: int(t.length), offset: int(uint32(t.high) | following&t.mask)}
	if t.length == 0 {
		bytes := int(block[0]>>2) - mostShort + 1 // that follow the tag, and hold the length less 1
		e.length = int(following&(1<<(8*bytes)-1)) + 1
		e.size = 1 + bytes + e.length
	}
	return e, e.length > 0 && e.size <= len(block) // an int of 32 bits may not hold the length
}

// appendCopy appends the copy written with another offset. That is at most the offset that written has, so that it
// fits.
func appendCopy(dst, written []byte, offset int) []byte {
	at := len(dst)
	dst = append(dst, written...)
	switch written[0] & 3 {
	case copy1:
		const highBits = 7 << 5
		dst[at], dst[at+1] = written[0]&^highBits|byte(offset>>8)<<5, byte(offset)
	case copy2:
		binary.LittleEndian.PutUint16(dst[at+1:], uint16(offset))
	default:
		binary.LittleEndian.PutUint32(dst[at+1:], uint32(offset))
	}
	return dst
}

// appendLiteral appends p as a literal; nothing if p is empty.
func appendLiteral(dst, p []byte) []byte {
	lengthLess1 := len(p) - 1 // what the format has
	switch {
	case lengthLess1 < 0:
	case lengthLess1 < mostShort:
		dst = append(dst, byte(lengthLess1)<<2)
	case lengthLess1 < 1<<16:
		dst = append(dst, (mostShort+1)<<2, byte(lengthLess1), byte(lengthLess1>>8)) // a tag of mostShort + n has n + 1 bytes after it
	default:
		dst = binary.LittleEndian.AppendUint32(append(dst, (mostShort+3)<<2), uint32(lengthLess1))
	}
	return append(dst, p...)
}
