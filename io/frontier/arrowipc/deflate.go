package arrowipc

import (
	"encoding/binary"

	"robotsbatch/io/store/compress"
)

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
