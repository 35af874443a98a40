package arrowipc

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/pierrec/lz4/v4"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
)

var errNoPass = errors.New("it cannot pass through")

// selecting says how an input is filtered.
type selecting struct {
	pipe, stream bool
	all          bool // no row is left out
	options      Options
	verdicts     func(first int64, rows int) *batch.Verdicts
	notes        *[]string // set to those of the sink, if not nil
}

// filtered returns what comes out of an input.
func (s selecting) filtered(data []byte) ([]byte, error) {
	src, err := open(data, s.pipe, s.options)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if !src.CanPassThrough(s.stream, false) {
		return nil, errNoPass
	}
	if err := src.PassThrough(nil, !s.all); err != nil {
		return nil, err
	}
	var out output
	w, err := NewSink(&out, SinkOptions{From: src, Stream: s.stream, Layout: passedLayout})
	if err == nil {
		err = tablestest.Each(src, func(p batch.Piece) error { return passPiece(w, p, s.verdicts) })
	}
	if err != nil {
		return nil, err
	}
	err = w.Close()
	if s.notes != nil {
		*s.notes = w.(interface{ Notes() []string }).Notes()
	}
	return out.Bytes(), err
}

// rowsSelected returns verdicts of which every row comes out that keep has.
func rowsSelected(keep []bool) func(first int64, rows int) *batch.Verdicts {
	return func(first int64, rows int) *batch.Verdicts {
		v := passedVerdicts(first, rows)
		tablestest.Select(v, func(i int) bool { return keep[int(first)+i] })
		return v
	}
}

// longer returns n values of an array of any order, the array itself where the library does
// not make such of its type.
func longer(rng *rand.Rand, a arrow.Array, n int) (made arrow.Array) {
	defer func() {
		if recover() != nil {
			made = a
		}
	}()
	parts := []arrow.Array{array.NewSlice(a, 0, 0)}
	for left := n; left > 0; {
		low := rng.IntN(a.Len())
		high := min(a.Len(), low+1+rng.IntN(left))
		parts = append(parts, array.NewSlice(a, int64(low), int64(high)))
		left -= high - low
	}
	made, err := array.Concatenate(parts, memory.NewGoAllocator())
	if err != nil || made.Len() != n {
		return a
	}
	return made
}

// randomRows says which of n rows stay.
func randomRows(rng *rand.Rand, n int) []bool {
	keep := make([]bool, n)
	share, run := []float64{0.02, 0.5, 0.96}[rng.IntN(3)], []int{1, 1, 30}[rng.IntN(3)]
	for i := 0; i < n; {
		stays := rng.Float64() < share
		for k := 1 + rng.IntN(run); k > 0 && i < n; k-- {
			keep[i] = stays
			i++
		}
	}
	return keep
}

// Random tables of all types are the same gathered and decoded, however they lie in the
// input: arrays, counts of nulls, and every value.
func TestGatherRandomTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := tablestest.Columns(t)
	rounds := must.Short(6, 45)
	for round := range rounds {
		n := 12
		var names []string
		var columns []arrow.Array
		if round%3 > 0 {
			n = 20 + rng.IntN(1500) // the rows of a batch are 7, 1000, or all
		}
		for len(columns) < 6 {
			c := all[rng.IntN(len(all))]
			a := c.Array
			if n != 12 {
				a = longer(rng, a, n)
			}
			if a.Len() == n {
				names, columns = append(names, fmt.Sprintf("%d %s", len(names), c.Name)), append(columns, a)
			}
		}
		at := rng.IntN(len(columns))
		names, columns = slices.Insert(names, at, "url"), slices.Insert(columns, at, tablestest.URLArray(n, rng.IntN(2) == 0))
		record := tablestest.NewRecord(names, columns...)
		keep := randomRows(rng, 2*n)
		for _, e := range encodings {
			data := libraryWrite(t, e, record.Schema(), record, record)
			for _, pipe := range []bool{false, true} {
				s := selecting{
					pipe: pipe, stream: e.stream || pipe, verdicts: rowsSelected(keep),
					options: Options{Name: "in", BatchRows: []int{0, 7, 1000}[rng.IntN(3)]},
				}
				t.Run(fmt.Sprintf("%d/%s/pipe=%v", round, e, pipe), func(t *testing.T) { sameGathered(t, data, s) })
			}
		}
	}
}

