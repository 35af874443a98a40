package parquetio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
)

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
