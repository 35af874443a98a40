package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"

	blocks "robotsbatch/io/compress"
)

// lz4Raw is LZ4 in blocks without frames, which the library has no name for.
const lz4Raw = compress.Compression(7)

var errPageSize = errors.New("damaged: a page is not of the size that it says")

// decompressors fill dst from src, which must have just that many octets. They
// take no memory by what src says.
var decompressors = map[compress.Compression]func(dst, src []byte) error{
	compress.Codecs.Uncompressed: func(dst, src []byte) error {
		if copy(dst, src) != len(src) || len(src) != len(dst) {
			return errPageSize
		}
		return nil
	},
	compress.Codecs.Snappy: func(dst, src []byte) error {
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return errPageSize
		}
		_, err := snappy.Decode(dst, src)
		return err
	},
	compress.Codecs.Gzip: func(dst, src []byte) error {
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return err
		}
		return fill(dst, r)
	},
	compress.Codecs.Brotli: func(dst, src []byte) error { return fill(dst, brotli.NewReader(bytes.NewReader(src))) },
	compress.Codecs.Zstd:   blocks.DecodeZstd,
	lz4Raw: func(dst, src []byte) error {
		n, err := lz4.UncompressBlock(src, dst)
		if err == nil && n != len(dst) {
			err = errPageSize
		}
		return err
	},
}

// fill fills dst from r, which must then be at its end.
func fill(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return errPageSize
	case err != io.EOF:
		return err
	}
	return nil
}

// decompress fills dst from src with a panic of a codec's made an error.
func decompress(codec compress.Compression, dst, src []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	if len(dst) == 0 { // some write nothing, some the frame of nothing
		return nil
	}
	return decompressors[codec](dst, src)
}

// compressors append what src is compressed to dst.
var compressors = map[Compression]func(dst, src []byte) []byte{
	Zstd: blocks.AppendZstd,
	Snappy: func(dst, src []byte) []byte {
		return append(dst, snappy.Encode(nil, src)...)
	},
}
