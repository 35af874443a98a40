package zstdcut

import "encoding/binary"

// frameHeader is a Frame_Header (RFC 8878 §3.1.1.1).
type frameHeader struct {
	size             int   // of the header in bytes, Magic_Number included
	contentSize      int64 // Frame_Content_Size, -1 for none
	windowDescriptor byte  // unless singleSegment is set
	singleSegment    bool  // the window is the whole content
	contentChecksum  bool
}

const magic = 0xFD2FB528

// Frame_Header_Descriptor (RFC 8878 §3.1.1.1.1).
const (
	contentSizeShift    = 6 // of Frame_Content_Size_Flag
	contentSize4        = 2 << contentSizeShift
	singleSegmentFlag   = 1 << 5
	reservedBit         = 1 << 3
	contentChecksumFlag = 1 << 2
	dictionaryIDMask    = 3
)

const minWindowSize = 1 << 10

// readFrameHeader reads the header of a frame.
func readFrameHeader(frame []byte) (h frameHeader, err error) {
	if len(frame) < 6 {
		return h, ErrDamaged
	}
	descriptor := frame[4]
	h = frameHeader{size: 5, contentSize: -1, singleSegment: descriptor&singleSegmentFlag != 0, contentChecksum: descriptor&contentChecksumFlag != 0}
	switch {
	case binary.LittleEndian.Uint32(frame) != magic || descriptor&reservedBit != 0:
		return h, ErrUnsupported
	case descriptor&dictionaryIDMask != 0:
		return h, ErrDictionary
	}
	if !h.singleSegment {
		h.windowDescriptor = frame[5]
		h.size++
	}
	width := [4]int{0, 2, 4, 8}[descriptor>>contentSizeShift]
	if width == 0 && h.singleSegment {
		width = 1
	}
	if len(frame) < h.size+width {
		return h, ErrDamaged
	}
	if width > 0 {
		var v [8]byte
		copy(v[:], frame[h.size:h.size+width])
		h.contentSize = int64(binary.LittleEndian.Uint64(v[:]))
		if width == 2 { // smaller sizes have one byte
			h.contentSize += 256
		}
	}
	h.size += width
	return h, nil
}

// windowSize returns the Window_Size of a frame with size bytes of content (RFC 8878 §3.1.1.1.2).
func (h *frameHeader) windowSize(size int) int {
	if h.singleSegment {
		return size
	}
	return (8 + int(h.windowDescriptor&7)) << (7 + h.windowDescriptor>>3)
}

// append appends a header with the same window for n bytes of content, without a checksum.
func (h *frameHeader) append(dst []byte, n int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	if h.singleSegment {
		dst = append(dst, contentSize4|singleSegmentFlag)
	} else {
		dst = append(dst, contentSize4, h.windowDescriptor)
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}
