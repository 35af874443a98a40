package parquetio

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/io/tables/tablestest"
)

// FuzzPages reads octets that may be the pages of a column: as many octets come
// out as their headers say, or an error.
func FuzzPages(f *testing.F) {
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			data := libraryWrite(f, codec, version, 12, tablestest.NewRecord([]string{"url"}, tablestest.URLArray(12, true)))
			meta, _, err := readFooter(bytes.NewReader(data), int64(len(data)), 1<<20)
			if err != nil {
				f.Fatal(err)
			}
			start, length := chunkRange(meta, 0, 0)
			f.Add(data[start:start+length], uint8(codec))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, codec uint8) {
		c, err := newPlainChunk(data, compress.Compression(codec%8), 1<<16)
		if err != nil || c.size > 1<<22 {
			return
		}
		n, err := io.Copy(io.Discard, io.NewSectionReader(c, 0, c.size+1))
		if err == nil && n != c.size {
			t.Fatalf("%d octets, want %d", n, c.size)
		}
	})
}
