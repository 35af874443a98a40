package parquetio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
)

func testSelected(t *testing.T, data []byte, batchRows int, bits uint32) {
	out := must.Get(passSelected(batchRows, func(row int64) bool { return bits>>row&1 == 1 }, data))(t)
	_, want := libraryRead(t, data)
	_, got := libraryRead(t, out)
	before, after := footerOf(t, data), footerOf(t, out)
	first := 0
	for k, record := range want {
		var rows []int
		for row := range int(record.NumRows()) {
			if bits>>(first+row)&1 == 1 {
				rows = append(rows, row)
			}
		}
		first += int(record.NumRows())
		if len(rows) == 0 {
			continue
		}
		must.Need(t, len(got) != 0, "row group %d is missing", k)
		for j, column := range record.Columns() {
			must.Be(t, got[0].Schema().Field(j).Equal(record.Schema().Field(j)), "column %d is %s", j, got[0].Schema().Field(j))
			sameValues(t, got[0].Column(j), column, rows)
		}
		for i, c := range before.Groups[k].Chunks {
			now := after.Groups[0].Chunks[i]
			whole := bytes.Equal(part(out, now.Pages), part(data, c.Pages))
			shrunk := slices.Contains(c.Encodings, layout.RLEDictionary) && now.Uncompressed < c.Uncompressed // the dictionary has lost what no row uses
			if !whole && !shrunk && len(rows) == int(record.NumRows()) {
				t.Errorf("row group %d: column %q differs", k, before.Path(i))
			}
		}
		must.Equal(t, after.Groups[0].Rows, int64(len(rows)), "row group", k, "rows")
		got, after.Groups = got[1:], after.Groups[1:]
	}
	must.Be(t, len(got) == 0 && len(after.Groups) == 0, "%d more row groups", len(got))
	_, _, err := readAll(out, Options{Name: "out", URLColumn: "url"})
	must.Do(t, err)
}

// Where rows are left out, too, row groups have offset indexes that readers can use.
func TestPassThroughSelectedIndexes(t *testing.T) {
	for _, name := range []string{"page_index.parquet", "bloom.parquet"} {
		data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		out := must.Get(passSelected(64, func(row int64) bool { return row%3 != 1 }, data))(t)
		_, batches, err := readAll(out, Options{Name: name, URLColumn: "url"})
		must.Do(t, err)
		_, all, err := readAll(data, Options{Name: name, URLColumn: "url"})
		must.Do(t, err)
		var want, got []string
		for _, b := range all {
			for i := range b.URLs.Len() {
				if (b.FirstRow+int64(i))%3 != 1 {
					want = append(want, rowOf(b.Table.(arrow.Record).Columns(), i))
				}
			}
		}
		for _, b := range batches {
			columns := b.Table.(arrow.Record).Columns()
			for i := range b.URLs.Len() {
				got = append(got, rowOf(columns[:len(columns)-1], i))
			}
		}
		must.EqualSlices(t, got, want, name, "rows differ")
	}
}

// Where rows may be left out but none is, the output is that of a job that keeps all rows.
func TestPassThroughAllSelected(t *testing.T) {
	for _, name := range []string{"page_index.parquet", "bloom.parquet"} {
		data := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		out := must.Get(passSelected(64, func(int64) bool { return true }, data))(t)
		must.Be(t, bytes.Equal(out, must.Get(passThrough(64, data))(t)), "%s: the output differs", name)
	}
}

// A row group all of whose rows are kept loses what its dictionary has of others: writers of Arrow store a
// dictionary in each row group, as a whole.
func TestPassThroughAllSelectedDictionary(t *testing.T) {
	const values = `[1103823438081,1103823438082,1103823438083,1103823438084]` // 0x010101010101 and so on
	dictionary := tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, values)
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.PrimitiveTypes.Int64}
	var records []arrow.Record
	for _, indices := range []string{"[0,null]", "[1,null]", "[2,3]"} {
		x := array.NewDictionaryArray(dt, tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, indices), dictionary)
		records = append(records, tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(2, false), x))
	}
	data := libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 5, records...)
	out := must.Get(passSelected(0, func(row int64) bool { return row/2 != 1 }, data))(t)
	for i, kept := range []bool{true, false, true, true} {
		value := []byte{byte(i + 1), 1, 1, 1, 1, 1, 0, 0}
		must.Need(t, bytes.Count(data, value) >= 3, "the dictionaries have only what their row groups use")
		must.Equal(t, bytes.Contains(out, value), kept, "value", i, "is there")
	}
	_, got := libraryRead(t, out)
	must.Be(t, len(got) == 2 && got[0].Column(1).IsNull(1) && got[1].Column(1).ValueStr(1) == "1103823438084", "%v", got)
}

