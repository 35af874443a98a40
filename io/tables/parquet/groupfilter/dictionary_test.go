package groupfilter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encode"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/layout/layouttest"
	"robotsbatch/io/tables/parquet/pagefilter"
	"robotsbatch/io/tables/parquet/splice"
)

// chunkOf writes a column of integers to a run of its own: page by page the indices into
// a dictionary of ten, or numbers where there are none.
func chunkOf(pages ...[]int32) (*filterRun, *filteredColumn) {
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
	rows := pagefilter.NewSelection(values)
	rows.Keep(0, values)
	r := &filterRun{
		Filter: New(1 << 20), ahead: layout.NewStream(bytes.NewReader(data), nil, 1<<20),
		Group: &Group{In: bytes.NewReader(data), Start: func(do func()) { do() }}, rows: rows,
	}
	return r, &filteredColumn{Column: pagefilter.Column{Type: layout.Int64, Width: 8}, chunk: chunk}
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
		rows := pagefilter.NewSelection(r.rows.Len())
		for row, gone := 0, test.gone; row < rows.Len(); row++ {
			if len(gone) > 0 && gone[0] == row {
				gone = gone[1:]
				continue
			}
			rows.Keep(row, row+1)
		}
		r.rows = rows
		c.Dictionary = must.Get(pagefilter.NewDictionary(&c.Column, &layout.Page{Kind: layout.DictionaryPage, Values: 10, Uncompressed: 80}))(t)
		err := r.readIndices(c)
		switch {
		case (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: %v", test.name, err)
		case err == nil && 10-c.Dictionary.Unused() != test.used:
			t.Errorf("%s: not %d entries are used", test.name, test.used)
		}
		must.Equal(t, r.used, 0, test.name, "bytes of memory are held")
	}
}

// Whether a column is copied is known by its indices: its dictionary is not read, and may be damaged or large.
func TestWholeDictionary(t *testing.T) {
	for _, last := range []int32{9, 8} {
		r, c := chunkOf([]int32{0, 1, 2, 3}, []int32{4, 5, 6, 7}, []int32{8, 8, 8, last})
		r.all = true
		p := &page{column: c}
		must.Get(r.readPage(p, layout.NewStream(r.In, c.chunk, 1<<20), position{left: c.chunk.Values}))(t)
		must.Equal(t, c.whole, last == 9, last, "the column is copied")
		must.Equal(t, c.dictionary == nil, c.whole, last, "the dictionary is not read")
		r.release(p)
		must.Equal(t, r.used, c.held, last, "bytes of memory that are held")
	}
}

// The zstd level of a column that begins with a dictionary is chosen by the entries.
func TestLevelOfDictionary(t *testing.T) {
	var plain, packed, data []byte
	const n = 5000
	rng := rand.New(rand.NewPCG(1, 1))
	for range n {
		number := func() int { return rng.IntN(999) * 7919 }
		entry := fmt.Sprint(number(), number(), number(), number(), number())
		plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(entry))), entry...)
	}
	codec, _ := layout.CodecOf(compress.Zstd)
	header := layout.Page{Kind: layout.DictionaryPage, Values: n}
	data, _ = header.AppendPage(data, plain, &packed, codec.Compressor(9))
	must.Equal(t, compress.Level(plain, len(packed)), 0, "the level for these entries")
	chunk := &layout.Chunk{Codec: codec, Values: 1, Pages: layout.Range{Length: int64(len(data))}}
	r := &filterRun{
		Filter: New(1 << 30), ahead: layout.NewStream(bytes.NewReader(data), nil, 1<<20),
		Group: &Group{Start: func(do func()) { do() }}, rows: pagefilter.NewSelection(1), held: 1 << 30,
	}
	c := &filteredColumn{Column: pagefilter.Column{Type: layout.ByteArray, Codec: codec}, chunk: chunk}
	p := &page{column: c}
	must.Get(r.readPage(p, layout.NewStream(bytes.NewReader(data), chunk, 1<<20), position{left: 1}))(t)
	must.Do(t, r.chooseCompression(p))
	must.Equal(t, r.levels[c.name], 0, "the level of the column")
}

