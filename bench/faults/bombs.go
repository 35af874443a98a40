//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/klauspost/compress/zstd"
)

// bombRuns are the values of -memory and -workers for bombs.
var bombRuns = []struct {
	memory  int64
	workers int
}{{64 << 20, 1}, {64 << 20, 2}, {512 << 20, 1}, {512 << 20, 2}}

// bombPeak is the most memory that the program may use in such a run: a fifth more than
// -memory, plus the fixed amount that README gives.
func bombPeak(memory int64) int64 { return memory + memory/5 + 60<<20 }

// bomb is a small input that expands to a large one.
type bomb struct {
	name string
	make func(name string) error // writes the file
	file string
	args []string // added to -in and -rules
	// rules means that the file is for -rules.
	rules bool
	// sitemaps means that the run has -with sitemaps and a folder of rules next to the
	// file.
	sitemaps bool
	// fine means that the run may succeed, within the memory.
	fine bool
}

var bombs = []bomb{
	{name: "gzip: a line without end", file: "x.txt.gz", make: zipped(repeated("a", 512<<20))},
	{name: "zstd: a line without end", file: "x.txt.zst", make: zstandard(repeated("a", 512<<20))},
	{name: "gzip: a quoted field without end", file: "x.csv.gz", make: zipped(io.MultiReader(strings.NewReader("url\n\""), repeated("a,\n", 512<<20)))},
	{name: "csv: half a million columns, rows of two bytes", file: "x.csv.gz", make: zipped(io.MultiReader(strings.NewReader("url"+strings.Repeat(",a", 500_000)+"\n"), repeated("x\n", 1<<20)))},
	{name: "jsonl: a value without end", file: "x.jsonl.gz", make: zipped(io.MultiReader(strings.NewReader(`{"url":"`), repeated("a", 512<<20)))},
	{name: "jsonl: half a million brackets", file: "x.jsonl", make: plain(strings.Repeat("[", 500_000) + "\n{\"url\":" + strings.Repeat("[", 500_000) + "\n"), fine: true},
	{name: "Arrow: a dictionary with one long entry, as csv", file: "x.arrow", args: []string{"-out-format", "csv"}, make: arrowBomb("kind")},
	{name: "Arrow: a dictionary with one long entry, as jsonl", file: "x.arrow", args: []string{"-out-format", "jsonl"}, make: arrowBomb("kind")},
	{name: "Arrow: a dictionary with one long entry, as Parquet", file: "x.arrow", args: []string{"-out-format", "parquet"}, make: arrowBomb("kind")},
	{name: "Arrow: URLs that are a dictionary with one long entry, as csv", file: "x.arrow", args: []string{"-out-format", "csv"}, make: arrowBomb("url")},
	{name: "Arrow: URLs that are a dictionary with one long entry, as Arrow", file: "x.arrow", args: []string{"-out-format", "arrows"}, make: arrowBomb("url"), fine: true},
	{name: "Arrow: forty batches with a dictionary with one long entry, as csv", file: "x.arrow", args: []string{"-out-format", "csv"}, fine: true, make: batchesBomb(40, "kind", 100, 100_000)},
	{name: "Arrow: forty batches of 8 MiB that zstd made small, as Arrow", file: "x.arrow", args: []string{"-out-format", "arrow"}, fine: true, make: batchesBomb(40, "url", 8, 1<<20)},
	{name: "Arrow: strings of 300 MB that zstd made small", file: "x.arrow", make: arrowLarge},
	{name: "Parquet: a dictionary with one long entry", file: "x.parquet", make: parquetBomb(1, 2000)},
	{name: "Parquet: twenty dictionaries with one long entry", file: "x.parquet", make: parquetBomb(20, 2000)},
	{name: "Parquet: twenty dictionaries with one long entry, in few rows", file: "x.parquet", make: parquetBomb(20, 20)},
	{name: "Parquet: a page of 600 MB that gzip made small", file: "x.parquet", make: pageBomb(compress.Codecs.Gzip, parquet.DataPageV1, false)},
	{name: "Parquet: a gzip page that says it is small", file: "x.parquet", make: pageBomb(compress.Codecs.Gzip, parquet.DataPageV1, true)},
	{name: "Parquet: a gzip page of version 2 that says it is small", file: "x.parquet", make: pageBomb(compress.Codecs.Gzip, parquet.DataPageV2, true)},
	{name: "Parquet: a brotli page that says it is small", file: "x.parquet", make: pageBomb(compress.Codecs.Brotli, parquet.DataPageV1, true)},
	{name: "Parquet: a zstd page that says it is small", file: "x.parquet", make: pageBomb(compress.Codecs.Zstd, parquet.DataPageV1, true)},
	{name: "Parquet: a zstd page that says nothing of its size", file: "x.parquet", make: silentPageBomb},
	{name: "many sitemaps in every row, as Parquet", file: "x.txt", args: []string{"-out-format", "parquet"}, sitemaps: true, fine: true, make: sitemapsBomb},
	{name: "many sitemaps in every row, as Arrow", file: "x.txt", args: []string{"-out-format", "arrow"}, sitemaps: true, fine: true, make: sitemapsBomb},
	{name: "many sitemaps in every row, as jsonl", file: "x.txt", args: []string{"-out-format", "jsonl", "-batch-rows", "10000"}, sitemaps: true, fine: true, make: sitemapsBomb},
	{name: "many sitemaps in every row, as csv", file: "x.txt", args: []string{"-out-format", "csv", "-batch-rows", "10000"}, sitemaps: true, fine: true, make: sitemapsBomb},
	{name: "WARC: a body of 512 MiB that gzip made small", file: "x.warc.gz", rules: true, fine: true, make: warcBomb},
	{name: "WARC in gzip in gzip", file: "x.warc.gz", rules: true, fine: true, make: zipped(zippedReader(zippedReader(repeated("WARC/1.0\r\n", 256<<20))))},
	{name: "WARC: a header without end", file: "x.warc.gz", rules: true, fine: true, make: zipped(io.MultiReader(strings.NewReader("WARC/1.0\r\n"), repeated("a: b\r\n", 256<<20)))},
	{name: "a robots.txt of 512 MiB that gzip made small", file: "rules.d/h.example.gz", rules: true, fine: true, make: zipped(repeated("Disallow: /x\n", 512<<20))},
	{name: "a robots.txt of 512 MiB that zstd made small", file: "rules.d/h.example.zst", rules: true, fine: true, make: zstandard(repeated("Disallow: /x\n", 512<<20))},
}

