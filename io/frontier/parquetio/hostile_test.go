package parquetio

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/budget"
	codecs "robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// seeds are small files of all codecs and page versions, with lists and
// structs.
func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	names := []string{"url"}
	arrays := []arrow.Array{tablestest.URLArray(12, true)}
	for _, c := range tablestest.Columns(t) {
		switch c.Name {
		case "struct", "map", "list of strings", "bool", "int64", "timestamp", "decimal(10, 0)", "dictionary of numbers":
			names, arrays = append(names, c.Name), append(arrays, c.Array)
		}
	}
	record := tablestest.NewRecord(names, arrays...)
	files := make(map[string][]byte)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli} {
		files[codec.String()+" 1"] = libraryWrite(t, codec, parquet.DataPageV1, 7, record)
		files[codec.String()+" 2"] = libraryWrite(t, codec, parquet.DataPageV2, 7, record)
	}
	return files
}

// limits of hostile files: enough for the seeds.
var small = Options{Name: "bad", BatchRows: 5, Memory: 1 << 20}

// use reads a file and touches every value, as sinks do; it returns how many
// rows there are.
func use(t testing.TB, data []byte) (int, error) {
	_, batches, err := readAll(data, small)
	rows := 0
	for _, b := range batches {
		record := b.Table.(arrow.Record)
		must.Need(t, record.NumRows() == int64(b.URLs.Len()), "%d rows, %d URLs", record.NumRows(), b.URLs.Len())
		rows += b.URLs.Len()
		for _, column := range record.Columns() {
			for i := range column.Len() {
				_ = column.ValueStr(i)
			}
		}
		v := tablestest.Verdicts(b.URLs.Len())
		s, err := NewSink(new(output), SinkOptions{Layout: batch.Layout{URLColumn: "u"}, Schema: record.Schema(), Codec: codecs.Snappy})
		if err != nil {
			continue
		}
		b.Start = func(do func()) { do() }
		if c, err := s.Encode(b, v); err == nil {
			_ = s.Write(c)
		}
		s.Abort()
	}
	return rows, err
}

// A flipped byte is an error that names the file, or other data, but no panic.
func TestFlippedBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, data := range seeds(t) {
		if rows, err := use(t, data); err != nil || rows != 12 {
			t.Fatalf("%s: %d rows: %v", name, rows, err)
		}
		refused := 0
		for range 100 {
			bad := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			}
			if _, err := use(t, bad); err != nil {
				refused++
				text := err.Error()
				must.Be(t, strings.HasPrefix(text, "bad: ") || strings.HasPrefix(text, "row group "), "%s: %v", name, err)
			}
		}
		must.Be(t, refused != 0, "%s: nothing was refused", name)
	}
}

// Buffers and row groups are held against the memory that is allowed.
func TestMemory(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(20_000, false))
	data := libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, 1<<20, record)
	for _, memory := range []int64{1 << 10, 20 << 10, 100 << 10} {
		_, _, err := readAll(data, Options{Name: "big", Memory: memory})
		var large *budget.MemoryError
		must.Be(t, err != nil && (errors.As(err, &large) || strings.Contains(err.Error(), "raise memory")), "%d bytes of memory: %v", memory, err)
	}
	_, _, err := readAll(data, Options{Name: "big", Memory: 8 << 20})
	must.Do(t, err)
}

func FuzzParquet(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = use(t, data) })
}