// sameGathered compares what comes out of an input gathered and decoded.
func sameGathered(t *testing.T, data []byte, s selecting) (gathered []byte) {
	t.Helper()
	gathered = must.Get(s.filtered(data))(t)
	decoded := must.Get(s.decodedWhole(data))(t)
	_, outs := messagesOf(t, gathered)
	_, wants := messagesOf(t, decoded)
	must.Need(t, len(outs) == len(wants), "%d record batches, want %d", len(outs), len(wants))
	for i := range outs {
		got, err := outs[i].Batch()
		want, err2 := wants[i].Batch()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		input := len(got.Nodes) - len(passedLayout.Verdicts)
		must.Be(t, slices.Equal(got.Nodes[:input], want.Nodes[:input]) && got.Codec == want.Codec && (len(got.Buffers) == len(want.Buffers) || len(want.Variadic) != 0),
			"record batch %d has the arrays %v, want %v", i, got.Nodes, want.Nodes)
		for k, b := range got.Buffers {
			must.Equal(t, b.Offset%8, 0, "buffer", k, "begins at", b.Offset)
		}
	}
	_, got := tablestest.ReadArrow(t, gathered)
	_, want := tablestest.ReadArrow(t, decoded)
	for i := range got {
		sameInput(t, got[i], want[i])
	}
	must.Get(readAll(gathered, s.stream, Options{Name: "out"}))(t)
	return gathered
}

// decodedWhole is decoded of whole record batches, compressed as the input is.
func (s selecting) decodedWhole(data []byte) ([]byte, error) {
	src, err := open(data, s.pipe, s.options)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	codec := codecOf(data, s.pipe)
	if err := src.PassThrough(nil, true); err != nil {
		return nil, err
	}
	s.options.BatchRows = 0
	return s.decoded(data, codec)
}

// codecOf is the compression of the first record batch.
func codecOf(data []byte, pipe bool) compress.Codec {
	f, err := framerOf(data, pipe)
	if err == nil {
		_, err = f.Schema()
	}
	for err == nil {
		var m *layout.Frame
		if m, err = f.Next(); err == nil && m.Kind == layout.KindRecord {
			if b, err := m.Batch(); err == nil && b.Codec != layout.CodecNone {
				return layout.Codecs[b.Codec]
			}
			break
		}
	}
	return compress.None
}

// Binary values of a fixed size of 0 are gathered: a table of pyarrow's had a column of them.
func TestGatherNoBytes(t *testing.T) {
	valid := memory.NewBufferBytes([]byte{0b1011})
	none := array.MakeFromData(array.NewData(&arrow.FixedSizeBinaryType{}, 4, []*memory.Buffer{valid, memory.NewBufferBytes(nil)}, nil, 1, 0))
	record := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(4, false), none)
	for _, e := range encodings {
		data := libraryWrite(t, e, record.Schema(), record)
		out := must.Get(selecting{pipe: e.stream, stream: e.stream, verdicts: selected(0b0110), options: Options{Name: "in"}}.filtered(data))(t)
		batches := must.Get(readAll(out, e.stream, Options{Name: "out"}))(t)
		x := batches[0].Table.(arrow.Record).Column(1)
		must.Be(t, x.Len() == 2 && !x.IsNull(0) && x.IsNull(1), "%s: %v", e, x)
	}
}

