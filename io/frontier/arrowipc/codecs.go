package arrowipc

import "robotsbatch/io/store/compress"

// Numbers of compressions in the format, and what stands for none.
const (
	codecLZ4  = 0
	codecZstd = 1
	codecNone = -1
)

var codecs = [...]compress.Codec{codecLZ4: compress.LZ4, codecZstd: compress.Zstd}

// codecNumber returns the number of a compression; ok is false where there is none.
func codecNumber(c compress.Codec) (number int8, ok bool) {
	for i, known := range codecs {
		if known == c {
			return int8(i), true
		}
	}
	return codecNone, c == compress.None
}
