package decode

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	m.Run()
}

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
	w := must.Get(pqarrow.NewFileWriter(schema, &out, props, pqarrow.DefaultWriterProps()))(t)
	must.Do(t, w.Write(record))
	must.Do(t, w.Close())
	return out.Bytes()
}

// chunk is a row group's column.
type chunk struct {
	*Reader
	rows   int
	column *columns.Column // if it has one leaf
}

// read returns the next rows.
func (c *chunk) read(rows int) (columns.Leaf, error) {
	p, err := c.Next(rows)
	if err != nil {
		return columns.Leaf{}, err
	}
	return p.Decode()
}

// readers returns a reader of each row group's first column.
func readers(data []byte, limit int64) ([]chunk, error) { return readersOf(data, limit, "") }

// readersOf returns a reader of each row group's column of that name, or else of
// the first one.
func readersOf(data []byte, limit int64, name string) (list []chunk, err error) {
	f, err := layout.ReadFooter(bytes.NewReader(data), int64(len(data)), limit)
	if err != nil || len(f.Leaves) == 0 {
		return nil, err
	}
	at := 0
	for i := range f.Leaves {
		if f.Path(i) == name {
			at = i
		}
	}
	nodes := columns.FromParquet(f)
	leaf := columns.Leaves(nil, nodes)[at]
	top := nodes[0]
	for _, n := range nodes {
		if n.Leaf <= at {
			top = n
		}
	}
	column, _, err := columns.Read(top, nil)
	if err != nil {
		return nil, err
	}
	for i := range f.Groups {
		r, err := NewReader(bytes.NewReader(data), &f.Groups[i].Chunks[at], leaf, limit)
		if err != nil {
			return nil, err
		}
		list = append(list, chunk{r, int(f.Groups[i].Rows), column})
	}
	return list, nil
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
		t.Run(k.String(), func(t *testing.T) { checkRuns(t, k, text(1500, k.nullable), 900) })
	}
}

// TestNumbers is TestStrings for numbers.
func TestNumbers(t *testing.T) {
	for _, k := range kinds(parquet.Encodings.Plain, parquet.Encodings.DeltaBinaryPacked) {
		t.Run(k.String(), func(t *testing.T) {
			b := array.NewInt64Builder(memory.NewGoAllocator())
			for i := range 1500 {
				if k.nullable && (i%7 == 3 || i/200%4 == 1) {
					b.AppendNull()
				} else {
					b.Append(int64(i*i) % 300)
				}
			}
			checkRuns(t, k, b.NewArray(), 900)
		})
	}
}

// TestStructs: in a struct of one field, in which struct and field may be null, each is null where
// it was.
func TestStructs(t *testing.T) {
	for _, k := range kinds(parquet.Encodings.Plain, parquet.Encodings.DeltaLengthByteArray) { // the library cannot write prefixes of nulls
		if !k.nullable || k.codec != compress.Codecs.Zstd {
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			field := arrow.StructOf(arrow.Field{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true})
			b := array.NewStructBuilder(memory.NewGoAllocator(), arrow.StructOf(arrow.Field{Name: "inner", Type: field, Nullable: true}))
			inner := b.FieldBuilder(0).(*array.StructBuilder)
			for i, v := range []string{"outer", "inner", "url", "a", "", "bc"} {
				for j := range 300 {
					b.Append(i != 0)
					if i == 0 {
						continue
					}
					if inner.Append(i != 1); i == 1 {
						continue
					}
					if leaf := inner.FieldBuilder(0).(*array.StringBuilder); i == 2 || (i+j)%5 == 0 {
						leaf.AppendNull()
					} else {
						leaf.Append(fmt.Sprint(v, j%40))
					}
				}
			}
			checkRuns(t, k, b.NewArray(), 1100)
		})
	}
}

