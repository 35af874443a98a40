package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
)

// goneTable is a table of which some rows are left out. Texts and numbers of rows that are kept,
// and those alone, lack the mark.
type goneTable struct {
	rng     *rand.Rand
	keep    []bool
	growing bool // each record batch adds values to dictionaries
}

const goneMark, goneRows = "GONE", 60 // rows of a record batch

// text returns the text of a row; several rows may have the same.
func (g *goneTable) text(row, distinct int) string {
	mark := "kept"
	if distinct > 0 {
		row %= distinct
		if !slices.ContainsFunc(g.rowsOf(row, distinct), func(row int) bool { return g.keep[row] }) {
			mark = goneMark
		}
	} else if !g.keep[row] {
		mark = goneMark
	}
	return fmt.Sprintf("%s%d%s", mark, row, strings.Repeat(" "+mark, row%5))
}

func (g *goneTable) rowsOf(entry, distinct int) (rows []int) {
	for row := entry; row < len(g.keep); row += distinct {
		rows = append(rows, row)
	}
	return rows
}

// texts returns an array of the texts of rows, or of the entries of a dictionary.
func (g *goneTable) texts(dt arrow.DataType, n, distinct int) arrow.Array {
	b := array.NewBuilder(memory.NewGoAllocator(), dt)
	for row := range n {
		b.(array.StringLikeBuilder).Append(g.text(row, distinct))
	}
	return b.NewArray()
}

// indices returns the entry of each row of a dictionary.
func (g *goneTable) indices(dt arrow.DataType, distinct int) arrow.Array {
	var text []string
	for row := range g.keep {
		text = append(text, fmt.Sprint(row%distinct))
	}
	a, _, err := array.FromJSON(memory.NewGoAllocator(), dt, strings.NewReader("["+strings.Join(text, ",")+"]"))
	if err != nil {
		panic(err)
	}
	return a
}

// numbers returns an array of numbers of 4 bytes.
func (g *goneTable) numbers(n, distinct int) arrow.Array {
	b := array.NewInt32Builder(memory.NewGoAllocator())
	for row := range n {
		text := g.text(row, distinct)
		b.Append(int32(binary.LittleEndian.Uint32([]byte(text[:4]))) + int32(row)<<8*int32(boolInt(text[0] == 'k')))
	}
	return b.NewArray()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// wrapped returns an array of goneRows nested values of one value each, those from low on of
// an array that may have more.
func wrapped(dt arrow.DataType, of arrow.Array, low int) arrow.Array {
	numbers := func(n, from, step int) *memory.Buffer {
		var list []byte
		for i := range n {
			list = binary.LittleEndian.AppendUint32(list, uint32(from+i*step))
		}
		return memory.NewBufferBytes(list)
	}
	part := array.NewSlice(of, int64(low), int64(low+goneRows)).Data()
	rest := array.NewSlice(of, int64(low), int64(of.Len())).Data()
	buffers, children := []*memory.Buffer{nil}, []arrow.ArrayData{rest}
	switch dt.(type) {
	case *arrow.ListType:
		buffers = append(buffers, numbers(goneRows+1, 0, 1))
	case *arrow.ListViewType:
		buffers = append(buffers, numbers(goneRows, 0, 1), numbers(goneRows, 1, 0))
	case *arrow.DenseUnionType:
		buffers = append(buffers, memory.NewBufferBytes(make([]byte, goneRows)), numbers(goneRows, 0, 1))
	case *arrow.RunEndEncodedType:
		ends := array.NewData(arrow.PrimitiveTypes.Int32, goneRows, []*memory.Buffer{nil, numbers(goneRows, 1, 1)}, nil, 0, 0)
		children = []arrow.ArrayData{ends, part}
	case *arrow.StructType:
		children[0] = part
	}
	return array.MakeFromData(array.NewData(dt, goneRows, buffers, children, 0, 0))
}

// records returns the record batches of a table. Their buffers have more than their rows.
func (g *goneTable) records() (list []arrow.Record) {
	n := len(g.keep)
	text := []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView}[g.rng.IntN(3)]
	distinct := []int{7, 50, n}[g.rng.IntN(3)]
	index := []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64}[g.rng.IntN(4)]
	coded := &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
	numbered := &arrow.DictionaryType{IndexType: index, ValueType: arrow.PrimitiveTypes.Int32}
	nested := &arrow.DictionaryType{IndexType: index, ValueType: arrow.ListOf(coded)}
	plain, decoded := g.texts(text, n, 0), g.rng.IntN(2) == 0
	for low := 0; low < n; low += goneRows {
		grown := distinct
		if g.growing {
			grown = min(distinct, low+goneRows)
		}
		codes := array.NewDictionaryArray(coded, g.indices(index, distinct), g.texts(coded.ValueType, grown, distinct))
		var names []string
		var columns []arrow.Array
		add := func(name string, of arrow.Array) {
			if of.Len() == n {
				of = array.NewSlice(of, int64(low), int64(low+goneRows))
			}
			names, columns = append(names, name), append(columns, of)
		}
		add("url", tablestest.URLArray(n, true))
		add("text", plain)
		add("number", g.numbers(n, 0))
		add("list", wrapped(arrow.ListOf(text), plain, low))
		add("struct", wrapped(arrow.StructOf(arrow.Field{Name: "a", Type: text, Nullable: true}), plain, low))
		add("codes", codes)
		add("again", codes)
		add("numbers", array.NewDictionaryArray(numbered, g.indices(index, distinct), g.numbers(grown, distinct)))
		add("lists of codes", wrapped(arrow.ListOf(coded), codes, low))
		if decoded {
			add("list view", wrapped(arrow.ListViewOf(text), plain, low))
			add("union", wrapped(arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: text, Nullable: true}}, []arrow.UnionTypeCode{0}), plain, low))
			add("runs", wrapped(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, text), plain, low))
		}
		if decoded && !g.growing { // else its child has values that are not in the dictionary
			add("views of codes", wrapped(arrow.ListViewOf(coded), codes, low))
		}
		if !g.growing {
			inner := array.NewDictionaryArray(coded, g.indices(index, goneRows), g.texts(coded.ValueType, goneRows, goneRows))
			lists := wrapped(arrow.ListOf(coded), inner, 0)
			add("nested", array.NewSlice(array.NewDictionaryArray(nested, g.indices(index, goneRows), lists), int64(low), int64(low+goneRows)))
		}
		list = append(list, tablestest.NewRecord(names, columns...))
	}
	return list
}

