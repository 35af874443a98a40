package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/apache/arrow/go/v15/parquet/compress"
)

var (
	errPageSize     = errors.New("damaged: a page is not of the size that it says")
	errPageChecksum = errors.New("damaged: a page is not what its checksum says")
)

// pageChecker checks pages before the library decompresses them. The library
// believes a page of version 2 to be as large as it says, reads gzip up to there
// and not to the checksum, lets zstd take any memory, and knows no checksums of
// pages. So what it would get wrong is decompressed once before, to nowhere;
// zstd and snappy say their size themselves, which is enough.
type pageChecker struct {
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
}

// check checks the octets of a page, its header apart.
func (c *pageChecker) check(data []byte, p page, codec compress.Compression) error {
	if p.hasChecksum && crc32.ChecksumIEEE(data) != p.checksum {
		return errPageChecksum
	}
	if p.plain || codec == compress.Codecs.Uncompressed {
		if p.compressed != p.uncompressed {
			return errPageSize
		}
		return nil
	}
	packed := data[p.levels:]
	if len(packed) == 0 {
		return nil
	}
	return c.checkSize(packed, p.uncompressed-p.levels, codec, p.version2)
}

// checkSize checks that compressed octets are want octets.
func (c *pageChecker) checkSize(packed []byte, want int64, codec compress.Compression, version2 bool) error {
	switch codec {
	case compress.Codecs.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || int64(n) != want {
			return errPageSize
		}
		return nil
	case compress.Codecs.Zstd:
		most, exact := zstdSize(packed)
		if exact && most != want {
			return errPageSize
		}
		// The library checks pages of version 1 afterwards.
		if exact || !version2 && most <= want+zstdBlock {
			return nil
		}
		return c.inflateZstd(packed, want)
	case compress.Codecs.Gzip:
		return c.inflateGzip(packed, want)
	case compress.Codecs.Brotli:
		if c.brotli == nil {
			c.brotli = brotli.NewReader(nil)
		}
		if err := c.brotli.Reset(bytes.NewReader(packed)); err != nil {
			return err
		}
		return inflate(c.brotli, want)
	}
	return nil
}

func (c *pageChecker) inflateGzip(packed []byte, want int64) (err error) {
	in := bytes.NewReader(packed)
	if c.gzip == nil {
		c.gzip, err = gzip.NewReader(in)
	} else {
		err = c.gzip.Reset(in)
	}
	if err != nil {
		return fmt.Errorf("damaged: a page does not decompress: %w", err)
	}
	return inflate(c.gzip, want)
}

func (c *pageChecker) inflateZstd(packed []byte, want int64) (err error) {
	if c.zstd == nil {
		// One at a time, it starts no goroutine.
		c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
	}
	if err := c.zstd.Reset(bytes.NewReader(packed)); err != nil {
		return fmt.Errorf("damaged: a page does not decompress: %w", err)
	}
	return inflate(c.zstd, want)
}

// inflate reads want octets and the end, with which come checksums.
func inflate(r io.Reader, want int64) error {
	n, err := io.Copy(io.Discard, io.LimitReader(r, want+1))
	if err != nil {
		return fmt.Errorf("damaged: a page does not decompress: %w", err)
	}
	if n != want {
		return errPageSize
	}
	return nil
}

// zstdBlock is the most octets that a block of a zstd frame has (RFC 8878
// §3.1.1.2.4).
const zstdBlock = 128 << 10

// zstdSize goes over the blocks of zstd frames and returns the most octets that
// they may decompress to; exact says that it is one frame that says its size.
func zstdSize(packed []byte) (most int64, exact bool) {
	for frames := 0; len(packed) > 0; frames++ {
		var h zstd.Header
		if err := h.Decode(packed); err != nil {
			return most, false // and the library will say so
		}
		if h.Skippable {
			packed = packed[min(len(packed), h.HeaderSize+int(h.SkippableSize)):]
			continue
		}
		blocks, rest := zstdBlocks(packed[min(len(packed), h.HeaderSize):])
		if h.HasCheckSum {
			rest = rest[min(len(rest), 4):]
		}
		if exact = frames == 0 && h.HasFCS && len(rest) == 0; exact {
			return int64(h.FrameContentSize), true
		}
		most += blocks * zstdBlock
		packed = rest
	}
	return most, false
}

// zstdBlocks counts the blocks of a frame and returns what follows them.
func zstdBlocks(data []byte) (n int64, rest []byte) {
	for len(data) >= 3 {
		header := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16
		size := int(header >> 3)
		if header>>1&3 == 1 { // one octet, repeated
			size = 1
		}
		n++
		data = data[min(len(data), 3+size):]
		if header&1 == 1 {
			break
		}
	}
	return n, data
}
