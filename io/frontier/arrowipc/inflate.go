package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"robotsbatch/io/store/compress"
)

// prefixSize is the length of the prefix of each compressed buffer: the decompressed
// size as a signed integer, or -1 if the buffer is not compressed.
const prefixSize = 8

// storedPrefix is -1.
const storedPrefix = 1<<64 - 1

// isStored reports whether a buffer of a compressed body is not compressed itself.
func isStored(buffer []byte) bool { return binary.LittleEndian.Uint64(buffer) == storedPrefix }

// uncompressedSize returns the decompressed size of a buffer.
func uncompressedSize(buffer []byte) (int64, error) {
	if len(buffer) < prefixSize {
		return 0, errors.New("damaged: a compressed buffer without its size")
	}
	if isStored(buffer) {
		return int64(len(buffer)) - prefixSize, nil
	}
	size := int64(binary.LittleEndian.Uint64(buffer))
	if size < 0 {
		return 0, fmt.Errorf("damaged: a compressed buffer of %d bytes", size)
	}
	return size, nil
}

// inflate returns the body with its buffers decompressed and its decimals widened, and the
// metadata for it; total is checkBody's result. The Arrow library's own decompression
// allocates whatever a frame's header asks for, and stops before the checksum at the
// frame's end. The body is put into out if it is large enough.
func inflate(b *batchMeta, body []byte, total int64, out []byte) (*batchMeta, []byte, error) {
	if b.codec == codecNone && b.narrow == nil {
		return b, body, nil
	}
	if out = out[:0]; int64(cap(out)) < total {
		out = make([]byte, 0, total)
	}
	plain := *b
	plain.codec, plain.narrow = codecNone, nil
	plain.buffers = make([]span, len(b.buffers))
	for i, s := range b.buffers {
		plain.buffers[i] = span{offset: int64(len(out))}
		if s.length == 0 {
			continue
		}
		buffer := body[s.offset : s.offset+s.length]
		size := s.length
		if b.codec != codecNone {
			var err error
			if size, err = uncompressedSize(buffer); err != nil {
				return nil, nil, fmt.Errorf("buffer %d: %w", i, err)
			}
		}
		start, length := len(out), size*b.widened(i)
		out = out[:start+int(length)]
		if err := decompress(out[start+int(length-size):], buffer, b.codec); err != nil {
			return nil, nil, fmt.Errorf("buffer %d does not decompress: %w", i, err)
		}
		if length > size {
			widenValues(out[start:], int(size), b.narrow[i])
		}
		plain.buffers[i].length = length
	}
	return &plain, out, nil
}

// decompress fills dst from a buffer, which has its prefix if it is compressed.
func decompress(dst, buffer []byte, codec int8) error {
	if codec == codecNone {
		copy(dst, buffer)
		return nil
	}
	src := buffer[prefixSize:]
	if isStored(buffer) {
		copy(dst, src)
		return nil
	}
	return compress.Fill(dst, src, codecs[codec])
}
