package compress

import (
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// NewWriter compresses into w, into one member or frame. Close ends it, also
// when nothing was written, and leaves w open. Zstd is compressed by goroutines
// beside the producer's, which end with Close.
func NewWriter(w io.Writer, c Codec) (io.WriteCloser, error) {
	switch c {
	case None:
		return uncompressed{w}, nil
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithZeroFrames(true))
	}
	return nil, fmt.Errorf("compress: unknown codec %d", c)
}

type uncompressed struct{ io.Writer }

func (uncompressed) Close() error { return nil }

// AppendCompressed appends src to dst as a whole member or frame, with its
// checksum, and returns the extended slice; with None it appends src as it is.
// The results of several calls, one after another, are a valid file; that of an
// empty src is the smallest there is. It is safe for concurrent use.
func AppendCompressed(dst, src []byte, c Codec) ([]byte, error) {
	switch c {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return appendGzip(dst, src)
	case Zstd:
		e := zstdEncoders.Get().(*zstd.Encoder)
		defer zstdEncoders.Put(e)
		return e.EncodeAll(src, dst), nil
	}
	return dst, fmt.Errorf("compress: unknown codec %d", c)
}

func appendGzip(dst, src []byte) ([]byte, error) {
	e := gzipEncoders.Get().(*gzip.Writer)
	defer gzipEncoders.Put(e)
	out := appender(dst)
	e.Reset(&out)
	if _, err := e.Write(src); err != nil {
		return dst, fmt.Errorf("compress: %w", err)
	}
	if err := e.Close(); err != nil {
		return dst, fmt.Errorf("compress: %w", err)
	}
	e.Reset(io.Discard) // so that the pool does not hold the output
	return out, nil
}

// appender is a slice as a writer.
type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

// Encoders hold tables of some megabytes, so they are kept.
var (
	gzipEncoders = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}
	zstdEncoders = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	}}
)
