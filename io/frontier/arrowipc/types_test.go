package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
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
		must.Do(t, s.Write(must.Get(s.Encode(b, v))(t)))
		rows += b.URLs.Len()
	}
	must.Need(t, rows == 2*int(record.NumRows()), "%d rows, want %d", rows, 2*record.NumRows())
	must.Do(t, s.Close())
	must.Need(t, out.closed && !out.aborted, "the output was not closed")
	comparePass(t, out.Bytes(), record, want)
}

// comparePass compares what the library reads with rows of record.
func comparePass(t *testing.T, data []byte, record arrow.Record, want []int) {
	schema, records := tablestest.ReadArrow(t, data)
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

// smallDecimals returns a stream with a column of a type that make makes of decimals of
// some bits, of the values that text has as integers.
func smallDecimals(t *testing.T, c compress.Codec, bits int, text string, makeType func(arrow.DataType) arrow.DataType) []byte {
	t.Helper()
	var integers arrow.DataType = arrow.PrimitiveTypes.Int32
	if bits == 64 {
		integers = arrow.PrimitiveTypes.Int64
	}
	values := tablestest.FromJSON(t, makeType(integers), text)
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(values.Len(), false), values)
	data := libraryWrite(t, encoding{true, c}, record.Schema(), record, record)
	fields := record.Schema().Fields()
	fields[1].Type = makeType(&arrow.Decimal256Type{Precision: 10, Scale: 0})
	schema := libraryWrite(t, encoding{true, c}, arrow.NewSchema(fields, nil))
	h := must.Get(layout.ParseHeader(schema[layout.FramePrefix:]))(t)
	patched := 0
	var patch func(field layout.Table)
	patch = func(field layout.Table) {
		if dataType, ok := field.Table(3); ok && field.Uint8(2) == layout.TypeDecimal {
			binary.LittleEndian.PutUint32(schema[layout.FramePrefix+dataType.Field(2, 4):], uint32(bits))
			patched++
		}
		field.Tables(5, patch)
	}
	h.Table.Tables(1, patch)
	must.Need(t, patched != 0, "no decimals")
	return slices.Concat(schema[:headLength(schema)], data[headLength(data):])
}

// headLength is how many bytes the schema message of a stream has.
func headLength(stream []byte) int {
	return layout.FramePrefix + int(binary.LittleEndian.Uint32(stream[4:]))
}

// Decimals of 32 and 64 bits come out as decimals of 128 with the same values, wherever
// in a type they are.
func TestSmallDecimals(t *testing.T) {
	for _, test := range []struct {
		name, text string
		make       func(arrow.DataType) arrow.DataType
	}{
		{"flat", `[1,-2,null,2147483647,-2147483648,0]`, func(dt arrow.DataType) arrow.DataType { return dt }},
		{"list", `[[1,-2],null,[],[null,5],[-6],[7,8,9]]`, func(dt arrow.DataType) arrow.DataType { return arrow.ListOf(dt) }},
		{
			"struct", `[{"a":true,"b":-1,"c":[2]},null,{"a":null,"b":null,"c":[]},{"a":false,"b":4,"c":null},{"a":true,"b":5,"c":[null,-6]},{"a":true,"b":7,"c":[8]}]`,
			func(dt arrow.DataType) arrow.DataType {
				return arrow.StructOf(arrow.Field{Name: "a", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
					arrow.Field{Name: "b", Type: dt, Nullable: true}, arrow.Field{Name: "c", Type: arrow.ListOf(dt), Nullable: true})
			},
		},
		{
			"map", `[[{"key":"a","value":-1}],null,[],[{"key":"b","value":null},{"key":"c","value":2}],[{"key":"d","value":3}],[]]`,
			func(dt arrow.DataType) arrow.DataType { return arrow.MapOf(arrow.BinaryTypes.String, dt) },
		},
		{"dictionary", `[-1,2,null,2,-1,3]`, func(dt arrow.DataType) arrow.DataType {
			return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: dt}
		}},
	} {
		wide := tablestest.FromJSON(t, arrow.PrimitiveTypes.Int8, `[]`)
		if test.name != "dictionary" {
			wide = tablestest.FromJSON(t, test.make(&arrow.Decimal128Type{Precision: 10, Scale: 0}), quoted(test.text))
		}
		for _, bits := range []int{32, 64} {
			for _, c := range []compress.Codec{compress.None, compress.LZ4, compress.Zstd} {
				t.Run(fmt.Sprintf("%s/%d/%d", test.name, bits, c), func(t *testing.T) {
					data := smallDecimals(t, c, bits, test.text, test.make)
					source := mustOpen(t, data)
					want := fmt.Sprintf("column \"x\": decimal%d is written as decimal128", bits)
					must.EqualSlices(t, source.Notes(), []string{want})
					source.Close()
					compareWide(t, data, wide)
				})
			}
		}
	}
}

// compareWide compares column x of both record batches with wide, or, of a dictionary,
// with what its test has.
func compareWide(t *testing.T, data []byte, wide arrow.Array) {
	batches := must.Get(readAll(data, true, Options{Name: "in"}))(t)
	must.Need(t, len(batches) == 2, "%d batches", len(batches))
	for _, b := range batches {
		got := b.Table.(arrow.Record).Column(1)
		if d, ok := got.(*array.Dictionary); ok {
			var values []string
			for i := range got.Len() {
				values = append(values, dictionaryValue(d, i))
			}
			must.EqualSlices(t, values, []string{"-1", "2", "", "2", "-1", "3"})
			continue
		}
		must.Need(t, arrow.TypeEqual(got.DataType(), wide.DataType()), "%v, want %v", got.DataType(), wide.DataType())
		tablestest.SameRows(t, got, wide, []int{0, 1, 2, 3, 4, 5})
	}
}

// Where all rows come out small decimals pass byte for byte, and where some do they come
// out as they were.
func TestPassThroughSmallDecimals(t *testing.T) {
	dt := func(dt arrow.DataType) arrow.DataType { return arrow.ListOf(dt) }
	for _, bits := range []int{32, 64} {
		for _, c := range []compress.Codec{compress.None, compress.Zstd} {
			data := smallDecimals(t, c, bits, `[[1,-2],null,[],[null,5],[-6],[7,8,9]]`, dt)
			out := must.Get(passThrough(data, true, true, 0))(t)
			compareMessages(t, out, data)
			out = must.Get(passSelected(data, true, true, 0, selected(0b111111_101011)))(t)
			wide := tablestest.FromJSON(t, dt(&arrow.Decimal128Type{Precision: 10, Scale: 0}), quoted(`[[1,-2],null,[],[null,5],[-6],[7,8,9]]`))
			batches := must.Get(readAll(out, true, Options{Name: "out"}))(t)
			for i, rows := range [][]int{{0, 1, 3, 5}, {0, 1, 2, 3, 4, 5}} {
				tablestest.SameRows(t, batches[i].Table.(arrow.Record).Column(1), wide, rows)
			}
			s := must.Get(OpenStream(bytes.NewReader(out), Options{Name: "out"}))(t)
			must.Equal(t, s.reader.SmallDecimal(1), bits, "decimals of")
			s.Close()
		}
	}
}

// dictionaryValue is the text of the entry of a row, nothing for null.
func dictionaryValue(d *array.Dictionary, row int) string {
	if d.IsNull(row) {
		return ""
	}
	return d.Dictionary().ValueStr(d.GetValueIndex(row))
}

var integer = regexp.MustCompile(`-?[0-9]+`)

// quoted puts the integers of a text into quotation marks, as the library reads decimals.
func quoted(text string) string { return integer.ReplaceAllString(text, `"$0"`) }