// bombsSection runs the program on inputs that are small and expand to large ones.
func bombsSection(b *bench) error {
	if err := b.writeRules(); err != nil {
		return err
	}
	list := b.path("list.txt")
	if err := os.WriteFile(list, []byte("http://h.example/x\nhttps://h.example/y\n"), 0o666); err != nil {
		return err
	}
	fmt.Printf("\n## Inputs that are small and want to be large\n\n| input | bytes | ended |")
	for _, run := range bombRuns {
		fmt.Printf(" peak MiB, -memory %d MiB, -workers %d |", run.memory>>20, run.workers)
	}
	fmt.Printf(" s | message |\n|---|---:|---|%s---:|---|\n", strings.Repeat("---:|", len(bombRuns)))
	failed := 0
	for i := range bombs {
		ok, err := b.bomb(i, list)
		if err != nil {
			return fmt.Errorf("%s: %w", bombs[i].name, err)
		}
		if !ok {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d inputs were not refused, or took too much memory", failed)
	}
	return nil
}

// bomb makes a bomb and runs the program on it with each amount of memory. ok reports
// whether all runs were as expected.
func (b *bench) bomb(i int, list string) (ok bool, err error) {
	bomb := bombs[i]
	folder := filepath.Join(b.scratch, "bomb")
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, bomb.file)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, err
	}
	if err := again(fmt.Sprint("-bomb=", i), name); err != nil {
		return false, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return false, err
	}
	ok = true
	var ended, peaks []string
	var last result
	for _, run := range bombRuns {
		args := append([]string{"-memory", fmt.Sprint(run.memory), "-workers", fmt.Sprint(run.workers)}, bomb.arguments(name, list, b.path("rules"))...)
		last = b.job(args...)
		end, peak := outcomeNames[last.outcome], fmt.Sprint(last.memory>>20)
		if last.outcome == done {
			end = "success"
		}
		if last.outcome != refused && (last.outcome != done || !bomb.fine) {
			ok = false
			end = "**" + end + "**"
		}
		if last.memory > bombPeak(run.memory) {
			ok = false
			peak = "**" + peak + "**"
		}
		ended, peaks = append(ended, end), append(peaks, peak)
	}
	message := strings.NewReplacer(b.scratch, "", "|", "/", "\n", " / ").Replace(strings.TrimSpace(last.stderr))
	fmt.Printf("| %s | %d | %s | %s | %.2f | %.150s |\n", bomb.name, info.Size(), strings.Join(slices.Compact(ended), ", "),
		strings.Join(peaks, " | "), last.time.Seconds(), message)
	return ok, nil
}

