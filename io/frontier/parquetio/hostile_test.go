package parquetio

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/budget"
	codecs "robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
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

// checkRows checks a file's rows, read as they are, passed through and passed
// through in part.
func checkRows(t *testing.T, data []byte, names []string, want []string) {
	t.Helper()
	mixed := must.Get(passSelected(2, func(row int64) bool { return row != 1 }, data))(t)
	passed := must.Get(passThrough(2, data))(t)
	for name, test := range map[string]struct {
		data []byte
		want []string
	}{
		"read": {data, want}, "passed": {passed, want}, "passed in part": {mixed, slices.Delete(slices.Clone(want), 1, 2)},
	} {
		_, batches, err := readAll(test.data, Options{Keep: batch.KeepAll})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, b := range batches {
			record := tableOf(t, b)
			for row := range int(record.NumRows()) {
				var values []string
				for i := range names {
					values = append(values, record.Column(i).ValueStr(row))
				}
				got = append(got, strings.Join(values, " "))
			}
		}
		must.EqualSlices(t, got, test.want, name)
	}
	must.Equal(t, must.Get(CheckFile(bytes.NewReader(data), int64(len(data)), 1<<20))(t), int64(len(want)), "CheckFile")
}

func tableOf(t *testing.T, b *batch.Batch) arrow.Record {
	t.Helper()
	record, ok := b.Table.(arrow.Record)
	must.Need(t, ok, "a table of type %T", b.Table)
	return record
}

// Arrow's C++ writer, given dictionaries that have a value twice, counts each value
// once in a dictionary page and leaves the others' room behind them.
func TestDictionaryPageWithSpareBytes(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/dictionary_twice.parquet"))(t)
	checkRows(t, data, []string{"url", "n", "s"}, []string{
		"http://a.test/p 7 a", "http://a.test/p 7 a", "http://a.test/x 9 b", "(null) 7 a",
	})
}

// fastparquet leaves 8 unused bytes after the values of a page.
func TestPagesWithPadding(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/fastparquet.parquet"))(t)
	checkRows(t, data, []string{"url", "n", "b", "s", "c", "o"}, []string{
		"http://a.test/p 7 true (null) k 1", "http://a.test/q 8 false x l (null)", "http://a.test/r 9 true y k 3",
	})
}

// Arrow's C++ writer said up to Arrow 2 that pages of version 2 are not compressed,
// and compressed them (ARROW-10353, ARROW-17100).
func TestOldCppPagesAreCompressed(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/pages_v2.parquet"))(t)
	f := footerOf(t, data)
	changed := 0
	for i := range f.Groups[0].Chunks {
		c := &f.Groups[0].Chunks[i]
		for at := c.Pages.Offset; at < c.Pages.Offset+c.Pages.Length; {
			page := must.Get(layouttest.NextPage(data[at:], c, 1<<20))(t)
			header := readRaw(t, page.Header)
			for j := range header {
				if header[j].ID != 8 { // of a data page of version 2
					continue
				}
				fields := readRaw(t, header[j].Value)
				for k := range fields {
					if fields[k].ID == 7 && fields[k].Kind == 1 {
						fields[k].Kind = 2 // false: not compressed
						changed++
					}
				}
				header[j].Value = layout.AppendRaw(nil, fields)
			}
			copy(data[at:], layout.AppendRaw(nil, header))
			at += int64(page.StoredSize())
		}
	}
	must.Need(t, changed == 2, "%d pages changed", changed)
	must.Fail(t, must.Err(CheckFile(bytes.NewReader(data), int64(len(data)), 1<<20)), "another writer's flag was not believed")
	data = withFooter(t, data, readRaw(t, f.Footer), layout.TextField(6, []byte("parquet-cpp version 1.5.1-SNAPSHOT")))
	checkRows(t, data, []string{"url", "n"}, []string{"http://a.test/aaaaaaaaaaaaaaaa 1", "http://a.test/aaaaaaaaaaaaaaaa 1", "http://a.test/b 2"})
}

// What other readers refuse is found, though nothing here depends on it.
func TestIndexWithoutRequiredFields(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/page_index.parquet"))(t)
	must.Get(CheckFile(bytes.NewReader(data), int64(len(data)), 1<<20))(t)
	chunk := structures(readRaw(t, structures(readRaw(t, footerOf(t, data).Footer), 4)[0]), 1)[0]
	for _, index := range []struct {
		offset int16
		want   string
	}{{4, "its offset index: damaged: a structure lacks field 1"}, {6, "its column index: damaged: a structure lacks field 1"}} {
		bad := bytes.Clone(data)
		bad[number(readRaw(t, chunk), index.offset)] = 0 // a structure of no fields
		must.Say(t, must.Err(CheckFile(bytes.NewReader(bad), int64(len(bad)), 1<<20)), index.want)
	}
}

// failing is an output that takes no byte after the first ones.
type failing struct{ output }

var errFull = errors.New("out.parquet: no space left on device")

func (f *failing) Write(p []byte) (int, error) {
	if f.Len() >= len(layout.Magic) {
		return 0, errFull
	}
	return f.Buffer.Write(p)
}

// An error names what it is about: the file and row group that is copied, or the output.
func TestPassThroughErrorsNameTheirFile(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/page_index.parquet"))(t)
	pass := func(data []byte, w blob.Writer) error {
		s := must.Get(openPassing(data, Options{Name: "in.parquet", URLColumn: "url"}))(t)
		defer s.Close()
		sink := must.Get(newPassing(w, s, false))(t)
		defer sink.Abort()
		return tablestest.Each(s, func(p batch.Piece) error { return passPiece(sink, p, func(int64) bool { return true }) })
	}
	err := pass(data, &failing{})
	must.Be(t, errors.Is(err, errFull) && !strings.Contains(err.Error(), "row group") && !strings.Contains(err.Error(), "in.parquet"), "a full disk: %v", err)
	chunk := structures(readRaw(t, structures(readRaw(t, footerOf(t, data).Footer), 4)[0]), 1)[0]
	data[number(readRaw(t, chunk), 4)] = 0xff
	err = pass(data, &output{})
	must.Be(t, err != nil && strings.HasPrefix(err.Error(), "in.parquet: row group 0: column "), "a damaged offset index: %v", err)
}