// padded returns an uncompressed stream with a mark after each buffer of its record batches, as C++
// leaves values of rows that follow there, compressed with a codec.
func padded(t *testing.T, schema *arrow.Schema, data []byte, codec int8) []byte {
	return rewritten(t, schema, data, codec, func(i int, content []byte) []byte {
		content = append(bytes.Clone(content), strings.Repeat(goneMark, 1+i%16)...)
		if codec == layout.CodecNone {
			return content
		}
		return layout.AppendBuffer(nil, content, codec, compress.Fastest)
	})
}

// rewritten returns an uncompressed stream with a codec whose record batches have what pack makes
// of each buffer that has bytes.
func rewritten(t *testing.T, schema *arrow.Schema, data []byte, codec int8, pack func(i int, content []byte) []byte) []byte {
	t.Helper()
	out := handMadeSchema(t, schema)
	eachMessage(t, streamOf(t, data), func(f *layout.Frame) {
		head, body := []byte(nil), f.Bytes
		switch f.Kind {
		case layout.KindDictionary:
			d := must.Get(f.Dictionary())(t)
			head = layout.SealedHead(layout.DictionaryMessage(d, f.BodyLength), body)
		case layout.KindRecord:
			b := must.Get(f.Batch())(t)
			body = nil
			for i, s := range b.Buffers {
				b.Buffers[i].Offset = int64(len(body))
				if s.Length > 0 {
					body = append(body, pack(i, f.Bytes[s.Offset:s.Offset+s.Length])...)
					b.Buffers[i].Length = int64(len(body)) - b.Buffers[i].Offset
					body = append(body, make([]byte, -len(body)&7)...)
				}
			}
			b.Codec = codec
			head = layout.SealedHead(layout.RecordMessage(b, int64(len(body)), layout.NoSum[:], nil), body)
		}
		out = append(append(out, head...), body...)
	})
	return append(out, layout.EndOfStream...)
}

// contentOf returns all bytes of an output, those of buffers decompressed.
func contentOf(t *testing.T, out []byte) []byte {
	t.Helper()
	all := bytes.Clone(out)
	dictionaries, records := messagesOf(t, out)
	for _, f := range append(dictionaries, records...) {
		var b *layout.BatchMeta
		var err error
		if f.Kind == layout.KindDictionary {
			var d *layout.DictionaryMeta
			if d, err = f.Dictionary(); err == nil {
				b = d.Batch
			}
		} else {
			b, err = f.Batch()
		}
		must.Do(t, err)
		must.Do(t, f.Load())
		total, err := b.CheckBody(f.Bytes, 1<<30)
		must.Do(t, err)
		_, body, err := layout.Inflate(b, f.Bytes, total)
		must.Do(t, err)
		all = append(all, body...)
	}
	return all
}

