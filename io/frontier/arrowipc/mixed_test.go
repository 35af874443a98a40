package arrowipc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
)

// selections are of the rows of two record batches of 12 rows.
var selections = []uint32{0xFFF, 0xFFF000, 0x5A5FFF, 0xFFF801, 0xA5A_666, 0x000_001, 0x800_000, 0}

// selected are verdicts of which those rows come out whose bit is set.
func selected(bits uint32) func(first int64, rows int) *batch.Verdicts {
	return func(first int64, rows int) *batch.Verdicts {
		v := passedVerdicts(first, rows)
		tablestest.Select(v, func(i int) bool { return bits>>(int(first)+i)&1 == 1 })
		return v
	}
}

// Of every type those rows come out that are selected, whatever the pieces; a record
// batch of which none does is gone.
func TestPassThroughSelected(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		urls := tablestest.URLArray(c.Array.Len(), true)
		record := tablestest.NewRecord([]string{"x", "url", "y"}, c.Array, urls, c.Array)
		for _, e := range encodings {
			data := libraryWrite(t, e, record.Schema(), record, record)
			for i, bits := range selections {
				rows, pipe := []int{0, 5, 8}[i%3], i%2 == 1
				t.Run(fmt.Sprintf("%s/%s/rows=%d/selected=%x", c.Name, e, rows, bits), func(t *testing.T) {
					testSelected(t, data, pipe, e.stream || pipe, rows, bits, record)
				})
			}
		}
	}
}

func testSelected(t *testing.T, data []byte, pipe, stream bool, batchRows int, bits uint32, record arrow.Record) {
	out := must.Get(passSelected(data, pipe, stream, batchRows, selected(bits)))(t)
	_, records := libraryRead(t, out)
	for k := range 2 {
		var rows []int
		for row := range 12 {
			if bits>>(12*k+row)&1 == 1 {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			continue
		}
		must.Need(t, len(records) != 0, "record batch %d is missing", k)
		for i, column := range record.Columns() {
			got := records[0].Column(i)
			must.Be(t, arrow.TypeEqual(got.DataType(), column.DataType()), "column %d is %s", i, got.DataType())
			tablestest.SameRows(t, records[0].Column(i), column, rows)
		}
		want, reasons := passedVerdicts(int64(12*k), 12), records[0].Column(4).(*array.String)
		for i, row := range rows {
			must.Equal(t, reasons.Value(i), want.Agents[0].Reasons[row].String(), "row", row, "record batch", k, "reason")
		}
		records = records[1:]
	}
	must.Be(t, len(records) == 0, "%d more record batches", len(records))
	must.Get(readAll(out, stream, Options{Name: "out"}))(t)
}

// The dictionaries of a record batch that is left out come out: those that follow may
// extend them.
func TestPassThroughSelectedDictionaries(t *testing.T) {
	records := []arrow.Record{
		dictionaryRecord(t, `[1,0,null]`, `["https://a.test/","https://b.test/"]`),
		dictionaryRecord(t, `[2,0]`, `["https://a.test/","https://b.test/","https://c.test/"]`),
		dictionaryRecord(t, `[1]`, `["https://d.test/","https://e.test/"]`),
	}
	data := libraryWrite(t, encoding{true, compress.Zstd}, records[0].Schema(), records...)
	for bits, want := range map[uint32]string{
		0b001_000: "https://c.test/", 0b110_000: "https://a.test/ https://e.test/", 0b010_010: "https://a.test/ https://a.test/",
	} {
		out := must.Get(passSelected(data, true, true, 0, selected(bits)))(t)
		batches, err := readAll(out, true, Options{Name: "out"})
		got := urlsOf(batches)
		must.Be(t, err == nil && got == want, "%b: %s, want %s (%v)", bits, got, want, err)
	}
}

// What a record batch says of itself besides its columns stays, and where it is decoded
// all of it has a checksum.
func TestPassThroughSelectedSums(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false), tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1,2,3,4,5,6,7,8,9,10,11,12]`))
	for _, stream := range []bool{false, true} {
		data := libraryWrite(t, encoding{stream, compress.None}, record.Schema(), record)
		out := must.Get(passSelected(data, false, stream, 5, selected(0b0110_0101)))(t)
		for i := range out {
			changed := bytes.Clone(out)
			changed[i] ^= 1
			must.Be(t, decodeAll(changed, stream) != nil, "stream %v: byte %d of %d: no error", stream, i, len(out))
		}
	}
}

// A column of an unknown type is an error that names it where rows are left out.
func TestPassThroughSelectedUnknownType(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false), tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[1,2,3,4,5,6,7,8,9,10,11,12]`))
	data := libraryWrite(t, encoding{true, compress.Zstd}, record.Schema(), record, record)
	schema := must.Get(streamOf(t, data).Next())(t)
	data[layout.FramePrefix+schema.Table.Flat.Table(positions(schema.Table, 1)[1]).Field(2, 1)] = 77
	must.Get(passThrough(data, true, true, 0))(t)
	if _, err := passSelected(data, true, true, 0, selected(0xFFF)); err == nil || !strings.Contains(err.Error(), layout.ErrUnsupported.Error()) || !strings.Contains(err.Error(), `column "x"`) {
		t.Errorf("a mixed record batch: %v", err)
	}
}

