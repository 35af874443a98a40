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

// inflation decompresses the buffers of a body and widens its decimals. The Arrow library's
// own decompression allocates whatever a frame's header asks for, and stops before the checksum
// at the frame's end. Goroutines may work on several buffers at once.
type inflation struct {
	from  *batchMeta
	body  []byte
	plain *batchMeta // for out
	out   []byte
}

// newInflation lays out the buffers; total is checkBody's result.
func newInflation(b *batchMeta, body []byte, total int64) (*inflation, error) {
	out := make([]byte, int(total)+8*len(b.buffers))
	plain := *b
	plain.codec, plain.narrow = codecNone, nil
	plain.buffers = make([]span, len(b.buffers))
	end := int64(0)
	for i, s := range b.buffers {
		plain.buffers[i].offset = end
		if s.length == 0 {
			continue
		}
		size := s.length
		if b.codec != codecNone {
			var err error
			if size, err = uncompressedSize(body[s.offset : s.offset+s.length]); err != nil {
				return nil, fmt.Errorf("buffer %d: %w", i, err)
			}
		}
		plain.buffers[i].length = size * b.widened(i)
		end += (plain.buffers[i].length + 7) &^ 7
	}
	return &inflation{b, body, &plain, out[:end]}, nil
}

// buffer fills buffer i.
func (n *inflation) buffer(i int) error {
	s, to := n.from.buffers[i], n.plain.buffers[i]
	if s.length == 0 {
		return nil
	}
	dst := n.out[to.offset : to.offset+to.length]
	size := to.length / n.from.widened(i)
	if err := decompress(dst[to.length-size:], n.body[s.offset:s.offset+s.length], n.from.codec); err != nil {
		return fmt.Errorf("buffer %d does not decompress: %w", i, err)
	}
	if to.length > size {
		widenValues(dst, int(size), n.from.narrow[i])
	}
	return nil
}

// inflate fills all buffers, and returns the body and its metadata.
func inflate(b *batchMeta, body []byte, total int64) (*batchMeta, []byte, error) {
	if !b.packed() {
		return b, body, nil
	}
	n, err := newInflation(b, body, total)
	for i := 0; err == nil && i < len(b.buffers); i++ {
		err = n.buffer(i)
	}
	if err != nil {
		return nil, nil, err
	}
	return n.plain, n.out, nil
}

// packed reports whether buffers are compressed, or decimals narrow.
func (b *batchMeta) packed() bool { return b.codec != codecNone || b.narrow != nil }

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
