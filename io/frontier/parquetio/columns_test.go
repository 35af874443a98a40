package parquetio

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"

	"robotsbatch/batch"
	"robotsbatch/io/store/must"
)

// Of a table of many columns hardly more is read than that of the URLs when no
// other comes out.
func TestReadsTheURLsAlone(t *testing.T) {
	const rows, columns = 20_000, 20
	rng := rand.New(rand.NewPCG(1, 1))
	var fields []arrow.Field
	var arrays []arrow.Array
	for i := range columns {
		name := fmt.Sprintf("c%d", i)
		if i == 7 {
			name = "url"
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for range rows {
			b.Append(fmt.Sprintf("https://%s.example/%016x%016x", name, rng.Uint64(), rng.Uint64()))
		}
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
		arrays = append(arrays, b.NewArray())
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), arrays, rows)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip} {
		data := libraryWrite(t, codec, parquet.DataPageV1, 6000, record)
		for _, keep := range []batch.Keep{batch.KeepNone, batch.KeepURL} {
			read := readBytes(t, data, Options{Name: "in", Keep: keep, BatchRows: 1000})
			if most := urlBytes(t, data) * 12 / 10; read > most {
				t.Errorf("%s: %d bytes read of %d, want at most %d", codec, read, len(data), most)
			}
		}
	}
}

// readBytes is how much of a file reading all its batches reads.
func readBytes(t *testing.T, data []byte, o Options) int64 {
	t.Helper()
	f := &countedFile{memoryFile: fileOf(data)}
	s := must.Get(Open(f, int64(len(data)), o))(t)
	defer s.Close()
	for {
		p, err := s.Next(context.Background())
		if err == io.EOF {
			return f.bytes.Load()
		}
		must.Do(t, err)
		must.Get(p.Decode())(t)
	}
}

// urlBytes is how much of a file its URLs are.
func urlBytes(t *testing.T, data []byte) int64 {
	t.Helper()
	f := must.Get(file.NewParquetReader(bytes.NewReader(data)))(t)
	total := int64(0)
	for i := range f.NumRowGroups() {
		chunk := must.Get(f.MetaData().RowGroup(i).ColumnChunk(f.MetaData().Schema.ColumnIndexByName("url")))(t)
		total += chunk.TotalCompressedSize()
	}
	return total
}
