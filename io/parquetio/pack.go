package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// packer compresses the pages of row groups that the library wrote without
// compression, and gives each its checksum. The library would compress, too, but
// zstd with tables that it makes anew for each page.
type packer struct {
	codec    compress.Compression
	compress func(dst, src []byte) []byte

	data []byte // row groups as they lie in a file after its magic
	meta *metadata.FileMetaData
	out  []byte
}

// pos is the offset in a file of what is appended next.
func (p *packer) pos() int64 { return int64(len(magic) + len(p.out)) }

// pack returns row groups compressed, and makes the offsets and sizes in their
// metadata what they are now.
func (p *packer) pack() ([]byte, error) {
	p.out = make([]byte, 0, len(p.data)/2)
	for i, group := range p.meta.RowGroups {
		begin := p.pos()
		for j := range group.Columns {
			if err := p.chunk(i, j); err != nil {
				return nil, err
			}
		}
		if group.TotalCompressedSize != nil {
			*group.TotalCompressedSize = p.pos() - begin
		}
		if group.FileOffset != nil && *group.FileOffset > 0 {
			*group.FileOffset = begin
		}
	}
	return p.out, nil
}

// chunk packs a column of a row group.
func (p *packer) chunk(group, column int) error {
	start, length := chunkRange(p.meta, group, column)
	low, high := start-int64(len(magic)), start-int64(len(magic))+length
	if low < 0 || high < low || high > int64(len(p.data)) {
		return errors.New("the library wrote a column outside of its row group")
	}
	m := p.meta.RowGroups[group].Columns[column].MetaData
	begin := p.pos()
	values := begin // where the first page behind the dictionary is
	for at := low; at < high; {
		page, err := nextPage(p.data[at:high], math.MaxInt64)
		if err != nil {
			return err
		}
		if at+int64(len(magic)) == m.DataPageOffset {
			values = p.pos()
		}
		if err := p.page(&page); err != nil {
			return err
		}
		at += int64(page.size())
	}
	if m.DictionaryPageOffset != nil && *m.DictionaryPageOffset > 0 {
		*m.DictionaryPageOffset = begin
	}
	m.DataPageOffset = values
	m.TotalCompressedSize = p.pos() - begin
	return m.Codec.Scan(int64(p.codec))
}

// page packs a page. Its checksum is field 4 of the header, behind the
// compressed size, which is 3; a field's header says by how much its number is
// larger than that of the one before.
func (p *packer) page(page *page) error {
	rest := page.header[page.sizeHigh:]
	if page.compressed != page.uncompressed || page.levels > 0 || page.hasChecksum || rest[0]>>4 < 2 {
		return fmt.Errorf("the library wrote a page of %d octets in another way than before", page.uncompressed)
	}
	body := p.compress(nil, page.body)
	p.out = append(p.out, page.header[:page.sizeLow]...)
	p.out = binary.AppendVarint(p.out, int64(len(body)))
	p.out = append(p.out, 1<<4|thriftI32)
	p.out = binary.AppendVarint(p.out, int64(int32(crc32.ChecksumIEEE(body))))
	p.out = append(p.out, rest[0]-1<<4)
	p.out = append(p.out, rest[1:]...)
	p.out = append(p.out, body...)
	return nil
}
