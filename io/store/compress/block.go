package compress

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"robotsbatch/io/store/compress/lz4frame"
)

// ErrSize: a block does not have the size that it should.
var ErrSize = errors.New("its size is not the one that is recorded before it")

// Append appends src to dst, compressed to a whole block, frame or member, and returns the extended slice. level is
// one of zstd's own program, or Standard; other codecs ignore it. The encoder here has fewer levels, so that some
// make the same bytes. It is safe for concurrent use.
func Append(dst, src []byte, c Codec, level int) []byte { return codecs[c].add(dst, src, level) }

// Fill decompresses src into dst, which it must fill exactly. It takes no more memory than that, whatever
// size src claims to have.
func Fill(dst, src []byte, c Codec) error { return codecs[c].fill(dst, src) }

// Most returns the most bytes that n compressed ones can decompress to.
func Most(n int, c Codec) int64 {
	if most := codecs[c].most; most > 0 {
		return most * int64(n)
	}
	return math.MaxInt64
}

// addNone is [Append] for None.
func addNone(dst, src []byte, _ int) []byte { return append(dst, src...) }

// fillNone is [Fill] for None.
func fillNone(dst, src []byte) error {
	if len(src) != len(dst) {
		return ErrSize
	}
	copy(dst, src)
	return nil
}

// zstdDecoder starts no goroutines as long as nothing but DecodeAll is used.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

// fillZstd is [Fill] for a frame or several.
func fillZstd(dst, src []byte) error {
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

const (
	// Standard is the level that callers give for standardLevel, which is what zstd's own program
	// and most writers take.
	Standard      = 0
	standardLevel = 3
	// Fastest is the level of zstd for blocks for which others take much longer for a few
	// percent.
	Fastest = 1
	// brotliLevel is the one that takes about as long as gzip.
	brotliLevel = 4
)

// sampleSize is the number of bytes that are compressed to choose a level.
const sampleSize = 256 << 10

// Level returns the level of zstd for bytes like plain, which another writer has compressed to stored bytes. It
// compresses a sample. The level is Fastest if that makes the sample as small as the writer would, or at most 1 %
// larger than Standard does (of URLs it makes fewer bytes); otherwise Standard.
func Level(plain []byte, stored int) int {
	sample := plain[:min(len(plain), sampleSize)]
	packed := Append(make([]byte, 0, len(sample)), sample, Zstd, Fastest)
	fastest := len(packed)
	asWellAsWriter := int64(fastest)*int64(len(plain)) <= int64(stored)*int64(len(sample))
	if asWellAsWriter || fastest <= len(Append(packed[:0], sample, Zstd, Standard))*101/100 {
		return Fastest
	}
	return Standard
}

// zstdEncoders has a pool for each level of the encoder. Encoders are kept because each has tables of some hundred
// kilobytes or more.
var zstdEncoders [zstd.SpeedBestCompression + 1]sync.Pool

// addZstd is [Append] for a frame.
func addZstd(dst, src []byte, level int) []byte {
	if level == Standard {
		level = standardLevel
	}
	speed := zstd.EncoderLevelFromZstd(level)
	pool := &zstdEncoders[speed]
	e, ok := pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		if e, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(speed), zstd.WithZeroFrames(true)); err != nil {
			panic(err) // the options are constants
		}
	}
	defer pool.Put(e)
	return e.EncodeAll(src, dst)
}

// addSnappy is [Append] for a block.
func addSnappy(dst, src []byte, _ int) []byte {
	most := s2.MaxEncodedLen(len(src))
	if most < 0 {
		panic("a block has more than 4 GiB") // no page has, and its size has 31 bits
	}
	dst = slices.Grow(dst, most)
	return dst[:len(dst)+len(s2.EncodeSnappy(dst[len(dst):len(dst)+most], src))]
}

// fillSnappy is [Fill] for a block.
func fillSnappy(dst, src []byte) error {
	if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
		return ErrSize
	}
	_, err := snappy.Decode(dst, src)
	return err
}

var lz4Compressors = sync.Pool{New: func() any { return new(lz4.Compressor) }}

// addLZ4Block is [Append] for a block.
func addLZ4Block(dst, src []byte, _ int) []byte {
	most := lz4.CompressBlockBound(len(src))
	dst = slices.Grow(dst, most)
	c := lz4Compressors.Get().(*lz4.Compressor)
	defer lz4Compressors.Put(c)
	n, err := c.CompressBlock(src, dst[len(dst):len(dst)+most])
	if err != nil {
		panic(err) // there is room for every block
	}
	return dst[:len(dst)+n]
}

// fillLZ4Block is [Fill] for a block.
func fillLZ4Block(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err == nil && n != len(dst) {
		err = ErrSize
	}
	return err
}

// fillGzip is [Fill] for members.
func fillGzip(dst, src []byte) error {
	r, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return err
	}
	return fillFrom(dst, r)
}

// fillBrotli is [Fill] for a stream.
func fillBrotli(dst, src []byte) error { return fillFrom(dst, brotli.NewReader(bytes.NewReader(src))) }

// fillLZ4 is [Fill] for a frame. The library reads those that lz4frame does not.
func fillLZ4(dst, src []byte) error {
	if lz4frame.Decode(dst, src) {
		return nil
	}
	return fillFrom(dst, lz4.NewReader(bytes.NewReader(src)))
}

// fillFrom fills dst from the decoder r, which must then be at its end. Reading past the last byte makes
// the decoder check what follows it, such as a checksum.
func fillFrom(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return ErrSize
	case err != io.EOF:
		return err
	}
	return nil
}

// flusher is a compressor of streams, such as *gzip.Writer.
type flusher interface {
	io.WriteCloser
	Reset(io.Writer)
}

// Compressors of streams hold tables of up to some megabytes, so they are kept.
var (
	gzips     = &sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}
	lz4Frames = &sync.Pool{New: func() any { return lz4.NewWriter(io.Discard) }}
	brotlis   = &sync.Pool{New: func() any { return brotli.NewWriterLevel(io.Discard, brotliLevel) }}
)

// addTo returns [Append] for a codec whose compressors are flushers, kept in a pool.
func addTo(pool *sync.Pool) func(dst, src []byte, level int) []byte {
	return func(dst, src []byte, _ int) []byte {
		w := pool.Get().(flusher)
		defer pool.Put(w)
		out := appender(dst)
		w.Reset(&out)
		_, err := w.Write(src)
		if err = errors.Join(err, w.Close()); err != nil {
			panic(err) // memory takes everything
		}
		w.Reset(io.Discard) // so that the pool does not hold the output
		return out
	}
}

// appender is a slice as a writer. Unlike bytes.Buffer, it does not double a large slice.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}
