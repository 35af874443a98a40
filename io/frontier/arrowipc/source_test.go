package arrowipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/klauspost/compress/zstd"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
)

// urlsOf lists the URLs of batches, "-" for null.
func urlsOf(batches []*batch.Batch) string {
	var urls []string
	for _, b := range batches {
		for i := range b.URLs.Len() {
			if b.URLs.Null(i) {
				urls = append(urls, "-")
			} else {
				urls = append(urls, string(b.URLs.Value(i)))
			}
		}
	}
	return strings.Join(urls, " ")
}

// URLs that are split over columns are put together, piece by piece.
func TestSplitURLs(t *testing.T) {
	names := []string{"url_protocol", "url_host_name", "url_port", "url_path"}
	record := tablestest.NewRecord(names,
		tablestest.FromJSON(t, arrow.BinaryTypes.String, `["https","http",null]`),
		tablestest.FromJSON(t, arrow.BinaryTypes.String, `["a.example","::1","c.example"]`),
		tablestest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[8443,null,null]`),
		tablestest.FromJSON(t, arrow.BinaryTypes.StringView, `["/x","/a/path/of/some/length",null]`))
	data := libraryWrite(t, encoding{true, compress.Zstd}, record.Schema(), record)
	for keep, columns := range map[batch.Keep]int{batch.KeepAll: 4, batch.KeepURL: 1, batch.KeepNone: 1} {
		s := must.Get(OpenStream(bytes.NewReader(data), Options{Name: "in", BatchRows: 2, Keep: keep}))(t)
		must.Be(t, s.URLColumn() == "url" && s.Schema().NumFields() == columns, "keep %d: column %q of %d", keep, s.URLColumn(), s.Schema().NumFields())
		batches := must.Get(readAll(data, true, Options{Name: "in", BatchRows: 2, Keep: keep}))(t)
		got, want := urlsOf(batches), "https://a.example:8443/x http://[::1]/a/path/of/some/length -"
		must.Be(t, got == want && len(batches) == 2, "keep %d: got %s in %d batches, want %s", keep, got, len(batches), want)
		table := batches[1].Table.(arrow.Record)
		must.Be(t, table.NumRows() == 1 && int(table.NumCols()) == columns && table.Schema().Equal(s.Schema()), "keep %d: the table is %v", keep, table)
		s.Close()
	}
}

// URLs come from every type of string column.
func TestURLColumns(t *testing.T) {
	const text = `["http://a/","http://b.example/long/path",null,"","http://a/","http://c/",null]`
	const want = "http://a/ http://b.example/long/path -  http://a/ http://c/ -"
	const binary = `["aHR0cDovL2Ev","aHR0cDovL2IuZXhhbXBsZS9sb25nL3BhdGg=",null,"","aHR0cDovL2Ev","aHR0cDovL2Mv",null]`
	arrays := make(map[string]arrow.Array)
	for dt, json := range map[arrow.DataType]string{
		arrow.BinaryTypes.String: text, arrow.BinaryTypes.LargeString: text, arrow.BinaryTypes.StringView: text,
		arrow.BinaryTypes.Binary: binary, arrow.BinaryTypes.LargeBinary: binary, arrow.BinaryTypes.BinaryView: binary,
	} {
		arrays[dt.String()] = tablestest.FromJSON(t, dt, json)
	}
	for _, index := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
	} {
		dt := &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
		arrays[dt.String()] = tablestest.FromJSON(t, dt, text)
	}
	for _, values := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView} {
		dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: values}
		indices := tablestest.FromJSON(t, dt.IndexType, `[1,2,0,3,1,4,null]`)
		dictionary := tablestest.FromJSON(t, values, `[null,"http://a/","http://b.example/long/path","","http://c/"]`)
		arrays["nulls in a "+dt.String()] = array.NewDictionaryArray(dt, indices, dictionary)
	}
	for name, a := range arrays {
		t.Run(name, func(t *testing.T) { testURLColumn(t, a, want) })
	}
}

func testURLColumn(t *testing.T, a arrow.Array, want string) {
	record := tablestest.NewRecord([]string{"url"}, a)
	empty := record.NewSlice(0, 0)
	if a.DataType().ID() != arrow.DICTIONARY { // the library does not write every empty slice
		empty = tablestest.NewRecord([]string{"url"}, tablestest.FromJSON(t, a.DataType(), `[]`))
	}
	for _, e := range encodings {
		data := libraryWrite(t, e, record.Schema(), empty, record, record, empty)
		for _, size := range []int{0, 1, 2, 3, 7} {
			batches := must.Get(readAll(data, size == 2, Options{BatchRows: size}))(t)
			got := urlsOf(batches)
			must.Need(t, got == want+" "+want, "%s in batches of %d: %q", e, size, got)
		}
	}
}

// The texts of views are copied once for all pieces of a record batch, and so are those of a
// dictionary, which each piece refers to as a whole.
func TestViewsAreCopiedOnce(t *testing.T) {
	views := tablestest.FromJSON(t, arrow.BinaryTypes.StringView, `["http://a.example/long/path","http://b.example/long/path"]`)
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: views.DataType()}
	for _, a := range []arrow.Array{views, array.NewDictionaryArray(dt, tablestest.FromJSON(t, dt.IndexType, `[1,0]`), views)} {
		record := tablestest.NewRecord([]string{"url"}, a)
		batches, err := readAll(libraryWrite(t, allEncodings[0], record.Schema(), record), false, Options{BatchRows: 1})
		must.Need(t, err == nil && len(batches) == 2, "%s: %d batches, %v", a.DataType(), len(batches), err)
		first, second := batches[0].URLs.Data, batches[1].URLs.Data
		must.Be(t, &first[0] == &second[0], "%s: each piece has a copy", a.DataType())
	}
}

// A null row's dictionary index may be anything.
func TestNullRowsOfDictionaries(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	read := func(indices arrow.Array) ([]*batch.Batch, error) {
		record := tablestest.NewRecord([]string{"url"}, array.NewDictionaryArray(dt, indices, tablestest.FromJSON(t, dt.ValueType, `["a","b"]`)))
		return readAll(libraryWrite(t, allEncodings[5], record.Schema(), record), false, Options{})
	}
	indices := tablestest.FromJSON(t, dt.IndexType, `[1,null,0]`)
	indices.Data().Buffers()[1].Bytes()[2] = 0x7F
	batches, err := read(indices)
	must.Need(t, err == nil && urlsOf(batches) == "b - a", "%q, %v", urlsOf(batches), err)
	must.Say(t, must.Err(read(tablestest.FromJSON(t, dt.IndexType, `[1,2,0]`))), "value 1 is entry 2 of a dictionary of 2")
}

func TestFindColumn(t *testing.T) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}
	field := func(name string, dt arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: dt} }
	for _, test := range []struct {
		name         string
		fields       []arrow.Field
		column       string // asked for
		want, errHas string
	}{
		{"url", []arrow.Field{field("host", text), field("url", text)}, "", "url", ""},
		{"url in a dictionary", []arrow.Field{field("host", text), field("url", dictionary)}, "", "url", ""},
		{"url in binary", []arrow.Field{field("host", text), field("url", arrow.BinaryTypes.LargeBinary)}, "", "url", ""},
		{"the only one", []arrow.Field{field("n", number), field("page", text)}, "", "page", ""},
		{"the only one beside binary", []arrow.Field{field("hash", arrow.BinaryTypes.Binary), field("page", dictionary)}, "", "page", ""},
		{"by name", []arrow.Field{field("url", text), field("page", text)}, "page", "page", ""},
		{"by name, binary", []arrow.Field{field("a", text), field("page", arrow.BinaryTypes.BinaryView)}, "page", "page", ""},
		{"two", []arrow.Field{field("a", text), field("b", dictionary)}, "", "", `name one of "a" (utf8), "b" (dictionary<values=utf8, indices=int8, ordered=false>) with url-column`},
		{"none", []arrow.Field{field("n", number)}, "", "", `url-column (the columns are "n" (int64))`},
		{"no columns", nil, "", "", "the columns are none"},
		{"no such name", []arrow.Field{field("url", text)}, "page", "", `there is no column "page": name one of "url" (utf8) with url-column`},
		{"url of another type", []arrow.Field{field("url", number), field("page", text)}, "", "", `column "url" is of type int64`},
		{"two of that name", []arrow.Field{field("url", text), field("url", text)}, "", "", `there are 2 columns "url"`},
		{"a dictionary of numbers", []arrow.Field{field("url", &arrow.DictionaryType{IndexType: number, ValueType: number})}, "", "", "holds no URLs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema := arrow.NewSchema(test.fields, nil)
			s, err := open(libraryWrite(t, allEncodings[0], schema), false, Options{Name: "in.arrow", URLColumn: test.column})
			if test.errHas != "" {
				must.Need(t, err != nil && strings.Contains(err.Error(), test.errHas) && strings.HasPrefix(err.Error(), "in.arrow: "),
					"error %v, want one with %q", err, test.errHas)
				return
			}
			must.Need(t, err == nil && s.URLColumn() == test.want && s.Schema().Equal(schema), "column %q of %v, %v", s.URLColumn(), s.Schema(), err)
		})
	}
}

// Pieces say which rows they are, and what memory they hold adds up.
func TestPieces(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(10, false))
	data := libraryWrite(t, allEncodings[5], record.Schema(), record, record.NewSlice(0, 0), record.NewSlice(0, 4))
	s := must.Get(open(data, false, Options{Name: "in", BatchRows: 4}))(t)
	var names []string
	var size, kept int64
	for _, p := range piecesOf(t, s) {
		names = append(names, p.Name())
		size += p.Size()
		kept += batch.Kept(p)
	}
	must.Equal(t, kept, 0, "in the end", "bytes are kept")
	want := "in: batch 0 (rows 0 to 3),in: batch 1 (rows 4 to 7),in: batch 2 (rows 8 to 9),in: batch 3 (no rows),in: batch 4 (rows 10 to 13)"
	must.Equal(t, strings.Join(names, ","), want)
	// The bodies, which are not compressed.
	bytes := int64(len(data))
	must.Be(t, size >= bytes/4 && size <= bytes, "pieces of %d bytes for an input of %d", size, bytes)
	_, err := s.Next(context.Background())
	must.Be(t, err == io.EOF, "after the last: %v", err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must.Is(t, must.Err(s.Next(ctx)), context.Canceled, "cancelled")
	must.Do(t, errors.Join(s.Close(), s.Close()))
}

// An error names the record batch and comes again; so does one in a piece.
func TestErrorsNameTheBatch(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(10, false))
	data := libraryWrite(t, allEncodings[5], record.Schema(), record, record)
	s, err := open(data[:len(data)-20], false, Options{Name: "in"})
	must.Do(t, err)
	must.Get(s.Next(context.Background()))(t)
	for range 2 {
		_, err = s.Next(context.Background())
		must.Need(t, err != nil && strings.HasPrefix(err.Error(), "in: record batch 1: the input is cut") && errors.Is(err, io.ErrUnexpectedEOF), "error %v", err)
	}
}

// trackMemory fails the test when not all memory is given back.
func trackMemory(t *testing.T) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// Workers share a record batch; its memory lasts as long as a batch of it, and
// no longer. With dictionaries it is decoded by a reader that they share, too.
func TestWorkersShareRecordBatches(t *testing.T) {
	const rows, size = 1000, 64
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	plain := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(rows, true), tablestest.URLArray(rows, false))
	b := array.NewDictionaryBuilder(memory.NewGoAllocator(), dt).(*array.BinaryDictionaryBuilder)
	for i := range rows {
		must.Do(t, b.AppendString(fmt.Sprint("value ", i%100)))
	}
	encoded := tablestest.NewRecord([]string{"url", "x"}, tablestest.URLArray(rows, true), b.NewArray())
	for _, record := range []arrow.Record{plain, encoded} {
		for _, e := range encodings {
			t.Run(fmt.Sprintf("%s/%s", record.Column(1).DataType().Name(), e), func(t *testing.T) {
				data := libraryWrite(t, e, record.Schema(), record, record, record)
				s := must.Get(open(data, false, Options{BatchRows: size}))(t)
				var workers sync.WaitGroup
				must.Do(t, tablestest.Each(s, func(p batch.Piece) error {
					workers.Go(func() { checkShared(t, p, record) })
					return nil
				}))
				must.Do(t, s.Close())
				workers.Wait()
			})
		}
	}
}

func checkShared(t *testing.T, p batch.Piece, record arrow.Record) {
	ready := make(chan struct{})
	if !p.(batch.Waiting).Ready(nil, func() { close(ready) }) {
		<-ready
	}
	b, err := p.Decode()
	if err != nil {
		t.Error(err)
		return
	}
	defer b.Release()
	low := b.FirstRow % record.NumRows()
	table := b.Table.(arrow.Record)
	for i, column := range record.Columns() {
		must.Be(t, array.SliceEqual(table.Column(i), 0, table.NumRows(), column, low, low+table.NumRows()), "column %d of %s differs", i, p.Name())
	}
	urls := record.Column(0).(*array.String)
	for i := range b.URLs.Len() {
		at := int(low) + i
		must.Be(t, b.URLs.Null(i) == urls.IsNull(at) && (b.URLs.Null(i) || string(b.URLs.Value(i)) == urls.Value(at)), "URL %d of %s differs", i, p.Name())
	}
}

// Dictionaries of a stream may be replaced, and extended, between batches;
// pieces know those that were in force for them.
func TestDictionariesOfStreams(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	with := func(indices, values string) arrow.Record {
		return tablestest.NewRecord([]string{"url"}, array.NewDictionaryArray(dt, tablestest.FromJSON(t, dt.IndexType, indices), tablestest.FromJSON(t, dt.ValueType, values)))
	}
	records := []arrow.Record{
		with(`[0,1]`, `["a","b"]`), with(`[2,1]`, `["a","b","c"]`), with(`[0,0]`, `["x"]`), with(`[3,0]`, `["x","y","z","w"]`),
	}
	for _, deltas := range []bool{false, true} {
		data := tablestest.WriteArrow(t, true, records[0].Schema(), records, ipc.WithDictionaryDeltas(deltas))
		s := must.Get(open(data, true, Options{}))(t)
		pieces := piecesOf(t, s)
		must.Do(t, s.Close())
		batches := make([]*batch.Batch, len(pieces))
		for i := len(pieces) - 1; i >= 0; i-- { // the last first
			batches[i] = must.Get(pieces[i].Decode())(t)
		}
		must.Equal(t, urlsOf(batches), "a b c b x x w x", "deltas", deltas)
	}
}

// piecesOf returns all pieces of a source.
func piecesOf(t *testing.T, s *Source) (pieces []batch.Piece) {
	t.Helper()
	must.Do(t, tablestest.Each(s, func(p batch.Piece) error { pieces = append(pieces, p); return nil }))
	return pieces
}

// What a schema says besides its columns counts: it is refused before it is read where
// the memory is too small for it, in a file and in a stream.
func TestSchemaMetadataCounts(t *testing.T) {
	m := arrow.MetadataFrom(map[string]string{"k": strings.Repeat("x", 5<<20)})
	url := tablestest.URLArray(5, false)
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: url.DataType()}}, &m)
	record := tablestest.NewRecord([]string{"url"}, url)
	for _, pipe := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			data := libraryWrite(t, encoding{stream: stream}, schema, array.NewRecord(schema, record.Columns(), record.NumRows()))
			var large *budget.MemoryError
			if _, err := open(data, pipe, Options{Name: "in", Memory: 12 << 20}); !errors.As(err, &large) || large.Need < 5<<20 || large.Limit != 2<<20 {
				t.Errorf("pipe %v, stream %v: %v", pipe, stream, err)
			}
			src, err := open(data, pipe, Options{Name: "in", Memory: 36 << 20})
			must.Need(t, err == nil, "pipe %v, stream %v: %v", pipe, stream, err)
			_ = src.Close()
		}
	}
}

// handMadeTexts is a record batch of one column of texts with zstd.
type handMadeTexts struct {
	rows, nulls int
	offsets     []int64
	bitmap      []byte // nil for none
	width       int
	text        []byte
	size        int  // that the buffer of texts says, if not 0
	cut         bool // the frame
}

// newTextsOf has a text for each row, of which each seventh is null if nulls is set. The texts begin
// at byte begin of their buffer.
func newTextsOf(rows, begin, width int, nulls bool) (t *handMadeTexts, values []string) {
	t = &handMadeTexts{rows: rows, width: width, text: bytes.Repeat([]byte("x"), begin), offsets: []int64{int64(begin)}}
	if nulls {
		t.bitmap = make([]byte, (rows+7)/8)
	}
	for i := range rows {
		value := fmt.Sprintf("http://h%d.test/%s", i, strings.Repeat("a", i%50))
		if nulls && i%7 == 3 {
			value = ""
			t.nulls++
		} else if nulls {
			t.bitmap[i/8] |= 1 << (i % 8)
		}
		values = append(values, value)
		t.text = append(t.text, value...)
		t.offsets = append(t.offsets, int64(len(t.text)))
	}
	t.text = append(t.text, "the end that no row has"...)
	return t, values
}

// stream returns an Arrow stream of it.
func (h *handMadeTexts) stream(t testing.TB) []byte {
	w := must.Get(zstd.NewWriter(nil, zstd.WithEncoderCRC(true)))(t)
	defer w.Close()
	var offsets []byte
	for _, o := range h.offsets {
		offsets = append(offsets, binary.LittleEndian.AppendUint64(nil, uint64(o))[:h.width]...)
	}
	b := &layout.BatchMeta{Version: layout.MetadataV5, Rows: int64(h.rows), Nodes: []layout.FieldNode{{Length: int64(h.rows), Nulls: int64(h.nulls)}}, Codec: layout.CodecZstd}
	var body []byte
	for i, plain := range [][]byte{h.bitmap, offsets, h.text} {
		buffer, size := []byte(nil), len(plain)
		if i == 2 && h.size > 0 {
			size = h.size
		}
		if plain != nil {
			buffer = sized(int64(size), w.EncodeAll(plain, nil))
		}
		if i == 2 && h.cut {
			buffer = buffer[:len(buffer)-9]
		}
		b.Buffers = append(b.Buffers, layout.Span{Offset: int64(len(body)), Length: int64(len(buffer))})
		body = append(body, buffer...)
		body = append(body, make([]byte, -len(body)&7)...)
	}
	var dt arrow.DataType = arrow.BinaryTypes.String
	if h.width == 8 {
		dt = arrow.BinaryTypes.LargeBinary
	}
	return handMade(t, arrow.NewSchema([]arrow.Field{{Name: "url", Type: dt, Nullable: true}}, nil), b, body)
}

// Pieces of texts that are decompressed part by part have the values that were written, in any
// order of decoding.
func TestTextsInParts(t *testing.T) {
	const rows = 1000
	for _, width := range []int{4, 8} {
		for _, nulls := range []bool{false, true} {
			for _, begin := range []int{0, 5} {
				for _, size := range []int{64, 60, 999} {
					h, values := newTextsOf(rows, begin, width, nulls)
					for _, together := range []bool{false, true} {
						s := must.Get(open(h.stream(t), true, Options{BatchRows: size}))(t)
						pieces := piecesOf(t, s)
						if len(pieces) != (rows+size-1)/size {
							t.Fatalf("%d pieces", len(pieces))
						}
						batches := make([]*batch.Batch, len(pieces))
						var workers sync.WaitGroup
						for i, p := range slices.Backward(pieces) {
							decode := func() {
								ready := make(chan struct{})
								if together && !p.(batch.Waiting).Ready(nil, func() { close(ready) }) {
									<-ready
									p.(batch.Waiting).Ready(nil, nil)
								}
								b, err := p.Decode()
								if err != nil {
									t.Error(err)
								}
								batches[i] = b
							}
							if !together {
								decode()
								continue
							}
							workers.Go(decode)
						}
						workers.Wait()
						must.Need(t, pieces[0].(*piece).taken != 0, "the texts were decoded at once")
						for i, b := range batches {
							for row := range b.URLs.Len() {
								at := i*size + row
								if null := nulls && at%7 == 3; b.URLs.Null(row) != null || !null && string(b.URLs.Value(row)) != values[at] {
									t.Fatalf("width %d, nulls %v, from %d, pieces of %d, together %v: row %d is %q", width, nulls, begin, size, together, at, b.URLs.Value(row))
								}
							}
						}
					}
				}
			}
		}
	}
}

// What is damaged anywhere in the texts or their offsets is an error.
func TestDamagedTextsInParts(t *testing.T) {
	for name, damage := range map[string]func(*handMadeTexts){
		"nothing":                          func(*handMadeTexts) {},
		"the frame is cut":                 func(h *handMadeTexts) { h.cut = true },
		"there is more than the size says": func(h *handMadeTexts) { h.size = len(h.text) - 1 },
		"there is less than the size says": func(h *handMadeTexts) { h.size = len(h.text) + 1 },
		"a text ends after all texts":      func(h *handMadeTexts) { h.offsets[len(h.offsets)-1] = int64(len(h.text)) + 1 },
		"an offset within a piece falls":   func(h *handMadeTexts) { h.offsets[30] = h.offsets[28] },
		"a piece ends before it begins":    func(h *handMadeTexts) { h.offsets[128] = h.offsets[60] },
		"the first offset is negative":     func(h *handMadeTexts) { h.offsets[0] = -1 },
		"the first offset is too large":    func(h *handMadeTexts) { h.offsets[0] = 1 << 30 },
		"an offset is missing":             func(h *handMadeTexts) { h.offsets = h.offsets[:h.rows] },
		"there are more nulls":             func(h *handMadeTexts) { h.nulls++ },
		"the bitmap is too short":          func(h *handMadeTexts) { h.bitmap = h.bitmap[:2] },
	} {
		h, _ := newTextsOf(300, 0, 4, true)
		damage(h)
		batches, err := readAll(h.stream(t), true, Options{BatchRows: 64})
		must.Be(t, (err == nil) == (name == "nothing"), "%s: error %v after %d rows", name, err, rowsOf(batches))
	}
	h, _ := newTextsOf(40, 0, 4, true)
	data := h.stream(t)
	for i := range data {
		damaged := must.Flipped(data, i, []byte{0x01, 0xFF, 0x80}[i%3])
		if batches, err := readAll(damaged, true, Options{BatchRows: 8, Memory: 1 << 20}); err == nil {
			useAll(t, batches)
		}
	}
}