// arguments returns the program's arguments for a bomb in a file.
func (b *bomb) arguments(name, list, rules string) []string {
	args := append([]string{"-progress", "never", "-out", "/dev/null"}, b.args...)
	if len(b.args) == 0 {
		args = append(args, "-out-format", "csv")
	}
	switch {
	case b.sitemaps:
		return append(args, "-with", "sitemaps", "-in", name, "-rules", filepath.Join(filepath.Dir(name), "rules"))
	case !b.rules:
		return append(args, "-in", name, "-rules", rules)
	case strings.Contains(b.file, "/"):
		name = filepath.Dir(name)
	}
	return append(args, "-in", list, "-rules", name)
}

// endless repeats a text for ever.
type endless struct {
	text string
	left int64
	at   int
}

func repeated(text string, n int64) io.Reader { return &endless{text: text, left: n} }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && e.left > 0 {
		k := copy(p[n:], e.text[e.at:])
		k = int(min(int64(k), e.left))
		n, e.left, e.at = n+k, e.left-int64(k), (e.at+k)%len(e.text)
	}
	return n, nil
}

func plain(text string) func(string) error {
	return func(name string) error { return os.WriteFile(name, []byte(text), 0o666) }
}

// written writes a file through a compressor.
func written(name string, r io.Reader, compressor func(io.Writer) (io.WriteCloser, error)) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := compressor(f)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Close()
}

func zipped(r io.Reader) func(string) error {
	return func(name string) error {
		return written(name, r, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) })
	}
}

func zstandard(r io.Reader) func(string) error {
	return func(name string) error {
		return written(name, r, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithWindowSize(1<<20)) })
	}
}

// zippedReader compresses what is read.
func zippedReader(r io.Reader) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		z := gzip.NewWriter(writer)
		_, err := io.Copy(z, r)
		if err == nil {
			err = z.Close()
		}
		writer.CloseWithError(err)
	}()
	return reader
}

const (
	bombRows  = 65_536
	longEntry = 1 << 20
)

// arrowBomb returns a function that writes a file in which a column is a dictionary with
// one entry of a megabyte, used by every row.
func arrowBomb(column string) func(string) error {
	return func(name string) error {
		dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
		entry := stringArray([]string{"http://h.example/" + strings.Repeat("a", longEntry)})
		indices := array.NewInt8Builder(memory.NewGoAllocator())
		urls := array.NewStringBuilder(memory.NewGoAllocator())
		for range bombRows {
			indices.Append(0)
			urls.Append("http://h.example/")
		}
		long := array.NewDictionaryArray(dt, indices.NewArray(), entry)
		fields, columns := []arrow.Field{{Name: column, Type: dt}}, []arrow.Array{long}
		if column != "url" {
			fields, columns = append(fields, arrow.Field{Name: "url", Type: arrow.BinaryTypes.String}), append(columns, urls.NewArray())
		}
		schema := arrow.NewSchema(fields, nil)
		return arrowFile(name, schema, array.NewRecord(schema, columns, bombRows))
	}
}

// batchesBomb returns a function that writes a file of several batches. In each, a column
// has many equal values: a dictionary or, for URLs, strings.
func batchesBomb(batches int, column string, rows, size int) func(string) error {
	return func(name string) error {
		text := "http://h.example/" + strings.Repeat("a", size)
		same := make([]string, rows)
		urls := make([]string, rows)
		for i := range same {
			same[i], urls[i] = text, "http://h.example/"
		}
		fields, columns := []arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, []arrow.Array{stringArray(same)}
		if column != "url" {
			dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
			indices := array.NewInt8Builder(memory.NewGoAllocator())
			indices.AppendValues(make([]int8, rows), nil)
			fields = append(fields, arrow.Field{Name: column, Type: dt})
			columns = []arrow.Array{stringArray(urls), array.NewDictionaryArray(dt, indices.NewArray(), stringArray(same[:1]))}
		}
		schema := arrow.NewSchema(fields, nil)
		return arrowFile(name, schema, slices.Repeat([]arrow.Record{array.NewRecord(schema, columns, int64(rows))}, batches)...)
	}
}

// sitemapsBomb writes a list of URLs of one host. The host's robots.txt, in a folder next
// to the list, has as many and as long sitemaps as a job keeps.
func sitemapsBomb(name string) error {
	rules := filepath.Join(filepath.Dir(name), "rules")
	if err := os.MkdirAll(rules, 0o777); err != nil {
		return err
	}
	sitemap := "Sitemap: http://h.example/a\n" // 100 of these take 18 bytes each
	if err := os.WriteFile(filepath.Join(rules, "h.example"), []byte(strings.Repeat(sitemap, 100)), 0o666); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(strings.Repeat("http://h.example/x\n", 2*bombRows)), 0o666)
}

