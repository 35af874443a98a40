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

// standardLevel is what zstd's own program and most writers take.
const standardLevel = 3

// blockEncoders, by the encoder's level, are kept because each has tables of some hundred
// kilobytes or more.
var blockEncoders [zstd.SpeedBestCompression + 1]sync.Pool

// AppendZstd appends a zstd frame of src to dst, with a checksum, at the fastest
// level: others take much longer for a few percent.
func AppendZstd(dst, src []byte) []byte { return appendZstd(dst, src, zstd.SpeedFastest) }

// AppendZstdLevel appends a zstd frame of src to dst, with a checksum. Levels are those of
// the zstd program, 0 for the standard; of several the encoder here makes the same.
func AppendZstdLevel(dst, src []byte, level int) []byte {
	if level == 0 {
		level = standardLevel
	}
	return appendZstd(dst, src, zstd.EncoderLevelFromZstd(level))
}

func appendZstd(dst, src []byte, level zstd.EncoderLevel) []byte {
	pool := &blockEncoders[level]
	e, ok := pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		if e, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level), zstd.WithZeroFrames(true)); err != nil {
			panic(err) // the options are constants
		}
	}
	defer pool.Put(e)
	return e.EncodeAll(src, dst)
}