// A column that is copied may have pages of any size: they are not read at once.
func TestPassThroughAllSelectedLarge(t *testing.T) {
	x := tablestest.FromJSON(t, arrow.BinaryTypes.String, `["`+strings.Repeat("x", 6<<20)+`",null]`)
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(2, false), x)
	data := libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 5, record, record)
	keep := func(row int64) bool { return row < 2 }
	out := must.Get(passKept(Options{Memory: 1 << 20}, keep, data))(t)
	_, got := libraryRead(t, out)
	must.Need(t, len(got) == 1, "%d row groups", len(got))
	sameValues(t, got[0].Column(1), x, []int{0, 1})
}

// Pages that are not compressed lie in memory once: it was used again twice, and pages of
// several row groups were written over one another.
func TestPassThroughSelectedUncompressed(t *testing.T) {
	const rows = 6000
	numbers := array.NewInt64Builder(memory.NewGoAllocator())
	for i := range rows {
		numbers.Append(int64(i * i))
	}
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(rows, false), numbers.NewArray())
	data := libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 50, record)
	out := must.Get(passSelected(0, func(row int64) bool { return row%3 != 1 }, data))(t)
	_, batches, err := readAll(out, Options{Name: "out", URLColumn: "url"})
	must.Do(t, err)
	row := int64(0)
	for _, b := range batches {
		for _, x := range b.Table.(arrow.Record).Column(1).(*array.Int64).Int64Values() {
			if row%3 == 1 {
				row++
			}
			must.Need(t, x == row*row, "row %d has %d", row, x)
			row++
		}
	}
}

// rowOf is a row as text.
func rowOf(columns []arrow.Array, row int) string {
	text := ""
	for _, column := range columns {
		text += column.ValueStr(row) + " "
	}
	return text
}

// sameValues is [tablestest.SameRows], but dictionaries may differ.
func sameValues(t *testing.T, got, want arrow.Array, rows []int) {
	t.Helper()
	if !strings.Contains(want.DataType().String(), "dictionary") {
		tablestest.SameRows(t, got, want, rows)
		return
	}
	for i, row := range rows {
		must.Need(t, got.Len() == len(rows) && got.ValueStr(i) == want.ValueStr(row), "row %d of %v is not row %d of %v", i, got, row, want)
	}
}

// Columns of a type that is not known come out with the rows that are selected, as the
// bytes that they are stored as, and without extremes, whose order nobody knows.
func TestPassThroughSelectedUnknownType(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(4, false), tablestest.FromJSON(t, arrow.BinaryTypes.Binary, `["AQ==","AgI=",null,"AwMD"]`))
	data := libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 4, record)
	data = withUnknownType(t, data, 2)
	out := must.Get(passSelected(3, func(row int64) bool { return row != 1 }, data))(t)
	before, after := footerOf(t, data), footerOf(t, out)
	must.Be(t, bytes.Equal(structures(readRaw(t, after.Footer), 2)[2], structures(readRaw(t, before.Footer), 2)[2]), "the column's type has changed")
	chunk := part(out, after.Groups[0].Chunks[1].Pages)
	dictionary := []byte("\x01\x00\x00\x00\x01\x03\x00\x00\x00\x03\x03\x03")                                       // without 0x0202
	if indices := []byte("\x01\x03\x02"); !bytes.Contains(chunk, dictionary) || !bytes.HasSuffix(chunk, indices) { // 0 and 1, of a bit each
		t.Errorf("the column's values are %x", chunk)
	}
	n := columns.FromParquet(after)[1]
	must.Be(t, n.Meaning.Kind == columns.Other, "the column's meaning is %+v", n.Meaning)
}

