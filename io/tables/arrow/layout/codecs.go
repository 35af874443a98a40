package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"robotsbatch/io/store/compress"
)

// Numbers of compressions in the format. CodecNone, for bodies that are not compressed, has no number in the format.
const (
	CodecLZ4  = 0
	CodecZstd = 1
	CodecNone = -1
)

// Codecs has the compressions by their numbers; CodecNone is not among them.
var Codecs = [...]compress.Codec{CodecLZ4: compress.LZ4, CodecZstd: compress.Zstd}

// CodecNumber returns the number of a compression, CodecNone for compress.None; ok is false if the format does not
// have it.
func CodecNumber(c compress.Codec) (number int8, ok bool) {
	number = int8(slices.Index(Codecs[:], c)) // -1, which is CodecNone, if c is none of them
	return number, number != CodecNone || c == compress.None
}

// PrefixSize is the length of the prefix of each compressed buffer: the decompressed
// size as a signed integer, or -1 if the buffer is not compressed.
const PrefixSize = 8

// storedPrefix is the prefix -1, of a buffer that is not compressed, as an unsigned number.
const storedPrefix = 1<<64 - 1

// ErrShort is returned for a buffer with fewer bytes than its values take.
var ErrShort = errors.New("damaged: a buffer is too short")

// IsStored reports whether a buffer of a compressed body is not compressed itself. The buffer must have a whole prefix.
func IsStored(buffer []byte) bool { return binary.LittleEndian.Uint64(buffer) == storedPrefix }

// UncompressedSize returns the decompressed size that a buffer of a compressed body claims to have.
func UncompressedSize(buffer []byte) (int64, error) {
	if len(buffer) < PrefixSize {
		return 0, errors.New("damaged: a compressed buffer without its size")
	}
	if IsStored(buffer) {
		return int64(len(buffer)) - PrefixSize, nil
	}
	size := int64(binary.LittleEndian.Uint64(buffer))
	if size < 0 {
		return 0, fmt.Errorf("damaged: a compressed buffer of %d bytes", size)
	}
	return size, nil
}

// Decompress fills dst with the decompressed bytes of a buffer; it is an error if these are fewer or more. Unless codec
// is CodecNone, the buffer must have a whole prefix.
func Decompress(dst, buffer []byte, codec int8) error {
	switch {
	case codec == CodecNone:
		return compress.Fill(dst, buffer, compress.None)
	case IsStored(buffer):
		return compress.Fill(dst, buffer[PrefixSize:], compress.None)
	}
	return compress.Fill(dst, buffer[PrefixSize:], Codecs[codec])
}

// AppendPrefix appends the prefix of a buffer that has size bytes decompressed.
func AppendPrefix(dst []byte, size int) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(size))
}

// AppendBuffer appends a buffer of content src as a message's body has it: src itself if it is empty or codec is
// CodecNone; otherwise a prefix and then src compressed at a level of zstd, or as it is if that is not larger.
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