// textRecord has texts that a compressor makes smaller; those of rows that go
// have a word of their own.
func textRecord(rng *rand.Rand, keep []bool, dt arrow.DataType) arrow.Record {
	urls := array.NewStringBuilder(memory.NewGoAllocator())
	texts := array.NewBuilder(memory.NewGoAllocator(), dt)
	words := strings.Fields("the page that stays passes as it lies within the memory that was promised to it")
	for i, stays := range keep {
		urls.Append(fmt.Sprintf("https://a.test/%d", i))
		var b strings.Builder
		for range rng.IntN(400) {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteByte(' ')
		}
		if !stays {
			b.WriteString("secret that is long enough not to lie in a view")
		}
		switch {
		case rng.IntN(20) == 0 && stays:
			texts.AppendNull()
		default:
			texts.(array.StringLikeBuilder).Append(b.String())
		}
	}
	return tablestest.NewRecord([]string{"url", "text"}, urls.NewArray(), texts.NewArray())
}

// packLZ4 makes frames as Arrow's C++ library does: small blocks without checksums.
func packLZ4(t *testing.T) func(int, []byte) []byte {
	return func(_ int, src []byte) []byte {
		out := bytes.NewBuffer(layout.AppendPrefix(nil, len(src)))
		w := lz4.NewWriter(out)
		err := w.Apply(lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb))
		if err == nil {
			_, err = w.Write(src)
		}
		if err == nil {
			err = w.Close()
		}
		must.Do(t, err)
		return out.Bytes()
	}
}

// Of long texts few rows go: frames are cut, runs are read from the file where they belong,
// and no byte of a row that goes comes out.
func TestGatherTexts(t *testing.T) {
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView} {
		rng := rand.New(rand.NewPCG(1, 2))
		keep := make([]bool, 2000)
		for i := range keep {
			keep[i] = rng.IntN(200) > 0
		}
		record := textRecord(rng, keep, dt)
		plain := libraryWrite(t, encoding{true, compress.None}, record.Schema(), record)
		inputs := map[string][]byte{"repacked": rewritten(t, record.Schema(), plain, layout.CodecLZ4, packLZ4(t))}
		for _, e := range encodings {
			inputs[e.String()] = libraryWrite(t, e, record.Schema(), record)
		}
		for name, data := range inputs {
			t.Run(fmt.Sprintf("%s/%s", dt, name), func(t *testing.T) {
				s := selecting{stream: !bytes.HasPrefix(data, []byte(layout.Magic)), verdicts: rowsSelected(keep), options: Options{Name: "in"}}
				out := sameGathered(t, data, s)
				_, records := messagesOf(t, out)
				b := must.Get(records[0].Batch())(t)
				total := must.Get(b.CheckBody(records[0].Bytes, 1<<30))(t)
				_, body, err := layout.Inflate(b, records[0].Bytes, total)
				must.Be(t, err == nil && !bytes.Contains(body, []byte("secret")), "a text comes out whose row does not: %v", err)
			})
		}
	}
}

// A buffer whose frame cannot be cut is compressed again, which is counted.
func TestGatherRefused(t *testing.T) {
	keep := make([]bool, 2000)
	for i := range keep {
		keep[i] = i%200 > 0
	}
	record := textRecord(rand.New(rand.NewPCG(1, 2)), keep, arrow.BinaryTypes.String)
	plain := libraryWrite(t, encoding{true, compress.None}, record.Schema(), record)
	data := rewritten(t, record.Schema(), plain, layout.CodecZstd, func(_ int, src []byte) []byte {
		packed := compress.Append(layout.AppendPrefix(nil, len(src)), src, compress.Zstd, 0)
		return append(packed, "\x50\x2a\x4d\x18\x00\x00\x00\x00"...) // a skippable frame
	})
	var notes []string
	sameGathered(t, data, selecting{stream: true, verdicts: rowsSelected(keep), options: Options{Name: "in"}, notes: &notes})
	must.Be(t, len(notes) == 1 && strings.Contains(notes[0], "compressing again"), "notes %q", notes)
}