// Whatever pages have, row groups that are filtered give an error, or an output that is as
// sound as the input.
func TestPassThroughSelectedHostile(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false),
		tablestest.FromJSON(t, arrow.ListOf(arrow.BinaryTypes.String), `[["a","b"],[],null,["d"],[null],["h"],["j"],null,["l","m"],["n","o"],["p"],["r","s"]]`))
	data := libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 12, record)
	pages := footerOf(t, data).Groups[0].Chunks[1].Pages
	failed := 0
	for i := range pages.Length {
		for _, bit := range []byte{1, 0x80} {
			changed := must.Flipped(data, pages.Offset+i, bit)
			out, err := passSelected(5, func(row int64) bool { return row%2 == 0 }, changed)
			if err != nil {
				if failed++; !strings.Contains(err.Error(), `column "x`) {
					t.Errorf("byte %d: %v", i, err)
				}
				continue
			}
			// What is copied, as dictionaries are, is not looked at.
			if _, _, err := readAll(out, Options{Name: "out", URLColumn: "url"}); err != nil {
				_, _, before := readAll(changed, Options{Name: "in", URLColumn: "url"})
				must.Be(t, before != nil, "byte %d: the output: %v", i, err)
			}
		}
	}
	must.Be(t, failed != 0, "no damage was found")
}

// withUnknownType gives an element of a file's schema a logical type that is not known.
func withUnknownType(t *testing.T, data []byte, i int) []byte {
	t.Helper()
	footer := readRaw(t, footerOf(t, data).Footer)
	elements := structures(footer, 2)
	element := slices.DeleteFunc(readRaw(t, elements[i]), func(f layout.Raw) bool { return f.ID == 6 || f.ID == 10 })
	empty := []byte{0}
	logical := layout.AppendRaw(nil, []layout.Raw{{ID: 40, Kind: layout.RawStruct, Value: empty}})
	elements[i] = layout.AppendRaw(nil, append(element, layout.Raw{ID: 10, Kind: layout.RawStruct, Value: logical}))
	return withFooter(t, data, footer, layout.ListField(2, layout.RawStruct, elements))
}

// However many workers there are, a filtered file has the same bytes.
func TestPassThroughSelectedSame(t *testing.T) {
	urls := tablestest.URLArray(30_000, false)
	data := libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, 20_000, tablestest.NewRecord([]string{"url", "x"}, urls, urls))
	var first []byte
	for _, workers := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(workers)
		out, err := passSelected(4096, func(row int64) bool { return row%2 == 0 }, data)
		runtime.GOMAXPROCS(before)
		must.Do(t, err)
		if first == nil {
			first = out
		}
		must.Be(t, bytes.Equal(out, first), "%d workers write other bytes than one", workers)
	}
}

// No value of a row that is left out is anywhere in the output: not in pages, dictionaries,
// statistics or headers.
func TestPassThroughSelectedGone(t *testing.T) {
	const rows, number = 600, 0x474E4F47
	for name, gone := range map[string]func(row int) bool{
		"every second": func(row int) bool { return row%2 == 1 },
		"one":          func(row int) bool { return row == 17 },
		"the last":     func(row int) bool { return row >= 400 },
		"some":         func(row int) bool { return 100 <= row && row < 130 },
	} {
		for _, distinct := range []int{rows, 20} {
			texts := array.NewStringBuilder(memory.NewGoAllocator())
			numbers := array.NewInt32Builder(memory.NewGoAllocator())
			for row := range rows {
				mark, n := "kept", int32(row%distinct)
				if gone(row) {
					mark, n = "GONE", number
				}
				texts.Append(fmt.Sprintf("%s%d%s", mark, row%distinct, strings.Repeat(" text", row%7)))
				numbers.Append(n)
			}
			record := tablestest.NewRecord([]string{"url", "text", "number"}, tablestest.URLArray(rows, false), texts.NewArray(), numbers.NewArray())
			for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
				data := libraryWrite(t, compress.Codecs.Uncompressed, version, rows, record)
				out := must.Get(passSelected(0, func(row int64) bool { return !gone(int(row)) }, data))(t)
				for _, mark := range []string{"GONE", string(binary.LittleEndian.AppendUint32(nil, number))} {
					if before, after := bytes.Count(data, []byte(mark)), bytes.Count(out, []byte(mark)); before == 0 || after > 0 {
						t.Errorf("%s of %d values: %q is in the output %d times, and was in the input %d times", name, distinct, mark, after, before)
					}
				}
			}
		}
	}
}