// readSideBySide returns the rows of a chunk in runs of at most size rows, which are decoded
// by goroutines of their own, the last one first.
func readSideBySide(t *testing.T, c *chunk, size int) []columns.Leaf {
	t.Helper()
	var parts []*Part
	for left := c.rows; left > 0; left -= size {
		p, err := c.Next(min(size, left))
		must.Need(t, err == nil, "%d rows left: %v", left, err)
		parts = append(parts, p)
	}
	leaves, errs := make([]columns.Leaf, len(parts)), make([]error, len(parts))
	var decoding sync.WaitGroup
	for i := range parts {
		i = len(parts) - 1 - i
		decoding.Go(func() { leaves[i], errs[i] = parts[i].Decode() })
	}
	decoding.Wait()
	must.Do(t, errors.Join(errs...))
	return leaves
}

// checkRuns writes values in row groups of so many rows, and reads them in runs of any length. How
// a page was compressed is nothing to runs of one row.
func checkRuns(t *testing.T, k kind, values arrow.Array, rows int64) {
	t.Helper()
	data := write(t, k, values, rows)
	for _, size := range must.Short([]int{200, 1}, []int{5000, 200, 7, 1}) {
		if size > 1 || k.codec == compress.Codecs.Uncompressed || k.codec == compress.Codecs.Zstd {
			checkRows(t, data, values, size)
		}
	}
}

// checkRows reads a file in runs of at most size rows.
func checkRows(t *testing.T, data []byte, want arrow.Array, size int) {
	t.Helper()
	list := must.Get(readers(data, 1<<20))(t)
	row := 0
	for i := range list {
		for _, leaf := range readSideBySide(t, &list[i], size) {
			assembled := must.Get(list[i].column.Assemble([]columns.Leaf{leaf}))(t)
			got := array.MakeFromData(assembled)
			part := array.NewSlice(want, int64(row), int64(row+got.Len()))
			must.Need(t, array.Equal(got, part) && got.NullN() == part.NullN(), "row %d: %v, want %v", row, got, part)
			row += got.Len()
		}
		must.Fail(t, must.Err(list[i].Next(1)), "row behind the last")
	}
	must.Equal(t, row, want.Len(), "rows")
}

// Nobody skips most of a large page again and again.
func TestLargePagesAreDecodedInOrder(t *testing.T) {
	for _, n := range []int{mostShared, mostShared + 1} {
		b := array.NewInt32Builder(memory.DefaultAllocator)
		b.AppendValues(make([]int32, n), nil)
		list := must.Get(readers(writePages(t, kind{encoding: parquet.Encodings.Plain}, b.NewArray(), int64(n), 1<<30), 1<<30))(t)
		p, err := list[0].Next(10)
		must.Be(t, err == nil && (p.leaf != nil) == (n > mostShared), "a page of %d: decoded when it is read: %v, %v", n, p.leaf != nil, err)
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
		list := must.Get(readers(write(t, k, values, 1<<20), 1<<20))(t)
		_, err := list[0].read(300)
		must.Be(t, err == nil, "%s: %v", k, err)
		must.Say(t, must.Err(list[0].read(400)), "strings take more than", k)
	}
}

// readAll reads a file whole.
func readAll(data []byte, limit int64) error {
	list, err := readers(data, limit)
	for i := range list {
		for left := list[i].rows; left > 0 && err == nil; left -= 100 {
			var leaf columns.Leaf
			if leaf, err = list[i].read(min(100, left)); err != nil {
				return err
			}
			if n := leaf.Offsets; n != nil && (!slices.IsSorted(n) || n[0] != 0 || int(n[len(n)-1]) != len(leaf.Data)) {
				return errors.New("NOT CHECKED")
			}
			if list[i].column != nil && len(list[i].column.Leaves) == 1 {
				_, err = list[i].column.Assemble([]columns.Leaf{leaf})
			}
		}
	}
	return err
}

// FuzzReader reads bytes that may be a file.
func FuzzReader(f *testing.F) {
	for _, k := range kinds(stringEncodings...) {
		f.Add(write(f, k, text(40, k.nullable), 25))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		footer, err := layout.ReadFooter(bytes.NewReader(data), int64(len(data)), 1<<20)
		if err != nil || footer.Rows > 1<<20 {
			return
		}
		err = readAll(data, 1<<20)
		must.Need(t, err == nil || !strings.Contains(err.Error(), "NOT CHECKED"), "%v", err)
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
		checkRows(t, writePages(t, k, want, int64(want.Len()), int64(pageSize)+1), want, int(size)+1)
	})
}
