package layout

import (
	"encoding/binary"

	"robotsbatch/io/store/compress"
)

// AppendPrefix appends the prefix of a compressed buffer of size bytes.
func AppendPrefix(dst []byte, size int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(size))
}

// AppendDeflated appends a buffer and its prefix, compressed if that is smaller. Zstd has a
// level.
func AppendDeflated(dst, src []byte, codec int8, level int) []byte {
	start := len(dst)
	dst = AppendPrefix(dst, len(src))
	dst = compress.Append(dst, src, Codecs[codec], level)
	if len(dst)-start-PrefixSize >= len(src) {
		binary.LittleEndian.PutUint64(dst[start:], storedPrefix)
		dst = append(dst[:start+PrefixSize], src...)
	}
	return dst
}