// Views may refer to the same bytes, in any order, of any buffer.
func TestGatherViews(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 500
	data := []*memory.Buffer{nil, nil}
	for range 4 {
		part := make([]byte, 1+rng.IntN(9000))
		for i := range part {
			part[i] = byte('a' + rng.IntN(26))
		}
		data = append(data, memory.NewBufferBytes(part))
	}
	views, valid := make([]arrow.ViewHeader, n), make([]byte, (n+7)/8)
	for i := range views {
		buffer := 2 + rng.IntN(3) // nothing refers to the last
		content := data[buffer].Bytes()
		low := rng.IntN(len(content))
		views[i].SetBytes(content[low:min(len(content), low+rng.IntN(60))])
		if !views[i].IsInline() {
			views[i].SetIndexOffset(int32(buffer-2), int32(low))
		}
		if i%9 != 0 {
			valid[i>>3] |= 1 << (i & 7)
		} else if i%2 == 0 { // of a null a view may say anything, such as what no row shows
			views[i].SetBytes([]byte("secret"))
		} else {
			views[i].SetIndexOffset(99, -1)
		}
	}
	data[0], data[1] = memory.NewBufferBytes(valid), memory.NewBufferBytes(arrow.ViewHeaderTraits.CastToBytes(views))
	texts := array.NewStringViewData(array.NewData(arrow.BinaryTypes.StringView, n, data, nil, array.UnknownNullCount, 0))
	record := tablestest.NewRecord([]string{"text", "url", "again"}, texts, tablestest.URLArray(n, false), texts)
	for _, e := range encodings {
		input := libraryWrite(t, e, record.Schema(), record)
		for round := range 5 {
			t.Run(fmt.Sprintf("%s/%d", e, round), func(t *testing.T) {
				out := sameGathered(t, input, selecting{stream: e.stream, verdicts: rowsSelected(randomRows(rng, n)), options: Options{Name: "in"}})
				must.Be(t, e.compression != compress.None || !bytes.Contains(out, []byte("secret")), "what a null's view holds comes out")
			})
		}
	}
}

// Record batches are gathered in memory that is counted, and one that takes more than it
// may is an error that says how much would do. Texts of an uncompressed file take none.
func TestGatherMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	keep := randomRows(rng, 2000)
	record := textRecord(rng, keep, arrow.BinaryTypes.String)
	for _, e := range allEncodings[:3] {
		data := libraryWrite(t, e, record.Schema(), record)
		s := selecting{verdicts: rowsSelected(keep), options: Options{Name: "in", Memory: 400 << 10}}
		_, err := s.filtered(data)
		if e.compression == compress.None {
			must.Be(t, err == nil, "%s: %v", e, err)
			continue
		}
		var large *budget.MemoryError
		must.Need(t, errors.As(err, &large), "%s: %v", e, err)
		s.options.Memory = large.Enough(s.options.Memory)
		for range 8 { // one buffer after another may be too large
			if _, err = s.filtered(data); !errors.As(err, &large) {
				break
			}
			s.options.Memory = large.Enough(s.options.Memory)
		}
		must.Be(t, err == nil && s.options.Memory <= 3<<20, "%s: with %d bytes: %v", e, s.options.Memory, err)
	}
}

