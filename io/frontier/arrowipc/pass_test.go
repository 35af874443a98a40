package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
	"robotsbatch/matcher"
)

var passedLayout = batch.Layout{URLColumn: "url", Verdicts: []batch.VerdictColumn{
	{Name: "allowed", Kind: batch.Allowed}, {Name: "reason", Kind: batch.Explaining[0]}, {Name: "rule_line", Kind: batch.Explaining[2]},
}}

// passedVerdicts are verdicts whose reasons differ from row to row.
func passedVerdicts(first int64, rows int) *batch.Verdicts {
	v := tablestest.Verdicts(rows)
	a := &v.Agents[0]
	a.Explanations = []batch.Explanation{{Line: 7}, {Line: 9}}
	for i := range rows {
		row := int(first) + i
		a.Reasons = append(a.Reasons, []matcher.Reason{matcher.AllowRule, matcher.NoGroup, matcher.InvalidURL}[row%3])
		a.Rules = append(a.Rules, int32(row%3)-1)
	}
	return v
}

// passThrough lets an input pass through.
func passThrough(data []byte, pipe, stream bool, batchRows int) ([]byte, error) {
	return selecting{pipe: pipe, stream: stream, all: true, options: Options{Name: "in", BatchRows: batchRows}, verdicts: passedVerdicts}.filtered(data)
}

// passSelected lets the rows of an input pass through that the verdicts select.
func passSelected(data []byte, pipe, stream bool, batchRows int, verdicts func(first int64, rows int) *batch.Verdicts) ([]byte, error) {
	return passKept(data, pipe, stream, Options{Name: "in", BatchRows: batchRows}, verdicts)
}

// passKept lets the columns pass through that the options keep.
func passKept(data []byte, pipe, stream bool, o Options, verdicts func(first int64, rows int) *batch.Verdicts) ([]byte, error) {
	return selecting{pipe: pipe, stream: stream, options: o, verdicts: verdicts}.filtered(data)
}

func passPiece(w batch.Sink, p batch.Piece, verdicts func(first int64, rows int) *batch.Verdicts) error {
	b, err := p.Decode()
	if err != nil {
		return err
	}
	defer b.Release()
	chunk, err := w.Encode(b, verdicts(b.FirstRow, b.URLs.Len()))
	if err == nil {
		err = w.Write(chunk)
	}
	return err
}

// messagesOf are those of a file or a stream but for the schema, dictionaries first.
func messagesOf(t *testing.T, data []byte) (dictionaries, records []*layout.Frame) {
	t.Helper()
	f := must.Get(framerOf(data, false))(t)
	eachMessage(t, f, func(m *layout.Frame) {
		switch m.Kind {
		case layout.KindDictionary:
			dictionaries = append(dictionaries, m)
		case layout.KindRecord:
			records = append(records, m)
		}
	})
	return dictionaries, records
}

// framerOf reads a stream, or a file when it is one and pipe is false.
func framerOf(data []byte, pipe bool) (layout.Framer, error) {
	if !pipe && bytes.HasPrefix(data, []byte(layout.Magic)) {
		return layout.OpenFile(bytes.NewReader(data), int64(len(data)), layout.Framing{Limit: 1 << 30})
	}
	return layout.OpenStream(bytes.NewReader(data), layout.Framing{Limit: 1 << 30})
}

// streamOf reads a stream.
func streamOf(t *testing.T, data []byte) layout.Framer {
	t.Helper()
	return must.Get(framerOf(data, true))(t)
}

// eachMessage calls do with each message.
func eachMessage(t *testing.T, f layout.Framer, do func(*layout.Frame)) {
	t.Helper()
	for {
		m, err := f.Next()
		if err == io.EOF {
			return
		}
		must.Do(t, err)
		do(m)
	}
}

