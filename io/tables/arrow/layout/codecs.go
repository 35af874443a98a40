package layout

import "robotsbatch/io/store/compress"

// Numbers of compressions in the format, and what stands for none.
const (
	CodecLZ4  = 0
	CodecZstd = 1
	CodecNone = -1
)

var Codecs = [...]compress.Codec{CodecLZ4: compress.LZ4, CodecZstd: compress.Zstd}

// CodecNumber returns the number of a compression; ok is false where there is none.
func CodecNumber(c compress.Codec) (number int8, ok bool) {
	for i, known := range Codecs {
		if known == c {
			return int8(i), true
		}
	}
	return CodecNone, c == compress.None
}
