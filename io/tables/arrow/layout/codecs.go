package layout

import (
	"slices"

	"robotsbatch/io/store/compress"
)

// Numbers of compressions in the format. CodecNone, which the format does not have, stands for none.
const (
	CodecLZ4  = 0
	CodecZstd = 1
	CodecNone = -1
)

// Codecs are the compressions by their numbers.
var Codecs = [...]compress.Codec{CodecLZ4: compress.LZ4, CodecZstd: compress.Zstd}

// CodecNumber returns the number of a compression, CodecNone for compress.None; ok is false if the format does not
// have it.
func CodecNumber(c compress.Codec) (number int8, ok bool) {
	number = int8(slices.Index(Codecs[:], c)) // -1, which is CodecNone, if c is none of them
	return number, number != CodecNone || c == compress.None
}
