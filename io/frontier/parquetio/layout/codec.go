package layout

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"

	blocks "robotsbatch/io/store/compress"
)

// Codec is what the pages of a column are compressed with.
type Codec int32

// The codecs.
const (
	Uncompressed Codec = iota
	Snappy
	Gzip
	lzo
	Brotli
	LZ4Hadoop // blocks framed as Hadoop does, or not
	Zstd
	LZ4Raw
)

var codecNames = [...]string{"uncompressed", "snappy", "gzip", "LZO", "brotli", "LZ4", "zstd", "LZ4_RAW"}

// String returns the codec's name.
func (c Codec) String() string {
	if c >= 0 && int(c) < len(codecNames) {
		return codecNames[c]
	}
	return fmt.Sprintf("codec %d", int32(c))
}

// Check returns an error for a codec that is not read.
func (c Codec) Check() error {
	if c < 0 || int(c) >= len(codecNames) || c == lzo {
		return fmt.Errorf("it is compressed with %s, which is not read: write it with zstd, snappy, gzip or LZ4_RAW", c)
	}
	return nil
}

var (
	errPageSize   = errors.New("damaged: a page is not of the size that it says")
	errPageBroken = errors.New("damaged: a page does not decompress")
)

// most is how many bytes n compressed ones can make at most: what a block header
// of the codec can say, where it has a limit.
func (c Codec) most(n int) int64 {
	switch c {
	case Uncompressed:
		return int64(n)
	case Snappy:
		return 64 * int64(n)
	case Gzip:
		return 1032 * int64(n)
	case LZ4Hadoop, LZ4Raw:
		return 255 * int64(n)
	case Zstd:
		return 128 << 10 / 3 * int64(n)
	}
	return 1 << 40
}

// Decompress fills dst from src, which must have just that many bytes. It takes
// no memory by what src says.
func (c Codec) Decompress(dst, src []byte) (err error) {
	if len(dst) == 0 { // some write nothing, some the frame of nothing
		return nil
	}
	defer func() {
		if p := recover(); p != nil { // a codec's bug is an error of the page
			err = fmt.Errorf("%w: %v", errPageBroken, p)
		}
	}()
	if err := c.fill(dst, src); err != nil {
		return fmt.Errorf("a page does not decompress: %w", err)
	}
	return nil
}

func (c Codec) fill(dst, src []byte) error {
	switch c {
	case Uncompressed:
		if len(src) != len(dst) {
			return errPageSize
		}
		copy(dst, src)
		return nil
	case Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != len(dst) {
			return errPageSize
		}
		_, err := snappy.Decode(dst, src)
		return err
	case Gzip:
		r, err := gzip.NewReader(bytes.NewReader(src))
		if err != nil {
			return err
		}
		return fillFrom(dst, r)
	case Brotli:
		return fillFrom(dst, brotli.NewReader(bytes.NewReader(src)))
	case LZ4Hadoop:
		if fillHadoop(dst, src) == nil {
			return nil
		}
		return fillLZ4(dst, src) // some wrote blocks alone under this name
	case LZ4Raw:
		return fillLZ4(dst, src)
	case Zstd:
		return blocks.DecodeZstd(dst, src)
	}
	return c.Check()
}

func fillLZ4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err == nil && n != len(dst) {
		err = errPageSize
	}
	return err
}

// fillHadoop reads LZ4 blocks, each behind its two sizes.
func fillHadoop(dst, src []byte) error {
	for len(src) > 0 {
		if len(src) < 8 {
			return errPageSize
		}
		plain, packed := binary.BigEndian.Uint32(src), binary.BigEndian.Uint32(src[4:])
		src = src[8:]
		if uint64(plain) > uint64(len(dst)) || uint64(packed) > uint64(len(src)) {
			return errPageSize
		}
		if err := fillLZ4(dst[:plain], src[:packed]); err != nil {
			return err
		}
		dst, src = dst[plain:], src[packed:]
	}
	if len(dst) > 0 {
		return errPageSize
	}
	return nil
}

// fillFrom fills dst from r, which must then be at its end.
func fillFrom(dst []byte, r io.Reader) error {
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
