package parquetio

import (
	"github.com/golang/snappy"

	blocks "robotsbatch/io/compress"
)

// compressors append the compressed src to dst.
var compressors = [...]func(dst, src []byte) []byte{
	Zstd: blocks.AppendZstd,
	Snappy: func(dst, src []byte) []byte {
		return append(dst, snappy.Encode(nil, src)...)
	},
	Uncompressed: nil,
}
