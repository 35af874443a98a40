package parquetio

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/io/frontier/parquetio/layout"
	"robotsbatch/io/frontier/parquetio/layout/layouttest"
	"robotsbatch/io/frontier/tables/tablestest"
)

// plainPages returns how many rows the pages of texts have that are no indices, and how
// many bytes decompressed.
func plainPages(t *testing.T, data []byte) (rows, sizes []int) {
	t.Helper()
	chunk := &footerOf(t, data).Groups[0].Chunks[1]
	for bytes := part(data, chunk.Pages); len(bytes) > 0; {
		page, err := layouttest.NextPage(bytes, chunk, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if page.Kind == layout.DataPage && page.Encoding == layout.Plain {
			rows, sizes = append(rows, page.Values), append(sizes, page.Uncompressed)
		}
		bytes = bytes[page.Size():]
	}
	return rows, sizes
}

// What stays of neighbouring pages of texts is joined to pages that are as large as those
// were, and has the same rows; where little is left out, nothing is.
func TestPassThroughSelectedJoined(t *testing.T) {
	const rows = 40_000
	rng := rand.New(rand.NewPCG(1, 2))
	texts := array.NewStringBuilder(memory.NewGoAllocator())
	for i := range rows {
		if i%7 == 3 {
			texts.AppendNull()
			continue
		}
		text := make([]byte, 240)
		for k := range text {
			text[k] = "0123456789abcdef"[rng.IntN(16)]
		}
		texts.Append(string(text))
	}
	record := tablestest.NewRecord([]string{"url", "text"}, tablestest.URLArray(rows, false), texts.NewArray())
	data := libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, rows, record)
	before, size := plainPages(t, data)
	for _, test := range []struct {
		one  int64 // row in so many stays
		most float64
	}{{1, 1}, {2, 0.6}, {4, 0.45}, {300, 0.17}} {
		t.Run(fmt.Sprintf("1 in %d", test.one), func(t *testing.T) {
			keep := func(row int64) bool { return row%test.one == 0 && row != 77 }
			out, err := passSelected(0, keep, data)
			if err != nil {
				t.Fatal(err)
			}
			after, sizes := plainPages(t, out)
			if part := float64(len(after)) / float64(len(before)); part > test.most || part < 1/float64(test.one)-0.2 {
				t.Errorf("%d pages of %d", len(after), len(before))
			}
			for i := range sizes {
				if sizes[i] > size[0]*3/2 {
					t.Errorf("page %d has %d bytes", i, sizes[i])
				}
			}
			var kept []int
			for row := range rows {
				if keep(int64(row)) {
					kept = append(kept, row)
				}
			}
			_, got := libraryRead(t, out)
			for i := range 2 {
				tablestest.SameRows(t, got[0].Column(i), record.Column(i), kept)
			}
		})
	}
}
