package layout

import (
	"encoding/binary"

	"robotsbatch/io/store/compress"
)

// AppendPrefix appends the prefix of a compressed buffer, which has size bytes decompressed: see [PrefixSize].
func AppendPrefix(dst []byte, size int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(size))
}

// AppendDeflated appends a buffer with its prefix, as a compressed body has it: compressed by a codec that is
// not CodecNone, or stored if that is smaller. level is that of zstd.
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
