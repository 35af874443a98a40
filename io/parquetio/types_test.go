package parquetio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"robotsbatch/batch"
	"robotsbatch/io/tables/tablestest"
)

// changes are types of which the library makes others.
var changes = map[string]bool{
	"date64": true, "time32": true, // days and milliseconds
	"dictionary<values=utf8, indices=int8, ordered=false>":   true, // 32-bit indices
	"dictionary<values=utf8, indices=uint16, ordered=false>": true,
	"dictionary<values=utf8, indices=int64, ordered=false>":  true,
	"dictionary of numbers":                                  true,
	"list of dictionaries":                                   true,
	"fixed_size_list":                                        true, // refused where one is null
}

// Every type that Parquet has comes through reading, cutting, selecting and
// writing; for the others NewSink names the column.
func TestEveryTypePassesThrough(t *testing.T) {
	passed := 0
	for _, c := range tablestest.Columns(t) {
		if changes[c.Name] {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(c.Array.Len(), true), c.Array)
			if _, err := NewSink(new(output), SinkOptions{Layout: batch.Layout{URLColumn: "url"}, Schema: record.Schema()}); err != nil {
				if !strings.Contains(err.Error(), `"x"`) {
					t.Errorf("%v does not name the column", err)
				}
				t.Skip(err)
			}
			passed++
			for _, size := range []int{0, 1, 5} {
				for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
					for _, selection := range []uint16{0xFFF, 0b1010_0111_0110, 0} {
						t.Run(fmt.Sprintf("rows=%d/pages=%d/selection=%b", size, version, selection), func(t *testing.T) {
							data := libraryWrite(t, compress.Codecs.Snappy, version, 7, record, record)
							testPass(t, data, record, size, selection)
						})
					}
				}
			}
		})
	}
	if passed < 20 {
		t.Errorf("only %d types can be written", passed)
	}
}

func testPass(t *testing.T, data []byte, record arrow.Record, size int, selection uint16) {
	n := int(record.NumRows())
	s, batches, err := readAll(data, Options{Name: "test", BatchRows: size})
	if err != nil {
		t.Fatal(err)
	}
	var rows, want []int
	at := 0
	for i, b := range batches {
		if b.Index != i || b.FirstRow != int64(at) {
			t.Fatalf("batch %d begins at row %d, want %d at %d", b.Index, b.FirstRow, i, at)
		}
		rows = rows[:0]
		for range b.URLs.Len() {
			rows = append(rows, at%n)
			at++
		}
		for j, column := range b.Table.(arrow.Record).Columns() {
			tablestest.SameRows(t, column, record.Column(j), rows)
		}
	}
	if at != 2*n {
		t.Fatalf("%d rows, want %d", at, 2*n)
	}
	at = 0
	out := writeAll(t, SinkOptions{Layout: batch.Layout{URLColumn: "url"}, Schema: s.Schema()}, batches, func(rows int) *batch.Verdicts {
		v := tablestest.Verdicts(rows)
		v.Selected = make([]byte, (rows+7)/8)
		for k := range rows {
			if selection>>(at%n)&1 == 1 {
				v.Selected[k>>3] |= 1 << (k & 7)
				want = append(want, at%n)
			}
			at++
		}
		return v
	})
	_, again, err := readAll(out, Options{Name: "again"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range again {
		got := b.Table.(arrow.Record)
		for j := range record.Columns() {
			if !arrow.TypeEqual(got.Column(j).DataType(), record.Column(j).DataType()) {
				t.Fatalf("column %d came out as %s", j, got.Column(j).DataType())
			}
			tablestest.SameRows(t, got.Column(j), record.Column(j), want[:b.URLs.Len()])
		}
		want = want[b.URLs.Len():]
	}
	if len(want) > 0 {
		t.Fatalf("%d rows are missing", len(want))
	}
}

// Dictionaries come out with 32-bit indices or, of anything but strings, as
// their values.
func TestDictionaries(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		if !strings.HasPrefix(c.Name, "dictionary") {
			continue
		}
		record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(c.Array.Len(), true), c.Array)
		data := libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, 7, record)
		for pass := range 2 { // as the library writes it, and as it is written here
			s, batches, err := readAll(data, Options{BatchRows: 5})
			if err != nil {
				t.Fatal(err)
			}
			row := 0
			for _, b := range batches {
				got := b.Table.(arrow.Record).Column(1)
				for i := range got.Len() {
					if got.ValueStr(i) != c.Array.ValueStr(row) {
						t.Errorf("%s: row %d is %s, want %s", c.Name, row, got.ValueStr(i), c.Array.ValueStr(row))
					}
					row++
				}
			}
			if row != c.Array.Len() {
				t.Errorf("%s: %d rows", c.Name, row)
			}
			if pass == 1 {
				break
			}
			data = writeAll(t, SinkOptions{Layout: batch.Layout{URLColumn: "url"}, Schema: s.Schema()}, batches, tablestest.Verdicts)
		}
	}
}