// Of every type, before and behind the URLs, the bytes come out that went in, and the
// library reads them as what they were. If rows are selected, they come out whatever the
// pieces, and a record batch of which none is selected is gone.
func TestPassThroughEveryType(t *testing.T) {
	for _, c := range tablestest.Columns(t) {
		urls := tablestest.URLArray(c.Array.Len(), true)
		record := tablestest.NewRecord([]string{"x", "url", "y"}, c.Array, urls, c.Array)
		for _, e := range encodings {
			data := libraryWrite(t, e, record.Schema(), record, record)
			for _, rows := range []int{0, 8} {
				for _, pipe := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/rows=%d/pipe=%v", c.Name, e, rows, pipe), func(t *testing.T) {
						testPassThrough(t, data, pipe, e.stream, rows, record)
					})
				}
			}
			for i, bits := range selections {
				rows, pipe := []int{0, 5, 8}[i%3], i%2 == 1
				t.Run(fmt.Sprintf("%s/%s/rows=%d/selected=%x", c.Name, e, rows, bits), func(t *testing.T) {
					testSelected(t, data, pipe, e.stream || pipe, rows, bits, record)
				})
			}
		}
	}
}

func testPassThrough(t *testing.T, data []byte, pipe, stream bool, batchRows int, record arrow.Record) {
	if !stream && pipe && !mustOpen(t, data).CanPassThrough(true, true) {
		stream = true // a file that comes through a pipe
	}
	out := must.Get(passThrough(data, pipe, stream, batchRows))(t)
	compareMessages(t, out, data)
	schema, records := tablestest.ReadArrow(t, out)
	must.Need(t, len(records) == 2 && schema.NumFields() == 6, "%d record batches of %s", len(records), schema)
	for i, field := range record.Schema().Fields() {
		must.Be(t, schema.Field(i).Equal(field), "column %s, want %s", schema.Field(i), field)
	}
	first := int64(0)
	for _, got := range records {
		for i, column := range record.Columns() {
			must.Be(t, array.Equal(got.Column(i), column), "column %d: %v, want %v", i, got.Column(i), column)
		}
		want := passedVerdicts(first, int(got.NumRows()))
		for row := range int(got.NumRows()) {
			reason, line := got.Column(4).(*array.String), got.Column(5).(*array.Int32)
			must.Need(t, reason.Value(row) == want.Agents[0].Reasons[row].String() && line.IsNull(row) == (want.Agents[0].Rules[row] < 0),
				"row %d: %v, %v", row, reason.Value(row), line)
		}
		first += got.NumRows()
	}
	batches, err := readAll(out, pipe, Options{Name: "out"})
	must.Be(t, err == nil && len(batches) == 2, "%d batches, %v", len(batches), err)
}

func mustOpen(t *testing.T, data []byte) *Source {
	return must.Get(open(data, false, Options{Name: "in"}))(t)
}

// compareMessages checks that all messages of data are in out, byte for byte: the
// dictionaries whole, of record batches the body, the arrays and the buffers.
func compareMessages(t *testing.T, out, data []byte) {
	t.Helper()
	dictionaries, records := messagesOf(t, data)
	outDictionaries, outRecords := messagesOf(t, out)
	must.Need(t, len(dictionaries) == len(outDictionaries) && len(records) == len(outRecords),
		"%d dictionaries and %d record batches, want %d and %d", len(outDictionaries), len(outRecords), len(dictionaries), len(records))
	for i, d := range dictionaries {
		got := outDictionaries[i]
		must.Be(t, bytes.Equal(got.Meta(), d.Meta()) && bytes.Equal(got.Bytes, d.Bytes), "dictionary %d differs", i)
	}
	for i, r := range records {
		got, err := outRecords[i].Batch()
		want, err2 := r.Batch()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if !slices.Equal(got.Nodes[:len(want.Nodes)], want.Nodes) || !slices.Equal(got.Buffers[:len(want.Buffers)], want.Buffers) || !slices.Equal(got.Variadic, want.Variadic) || got.Codec != want.Codec {
			t.Errorf("record batch %d has %+v, want %+v", i, got, want)
		}
		must.Be(t, bytes.HasPrefix(outRecords[i].Bytes, r.Bytes), "the body of record batch %d differs", i)
	}
}