// arrowLarge writes a file with one URL per row, 300 MB of URLs in all.
func arrowLarge(name string) error {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for range 300 {
		b.Append("http://h.example/" + strings.Repeat("a", 1_000_000))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	return arrowFile(name, schema, array.NewRecord(schema, []arrow.Array{b.NewArray()}, 300))
}

func arrowFile(name string, schema *arrow.Schema, records ...arrow.Record) error {
	var out output
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		return err
	}
	for _, record := range records {
		if err := w.Write(record); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, out.Bytes(), 0o666)
}

// parquetBomb returns a function that writes columns that are dictionaries with one entry
// of a megabyte.
func parquetBomb(columns, rows int) func(string) error {
	return func(name string) error {
		dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		entry := stringArray([]string{strings.Repeat("a", longEntry)})
		indices := array.NewInt32Builder(memory.NewGoAllocator())
		urls := array.NewStringBuilder(memory.NewGoAllocator())
		for range rows {
			indices.Append(0)
			urls.Append("http://h.example/")
		}
		fields, arrays := []arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, []arrow.Array{urls.NewArray()}
		long := array.NewDictionaryArray(dt, indices.NewArray(), entry)
		for i := range columns {
			fields, arrays = append(fields, arrow.Field{Name: fmt.Sprint("long", i), Type: dt}), append(arrays, long)
		}
		schema := arrow.NewSchema(fields, nil)
		data, err := parquetFile(schema, array.NewRecord(schema, arrays, int64(rows)), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryPageSizeLimit(4<<20))
		if err != nil {
			return err
		}
		return os.WriteFile(name, data, 0o666)
	}
}

func parquetFile(schema *arrow.Schema, record arrow.Record, options ...parquet.WriterProperty) ([]byte, error) {
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	if err := w.Write(record); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// pageBomb returns a function that writes one page of 600 MB. If lies is set, its header
// gives a smaller size.
func pageBomb(codec compress.Compression, version parquet.DataPageVersion, lies bool) func(string) error {
	return func(name string) error {
		b := array.NewStringBuilder(memory.NewGoAllocator())
		for range 60 {
			b.Append("http://h.example/" + strings.Repeat("a", 10_000_000))
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
		data, err := parquetFile(schema, array.NewRecord(schema, []arrow.Array{b.NewArray()}, 60),
			parquet.WithCompression(codec), parquet.WithCompressionLevel(1), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(1<<30), parquet.WithDictionaryDefault(false), parquet.WithStats(false))
		if err != nil {
			return err
		}
		if lies {
			// The page's header starts with its kind (0x15, then one byte) and its size
			// (0x15, then five bytes for a number above 2^27).
			size := data[4+3 : 4+8]
			if data[4+2] != 0x15 || size[3] < 0x80 || size[4] >= 0x80 {
				return fmt.Errorf("unexpected page header % x", data[4:16])
			}
			copy(size, []byte{0x80 | 0x50, 0x80 | 0x0f, 0x80, 0x80, 0})
		}
		return os.WriteFile(name, data, 0o666)
	}
}

// silentPageBomb writes a zstd page whose header gives a small size and whose frame gives
// none: the bytes of the frame's size are replaced by an empty dictionary number.
func silentPageBomb(name string) error {
	if err := pageBomb(compress.Codecs.Zstd, parquet.DataPageV1, true)(name); err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	const sizeOf4, numberOf4 = 0x80, 0x03
	header := data[bytes.Index(data, []byte{0x28, 0xB5, 0x2F, 0xFD}):]
	if header[4]&^4 != sizeOf4 {
		return fmt.Errorf("unexpected frame header % x", header[:10])
	}
	header[4] ^= sizeOf4 | numberOf4
	clear(header[6:10])
	return os.WriteFile(name, data, 0o666)
}

// warcBomb writes a response whose body expands to 512 MiB.
func warcBomb(name string) error {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	if _, err := io.Copy(z, repeated("Disallow: /x\n", 512<<20)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	response := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", body.Len(), body.Bytes())
	record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/robots.txt\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(response), response)
	return zipped(strings.NewReader(record))(name)
}

func stringArray(values []string) *array.String {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewStringArray()
}

// output implements what the library's file writer needs.
type output struct{ bytes.Buffer }

func (o *output) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, fmt.Errorf("seek to %d", offset)
	}
	return int64(o.Len()), nil
}