// decoded returns what comes out of an input that is decoded.
func (s selecting) decoded(data []byte, codec compress.Codec) ([]byte, error) {
	src, err := open(data, s.pipe, s.options)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var out output
	columns := passedLayout
	if s.all {
		columns.Verdicts = nil
	}
	w, err := NewSink(&out, SinkOptions{Schema: src.Schema(), Stream: s.stream, Codec: codec, Layout: columns, Selects: !s.all})
	if err == nil {
		err = tablestest.Each(src, func(p batch.Piece) error { return passPiece(w, p, s.verdicts) })
	}
	if err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// No value of a row that is left out is anywhere in the output: not in dictionaries, buffers or
// paddings. The rows that are kept are what they were.
func TestSelectedGone(t *testing.T) {
	rounds := must.Short(4, 12) // of two kinds of dictionaries, with whole batches or not, in turns as files that are read as streams
	for round := range rounds {
		rng := rand.New(rand.NewPCG(1, uint64(round)))
		g := &goneTable{rng: rng, growing: round%2 == 1, keep: randomRows(rng, 4*goneRows)}
		for i := range g.keep { // some record batches keep all rows
			g.keep[i] = g.keep[i] || round%4 < 2 && i/goneRows == 1
		}
		records := g.records()
		schema := records[0].Schema()
		options := []ipc.Option{ipc.WithDictionaryDeltas(g.growing)}
		for _, e := range encodings {
			plain := libraryWriteWith(t, encoding{stream: true, compression: compress.None}, schema, options, records...)
			data := plain
			if !g.growing {
				data = libraryWrite(t, e, schema, records...)
			} else if !e.stream { // the library writes no deltas into a file
				data = must.Get((selecting{all: true, options: Options{Name: "in"}, verdicts: passedVerdicts}).decoded(plain, e.compression))(t)
			}
			g.gone(t, fmt.Sprintf("%d/%s", round, e), data, e.stream || round%3 == 0, e.compression, records)
			if e.stream {
				codec, _ := layout.CodecNumber(e.compression)
				g.gone(t, fmt.Sprintf("%d/%s/padded", round, e), padded(t, schema, plain, codec), true, e.compression, records)
			}
		}
	}
}

// gone filters an input that passes and one that is decoded.
func (g *goneTable) gone(t *testing.T, name string, data []byte, stream bool, codec compress.Codec, records []arrow.Record) {
	t.Helper()
	must.Need(t, bytes.Contains(contentOf(t, data), []byte(goneMark)) || !slices.Contains(g.keep, false), "the input lacks the mark")
	isFile := bytes.HasPrefix(data, []byte(layout.Magic))
	s := selecting{pipe: isFile && stream, stream: stream, verdicts: rowsSelected(g.keep), options: Options{Name: "in", BatchRows: []int{0, 7}[g.rng.IntN(2)]}}
	for how, filter := range map[string]func() ([]byte, error){
		"passed":  func() ([]byte, error) { return s.filtered(data) },
		"decoded": func() ([]byte, error) { return s.decoded(data, codec) },
	} {
		t.Run(name+"/"+how, func(t *testing.T) {
			out := must.Get(filter())(t)
			content := contentOf(t, out)
			if at := bytes.Index(content, []byte(goneMark)); at >= 0 {
				t.Errorf("a value of a row that is left out is in the output: %q", content[max(0, at-100):min(len(content), at+100)])
			}
			g.same(t, out, records)
		})
	}
}

// same compares the rows of an output with the kept rows.
func (g *goneTable) same(t *testing.T, out []byte, records []arrow.Record) {
	t.Helper()
	_, got := tablestest.ReadArrow(t, out)
	for k, record := range records {
		var rows []int
		for i := range goneRows {
			if g.keep[k*goneRows+i] {
				rows = append(rows, i)
			}
		}
		for len(rows) > 0 {
			must.Need(t, len(got) != 0, "rows are missing")
			n := int(got[0].NumRows())
			for i, column := range record.Columns() {
				tablestest.SameRows(t, got[0].Column(i), column, rows[:n])
			}
			got, rows = got[1:], rows[n:]
		}
	}
	must.Be(t, len(got) == 0, "more rows are in the output")
}
