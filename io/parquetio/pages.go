package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/apache/arrow/go/v15/parquet/compress"
)

// maxHeaderSize is the most octets that a page's header has, long statistics
// included.
const maxHeaderSize = 16 << 20

// page is a page of a column as it lies in the file.
type page struct {
	header []byte
	body   []byte

	compressed, uncompressed int64 // octets of the body, as the header has them
	levels                   int64 // octets before the compressed ones (version 2)
	stored                   bool  // not compressed, whatever the column is
	hasChecksum              bool
	checksum                 uint32 // of body

	// Where in the header the compressed size lies.
	sizeLow, sizeHigh int
}

// nextPage returns the page that data begins with. It may not be larger than
// limit when it is decompressed.
func nextPage(data []byte, limit int64) (page, error) {
	var p page
	w := thriftWalk{data: data[:min(len(data), maxHeaderSize)]}
	begin := len(w.data)
	w.number = func(path []int16, v int64) {
		if len(path) == 1 && path[0] == 3 {
			p.sizeHigh = begin - len(w.data)
			p.sizeLow = p.sizeHigh - w.width
		}
		p.number(path, v)
	}
	if err := w.structure(); err != nil {
		return p, fmt.Errorf("a page's header: %w", err)
	}
	p.header, data = data[:begin-len(w.data)], data[begin-len(w.data):]
	switch {
	case p.sizeLow == p.sizeHigh || p.compressed < 0 || p.uncompressed < 0 || p.levels < 0 ||
		p.levels > p.uncompressed || p.levels > p.compressed || p.compressed > int64(len(data)):
		return p, errors.New("damaged: a page reaches beyond its column")
	case p.uncompressed > limit:
		return p, tooLargeError(p.uncompressed)
	}
	p.body = data[:p.compressed]
	if p.hasChecksum && crc32.ChecksumIEEE(p.body) != p.checksum {
		return p, errors.New("damaged: a page is not what its checksum says")
	}
	return p, nil
}

// number takes the header's numbers.
func (p *page) number(path []int16, v int64) {
	switch {
	case len(path) == 1 && path[0] == 2:
		p.uncompressed = v
	case len(path) == 1 && path[0] == 3:
		p.compressed = v
	case len(path) == 1 && path[0] == 4:
		p.hasChecksum, p.checksum = true, uint32(v)
	case len(path) == 2 && path[0] == 8 && (path[1] == 5 || path[1] == 6):
		p.levels += v
	case len(path) == 2 && path[0] == 8 && path[1] == 7:
		p.stored = v == 0
	}
}

// size is how many octets of the file the page has.
func (p *page) size() int { return len(p.header) + len(p.body) }

// plainSize is the size of what appendPlain appends.
func (p *page) plainSize() int64 {
	width := len(binary.AppendVarint(nil, p.uncompressed))
	return int64(len(p.header)-(p.sizeHigh-p.sizeLow)+width) + p.uncompressed
}

// appendHeader appends the header with another compressed size.
func (p *page) appendHeader(dst []byte, compressed int64) []byte {
	dst = append(dst, p.header[:p.sizeLow]...)
	dst = binary.AppendVarint(dst, compressed) // zigzag, as Thrift has it
	return append(dst, p.header[p.sizeHigh:]...)
}

// appendPlain appends the page as it is when nothing in it is compressed.
func (p *page) appendPlain(dst []byte, codec compress.Compression) ([]byte, error) {
	dst = p.appendHeader(dst, p.uncompressed)
	if p.stored {
		codec = compress.Codecs.Uncompressed
	}
	start, end := len(dst), len(dst)+int(p.uncompressed)
	if cap(dst) < end {
		dst = append(make([]byte, 0, end+end/4), dst...)
	}
	dst = dst[:end]
	values := dst[start+copy(dst[start:], p.body[:p.levels]):]
	if err := decompress(codec, values, p.body[p.levels:]); err != nil {
		return dst, fmt.Errorf("a page does not decompress: %w", err)
	}
	return dst, nil
}
