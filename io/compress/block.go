package compress

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// ErrSize: a block does not have the size that it should.
var ErrSize = errors.New("its size is not the one that is recorded before it")

// zstdDecoder starts no goroutines as long as nothing but DecodeAll is used.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

// DecodeZstd decompresses the zstd frames in src into dst, which they must fill. It takes
// no more memory, whatever size they claim.
func DecodeZstd(dst, src []byte) error {
	decoder, err := zstdDecoder()
	if err != nil {
		return err
	}
	got, err := decoder.DecodeAll(src, dst[:0:len(dst)])
	if err == nil && len(got) != len(dst) {
		err = ErrSize
	}
	return err
}

// blockEncoders are kept because each has tables of some hundred kilobytes.
var blockEncoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithZeroFrames(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}}

// AppendZstd appends a zstd frame of src to dst, with a checksum, at the fastest
// level: others take much longer for a few percent.
func AppendZstd(dst, src []byte) []byte {
	e := blockEncoders.Get().(*zstd.Encoder)
	defer blockEncoders.Put(e)
	return e.EncodeAll(src, dst)
}
