package arrowipc

import (
	"bytes"
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

// deflate gives a record batch that the library wrote, of size bytes, a body with compressed
// buffers, without those that are numbered later. The Arrow library's own compression
// allocates its tables for each batch, and uses a slower level that saves three percent.
func (m *message) deflate(size int64, body *segments, codec int8) error {
	m.batch.codec = codec
	out := make([]byte, 0, size/3)
	codes := m.codes
	var content, before []byte
	at := int64(0)
	for i := range m.batch.buffers {
		s := &m.batch.buffers[i]
		before, content = content, nil
		if s.length > 0 {
			if at = body.seek(at, s.offset); at != s.offset || len(*body) == 0 || int64(len((*body)[0])) != s.length {
				return fmt.Errorf("the Arrow library wrote buffer %d in pieces", i)
			}
			content = (*body)[0]
		}
		s.offset = int64(len(out))
		switch {
		case len(codes) > 0 && codes[0].buffer == i:
			if len(content) < codes[0].size {
				return errShort
			}
			codes[0].values, codes[0].valid = bytes.Clone(content[:codes[0].size]), bytes.Clone(before)
			codes = codes[1:]
		case codec == codecNone:
			out = append(out, content...)
		case len(content) > 0:
			out = appendDeflated(out, content, codec, compress.Fastest)
		}
		s.length = int64(len(out)) - s.offset
		out = append(out, zeros[:-len(out)&7]...)
	}
	m.body = out
	return nil
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
