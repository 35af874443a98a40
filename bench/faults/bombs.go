//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	{name: "Arrow: strings of 300 MB that zstd made small", file: "x.arrow", make: arrowFile(1, func() arrow.Record { return record([]string{"url"}, column(300, 1_000_000)) })},
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

// cycle repeats a text for ever.
type cycle struct {
	text string
	at   int
}

// Read implements io.Reader.
func (c *cycle) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		k := copy(p[n:], c.text[c.at:])
		n, c.at = n+k, (c.at+k)%len(c.text)
	}
	return len(p), nil
}

// repeated returns the first n bytes of a text that is repeated.
func repeated(text string, n int64) io.Reader { return io.LimitReader(&cycle{text: text}, n) }

// plain returns a function that writes a file with a text.
func plain(text string) func(string) error {
	return func(name string) error { return os.WriteFile(name, []byte(text), 0o666) }
}

// written returns a function that writes a file through a compressor.
func written[W io.WriteCloser](r io.Reader, compressor func(io.Writer) (W, error)) func(string) error {
	return func(name string) error {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		defer f.Close()
		w, err := compressor(f)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, r)
		return errors.Join(err, w.Close(), f.Close())
	}
}

// zipped returns a function that writes a file with what r has, compressed by gzip.
func zipped(r io.Reader) func(string) error {
	return written(r, func(w io.Writer) (*gzip.Writer, error) { return gzip.NewWriterLevel(w, gzip.BestSpeed) })
}

// zstandard is zipped with zstd.
func zstandard(r io.Reader) func(string) error {
	return written(r, func(w io.Writer) (*zstd.Encoder, error) { return zstd.NewWriter(w, zstd.WithWindowSize(1<<20)) })
}

// zippedReader compresses what is read.
func zippedReader(r io.Reader) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		z := gzip.NewWriter(writer)
		_, err := io.Copy(z, r)
		writer.CloseWithError(errors.Join(err, z.Close()))
	}()
	return reader
}

const (
	bombRows  = 65_536
	longEntry = 1 << 20
	hostURL   = "http://h.example/"
)

// column returns n strings that are a text of a letter, after the host.
func column(n, size int) arrow.Array { return texts(n, hostURL+strings.Repeat("a", size)) }

// texts returns n equal strings.
func texts(n int, text string) arrow.Array {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for range n {
		b.Append(text)
	}
	return b.NewArray()
}

// dictionary returns n rows that all have one entry.
func dictionary(index arrow.FixedWidthDataType, n int, entry string) arrow.Array {
	zeros := array.NewData(index, n, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, n*index.Bytes()))}, nil, 0, 0)
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}, array.MakeFromData(zeros), texts(1, entry))
}

// record names columns.
func record(names []string, columns ...arrow.Array) arrow.Record {
	var fields []arrow.Field
	for i, c := range columns {
		fields = append(fields, arrow.Field{Name: names[i], Type: c.DataType()})
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

// arrowBomb returns a function that writes a file in which a column is a dictionary with
// one entry of a megabyte, used by every row.
func arrowBomb(name string) func(string) error {
	return arrowFile(1, func() arrow.Record {
		long := dictionary(new(arrow.Int8Type), bombRows, hostURL+strings.Repeat("a", longEntry))
		if name == "url" {
			return record([]string{name}, long)
		}
		return record([]string{name, "url"}, long, column(bombRows, 0))
	})
}

// batchesBomb returns a function that writes a file of several batches. In each, a column
// has many equal values: a dictionary or, for URLs, strings.
func batchesBomb(batches int, name string, rows, size int) func(string) error {
	return arrowFile(batches, func() arrow.Record {
		if name == "url" {
			return record([]string{name}, column(rows, size))
		}
		return record([]string{"url", name}, column(rows, 0), dictionary(new(arrow.Int8Type), rows, hostURL+strings.Repeat("a", size)))
	})
}

// sitemapsBomb writes a list of URLs of one host. The host's robots.txt, in a folder next
// to the list, has as many and as long sitemaps as a job keeps.
func sitemapsBomb(name string) error {
	rules := filepath.Join(filepath.Dir(name), "rules")
	sitemap := "Sitemap: http://h.example/a\n" // 100 of these take 18 bytes each
	return errors.Join(
		os.MkdirAll(rules, 0o777),
		os.WriteFile(filepath.Join(rules, "h.example"), []byte(strings.Repeat(sitemap, 100)), 0o666),
		os.WriteFile(name, []byte(strings.Repeat(hostURL+"x\n", 2*bombRows)), 0o666))
}

// arrowFile returns a function that writes a file in which a batch is repeated.
func arrowFile(batches int, batch func() arrow.Record) func(string) error {
	return func(name string) error {
		var out output
		r := batch()
		w, err := ipc.NewFileWriter(&out, ipc.WithSchema(r.Schema()), ipc.WithZstd())
		for i := 0; i < batches && err == nil; i++ {
			err = w.Write(r)
		}
		if err != nil {
			return err
		}
		return errors.Join(w.Close(), os.WriteFile(name, out.Bytes(), 0o666))
	}
}

// parquetBomb returns a function that writes columns that are dictionaries with one entry
// of a megabyte.
func parquetBomb(columns, rows int) func(string) error {
	return func(name string) error {
		names, all := []string{"url"}, []arrow.Array{column(rows, 0)}
		long := dictionary(new(arrow.Int32Type), rows, strings.Repeat("a", longEntry))
		for i := range columns {
			names, all = append(names, fmt.Sprint("long", i)), append(all, long)
		}
		data, err := parquetFile(record(names, all...), parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryPageSizeLimit(4<<20))
		return errors.Join(err, os.WriteFile(name, data, 0o666))
	}
}

// parquetFile returns a Parquet file with the rows of a record.
func parquetFile(r arrow.Record, options ...parquet.WriterProperty) ([]byte, error) {
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(r.Schema(), &out, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	err = errors.Join(w.Write(r), w.Close())
	return out.Bytes(), err
}

// pageBomb returns a function that writes one page of 600 MB. If lies is set, its header
// gives a smaller size.
func pageBomb(codec compress.Compression, version parquet.DataPageVersion, lies bool) func(string) error {
	return func(name string) error {
		data, err := parquetFile(record([]string{"url"}, column(60, 10_000_000)),
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
	body, err := io.ReadAll(zippedReader(repeated("Disallow: /x\n", 512<<20)))
	if err != nil {
		return err
	}
	response := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.example/robots.txt\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(response), response)
	return zipped(strings.NewReader(record))(name)
}

// output implements what the library's file writer needs.
type output struct{ bytes.Buffer }

// Seek returns the present offset, which is all that the writer asks for.
func (o *output) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, fmt.Errorf("seek to %d", offset)
	}
	return int64(o.Len()), nil
}
