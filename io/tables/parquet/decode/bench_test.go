package decode

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/bench/corpus"
	"robotsbatch/io/store/must"
)

// benchmarkRows is what both implementations read at a time, as a job does.
const benchmarkRows = 65_536

// BenchmarkRead reads a column of URLs. PARQUET names a file to read the column
// "url" of, in place of one that is made.
func BenchmarkRead(b *testing.B) {
	implementations := map[string]func(testing.TB, []byte) (int, int64){"own": readOwn, "pqarrow": readLibrary}
	for name, data := range benchmarkFiles(b) {
		var size int64
		for implementation, read := range implementations {
			b.Run(fmt.Sprintf("file=%s/impl=%s", name, implementation), func(b *testing.B) {
				b.ReportAllocs()
				rows := 0
				for b.Loop() {
					n, bytes := read(b, data)
					if rows, size = n, max(size, bytes); size != bytes {
						b.Fatalf("%d bytes of strings, where there are %d", bytes, size)
					}
				}
				b.SetBytes(size)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			})
		}
	}
}

// benchmarkFiles are files by what is special about them.
func benchmarkFiles(b *testing.B) map[string][]byte {
	if name := os.Getenv("PARQUET"); name != "" {
		data := must.Get(os.ReadFile(name))(b)
		return map[string][]byte{"named": data}
	}
	builder := array.NewStringBuilder(memory.NewGoAllocator())
	for _, url := range corpus.New(corpus.Options{URLs: 200_000}).URLs() {
		builder.Append(string(url))
	}
	values := builder.NewStringArray()
	files := make(map[string][]byte)
	for name, k := range map[string]kind{
		"plain":        {compress.Codecs.Uncompressed, parquet.DataPageV1, parquet.Encodings.Plain, 0, true},
		"zstd":         {compress.Codecs.Zstd, parquet.DataPageV1, parquet.Encodings.Plain, 0, true},
		"snappy":       {compress.Codecs.Snappy, parquet.DataPageV1, parquet.Encodings.Plain, 0, true},
		"dictionary":   {compress.Codecs.Zstd, parquet.DataPageV1, parquet.Encodings.Plain, 1 << 20, true},
		"delta-length": {compress.Codecs.Zstd, parquet.DataPageV2, parquet.Encodings.DeltaLengthByteArray, 0, true},
		"delta":        {compress.Codecs.Zstd, parquet.DataPageV2, parquet.Encodings.DeltaByteArray, 0, true},
	} {
		files[name] = writePages(b, k, values, 1<<20, 1<<20)
	}
	return files
}

// readOwn reads the column "url", or else the first one.
func readOwn(tb testing.TB, data []byte) (rows int, size int64) {
	list := must.Get(readersOf(data, 1<<30, "url"))(tb)
	for i := range list {
		for left := list[i].rows; left > 0; {
			leaf := must.Get(list[i].read(min(left, benchmarkRows)))(tb)
			left -= leaf.N
			rows += leaf.N
			size += int64(len(leaf.Data))
		}
	}
	return rows, size
}

// readLibrary does the same with the library.
func readLibrary(tb testing.TB, data []byte) (rows int, size int64) {
	f := must.Get(file.NewParquetReader(bytes.NewReader(data)))(tb)
	defer f.Close()
	r := must.Get(pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: benchmarkRows}, memory.NewGoAllocator()))(tb)
	column := max(0, f.MetaData().Schema.ColumnIndexByName("url"))
	records := must.Get(r.GetRecordReader(context.Background(), []int{column}, nil))(tb)
	defer records.Release()
	for records.Next() {
		values := records.Record().Column(0)
		rows += values.Len()
		size += int64(len(values.(interface{ ValueBytes() []byte }).ValueBytes()))
	}
	err := records.Err()
	must.Need(tb, err == nil || err == io.EOF, "%v", err)
	return rows, size
}