// Metadata of a mixed record batch that lies is an error, or copied.
func TestGatherLies(t *testing.T) {
	texts := tablestest.FromJSON(t, arrow.BinaryTypes.String, `["aa","bb","cc","dd"]`)
	views := tablestest.FromJSON(t, arrow.BinaryTypes.StringView, `["a text of some length","bb","one more of some length","dd"]`)
	lists := tablestest.FromJSON(t, arrow.ListOf(arrow.PrimitiveTypes.Int16), `[[1],[2,3],null,[4]]`)
	fixed := tablestest.FromJSON(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), `[[1,2],[3,4],[5,6],[7,8]]`)
	record := tablestest.NewRecord([]string{"url", "t", "v", "l", "f"}, tablestest.URLArray(4, false), texts, views, lists, fixed)
	data := libraryWrite(t, encoding{true, compress.None}, record.Schema(), record)
	_, records := messagesOf(t, data)
	// Nodes: url 0, t 1, v 2, l 3, its values 4, f 5, its values 6. Buffers: url 0 to 2, t 3
	// to 5, v 6 to 8, l 9 and 10, its values 11 and 12, f 13, its values 14 and 15.
	body := func(b *layout.BatchMeta, body []byte, buffer, at int, value byte) {
		body[b.Buffers[buffer].Offset+int64(at)] = value
	}
	for _, test := range []struct {
		name string
		lie  func(b *layout.BatchMeta, data []byte)
		has  string
	}{
		{"nothing", func(*layout.BatchMeta, []byte) {}, ""},
		{"an offset falls", func(b *layout.BatchMeta, d []byte) { body(b, d, 4, 8, 1) }, `column "t": damaged: offset 2 is 1 after 2`},
		{"the first offset is negative", func(b *layout.BatchMeta, d []byte) { body(b, d, 4, 3, 0x80) }, `column "t": damaged: offset 0 is`},
		{"texts end behind their bytes", func(b *layout.BatchMeta, d []byte) { body(b, d, 4, 16, 200) }, `column "t": damaged: a buffer is too short`},
		{"too few offsets", func(b *layout.BatchMeta, _ []byte) { b.Buffers[4].Length = 16 }, `column "t": damaged: a buffer is too short`},
		{"a view of another buffer", func(b *layout.BatchMeta, d []byte) { body(b, d, 7, 8, 1) }, `column "v": damaged: value 0`},
		{"a view behind its buffer", func(b *layout.BatchMeta, d []byte) { body(b, d, 7, 13, 9) }, `column "v": damaged: a buffer is too short`},
		{"a view of negative length", func(b *layout.BatchMeta, d []byte) { body(b, d, 7, 3, 0x80) }, `column "v": damaged: value 0`},
		{"views are too few", func(b *layout.BatchMeta, _ []byte) { b.Buffers[7].Length = 48 }, `column "v": damaged: a buffer is too short`},
		{"lists end behind their values", func(b *layout.BatchMeta, d []byte) { body(b, d, 10, 16, 9) }, `column "l": damaged metadata: an array has 4 values, 0 of them null, and must have 9`},
		{"another count of nulls", func(b *layout.BatchMeta, _ []byte) { b.Nodes[3].Nulls = 2 }, `column "l": damaged: 1 values are null where it says 2`},
		{"an unknown count of nulls", func(b *layout.BatchMeta, _ []byte) { b.Nodes[3].Nulls = -1 }, ""},
		{"nulls without a bitmap", func(b *layout.BatchMeta, _ []byte) { b.Nodes[6].Nulls = 1 }, `column "f": damaged: a buffer is too short`},
		{"lists of fixed size with too few values", func(b *layout.BatchMeta, _ []byte) { b.Nodes[6].Length = 7 }, `column "f": damaged metadata: an array has 7 values`},
		{"values are too few", func(b *layout.BatchMeta, _ []byte) { b.Buffers[15].Length = 15 }, `column "f": damaged: a buffer is too short`},
		{"as many values as there are", func(b *layout.BatchMeta, _ []byte) { b.Nodes[6].Length = 1 << 62 }, `column "f": damaged metadata`},
		{"buffers overlap", func(b *layout.BatchMeta, _ []byte) {
			b.Buffers[5] = layout.Span{Offset: 0, Length: int64(len(records[0].Bytes))}
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := must.Get(records[0].Batch())(t)
			changed := bytes.Clone(records[0].Bytes)
			test.lie(b, changed)
			out, err := selecting{pipe: true, stream: true, verdicts: selected(0b1011), options: Options{Name: "in"}}.filtered(handMade(t, record.Schema(), b, changed))
			if test.has == "" {
				if err == nil {
					err = decodeAll(out, true)
				}
				must.Do(t, err)
				return
			}
			must.Say(t, err, test.has)
		})
	}
}