// Hadoop frames the blocks of LZ4, which fastparquet neither writes nor reads: a page gets frames only if it had some.
func TestFramesOfLZ4(t *testing.T) {
	const lz4 = layout.Codec(5)
	raw, _ := layout.CodecOf(compress.LZ4Block)
	for _, codec := range []layout.Codec{lz4, raw} {
		r, c := chunkOf(nil)
		var packed []byte
		header := layout.Page{Kind: layout.DataPage, Values: 4}
		data, _ := header.AppendPage(nil, make([]byte, 32), &packed, codec.Compressor(0))
		c.Codec, c.Compress = lz4, lz4.Compressor(0)
		c.chunk = &layout.Chunk{Codec: lz4, Type: layout.Int64, Values: 4, Pages: layout.Range{Length: int64(len(data))}}
		r.rows = pagefilter.NewSelection(4)
		r.rows.Keep(1, 3)
		p := &page{column: c}
		must.Be(t, must.Get(r.readPage(p, layout.NewStream(bytes.NewReader(data), c.chunk, 1<<20), position{left: 4}))(t), "the page is left out")
		must.Do(t, r.chooseCompression(p))
		must.Do(t, r.filterPage(r.inOrder, p))
		page := must.Get(layouttest.NextPage(p.out, c.chunk, 1<<20))(t)
		err := raw.Decompress(make([]byte, 16), page.Body)
		must.Equal(t, err == nil, codec == raw, codec, "the page has no frames")
		must.Do(t, lz4.Decompress(make([]byte, 16), page.Body))
	}
}

// Between row groups, some buffers wait for the pages of the next: an eighth of what a page may take. All others are
// given back.
func TestIdleBuffers(t *testing.T) {
	must.Equal(t, idle(1<<40), 16<<20, "most bytes that wait")
	const limit, rows = 16 << 20, 400
	texts := array.NewStringBuilder(memory.NewGoAllocator())
	for i := range rows {
		texts.Append(strings.Repeat(fmt.Sprint("text ", i), 4000))
	}
	schema := must.Get(columns.FromArrow(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String}}, nil)))(t)
	encoder := must.Get(encode.NewEncoder(schema, compress.None, 0))(t)
	shredded := must.Get(encoder.Shred(rows, []*array.Data{texts.NewArray().Data().(*array.Data)}, memory.NewGoAllocator()))(t)
	var data bytes.Buffer
	file := must.Get(encode.NewWriter(&data, encoder))(t)
	must.Do(t, file.Write(must.Get(encoder.Encode(shredded))(t)))
	must.Do(t, file.Close("test"))
	in := bytes.NewReader(data.Bytes())
	table := must.Get(columns.ReadTable(in, in.Size(), 1<<30))(t)
	input := must.Get(splice.Open(in, table.File, nil))(t)
	same := func(pairs []layout.KeyValue) ([]layout.KeyValue, error) { return pairs, nil }
	out := must.Get(splice.NewWriter(io.Discard, input, splice.Columns{Metadata: same}))(t)
	_, leaves := table.Pick(nil)
	f := New(limit)
	must.Do(t, f.Write(out, &Group{
		In: in, File: table.File, Input: input, Leaves: leaves, Start: func(do func()) { go do() },
		Kept: func(keep func(low, high int)) {
			for row := 0; row < rows; row += 2 {
				keep(row, row+1)
			}
		},
	}))
	waiting := 0
	for n := 3; n < limit; {
		if buffer := f.free.Get(n); cap(buffer) > n { // none that is new
			waiting += cap(buffer)
		} else {
			n *= 2
		}
	}
	must.Be(t, 0 < waiting && waiting <= limit/8, "%d bytes wait", waiting)
}
