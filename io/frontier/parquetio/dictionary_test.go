package parquetio

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
	"robotsbatch/io/tables/parquet/pagefilter"
)

// dictionaryOf returns the page of the dictionary of a column in the first row group.
func dictionaryOf(t *testing.T, data []byte, column int) layout.Page {
	t.Helper()
	chunk := &footerOf(t, data).Groups[0].Chunks[column]
	page, err := layouttest.NextPage(part(data, chunk.Pages), chunk, 1<<30)
	if err != nil || page.Kind != layout.DictionaryPage {
		t.Fatalf("column %d begins with a page of kind %d: %v", column, page.Kind, err)
	}
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
				out, err := passSelected(0, test.keep, data)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range test.entries {
					before, after := dictionaryOf(t, data, 1+i), dictionaryOf(t, out, 1+i)
					if after.Values != want || (after.Values == before.Values) != bytes.Equal(after.Body, before.Body) {
						t.Errorf("column %d: %d entries of %d, want %d", 1+i, after.Values, before.Values, want)
					}
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

// chunkOf writes a column of integers to a run of its own: page by page the indices into
// a dictionary of ten, or numbers where there are none.
func chunkOf(pages ...[]int32) (*filterRun, *filtered) {
	var data, packed []byte
	values := 0
	header := layout.Page{Kind: layout.DictionaryPage, Values: 10}
	data, _ = header.AppendPage(data, make([]byte, 80), &packed, nil)
	for _, indices := range pages {
		header := layout.Page{Kind: layout.DataPage, Values: 4, Encoding: layout.RLEDictionary}
		plain := layout.AppendHybrid([]byte{4}, indices, 4)
		if indices == nil {
			header.Encoding, plain = layout.Plain, make([]byte, 32)
		}
		data, _ = header.AppendPage(data, plain, &packed, nil)
		values += header.Values
	}
	chunk := &layout.Chunk{Type: layout.Int64, Values: int64(values), Pages: layout.Range{Length: int64(len(data))}}
	rows := pagefilter.NewRows(values)
	rows.Keep(0, values)
	r := &filterRun{
		filter: newFilter(1 << 20), ahead: layout.NewStream(bytes.NewReader(data), nil, 1<<20),
		passedChunk: &passedChunk{group: &rowGroup{kept: rows}, start: func(do func()) { do() }},
	}
	return r, &filtered{Column: pagefilter.Column{Type: layout.Int64, Width: 8}, chunk: chunk}
}

// What the pages of indices use is found where they are the first ones. Whatever else
// there is, is an error.
func TestReadIndices(t *testing.T) {
	for _, test := range []struct {
		name  string
		pages [][]int32
		gone  []int // rows
		used  int
		want  string // of the error
	}{
		{"indices", [][]int32{{0, 1, 2, 3}, {3, 3, 3, 9}}, nil, 5, ""},
		{"rows that are gone", [][]int32{{0, 1, 2, 3}, {3, 3, 3, 9}}, []int{1, 7}, 3, ""},
		{"a page that is gone", [][]int32{{7, 7, 7, 7}, {3, 3, 3, 9}}, []int{0, 1, 2, 3}, 2, ""},
		{"numbers behind", [][]int32{{0, 1, 2, 3}, nil, nil}, nil, 4, ""},
		{"no indices", [][]int32{nil}, nil, 0, ""},
		{"indices behind numbers", [][]int32{{0, 1, 2, 3}, nil, {4, 4, 4, 4}}, nil, 0, "come after others"},
		{"an index out of range", [][]int32{{0, 1, 2, 10}}, nil, 0, "index 10"},
		{"fewer values than it says", [][]int32{{}}, nil, 0, "fewer"},
	} {
		r, c := chunkOf(test.pages...)
		rows := pagefilter.NewRows(r.group.kept.Len())
		for row, gone := 0, test.gone; row < rows.Len(); row++ {
			if len(gone) > 0 && gone[0] == row {
				gone = gone[1:]
				continue
			}
			rows.Keep(row, row+1)
		}
		r.group.kept = rows
		var err error
		if c.Dictionary, err = pagefilter.NewDictionary(&c.Column, &layout.Page{Kind: layout.DictionaryPage, Values: 10}, make([]byte, 80)); err != nil {
			t.Fatal(err)
		}
		err = r.readIndices(c)
		switch {
		case (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: %v", test.name, err)
		case err == nil && 10-c.Dictionary.Unused() != test.used:
			t.Errorf("%s: not %d entries are used", test.name, test.used)
		}
		if r.used != 0 {
			t.Errorf("%s: %d bytes of memory are held", test.name, r.used)
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
		if err == nil && before != nil || err != nil && before == nil {
			t.Errorf("%d entries: %v, and of the input %v", values/2, err, before)
		}
	}
}
