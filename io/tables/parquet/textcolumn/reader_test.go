package textcolumn

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/batch"
	"robotsbatch/io/tables/parquet/layout"
)

// kind is a way to write a column.
type kind struct {
	codec      compress.Compression
	version    parquet.DataPageVersion
	encoding   parquet.Encoding
	dictionary int64 // bytes of a dictionary at most; 0 for none
	nullable   bool
}

func (k kind) String() string {
	encoding := k.encoding.String()
	if k.dictionary > 0 {
		encoding = fmt.Sprintf("dictionary of %d then %s", k.dictionary, encoding)
	}
	return fmt.Sprintf("%s/%s/pages=%d/nullable=%t", encoding, k.codec, k.version+1, k.nullable)
}

// kinds are all ways that the library knows.
func kinds(encodings ...parquet.Encoding) []kind {
	var list []kind
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, nullable := range []bool{false, true} {
				for _, encoding := range encodings {
					list = append(list, kind{codec, version, encoding, 0, nullable})
				}
				list = append(list,
					kind{codec, version, parquet.Encodings.Plain, 1 << 20, nullable},
					kind{codec, version, parquet.Encodings.Plain, 4000, nullable}) // falls back
			}
		}
	}
	return list
}

var stringEncodings = []parquet.Encoding{parquet.Encodings.Plain, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray}

// write has the library write a column "x" in row groups of at most rows rows.
func write(t testing.TB, k kind, values arrow.Array, rows int64) []byte {
	t.Helper()
	return writePages(t, k, values, rows, 2000)
}

// writePages writes pages of about pageSize bytes.
func writePages(t testing.TB, k kind, values arrow.Array, rows, pageSize int64) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: values.DataType(), Nullable: k.nullable}}, nil)
	record := array.NewRecord(schema, []arrow.Array{values}, int64(values.Len()))
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithCompression(k.codec), parquet.WithDataPageVersion(k.version), parquet.WithEncoding(k.encoding),
		parquet.WithDictionaryDefault(k.dictionary > 0), parquet.WithDictionaryPageSizeLimit(k.dictionary),
		parquet.WithDataPageSize(pageSize), parquet.WithBatchSize(64), parquet.WithMaxRowGroupLength(rows))
	w, err := pqarrow.NewFileWriter(schema, &out, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readers returns a reader of each row group's first column.
func readers(data []byte, limit int64) (*layout.File, []*Reader, error) {
	return readersOf(data, limit, "")
}

// readersOf returns a reader of each row group's column of that name, or else of
// the first one.
func readersOf(data []byte, limit int64, name string) (*layout.File, []*Reader, error) {
	f, err := layout.ReadFooter(bytes.NewReader(data), int64(len(data)), limit)
	if err != nil || len(f.Leaves) == 0 {
		return f, nil, err
	}
	column := 0
	for i := range f.Leaves {
		if f.Path(i) == name {
			column = i
		}
	}
	leaf := f.Leaves[column]
	var list []*Reader
	for i := range f.Groups {
		chunk := &f.Groups[i].Chunks[column]
		r, err := NewReader(bytes.NewReader(data), chunk, &f.Schema[leaf.Element], leaf, limit)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, r)
	}
	return f, list, nil
}

// text has values that are long, short, empty, null, alike and repeated.
func text(n int, nullable bool) *array.String {
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for i := range n {
		switch {
		case nullable && (rng.IntN(5) == 0 || n > 1000 && i/200%4 == 1): // alone, and many together
			b.AppendNull()
		case rng.IntN(20) == 0:
			b.Append("")
		case i%3 == 0:
			b.Append(fmt.Sprintf("https://host%d.example/page", i%7))
		default:
			b.Append(fmt.Sprintf("https://host%d.example/%s?q=%d", i/50, strings.Repeat("x", rng.IntN(40)), i))
		}
	}
	return b.NewStringArray()
}

// Every encoding, codec and version of pages gives the rows that were written,
// however many are asked for at a time.
func TestStrings(t *testing.T) {
	for _, k := range kinds(stringEncodings...) {
		t.Run(k.String(), func(t *testing.T) {
			want := text(1500, k.nullable)
			data := write(t, k, want, 900)
			for _, size := range []int{1, 7, 200, 5000} {
				checkStrings(t, data, want, size)
			}
		})
	}
}

// read returns the next rows.
func read(r *Reader, rows int) (*Run, error) {
	p, err := r.Next(rows)
	if err != nil {
		return nil, err
	}
	return p.Decode()
}

// readSideBySide returns the rows of a chunk in runs of at most size rows, which are decoded
// by goroutines of their own, the last one first.
func readSideBySide(t *testing.T, r *Reader, rows, size int) []*Run {
	t.Helper()
	var parts []*Part
	for left := rows; left > 0; left -= size {
		p, err := r.Next(min(size, left))
		if err != nil {
			t.Fatalf("%d rows left: %v", left, err)
		}
		parts = append(parts, p)
	}
	runs, errs := make([]*Run, len(parts)), make([]error, len(parts))
	var decoding sync.WaitGroup
	for i := range parts {
		i = len(parts) - 1 - i
		decoding.Go(func() { runs[i], errs[i] = parts[i].Decode() })
	}
	decoding.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return runs
}

