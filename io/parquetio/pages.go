package parquetio

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/compress"
)

// headerSize is how many octets of a page are looked at first. Headers with
// long statistics have more.
const (
	headerSize    = 256
	maxHeaderSize = 16 << 20
)

// page is what a page's header says of its size.
type page struct {
	compressed, uncompressed int64
	levels                   int64 // octets before the compressed ones (version 2)
	plain                    bool  // not compressed, whatever the column is
	version2                 bool
	checksum                 uint32 // of all its octets
	hasChecksum              bool
}

// checkPages walks over the pages of a column of a row group: no page may be
// larger than limit, all must be what their checksums say, where they have any,
// and decompress to what their headers say.
func checkPages(r io.ReaderAt, start, length int64, codec compress.Compression, limit int64) error {
	var c pageChecker
	for end := start + length; start < end; {
		p, n, err := readHeader(r, start, end)
		if err != nil {
			return err
		}
		switch {
		case p.compressed < 0 || p.uncompressed < 0 || p.levels < 0 || p.levels > p.uncompressed || p.compressed > end-start-n || p.levels > p.compressed:
			return errors.New("damaged: a page reaches beyond its column")
		case p.uncompressed > limit:
			return tooLargeError(p.uncompressed)
		}
		start += n
		if err := c.check(r, start, p, codec); err != nil {
			return err
		}
		start += p.compressed
	}
	return nil
}

// readHeader reads the header of the page at start, and returns its size.
func readHeader(r io.ReaderAt, start, end int64) (p page, n int64, err error) {
	for size := int64(headerSize); ; size *= 8 {
		size = min(size, end-start)
		data := make([]byte, size)
		if err := readAt(r, data, start); err != nil {
			return p, 0, err
		}
		p = page{}
		w := thriftWalk{data: data, number: p.number}
		err := w.structure()
		if err == nil {
			return p, size - int64(len(w.data)), nil
		}
		if size == end-start || size > maxHeaderSize {
			return p, 0, fmt.Errorf("a page's header: %w", err)
		}
	}
}

// number takes the header's numbers.
func (p *page) number(path []int16, v int64) {
	switch {
	case len(path) == 1 && path[0] == 2:
		p.uncompressed = v
	case len(path) == 1 && path[0] == 3:
		p.compressed = v
	case len(path) == 1 && path[0] == 4:
		p.checksum, p.hasChecksum = uint32(v), true
	case len(path) == 2 && path[0] == 8 && path[1] == 1:
		p.version2 = true
	case len(path) == 2 && path[0] == 8 && (path[1] == 5 || path[1] == 6):
		p.levels += v
	case len(path) == 2 && path[0] == 8 && path[1] == 7:
		p.plain = v == 0
	}
}

// tooLarge is what a limited allocator panics with.
type tooLarge int64

func tooLargeError(n int64) error {
	return guard(func() error { panic(tooLarge(n)) })
}

// limited is an allocator that refuses buffers of more than limit octets, with
// a panic of tooLarge, for an allocator has no errors.
type limited struct {
	memory.Allocator
	limit int64
}

// Allocate implements memory.Allocator.
func (l limited) Allocate(size int) []byte {
	if int64(size) > l.limit || size < 0 {
		panic(tooLarge(size))
	}
	return l.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (l limited) Reallocate(size int, b []byte) []byte {
	if int64(size) > l.limit || size < 0 {
		panic(tooLarge(size))
	}
	return l.Allocator.Reallocate(size, b)
}