// dictionaryOf returns the page of the dictionary of a column in the first row group.
func dictionaryOf(t *testing.T, data []byte, column int) layout.Page {
	t.Helper()
	chunk := &footerOf(t, data).Groups[0].Chunks[column]
	page, err := layouttest.NextPage(part(data, chunk.Pages), chunk, 1<<30)
	must.Need(t, err == nil && page.Kind == layout.DictionaryPage, "column %d begins with a page of kind %d: %v", column, page.Kind, err)
	return page
}

// A dictionary of which many entries are not used any more gets smaller, also where pages
// of indices are whole.
func TestPassThroughSelectedDictionary(t *testing.T) {
	const rows = 4000
	rng := rand.New(rand.NewPCG(1, 2))
	texts := array.NewStringBuilder(memory.NewGoAllocator())
	numbers := array.NewInt64Builder(memory.NewGoAllocator())
	for i := range rows {
		texts.Append(fmt.Sprintf("%x%x", rng.Uint64(), rng.Uint64()))
		if number := rng.Int64(); i%5 < 4 {
			numbers.Append(number)
		} else {
			numbers.AppendNull()
		}
	}
	record := tablestest.NewRecord([]string{"url", "text", "number"}, tablestest.URLArray(rows, false), texts.NewArray(), numbers.NewArray())
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Zstd, compress.Codecs.Snappy} {
		data := libraryWrite(t, codec, parquet.DataPageV1, rows, record)
		for _, test := range []struct {
			name    string
			keep    func(row int64) bool
			entries [2]int
		}{
			{"every second", func(row int64) bool { return row%2 == 0 }, [2]int{2000, 1600}},
			{"the first half", func(row int64) bool { return row < 2000 }, [2]int{2000, 1600}},
			{"one", func(row int64) bool { return row == 3999 }, [2]int{1, 1}}, // whose number is null
			{"nearly all", func(row int64) bool { return row%100 > 0 }, [2]int{3960, 3160}},
		} {
			t.Run(fmt.Sprintf("%v/%s", codec, test.name), func(t *testing.T) {
				out := must.Get(passSelected(0, test.keep, data))(t)
				for i, want := range test.entries {
					before, after := dictionaryOf(t, data, 1+i), dictionaryOf(t, out, 1+i)
					must.Be(t, after.Values == want && (after.Values == before.Values) == bytes.Equal(after.Body, before.Body),
						"column %d: %d entries of %d, want %d", 1+i, after.Values, before.Values, want)
				}
				var kept []int
				for row := range rows {
					if test.keep(int64(row)) {
						kept = append(kept, row)
					}
				}
				_, got := libraryRead(t, out)
				for i := range 3 {
					tablestest.SameRows(t, got[0].Column(i), record.Column(i), kept)
				}
			})
		}
	}
}

// A dictionary whose header says more than there can be, or that would take too much
// memory, is copied or an error, and takes none.
func TestPassThroughSelectedForged(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false), tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1,2,3,4,5,6,7,8,9,10,11,12]`))
	data := libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 12, record)
	at := bytes.Index(data, dictionaryOf(t, data, 1).Header) // 12 is in it as 24
	count := at + bytes.LastIndexByte(dictionaryOf(t, data, 1).Header, 24)
	for _, values := range []byte{0, 2, 22, 26, 126} { // 0, 1, 11, 13 and 63 entries
		changed := bytes.Clone(data)
		changed[count] = values
		out, err := passSelected(0, func(row int64) bool { return row%2 == 0 }, changed)
		if err == nil {
			_, _, err = readAll(out, Options{Name: "out", URLColumn: "url"})
		}
		_, _, before := readAll(changed, Options{Name: "in", URLColumn: "url"})
		must.Be(t, (err != nil || before == nil) && (err == nil || before != nil), "%d entries: %v, and of the input %v", values/2, err, before)
	}
}