// checkStrings reads a file in runs of at most size rows.
func checkStrings(t *testing.T, data []byte, want *array.String, size int) {
	t.Helper()
	f, list, err := readers(data, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for i, r := range list {
		left := int(f.Groups[i].Rows)
		for _, run := range readSideBySide(t, r, left, size) {
			n := min(size, left)
			left -= n
			c := batch.Column(run.Strings)
			if err := c.Validate(); err != nil || c.Len() != n {
				t.Fatalf("row %d: %d rows: %v", row, c.Len(), err)
			}
			nulls := 0
			for j := range n {
				if c.Null(j) != want.IsNull(row) {
					t.Fatalf("row %d: null: %t", row, c.Null(j))
				}
				if c.Null(j) {
					nulls++
				} else if string(c.Value(j)) != want.Value(row) {
					t.Fatalf("row %d: %q, want %q", row, c.Value(j), want.Value(row))
				}
				row++
			}
			if nulls != run.Nulls {
				t.Fatalf("%d nulls, want %d", run.Nulls, nulls)
			}
		}
		if _, err := r.Next(1); err == nil {
			t.Error("a row behind the last one")
		}
	}
	if row != want.Len() {
		t.Errorf("%d rows, want %d", row, want.Len())
	}
}

// A run whose strings take more than the limit is refused before they are taken.
func TestLimit(t *testing.T) {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	long := strings.Repeat("y", 3000)
	for range 10_000 {
		b.Append(long)
	}
	values := b.NewStringArray()
	for _, k := range []kind{
		{version: parquet.DataPageV1, encoding: parquet.Encodings.Plain, dictionary: 1 << 20},
		{version: parquet.DataPageV2, encoding: parquet.Encodings.DeltaByteArray},
	} {
		_, list, err := readers(write(t, k, values, 1<<20), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(list[0], 300); err != nil {
			t.Errorf("%s: %v", k, err)
		}
		if _, err := read(list[0], 400); err == nil || !strings.Contains(err.Error(), "strings take more than") {
			t.Errorf("%s: error %v", k, err)
		}
	}
}

// readAll reads a file whole.
func readAll(data []byte, limit int64) (rows int, err error) {
	f, list, err := readers(data, limit)
	if err != nil {
		return 0, err
	}
	for i, r := range list {
		for left := f.Groups[i].Rows; left > 0; left -= 100 {
			run, err := read(r, int(min(100, left)))
			if err != nil {
				return rows, err
			}
			strings := batch.Column(run.Strings)
			if err := strings.Validate(); err != nil {
				return rows, fmt.Errorf("NOT CHECKED: %w", err)
			}
			rows += strings.Len()
		}
	}
	return rows, nil
}

// FuzzReader reads bytes that may be a file.
func FuzzReader(f *testing.F) {
	for _, k := range kinds(stringEncodings...) {
		f.Add(write(f, k, text(40, k.nullable), 25))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		footer, err := layout.ReadFooter(bytes.NewReader(data), int64(len(data)), 1<<20)
		if err != nil || footer.Rows > 1<<20 || len(footer.Leaves) == 0 || !fits(&footer.Schema[footer.Leaves[0].Element], footer.Leaves[0]) {
			return
		}
		if _, err := readAll(data, 1<<20); err != nil && strings.Contains(err.Error(), "NOT CHECKED") {
			t.Fatal(err)
		}
	})
}

// FuzzAgainstLibrary writes the lines of a text in one of all ways that the
// library knows, and reads them: each comes out as it was.
func FuzzAgainstLibrary(f *testing.F) {
	list := kinds(stringEncodings...)
	for i := range list {
		f.Add("a\n\nhttps://a.example/b\nhttps://a.example/c\n\n\na\na\na\na\na\na\na\na\na\na\nb", uint16(i), uint16(50), uint8(3), uint64(4))
	}
	f.Fuzz(func(t *testing.T, text string, which, pageSize uint16, size uint8, nulls uint64) {
		k := list[int(which)%len(list)]
		b := array.NewStringBuilder(memory.NewGoAllocator())
		for i, line := range strings.Split(text, "\n") {
			// The library cannot write a page of deltas that begins with nulls alone.
			if k.nullable && nulls>>(i%64)&1 == 1 && (i > 0 || k.encoding == parquet.Encodings.Plain) {
				b.AppendNull()
			} else {
				b.Append(line)
			}
		}
		want := b.NewStringArray()
		checkStrings(t, writePages(t, k, want, int64(want.Len()), int64(pageSize)+1), want, int(size)+1)
	})
}
