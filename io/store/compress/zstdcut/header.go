package zstdcut

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

const magic = 0xFD2FB528

// Frame_Header_Descriptor (RFC 8878 §3.1.1.1.1).
const (
	contentSize4      = 2 << 6 // Frame_Content_Size has four bytes
	singleSegmentFlag = 1 << 5
)

const minWindowSize = 1 << 10

// readFrameHeader reads the Frame_Header (RFC 8878 §3.1.1.1) of a frame that may be cut. An error is one
// of this package's.
func readFrameHeader(frame []byte) (h zstd.Header, err error) {
	switch err := h.Decode(frame); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return h, ErrDamaged
	case err != nil || h.Skippable:
		return h, ErrUnsupported
	case h.DictionaryID != 0:
		return h, ErrDictionary
	}
	return h, nil
}

// appendFrameHeader appends the header of a frame for n bytes of content, without a checksum: of a
// single segment, or with the window of the frame old.
func appendFrameHeader(dst, old []byte, singleSegment bool, n int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, magic)
	if singleSegment {
		dst = append(dst, contentSize4|singleSegmentFlag)
	} else {
		dst = append(dst, contentSize4, old[5]) // the Window_Descriptor
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(n))
}