// Whatever the input says, mixed record batches give an error or a whole output.
func TestPassThroughSelectedHostile(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false),
		tablestest.FromJSON(t, arrow.ListOf(arrow.BinaryTypes.String), `[["a","b"],[],null,["d"],[null],["h"],["j"],null,["l","m"],["n","o"],["p"],["r","s"]]`))
	data := libraryWrite(t, encoding{true, compress.None}, record.Schema(), record)
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			changed := bytes.Clone(data)
			changed[i] ^= bit
			out, err := passSelected(changed, true, true, 5, selected(0b0110_0101))
			if err == nil {
				err = decodeAll(out, true)
			}
			must.Need(t, err == nil || !strings.Contains(err.Error(), "internal"), "byte %d: %v", i, err)
		}
	}
}

// With the URLs alone their buffers pass through, and nothing else of the input does,
// but of types that hold URLs all with their dictionaries.
func TestPassThroughURLs(t *testing.T) {
	texts := `["https://a.test/","https://b.test/",null,"https://c.test/long/enough/to/lie/outside","https://a.test/","x"]`
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, dictionary} {
		urls := tablestest.FromJSON(t, dt, texts)
		other := tablestest.FromJSON(t, dictionary, `["secret","b","c","d","e","f"]`)
		record := tablestest.NewRecord([]string{"allowed", "url", "y"}, other, urls, other)
		for _, e := range encodings {
			data := libraryWrite(t, e, record.Schema(), record, record)
			for _, bits := range []uint32{0xFFF, 0x5D5, 0b101_111_111, 0} {
				for _, pipe := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/selected=%x/pipe=%v", dt, e, bits, pipe), func(t *testing.T) {
						out := must.Get(passKept(data, pipe, e.stream || pipe, Options{Name: "in", BatchRows: 4, Keep: batch.KeepURL}, selected(bits)))(t)
						testURLs(t, out, bits, urls)
					})
				}
			}
		}
	}
}

func testURLs(t *testing.T, out []byte, bits uint32, urls arrow.Array) {
	must.Be(t, !bytes.Contains(out, []byte("secret")), "another column came out")
	schema, records := libraryRead(t, out)
	must.Need(t, schema.NumFields() == 4 && schema.Field(0).Name == "url" && schema.Field(1).Name == "allowed", "%v", schema)
	for k := range 2 {
		var rows []int
		for row := range 6 {
			if bits>>(6*k+row)&1 == 1 {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			continue
		}
		tablestest.SameRows(t, records[0].Column(0), urls, rows)
		records = records[1:]
	}
	must.Be(t, len(records) == 0, "%d more record batches", len(records))
	must.Get(readAll(out, false, Options{Name: "out"}))(t)
}