// A union of which the metadata says that it has more values than its buffers is an error before memory is made for
// them.
func TestGatherShortUnion(t *testing.T) {
	const width, memory = 1 << 24, 16 << 20
	union := arrow.DenseUnionOf([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int16}}, []arrow.UnionTypeCode{0})
	fixed := tablestest.FromJSON(t, arrow.FixedSizeListOf(1, union), `[[[0,1]],[[0,2]],[[0,3]],[[0,4]]]`)
	record := tablestest.NewRecord([]string{"url", "u"}, tablestest.URLArray(4, false), fixed)
	_, records := messagesOf(t, libraryWrite(t, encoding{true, compress.None}, record.Schema(), record))
	b := must.Get(records[0].Batch())(t)
	b.Nodes[2].Length = 4 * width // the union's
	schema := arrow.NewSchema([]arrow.Field{record.Schema().Field(0), {Name: "u", Type: arrow.FixedSizeListOf(width, union), Nullable: true}}, nil)
	data := handMade(t, schema, b, records[0].Bytes)
	var err error
	allocated := must.Allocated(func() {
		_, err = selecting{pipe: true, stream: true, verdicts: selected(0b1011), options: Options{Name: "in", Memory: memory}}.filtered(data)
	})
	must.Say(t, err, `column "u": damaged: a buffer is too short`)
	must.Be(t, allocated < memory, "%d bytes allocated", allocated)
}

// Whatever a mixed record batch holds, gathering it ends with an error or with what decoding
// it gives, within the memory.
func FuzzGather(f *testing.F) {
	record := smallRecord(f)
	for _, e := range encodings {
		f.Add(libraryWrite(f, e, record.Schema(), record, record), uint32(0b10110_01101), false)
	}
	plain := tablestest.NewRecord([]string{"url", "l", "v", "b", "f"}, record.Column(0), record.Column(2), record.Column(3), record.Column(5),
		tablestest.FromJSON(f, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), `[[1,2],[3,4],null,[5,6],[7,8]]`))
	for _, e := range encodings {
		f.Add(libraryWrite(f, e, plain.Schema(), plain), uint32(0b10110), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, bits uint32, pipe bool) {
		const memory = 4 << 20
		s := selecting{pipe: pipe, stream: true, options: Options{Name: "in", Memory: memory, BatchRows: 3}}
		s.verdicts = func(first int64, rows int) *batch.Verdicts {
			v := passedVerdicts(first, rows)
			tablestest.Select(v, func(i int) bool { return bits>>((int(first)+i)%32)&1 == 1 })
			return v
		}
		var out []byte
		var err error
		taken := must.Allocated(func() { out, err = s.filtered(data) })
		must.Need(t, taken <= 64*memory+1000*uint64(len(data)), "%d bytes allocated for %d", taken, len(data))
		must.Need(t, err == nil || !strings.Contains(err.Error(), "internal"), "%v", err)
		want, err2 := s.decodedWhole(data)
		if err2 != nil {
			return
		}
		var large *budget.MemoryError
		if errors.As(err, &large) || errors.Is(err, errNoPass) {
			return
		}
		must.Need(t, err == nil, "it is an error gathered, but not decoded: %v", err)
		sameStreams(t, out, want)
	})
}

// sameStreams compares the rows of two streams.
func sameStreams(t *testing.T, got, want []byte) {
	t.Helper()
	a, err := readAll(got, true, Options{Name: "got"})
	b, err2 := readAll(want, true, Options{Name: "want"})
	must.Need(t, (err == nil) == (err2 == nil), "gathered: %v; decoded: %v", err, err2)
	if err != nil {
		return
	}
	must.Need(t, len(a) == len(b), "%d batches, want %d", len(a), len(b))
	for i := range a {
		sameInput(t, a[i].Table.(arrow.Record), b[i].Table.(arrow.Record))
	}
}

// sameInput compares the input's columns of two records. The verdicts depend on the pieces.
func sameInput(t *testing.T, got, want arrow.Record) {
	t.Helper()
	for i := range int(got.NumCols()) - len(passedLayout.Verdicts) {
		must.Need(t, array.ApproxEqual(got.Column(i), want.Column(i), array.WithNaNsEqual(true)),
			"column %q is\n%v\nwant\n%v", got.ColumnName(i), got.Column(i), want.Column(i))
	}
}
