package arrowipc

import (
	"encoding/binary"
	"fmt"

	"robotsbatch/io/store/compress"
)

// segments collects the slices written to it without copying them, so that a body's
// buffers can be compressed where they lie.
type segments [][]byte

// Write implements io.Writer, but keeps p.
func (s *segments) Write(p []byte) (int, error) {
	*s = append(*s, p)
	return len(p), nil
}

// seek drops segments until the first begins at offset to; at is the offset of the
// first one now.
func (s *segments) seek(at, to int64) int64 {
	for ; at < to && len(*s) > 0; *s = (*s)[1:] {
		at += int64(len((*s)[0]))
	}
	return at
}

// deflate returns a record batch message with its buffers compressed. The Arrow
// library's own compression allocates its tables for each batch, and uses a slower
// level that saves three percent.
func deflate(h *header, body *segments, codec int8) (message, error) {
	b, err := h.batch()
	if err != nil {
		return message{}, err
	}
	packed := *b
	packed.codec = codec
	packed.buffers = make([]span, len(b.buffers))
	out := make([]byte, 0, h.bodyLength/3)
	at := int64(0)
	for i, s := range b.buffers {
		packed.buffers[i].offset = int64(len(out))
		if s.length == 0 {
			continue
		}
		if at = body.seek(at, s.offset); at != s.offset || len(*body) == 0 || int64(len((*body)[0])) != s.length {
			return message{}, fmt.Errorf("the Arrow library wrote buffer %d in pieces", i)
		}
		out = appendDeflated(out, (*body)[0], codec, compress.Fastest)
		packed.buffers[i].length = int64(len(out)) - packed.buffers[i].offset
		out = append(out, make([]byte, -len(out)&7)...)
	}
	return newMessage(recordMessage(&packed, int64(len(out))), out), nil
}

// appendPrefix appends the prefix of a compressed buffer of size bytes.
func appendPrefix(dst []byte, size int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(size))
}

// appendDeflated appends a buffer and its prefix, compressed if that is smaller. Zstd has a
// level.
func appendDeflated(dst, src []byte, codec int8, level int) []byte {
	start := len(dst)
	dst = appendPrefix(dst, len(src))
	dst = compress.Append(dst, src, codecs[codec], level)
	if len(dst)-start-prefixSize >= len(src) {
		binary.LittleEndian.PutUint64(dst[start:], storedPrefix)
		dst = append(dst[:start+prefixSize], src...)
	}
	return dst
}
