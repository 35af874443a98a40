package layout

import (
	"encoding/binary"

	"robotsbatch/io/store/compress"
)

// AppendPrefix appends the prefix of a compressed buffer, which has size bytes decompressed: see [PrefixSize].
func AppendPrefix(dst []byte, size int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(size))
}

// AppendBuffer appends a buffer as the body of a message has it. With a codec that is not CodecNone, that is a
// prefix and then src compressed, or stored if that is smaller; nothing for an empty buffer. level is that of zstd.
func AppendBuffer(dst, src []byte, codec int8, level int) []byte {
	if codec == CodecNone || len(src) == 0 {
		return append(dst, src...)
	}
	start := len(dst)
	dst = AppendPrefix(dst, len(src))
	dst = compress.Append(dst, src, Codecs[codec], level)
	if len(dst)-start-PrefixSize >= len(src) {
		binary.LittleEndian.PutUint64(dst[start:], storedPrefix)
		dst = append(dst[:start+PrefixSize], src...)
	}
	return dst
}
