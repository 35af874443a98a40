package parquetio

import (
	"cmp"
	"io"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// plainChunk is a column of a row group as it would lie in a file without
// compression. The library is given this one, for it takes what memory
// compressed pages ask for; here a page has what its header says, which was
// checked. One page at a time is decompressed.
type plainChunk struct {
	data  []byte // as it lies in the file
	codec compress.Compression
	limit int64
	size  int64

	next  int    // in data: the page after the current one
	begin int64  // where the current page begins
	page  []byte // the current page with its header, decompressed
	err   error  // the first, for the library overlooks some
}

// newPlainChunk looks at all pages of a chunk, of which none may be larger than
// limit.
func newPlainChunk(data []byte, codec compress.Compression, limit int64) (*plainChunk, error) {
	c := &plainChunk{data: data, codec: codec, limit: limit}
	for at := 0; at < len(data); {
		p, err := nextPage(data[at:], limit)
		if err != nil {
			return nil, err
		}
		c.size += p.plainSize()
		at += p.size()
	}
	return c, nil
}

// ReadAt implements io.ReaderAt. Reading on is what costs least; reading what
// lies before begins from the beginning.
func (c *plainChunk) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < c.begin {
		c.next, c.begin, c.page = 0, 0, c.page[:0]
	}
	for n < len(p) {
		if at := offset + int64(n) - c.begin; at < int64(len(c.page)) {
			n += copy(p[n:], c.page[at:])
			continue
		}
		if c.next == len(c.data) {
			return n, io.EOF
		}
		if err := c.advance(); err != nil {
			c.err = cmp.Or(c.err, err)
			return n, err
		}
	}
	return n, nil
}

// advance decompresses the next page.
func (c *plainChunk) advance() error {
	p, err := nextPage(c.data[c.next:], c.limit)
	if err != nil {
		return err
	}
	c.begin += int64(len(c.page))
	c.next += p.size()
	c.page, err = p.appendPlain(c.page[:0], c.codec)
	return err
}

// plainShift is how far the chunks of a plainFile are apart: 2^40 octets.
const plainShift = 40

// plainFile is the chunks of a field, as a file that has nothing else.
type plainFile struct {
	meta   *metadata.FileMetaData // which says where they are
	chunks map[int]*plainChunk    // by the number of the column
}

// newPlainFile returns chunks of a row group, by the numbers of their columns.
func newPlainFile(meta *metadata.FileMetaData, group int, chunks map[int]*plainChunk) *plainFile {
	copied, thrift := *meta, *meta.FileMetaData
	copied.FileMetaData = &thrift
	thrift.RowGroups = append(thrift.RowGroups[:0:0], thrift.RowGroups...)
	rows := *thrift.RowGroups[group]
	thrift.RowGroups[group] = &rows
	rows.Columns = append(rows.Columns[:0:0], rows.Columns...)
	for column, chunk := range chunks {
		of := *rows.Columns[column]
		rows.Columns[column] = &of
		m := *of.MetaData
		of.MetaData = &m
		start := int64(column+1) << plainShift
		m.Codec, m.TotalCompressedSize = 0, chunk.size
		if m.DictionaryPageOffset != nil && *m.DictionaryPageOffset > 0 && *m.DictionaryPageOffset < m.DataPageOffset {
			m.DictionaryPageOffset = &start
			m.DataPageOffset = start + 1 // behind it; nobody looks there
		} else {
			m.DataPageOffset = start
		}
	}
	return &plainFile{meta: &copied, chunks: chunks}
}

// ReadAt implements io.ReaderAt.
func (f *plainFile) ReadAt(p []byte, offset int64) (int, error) {
	chunk := f.chunks[int(offset>>plainShift)-1]
	if chunk == nil {
		return 0, io.EOF
	}
	return chunk.ReadAt(p, offset&(1<<plainShift-1))
}

// err is the first error of a chunk's.
func (f *plainFile) err() error {
	for _, chunk := range f.chunks {
		if chunk.err != nil {
			return chunk.err
		}
	}
	return nil
}
