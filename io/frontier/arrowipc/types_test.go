package arrowipc

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// Every type comes through reading, cutting, selecting and writing.
func TestEveryTypePassesThrough(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		t.Run(c.Name, func(t *testing.T) {
			n := c.Array.Len()
			record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(n, true), c.Array)
			for _, e := range encodings {
				data := libraryWrite(t, e, record.Schema(), record, record)
				sizes, selections := []int{0, 1, 5}, []uint16{0xFFF, 0, 0b1010_0111_0110}
				if e.compression != compress.None {
					sizes, selections = sizes[2:], selections[2:3]
				}
				for _, size := range sizes {
					for _, selection := range selections {
						t.Run(fmt.Sprintf("%s/rows=%d/selection=%b", e, size, selection), func(t *testing.T) {
							testPass(t, e, data, record, size, selection)
						})
					}
				}
			}
		})
	}
}

func testPass(t *testing.T, e encoding, data []byte, record arrow.Record, size int, selection uint16) {
	batches := must.Get(readAll(data, size == 1, Options{Name: "test", BatchRows: size}))(t)
	var out output
	s := must.Get(NewSink(&out, SinkOptions{
		Layout: batch.Layout{URLColumn: "url", Verdicts: []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}},
		Schema: record.Schema(), Codec: e.compression, Stream: e.stream,
	}))(t)
	rows := 0
	var want, all []int // rows of record
	for i := range int(record.NumRows()) {
		all = append(all, i)
	}
	for i, b := range batches {
		must.Need(t, b.Index == i && b.FirstRow == int64(rows), "batch %d begins at row %d, want %d at %d", b.Index, b.FirstRow, i, rows)
		low := rows % int(record.NumRows())
		table := b.Table.(arrow.Record)
		for j, column := range table.Columns() {
			tablestest.SameRows(t, column, record.Column(j), all[low:low+b.URLs.Len()])
		}
		v := tablestest.Verdicts(b.URLs.Len())
		if selection != 0xFFF {
			v.Selected = make([]byte, (v.Rows+7)/8)
			for k := range v.Rows {
				if selection>>(low+k)&1 == 1 {
					v.Selected[k>>3] |= 1 << (k & 7)
				}
			}
		}
		for k := range v.Rows {
			if selection>>(low+k)&1 == 1 {
				want = append(want, low+k)
			}
		}
		chunk := must.Get(s.Encode(b, v))(t)
		must.Do(t, s.Write(chunk))
		rows += b.URLs.Len()
	}
	must.Need(t, rows == 2*int(record.NumRows()), "%d rows, want %d", rows, 2*record.NumRows())
	must.Do(t, s.Close())
	must.Need(t, out.closed && !out.aborted, "the output was not closed")
	comparePass(t, out.Bytes(), record, want)
}

// comparePass compares what the library reads with rows of record.
func comparePass(t *testing.T, data []byte, record arrow.Record, want []int) {
	schema, records := libraryRead(t, data)
	for i, field := range record.Schema().Fields() {
		must.Need(t, schema.Field(i).Equal(field), "column %v came out as %v", field, schema.Field(i))
	}
	for _, got := range records {
		n := int(got.NumRows())
		for i := range record.Columns() {
			tablestest.SameRows(t, got.Column(i), record.Column(i), want[:n])
		}
		want = want[n:]
	}
	must.Need(t, len(want) == 0, "%d rows are missing", len(want))
}
