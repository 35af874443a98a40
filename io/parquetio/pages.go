package parquetio

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/compress"
)

// maxHeaderSize is the most octets that a page's header may have. Those with long
// statistics have many.
const maxHeaderSize = 16 << 20

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
func checkPages(data []byte, codec compress.Compression, limit int64) error {
	var c pageChecker
	for len(data) > 0 {
		p, n, err := readHeader(data)
		if err != nil {
			return err
		}
		data = data[n:]
		switch {
		case p.compressed < 0 || p.uncompressed < 0 || p.levels < 0 || p.levels > p.uncompressed || p.compressed > int64(len(data)) || p.levels > p.compressed:
			return errors.New("damaged: a page reaches beyond its column")
		case p.uncompressed > limit:
			return tooLargeError(p.uncompressed)
		}
		if err := c.check(data[:p.compressed], p, codec); err != nil {
			return err
		}
		data = data[p.compressed:]
	}
	return nil
}

// readHeader reads the header of the page that data begins with, and returns
// its size.
func readHeader(data []byte) (p page, n int, err error) {
	w := thriftWalk{data: data[:min(len(data), maxHeaderSize)], number: p.number}
	before := len(w.data)
	if err := w.structure(); err != nil {
		return p, 0, fmt.Errorf("a page's header: %w", err)
	}
	return p, before - len(w.data), nil
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