// A stream may replace and extend dictionaries; they come out in their order, and those of a
// record batch that is left out come out as well: those that follow may extend them.
func TestPassThroughDictionaries(t *testing.T) {
	records := []arrow.Record{
		dictionaryRecord(t, `[1,0,null]`, `["https://a.test/","https://b.test/"]`),
		dictionaryRecord(t, `[2,0]`, `["https://a.test/","https://b.test/","https://c.test/"]`),
		dictionaryRecord(t, `[1]`, `["https://d.test/","https://e.test/"]`),
	}
	data := libraryWrite(t, encoding{true, compress.Zstd}, records[0].Schema(), records...)
	out := must.Get(passThrough(data, true, true, 0))(t)
	compareMessages(t, out, data)
	batches := must.Get(readAll(out, true, Options{Name: "out"}))(t)
	got, want := urlsOf(batches), "https://b.test/ https://a.test/ - https://c.test/ https://a.test/ https://e.test/"
	must.Be(t, got == want && len(batches) == 3, "%s, want %s", got, want)
	src := mustOpen(t, data)
	defer src.Close()
	must.Be(t, !src.CanPassThrough(false, false) && !src.CanPassThrough(true, true),
		"dictionaries that may be replaced pass into a file, or those of several inputs into one output")
	for bits, want := range map[uint32]string{
		0b001_000: "https://c.test/", 0b110_000: "https://a.test/ https://e.test/", 0b010_010: "https://a.test/ https://a.test/",
	} {
		out := must.Get(passSelected(data, true, true, 0, selected(bits)))(t)
		batches, err := readAll(out, true, Options{Name: "out"})
		got := urlsOf(batches)
		must.Be(t, err == nil && got == want, "%b: %s, want %s (%v)", bits, got, want, err)
	}
}

// A record batch without rows stays one.
func TestPassThroughNoRows(t *testing.T) {
	urls, none := tablestest.URLArray(3, false), tablestest.URLArray(0, false)
	record := tablestest.NewRecord([]string{"url"}, urls)
	data := libraryWrite(t, encoding{false, compress.LZ4}, record.Schema(), tablestest.NewRecord([]string{"url"}, none), record)
	out := must.Get(passThrough(data, false, false, 2))(t)
	compareMessages(t, out, data)
	if _, records := tablestest.ReadArrow(t, out); records[0].NumRows() != 0 || records[1].NumRows() != 3 {
		t.Errorf("%d and %d rows", records[0].NumRows(), records[1].NumRows())
	}
}

// A type of a later version of the format passes through behind the URLs; before them
// nobody can tell where the URLs are, and nothing else can be made of it.
func TestPassThroughUnknownTypes(t *testing.T) {
	x := tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[1,null,3]`)
	for _, behind := range []bool{true, false} {
		names, columns := []string{"x", "url"}, []arrow.Array{x, tablestest.URLArray(3, false)}
		if behind {
			slices.Reverse(names)
			slices.Reverse(columns)
		}
		record := tablestest.NewRecord(names, columns...)
		data := libraryWrite(t, encoding{true, compress.Zstd}, record.Schema(), record)
		f := must.Get(streamOf(t, data).Next())(t)
		fields := positions(f.Table, 1)
		number := 0
		if behind {
			number = 1
		}
		data[layout.FramePrefix+f.Table.Flat.Table(fields[number]).Field(2, 1)] = 77 // the kind of the type
		out, err := passThrough(data, true, true, 0)
		if !behind {
			must.Say(t, err, layout.ErrUnsupported.Error(), "before the URLs")
			continue
		}
		must.Do(t, err)
		compareMessages(t, out, data)
		must.Be(t, !mustOpen(t, data).CanPassThrough(true, true), "unknown types of several inputs pass into one output")
		if _, err := readAll(data, true, Options{Name: "in"}); err == nil || !strings.Contains(err.Error(), layout.ErrUnsupported.Error()) || !strings.Contains(err.Error(), `column "x"`) ||
			!strings.HasSuffix(err.Error(), "is not known here: write Arrow with all rows and columns, or leave it out with columns url") {
			t.Errorf("decoding all columns: %v", err)
		}
	}
}

// A changed byte in what passes through is the same changed byte in the output, and
// nothing else is.
func TestPassThroughDamage(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false),
		tablestest.FromJSON(t, arrow.BinaryTypes.String, `["a","b","c","d","e","f","g","h","i","j","k","l"]`))
	data := libraryWrite(t, encoding{false, compress.None}, record.Schema(), record)
	whole := must.Get(passThrough(data, false, false, 0))(t)
	file := must.Get(layout.OpenFile(bytes.NewReader(data), int64(len(data)), layout.Framing{Limit: 1 << 30}))(t)
	b, meta := file.Footer.Batches[0], mustBatch(t, file)
	for _, buffer := range meta.Buffers[3:] {
		for i := range buffer.Length {
			changed := must.Flipped(data, b.Offset+int64(b.Meta)+buffer.Offset+i, 0x10)
			out := must.Get(passThrough(changed, false, false, 0))(t)
			differ := 0
			for k := range out {
				if out[k] != whole[k] {
					differ++
				}
			}
			must.Need(t, differ == 1 && len(out) == len(whole), "%d bytes differ", differ)
		}
	}
}

func mustBatch(t *testing.T, file *layout.FileFramer) *layout.BatchMeta {
	f := must.Get(file.Next())(t)
	return must.Get(f.Batch())(t)
}

// What the program wrote around the columns that passed through has a checksum, and so
// has all of a record batch that is decoded.
func TestPassThroughSums(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(12, false), tablestest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1,2,3,4,5,6,7,8,9,10,11,12]`))
	for _, stream := range []bool{false, true} {
		data := libraryWrite(t, encoding{stream, compress.None}, record.Schema(), record)
		_, records := messagesOf(t, data)
		for n, out := range [][]byte{must.Get(passThrough(data, false, stream, 0))(t), must.Get(passSelected(data, false, stream, 5, selected(0b0110_0101)))(t)} {
			at := bytes.Index(out, records[0].Bytes)
			must.Equal(t, at >= 0, n == 0, "the columns pass through")
			for i := range out {
				if at >= 0 && at <= i && i < at+len(records[0].Bytes)+8 { // with padding
					continue
				}
				must.Be(t, decodeAll(must.Flipped(out, i, 1), stream) != nil, "stream %v, output %d: byte %d of %d: no error", stream, n, i, len(out))
			}
		}
	}
}

