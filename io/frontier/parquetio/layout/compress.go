package layout

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/pierrec/lz4/v4"

	blocks "robotsbatch/io/store/compress"
)

// Compressor returns a function that appends to dst what the codec makes of src, nil for
// Uncompressed. level is that of zstd, 0 for the standard.
func (c Codec) Compressor(level int) func(dst, src []byte) []byte {
	switch c {
	case Snappy:
		return appendSnappy
	case Gzip:
		return appendGzip
	case Brotli:
		return appendBrotli
	case LZ4Hadoop:
		return appendHadoop
	case LZ4Raw:
		return appendLZ4
	case Zstd:
		return func(dst, src []byte) []byte { return blocks.AppendZstdLevel(dst, src, level) }
	}
	return nil
}

// appendSnappy appends a Snappy block.
func appendSnappy(dst, src []byte) []byte {
	most := s2.MaxEncodedLen(len(src))
	if most < 0 {
		panic("a page has more than 4 GiB") // no page has, and its size has 31 bits
	}
	dst = slices.Grow(dst, most)
	return dst[:len(dst)+len(s2.EncodeSnappy(dst[len(dst):len(dst)+most], src))]
}

// appendLZ4 appends an LZ4 block.
func appendLZ4(dst, src []byte) []byte {
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

var lz4Compressors = sync.Pool{New: func() any { return new(lz4.Compressor) }}

// appendHadoop appends an LZ4 block behind its two sizes.
func appendHadoop(dst, src []byte) []byte {
	begin := len(dst)
	dst = appendLZ4(append(dst, 0, 0, 0, 0, 0, 0, 0, 0), src)
	binary.BigEndian.PutUint32(dst[begin:], uint32(len(src)))
	binary.BigEndian.PutUint32(dst[begin+4:], uint32(len(dst)-begin-8))
	return dst
}

// flusher is a compressor of streams.
type flusher interface {
	io.WriteCloser
	Reset(io.Writer)
}

var (
	gzips = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	// brotliLevel is the one that takes about as long as gzip.
	brotlis = sync.Pool{New: func() any { return brotli.NewWriterLevel(nil, brotliLevel) }}
)

const brotliLevel = 4

func appendGzip(dst, src []byte) []byte   { return appendStream(dst, src, &gzips) }
func appendBrotli(dst, src []byte) []byte { return appendStream(dst, src, &brotlis) }

func appendStream(dst, src []byte, pool *sync.Pool) []byte {
	w := pool.Get().(flusher)
	defer pool.Put(w)
	out := bytes.NewBuffer(dst)
	w.Reset(out)
	if _, err := w.Write(src); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
