package zstdcut

import "encoding/binary"

// header is a frame's header.
type header struct {
	length   int   // bytes of the header itself
	size     int64 // of the decompressed frame in bytes, -1 if the header does not say it
	window   byte  // the window descriptor, unless single is set
	single   bool  // there is no window descriptor: a match may begin anywhere before it
	checksum bool
}

const magic = 0xFD2FB528

// Flags of a frame's header.
const (
	singleSegment = 1 << 5
	reservedBit   = 1 << 3
	hasChecksum   = 1 << 2
	hasDictionary = 3 // a mask
	sizeBits      = 6 // which say how many bytes the frame's size has
	fourBytes     = 2 << sizeBits

	checksumSize = 4 // in bytes, at the end of a frame
)

// readHeader reads a frame's header.
func readHeader(frame []byte) (h header, err error) {
	if len(frame) < 6 {
		return h, ErrDamaged
	}
	flags := frame[4]
	h.single, h.checksum, h.size, h.length = flags&singleSegment != 0, flags&hasChecksum != 0, -1, 5
	switch {
	case binary.LittleEndian.Uint32(frame) != magic || flags&reservedBit != 0:
		return h, ErrUnsupported
	case flags&hasDictionary != 0:
		return h, ErrDictionary
	}
	if !h.single {
		h.window = frame[5]
		h.length++
	}
	width := [4]int{0, 2, 4, 8}[flags>>sizeBits]
	if width == 0 && h.single {
		width = 1
	}
	if len(frame) < h.length+width {
		return h, ErrDamaged
	}
	if width > 0 {
		var v [8]byte
		copy(v[:], frame[h.length:h.length+width])
		h.size = int64(binary.LittleEndian.Uint64(v[:]))
		if width == 2 { // smaller sizes have one byte
			h.size += 256
		}
	}
	h.length += width
	return h, nil
}

// farthest returns how far back a match may begin in a frame of size bytes (RFC 8878
// §3.1.1.1.2).
func (h *header) farthest(size int) int {
	if h.single {
		return size
	}
	return (8 + int(h.window&7)) << (7 + h.window>>3)
}

// append appends a header like h of a frame that decompresses to n bytes. Its size has four
// bytes, and it says that there is no checksum.
func (h *header) append(dst []byte, n int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	if h.single {
		dst = append(dst, fourBytes|singleSegment)
	} else {
		dst = append(dst, fourBytes, h.window)
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}
