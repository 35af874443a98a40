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
	"github.com/apache/arrow/go/v15/parquet/file"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/frontier/tableio/tablestest"
	codecs "robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables"
)

// badLibrary are types of which the library writes something else, or wrong counts.
var badLibrary = map[string]bool{"null": true, "naive timestamp": true}

// Every type that Parquet has comes through reading, cutting, selecting and
// writing; for the others NewSink names the column.
func TestEveryTypePassesThrough(t *testing.T) {
	passed := 0
	for _, c := range tablestest.Columns(t) {
		t.Run(c.Name, func(t *testing.T) {
			record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(c.Array.Len(), true), c.Array)
			if _, err := NewSink(new(output), SinkOptions{Codec: codecs.Zstd, Layout: batch.Layout{URLColumn: "url"}, Schema: record.Schema()}); err != nil {
				must.Be(t, strings.Contains(err.Error(), `"x"`), "%v does not name the column", err)
				t.Skip(err)
			}
			if notes := notesOf(t, record); notes != nil {
				t.Skip(notes)
			}
			passed++
			for _, size := range []int{0, 1, 5} {
				for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
					for _, selection := range []uint16{0xFFF, 0b1010_0111_0110, 0} {
						t.Run(fmt.Sprintf("rows=%d/pages=%d/selection=%b", size, version, selection), func(t *testing.T) {
							data, err := tryLibraryWrite(compress.Codecs.Snappy, version, 7, record, record)
							if err != nil || badLibrary[c.Name] {
								data = writeRecord(t, record, record)
							}
							testPass(t, data, record, size, selection)
						})
					}
				}
			}
		})
	}
	must.Be(t, passed >= 20, "only %d types can be written", passed)
}