// A stream of before Arrow 1.0 comes out as one of today: other readers refuse messages of
// the old version that have a key of ours.
func TestPassThroughOldVersion(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "text", "n"}, tablestest.URLArray(9, true), tablestest.URLArray(9, true), tablestest.URLArray(9, false))
	for _, stream := range []bool{false, true} {
		data := oldVersion(t, libraryWrite(t, encoding{stream: true}, record.Schema(), record, record))
		for name, verdicts := range map[string]func(int64, int) *batch.Verdicts{
			"all": passedVerdicts,
			"some": func(first int64, rows int) *batch.Verdicts {
				v := passedVerdicts(first, rows)
				tablestest.Select(v, func(row int) bool { return row%3 != 0 })
				return v
			},
		} {
			out := must.Get(passSelected(data, false, stream, 4, verdicts))(t)
			_, records := messagesOf(t, out)
			for i, r := range records {
				if h, err := layout.ParseHeader(r.Meta()); err != nil || h.Version != layout.MetadataV5 {
					t.Errorf("%s: record batch %d has version %d: %v", name, i, h.Version, err)
				}
			}
			must.Equal(t, len(records), 2, name, "record batches")
			h, err := layout.ParseHeader(bytes.TrimPrefix(out, []byte(layout.MagicPadded))[layout.FramePrefix:])
			must.Be(t, err == nil && h.Kind == layout.KindSchema && h.Version == layout.MetadataV5, "%s: the schema has version %d: %v", name, h.Version, err)
		}
	}
}

// oldVersion makes the messages of a stream ones of before Arrow 1.0.
func oldVersion(t *testing.T, data []byte) []byte {
	t.Helper()
	data = bytes.Clone(data)
	for at := 0; at+layout.FramePrefix <= len(data); {
		size := int(binary.LittleEndian.Uint32(data[at+4:]))
		if size == 0 {
			break
		}
		meta := data[at+layout.FramePrefix:][:size]
		h := must.Get(layout.ParseHeader(meta))(t)
		root := layout.NewFlat(meta).Root()
		binary.LittleEndian.PutUint16(meta[root.Field(0, 2):], layout.MetadataV4)
		at += layout.FramePrefix + size + int(h.BodyLength+7)&^7
	}
	return data
}

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

func testSelected(t *testing.T, data []byte, pipe, stream bool, batchRows int, bits uint32, record arrow.Record) {
	out := must.Get(passSelected(data, pipe, stream, batchRows, selected(bits)))(t)
	_, records := tablestest.ReadArrow(t, out)
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
			changed := must.Flipped(data, i, bit)
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
	schema, records := tablestest.ReadArrow(t, out)
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