func testPass(t *testing.T, data []byte, record arrow.Record, size int, selection uint16) {
	n := int(record.NumRows())
	s, batches, err := readAll(data, Options{Name: "test", BatchRows: size})
	must.Do(t, err)
	var rows, want []int
	at := 0
	for i, b := range batches {
		must.Need(t, b.Index == i && b.FirstRow == int64(at), "batch %d begins at row %d, want %d at %d", b.Index, b.FirstRow, i, at)
		rows = rows[:0]
		for range b.URLs.Len() {
			rows = append(rows, at%n)
			at++
		}
		for j, column := range b.Table.(arrow.Record).Columns() {
			tablestest.SameRows(t, column, record.Column(j), rows)
		}
	}
	must.Need(t, at == 2*n, "%d rows, want %d", at, 2*n)
	at = 0
	out := writeAll(t, SinkOptions{Codec: codecs.Zstd, Layout: batch.Layout{URLColumn: "url"}, Schema: s.Schema()}, batches, func(rows int) *batch.Verdicts {
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
	must.Do(t, err)
	for _, b := range again {
		got := b.Table.(arrow.Record)
		for j := range record.Columns() {
			must.Need(t, arrow.TypeEqual(got.Column(j).DataType(), record.Column(j).DataType()), "column %d came out as %s", j, got.Column(j).DataType())
			tablestest.SameRows(t, got.Column(j), record.Column(j), want[:b.URLs.Len()])
		}
		want = want[b.URLs.Len():]
	}
	must.Need(t, len(want) == 0, "%d rows are missing", len(want))
}

// notesOf says what of a table comes out of a file as another type than it was.
func notesOf(t *testing.T, record arrow.Record) []string {
	t.Helper()
	sink := must.Get(NewSink(new(output), SinkOptions{Codec: codecs.Zstd, Layout: batch.Layout{URLColumn: "url"}, Schema: record.Schema()}))(t)
	s, _, err := readAll(writeRecord(t, record), Options{})
	must.Do(t, err)
	return append(sink.Notes(), s.Notes()...)
}

// What is written as another type than it was has a note and its values.
func TestOtherTypesKeepTheirValues(t *testing.T) {
	units := map[string]bool{"date64": true, "time32": true, "timestamp[s]": true, "time32[s]": true} // are counted in another one
	changed := 0
	for _, c := range tablestest.Columns(t) {
		record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(c.Array.Len(), true), c.Array)
		if _, err := NewSink(new(output), SinkOptions{Codec: codecs.Zstd, Layout: batch.Layout{URLColumn: "url"}, Schema: record.Schema()}); err != nil {
			continue
		}
		if notesOf(t, record) == nil || units[c.Name] {
			continue
		}
		changed++
		_, batches, err := readAll(writeRecord(t, record), Options{BatchRows: 5})
		must.Do(t, err)
		row := 0
		for _, b := range batches {
			got := b.Table.(arrow.Record).Column(1)
			for i := range got.Len() {
				must.Equal(t, got.ValueStr(i), plainValue(c.Array, row), c.Name, "row", row)
				row++
			}
		}
		must.Equal(t, row, c.Array.Len(), c.Name, "rows")
	}
	must.Be(t, changed >= 8, "only %d types are changed", changed)
}

// plainValue returns the text of a value behind dictionaries and runs.
func plainValue(a arrow.Array, i int) string {
	plain := array.MakeFromData(tables.Plain(a.Data().(*array.Data), memory.DefaultAllocator))
	if list, ok := plain.(*array.List); ok && plain.DataType().(*arrow.ListType).Elem().ID() == arrow.DICTIONARY {
		values := array.MakeFromData(tables.Plain(list.ListValues().Data().(*array.Data), memory.DefaultAllocator))
		data := array.NewData(arrow.ListOf(values.DataType()), list.Len(), list.Data().Buffers(), []arrow.ArrayData{values.Data()}, list.NullN(), list.Offset())
		plain = array.MakeFromData(data)
	}
	return plain.ValueStr(i)
}

// writeRecord writes records with a column of URLs first.
func writeRecord(t *testing.T, records ...arrow.Record) []byte {
	t.Helper()
	var batches []*batch.Batch
	for _, record := range records {
		urls := must.Get(tableio.URLs(record.Column(0).Data().(*array.Data), 1<<20))(t)
		batches = append(batches, &batch.Batch{URLs: urls, Table: record})
	}
	return write(t, SinkOptions{Codec: codecs.Zstd, Layout: batch.Layout{URLColumn: "url"}, Schema: records[0].Schema()}, batches, tablestest.Verdicts)
}

// Of a table of many columns hardly more is read than that of the URLs when no
// other comes out.
func TestReadsTheURLsAlone(t *testing.T) {
	const rows, columns = 20_000, 6 // more bytes of each column than are read with the footer
	rng := rand.New(rand.NewPCG(1, 1))
	var fields []arrow.Field
	var arrays []arrow.Array
	for i := range columns {
		name := fmt.Sprintf("c%d", i)
		if i == 3 {
			name = "url"
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for range rows {
			b.Append(fmt.Sprintf("https://%s.example/%016x%016x", name, rng.Uint64(), rng.Uint64()))
		}
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
		arrays = append(arrays, b.NewArray())
	}
	record := array.NewRecord(arrow.NewSchema(fields, nil), arrays, rows)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip} {
		data := libraryWrite(t, codec, parquet.DataPageV1, 6000, record)
		for _, keep := range []batch.Keep{batch.KeepNone, batch.KeepURL} {
			read := readBytes(t, data, Options{Name: "in", Keep: keep, BatchRows: 1000})
			most := urlBytes(t, data) * 12 / 10
			must.Be(t, read <= most, "%s: %d bytes read of %d, want at most %d", codec, read, len(data), most)
		}
	}
}

// readBytes is how much of a file reading all its batches reads.
func readBytes(t *testing.T, data []byte, o Options) int64 {
	t.Helper()
	f := &countedFile{memoryFile: fileOf(data)}
	s := must.Get(Open(f, int64(len(data)), o))(t)
	defer s.Close()
	must.Do(t, tablestest.Each(s, func(p batch.Piece) error { return must.Err(p.Decode()) }))
	return f.bytes.Load()
}

// urlBytes is how much of a file its URLs are.
func urlBytes(t *testing.T, data []byte) int64 {
	t.Helper()
	f := must.Get(file.NewParquetReader(bytes.NewReader(data)))(t)
	total := int64(0)
	for i := range f.NumRowGroups() {
		chunk := must.Get(f.MetaData().RowGroup(i).ColumnChunk(f.MetaData().Schema.ColumnIndexByName("url")))(t)
		total += chunk.TotalCompressedSize()
	}
	return total
}
