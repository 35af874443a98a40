package arrowipc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/klauspost/compress/zstd"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/ipc"
	"robotsbatch/io/tables/arrow/layout"
)

// smallRecord has a column of each kind that points into other buffers.
func smallRecord(t testing.TB) arrow.Record {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	return tablestest.NewRecord([]string{"url", "d", "l", "v", "u", "b"},
		tablestest.URLArray(5, true),
		tablestest.FromJSON(t, dt, `["a","b",null,"a","c"]`),
		tablestest.FromJSON(t, arrow.ListOf(arrow.BinaryTypes.String), `[["x"],null,[],["y","zz"],["w"]]`),
		tablestest.FromJSON(t, arrow.BinaryTypes.StringView, `["a string that is long","s",null,"","one more long string"]`),
		tablestest.FromJSON(t, arrow.DenseUnionOf([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32}}, []arrow.UnionTypeCode{3}), `[[3,1],[3,2],[3,3],[3,4],[3,5]]`),
		tablestest.FromJSON(t, arrow.FixedWidthTypes.Boolean, `[true,null,false,true,true]`),
	)
}

// rowsOf counts the rows of batches.
func rowsOf(batches []*batch.Batch) int {
	rows := 0
	for _, b := range batches {
		rows += b.URLs.Len()
	}
	return rows
}

// A cut input is an error wherever it is cut; no cut is mistaken for an end.
func TestCutAnywhere(t *testing.T) {
	record := smallRecord(t)
	for _, e := range []encoding{{false, compress.None}, {true, compress.LZ4}} {
		data := libraryWrite(t, e, record.Schema(), record, record)
		pipes := []bool{true}
		if !e.stream {
			pipes = append(pipes, false)
		}
		for _, pipe := range pipes {
			t.Run(fmt.Sprintf("%s/pipe=%v", e, pipe), func(t *testing.T) {
				if batches, err := readAll(data, pipe, Options{}); err != nil || rowsOf(batches) != 10 {
					t.Fatalf("the whole input: %d rows, %v", rowsOf(batches), err)
				}
				for n := range data {
					batches, err := readAll(data[:n], pipe, Options{})
					if err == nil {
						t.Fatalf("cut at %d of %d: %d rows and no error", n, len(data), rowsOf(batches))
					}
					must.Need(t, !e.stream || n <= 4 || errors.Is(err, io.ErrUnexpectedEOF), "cut at %d of %d: %v", n, len(data), err)
				}
			})
		}
	}
}

// useAll touches every value of decoded batches, as sinks do.
func useAll(t testing.TB, batches []*batch.Batch) {
	for _, b := range batches {
		for i := range b.URLs.Len() {
			if !b.URLs.Null(i) {
				_ = len(b.URLs.Value(i))
			}
		}
		record := b.Table.(arrow.Record)
		must.Need(t, record.NumRows() == int64(b.URLs.Len()), "%d rows, %d URLs", record.NumRows(), b.URLs.Len())
		s, err := NewSink(new(output), SinkOptions{Schema: record.Schema(), Codec: compress.None, Stream: true})
		if err != nil {
			continue // such as a type that cannot be written
		}
		v := tablestest.Verdicts(b.URLs.Len())
		v.Selected = bytes.Repeat([]byte{0b1011_0110}, (v.Rows+7)/8)
		chunk, err := s.Encode(b, v)
		if err == nil {
			err = s.Write(chunk)
		}
		must.Need(t, err == nil || strings.Contains(err.Error(), "does not write"), "%v", err)
		for _, column := range record.Columns() {
			for i := range column.Len() {
				_ = column.ValueStr(i)
			}
		}
	}
}

// A flipped byte is an error or other data, but neither a panic nor memory
// beyond the limit.
func TestFlippedBytes(t *testing.T) {
	record := smallRecord(t)
	const memory = 1 << 20
	stride := must.Short(7, 1) // prime to the number of damages
	for _, e := range []encoding{{false, compress.Zstd}, {true, compress.LZ4}, {true, compress.None}} {
		data := libraryWrite(t, e, record.Schema(), record)
		t.Run(e.String(), func(t *testing.T) {
			for i := 0; i < len(data); i += stride {
				damaged := must.Flipped(data, i, []byte{0x01, 0xFF, 0x80}[i%3])
				bytes := must.Allocated(func() {
					batches, err := readAll(damaged, e.stream, Options{Memory: memory})
					if err == nil {
						useAll(t, batches)
					}
				})
				must.Need(t, bytes <= 32*memory, "byte %d: %d bytes allocated", i, bytes)
			}
		})
	}
}

// handMade returns a stream of one record batch whose metadata says what it
// likes.
func handMade(t testing.TB, schema *arrow.Schema, b *layout.BatchMeta, body []byte) []byte {
	stream := handMadeSchema(t, schema)
	return append(append(append(stream, layout.SealedHead(layout.RecordMessage(b, int64(len(body)), layout.NoSum[:], nil), body)...), body...), layout.EndOfStream...)
}

// handMadeSchema returns the beginning of a stream, with a checksum.
func handMadeSchema(t testing.TB, schema *arrow.Schema) []byte {
	meta := libraryWrite(t, encoding{true, compress.None}, schema)[layout.FramePrefix:]
	h := must.Get(layout.ParseHeader(meta))(t)
	return layout.SealedHead(layout.SchemaMessage(h.Table), nil)
}

// offsets32 are little-endian bytes.
func offsets32(values ...int32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

func sized(size int64, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(size)), data...)
}

// twoURLs is a record batch of the URLs "http://a/" and "http://b/": offsets
// in the first 16 bytes of the body, characters in the next 24.
func twoURLs() (*layout.BatchMeta, []byte) {
	body := append(offsets32(0, 9, 18, 0), "http://a/http://b/......"...)
	return &layout.BatchMeta{
		Version: layout.MetadataV5, Rows: 2, Codec: layout.CodecNone,
		Nodes:   []layout.FieldNode{{Length: 2, Nulls: 0}},
		Buffers: []layout.Span{{Offset: 0, Length: 0}, {Offset: 0, Length: 12}, {Offset: 16, Length: 18}},
	}, body
}

var urlSchema = arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)

// Metadata that lies is found out before memory is taken for it.
func TestLies(t *testing.T) {
	single := func(size uint64) []byte { // a zstd frame that announces one segment of that size
		frame := []byte{0x28, 0xB5, 0x2F, 0xFD, 0b1110_0000}
		return append(binary.LittleEndian.AppendUint64(frame, size), 1, 0, 0)
	}
	for _, test := range []struct {
		name   string
		lie    func(b *layout.BatchMeta, body []byte) []byte
		errHas string
	}{
		{"rows", func(b *layout.BatchMeta, body []byte) []byte { b.Rows = 3; return body }, "has 2 values for 3 rows"},
		{"negative rows", func(b *layout.BatchMeta, body []byte) []byte { b.Rows, b.Nodes[0].Length = -1, -1; return body }, "-1 rows"},
		{"many rows", func(b *layout.BatchMeta, body []byte) []byte { b.Rows, b.Nodes[0].Length = 1<<60, 1<<60; return body }, "array 0 has"},
		{"more rows than offsets", func(b *layout.BatchMeta, body []byte) []byte { b.Rows, b.Nodes[0].Length = 4, 4; return body }, "a buffer is too short"},
		{"more nulls than rows", func(b *layout.BatchMeta, body []byte) []byte { b.Nodes[0].Nulls = 3; return body }, "3 of them null"},
		{"nulls without a bitmap", func(b *layout.BatchMeta, body []byte) []byte { b.Nodes[0].Nulls = 1; return body }, "too short"},
		{"wrong count of nulls", func(b *layout.BatchMeta, body []byte) []byte {
			b.Nodes[0].Nulls, b.Buffers[0] = 1, layout.Span{Offset: 16, Length: 1} // 'h' = 0b01101000
			return body
		}, "2 values are null where it says 1"},
		{"no nodes", func(b *layout.BatchMeta, body []byte) []byte { b.Nodes = nil; return body }, "fewer arrays or buffers"},
		{"too few buffers", func(b *layout.BatchMeta, body []byte) []byte { b.Buffers = b.Buffers[:2]; return body }, "fewer arrays or buffers"},
		{"too many buffers", func(b *layout.BatchMeta, body []byte) []byte {
			b.Buffers = append(b.Buffers, layout.Span{})
			return body
		}, "1 arrays with 4 buffers"},
		{"buffer behind the body", func(b *layout.BatchMeta, body []byte) []byte { b.Buffers[2].Offset = 32; return body }, "buffer 2 lies outside"},
		{"buffer before the body", func(b *layout.BatchMeta, body []byte) []byte { b.Buffers[2].Offset = -8; return body }, "buffer 2 lies outside"},
		{"buffer of negative length", func(b *layout.BatchMeta, body []byte) []byte { b.Buffers[2].Length = -1; return body }, "buffer 2 lies outside"},
		{"buffer that wraps around", func(b *layout.BatchMeta, body []byte) []byte { b.Buffers[2].Offset = 1<<63 - 4; return body }, "buffer 2 lies outside"},
		{"falling offsets", func(b *layout.BatchMeta, body []byte) []byte { copy(body, offsets32(0, 19, 18)); return body }, `column "url": damaged: offset 2 is 18 after 19`},
		{"negative offset", func(b *layout.BatchMeta, body []byte) []byte { copy(body, offsets32(-5, 9, 18)); return body }, "offset 0 is -5"},
		{"offset behind the data", func(b *layout.BatchMeta, body []byte) []byte { copy(body, offsets32(0, 9, 19)); return body }, "the last offset is 19 of 18"},
		{"compressed to a terabyte", func(b *layout.BatchMeta, body []byte) []byte {
			b.Codec, b.Buffers[2] = layout.CodecZstd, layout.Span{Offset: 0, Length: 16}
			return sized(1<<40, body)
		}, "raise memory"},
		{"compressed to a negative size", func(b *layout.BatchMeta, body []byte) []byte {
			b.Codec, b.Buffers[2] = layout.CodecZstd, layout.Span{Offset: 0, Length: 16}
			return sized(-2, body)
		}, "buffer of -2 bytes"},
		{"compressed without a size", func(b *layout.BatchMeta, body []byte) []byte {
			b.Codec, b.Buffers = layout.CodecLZ4, []layout.Span{{}, {}, {Offset: 0, Length: 7}}
			return body
		}, "without its size"},
		{"a zstd frame of 16 GiB", func(b *layout.BatchMeta, _ []byte) []byte {
			b.Codec = layout.CodecZstd
			body := sized(18, single(16<<30))
			b.Buffers = []layout.Span{{}, {}, {Offset: 0, Length: int64(len(body))}}
			return body
		}, "does not decompress"},
		{"an LZ4 frame that is none", func(b *layout.BatchMeta, _ []byte) []byte {
			b.Codec, b.Buffers = layout.CodecLZ4, []layout.Span{{}, {}, {Offset: 0, Length: 24}}
			return append(sized(18, nil), "this is no LZ4 frame...."...)
		}, "does not decompress"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, body := twoURLs()
			body = test.lie(b, body)
			data := handMade(t, urlSchema, b, body)
			var err error
			bytes := must.Allocated(func() { _, err = readAll(data, false, Options{Name: "x", Memory: 1 << 20}) })
			must.Say(t, err, test.errHas)
			must.Be(t, bytes <= 16<<20, "%d bytes allocated", bytes)
		})
	}
	b, body := twoURLs()
	batches, err := readAll(handMade(t, urlSchema, b, body), false, Options{})
	must.Need(t, err == nil && rowsOf(batches) == 2, "without a lie: %v", err)
}

// What a compressed buffer holds must be what its size says, to the checksum.
func TestCompressedBuffers(t *testing.T) {
	encoder := must.Get(zstd.NewWriter(nil))(t)
	defer encoder.Close()
	text := []byte("http://a/http://b/")
	frame := encoder.EncodeAll(text, nil)
	for _, test := range []struct {
		name   string
		buffer []byte
		errHas string
	}{
		{"as it is", sized(18, frame), ""},
		{"left uncompressed", sized(-1, text), ""},
		{"larger than it says", sized(17, frame), "does not decompress"},
		{"smaller than it says", sized(19, frame), "not the one that is recorded"},
		{"with a wrong checksum", sized(18, append(bytes.Clone(frame[:len(frame)-1]), frame[len(frame)-1]^1)), "does not decompress"},
		{"cut", sized(18, frame[:len(frame)-5]), "does not decompress"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, _ := twoURLs()
			b.Codec = layout.CodecZstd
			offsets := sized(-1, offsets32(0, 9, 18, 0))
			body := append(offsets, test.buffer...)
			b.Buffers = []layout.Span{{}, {Offset: 0, Length: 20}, {Offset: 24, Length: int64(len(test.buffer))}}
			batches, err := readAll(handMade(t, urlSchema, b, body), false, Options{})
			if test.errHas != "" {
				must.Need(t, err != nil && strings.Contains(err.Error(), test.errHas), "error %v, want one with %q", err, test.errHas)
				return
			}
			must.Need(t, err == nil && string(batches[0].URLs.Value(1)) == "http://b/", "error %v", err)
		})
	}
}

// An LZ4 frame as Polars writes it: with checksums of blocks, which are those
// of the compressed bytes.
func TestLZ4BlockChecksums(t *testing.T) {
	const text = "http://a.example/http://b.example/"
	frame := must.Get(hex.DecodeString("04224d185440ae" + "20000000" +
		"f302687474703a2f2f612e6578616d706c652f1100a0622e6578616d706c652f" + "121a2772" + "00000000" + "8b3bdb73"))(t)
	dst := make([]byte, len(text))
	if err := layout.Decompress(dst, sized(int64(len(text)), frame), layout.CodecLZ4); err != nil || string(dst) != text {
		t.Fatalf("%q, %v", dst, err)
	}
	for i := range frame {
		damaged := must.Flipped(frame, i, 0x10)
		err := layout.Decompress(dst, sized(int64(len(text)), damaged), layout.CodecLZ4)
		must.Be(t, err != nil || string(dst) == text, "byte %d changed: %q and no error", i, dst)
	}
}

// Offsets need not begin at 0, nor the values be used to their end; what comes
// out has neither.
func TestOffsetsThatDoNotBeginAtZero(t *testing.T) {
	b, body := twoURLs()
	copy(body, offsets32(3, 9, 12))
	batches := must.Get(readAll(handMade(t, urlSchema, b, body), false, Options{}))(t)
	got := string(batches[0].URLs.Value(0)) + " " + string(batches[0].URLs.Value(1))
	must.Need(t, got == "p://a/ htt", "URLs %q", got)
	var out output
	s := must.Get(NewSink(&out, SinkOptions{Codec: compress.Zstd, Schema: urlSchema, Layout: batch.Layout{URLColumn: "url"}}))(t)
	writeBatches(t, s, batches)
	_, records := tablestest.ReadArrow(t, out.Bytes())
	column := records[0].Column(0).(*array.String)
	must.Need(t, column.Value(0) == "p://a/" && column.Value(1) == "htt" && column.ValueOffset(0) == 0, "came out as %v from %d", column, column.ValueOffset(0))
}

// writeBatches writes batches to s and closes it.
func writeBatches(t testing.TB, s batch.Sink, batches []*batch.Batch) {
	t.Helper()
	for _, b := range batches {
		must.Do(t, s.Write(must.Get(s.Encode(b, tablestest.Verdicts(b.URLs.Len())))(t)))
	}
	must.Do(t, s.Close())
}

// Frames and footers that lie.
func TestDamagedFrames(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(3, false))
	stream := libraryWrite(t, encoding{true, compress.None}, record.Schema(), record)
	file := libraryWrite(t, encoding{false, compress.None}, record.Schema(), record)
	replace := func(data []byte, at int, with ...byte) []byte {
		data = bytes.Clone(data)
		if at < 0 {
			at += len(data)
		}
		copy(data[at:], with)
		return data
	}
	for _, test := range []struct {
		name   string
		data   []byte
		pipe   bool
		errHas string
	}{
		{"nothing", nil, true, "the input is cut"},
		{"text", []byte("http://example.com/\n"), true, "it does not begin as an Arrow stream does"},
		{"an end marker alone", layout.EndOfStream, true, "there is no schema"},
		{"joined streams", append(bytes.Clone(stream), stream...), true, "there is more behind the end"},
		{"metadata of 4 GiB", replace(stream, 4, 0xFF, 0xFF, 0xFF, 0xFF), true, "bytes of metadata"},
		{"a batch before the schema", stream[binary.LittleEndian.Uint32(stream[4:])+8:], true, "not a schema"},
		{"two schemas", append(bytes.Clone(stream[:binary.LittleEndian.Uint32(stream[4:])+8]), stream...), true, "a message of kind 1"},
		{"a file's first magic", replace(file, 0, 'B'), false, "does not begin with ARROW1"},
		{"a file's last magic", replace(file, -1, '2'), false, "does not end with a footer"},
		{"a file's last magic, from a pipe", replace(file, -1, '2'), true, "does not end with a footer"},
		{"a footer of no bytes", replace(file, -10, 0, 0, 0, 0), false, "a footer of 0 bytes"},
		{"a footer larger than the file", replace(file, -10, 0, 0, 1, 0), false, "a footer of 65536 bytes"},
		{"a footer larger than the file, from a pipe", replace(file, -10, 0, 0, 1, 0), true, "a footer of 65536 bytes"},
		{"a file without footer", append(bytes.Clone(file[:8]), stream...), true, "does not end with a footer"},
		{"a file without messages, from a pipe", append(append(bytes.Clone(file[:8]), layout.EndOfStream...), file[8:]...), true, "there is no schema"},
		{"another schema in the footer", replace(file, bytes.LastIndex(file, []byte("url")), 'U'), false, "is not the one in its footer"},
		{"another schema in the footer, from a pipe", replace(file, bytes.LastIndex(file, []byte("url")), 'U'), true, "is not the one in its footer"},
		{"a file of Polars from a pipe", append(append(bytes.Clone(file[:8]), 4, 0, 0, 0), file[8:]...), true, "give it by its name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var err error
			if test.pipe {
				_, err = readAll(test.data, true, Options{Name: "in"})
			} else if _, err = OpenFile(bytes.NewReader(test.data), int64(len(test.data)), Options{Name: "in"}); err == nil {
				_, err = readAll(test.data, false, Options{Name: "in"})
			}
			must.Need(t, err != nil && strings.Contains(err.Error(), test.errHas) && strings.HasPrefix(err.Error(), "in: "), "error %v, want one with %q", err, test.errHas)
		})
	}
}

// footerFile returns a file with these record batch blocks in its footer, and
// without checksums.
func footerFile(t testing.TB, messages []byte, dictionaries, batches []layout.Block) []byte {
	schema := libraryWrite(t, encoding{true, compress.None}, urlSchema)
	h := must.Get(layout.ParseHeader(schema[layout.FramePrefix:]))(t)
	data := slices.Concat([]byte(layout.MagicPadded), messages, layout.FooterBytes(h, dictionaries, batches, nil))
	noKey := strings.ToUpper(layout.SumKey)
	return bytes.ReplaceAll(data, []byte(layout.SumKey), []byte(noKey))
}

func TestFooterBlocks(t *testing.T) {
	b, body := twoURLs()
	head := layout.SealedHead(layout.RecordMessage(b, int64(len(body)), layout.NoSum[:], nil), body)
	messages := append(head, body...)
	good := layout.Block{Offset: 8, Meta: int32(len(head)), Body: int64(len(body))}
	with := func(change func(*layout.Block)) []layout.Block { b := good; change(&b); return []layout.Block{b} }
	for _, test := range []struct {
		name                  string
		dictionaries, batches []layout.Block
		rows                  int
		errHas                string
	}{
		{name: "good", batches: []layout.Block{good}, rows: 2},
		{name: "one was lost", errHas: "the message at byte 8 is not in the footer"},
		{name: "before the messages", batches: with(func(b *layout.Block) { b.Offset = 0 }), errHas: "outside the file"},
		{name: "negative offset", batches: with(func(b *layout.Block) { b.Offset = -8 }), errHas: "outside the file"},
		{name: "behind the messages", batches: with(func(b *layout.Block) { b.Offset = 1 << 40 }), errHas: "outside the file"},
		{name: "large body", batches: with(func(b *layout.Block) { b.Body = 1 << 62 }), errHas: "outside the file"},
		{name: "negative body", batches: with(func(b *layout.Block) { b.Body = -1 }), errHas: "outside the file"},
		{name: "small metadata", batches: with(func(b *layout.Block) { b.Meta = 7 }), errHas: "outside the file"},
		{name: "negative metadata", batches: with(func(b *layout.Block) { b.Meta = -1 }), errHas: "outside the file"},
		{name: "metadata cut", batches: with(func(b *layout.Block) { b.Meta -= 8; b.Body += 8 }), errHas: "bytes of metadata where its block has"},
		{name: "body cut", batches: with(func(b *layout.Block) { b.Body -= 8 }), errHas: "a body of 40 bytes where its block has 32"},
		{name: "twice", batches: []layout.Block{good, good}, errHas: "overlap"},
		{name: "not where the message begins", batches: with(func(b *layout.Block) { b.Offset += 8; b.Body -= 8 }), errHas: "the message at byte 8 is not in the footer"},
		{name: "as a dictionary", dictionaries: []layout.Block{good}, errHas: "in: dictionary batch 0: damaged: a message of kind 3 where the footer says 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := footerFile(t, messages, test.dictionaries, test.batches)
			batches, err := readAll(data, false, Options{Name: "in"})
			if test.errHas != "" {
				must.Need(t, err != nil && strings.Contains(err.Error(), test.errHas), "error %v, want one with %q", err, test.errHas)
				return
			}
			must.Need(t, err == nil && rowsOf(batches) == test.rows, "%d rows, %v", rowsOf(batches), err)
		})
	}
}

// A file has its schema twice. When one is damaged nobody knows which, so that
// neither is believed.
func TestTwoSchemas(t *testing.T) {
	record := tablestest.NewRecord([]string{"url", "some_name"}, tablestest.URLArray(3, false), tablestest.URLArray(3, false))
	for _, column := range []string{"url", "some_name"} {
		file := libraryWrite(t, encoding{false, compress.None}, record.Schema(), record)
		for _, pipe := range []bool{false, true} {
			for _, at := range []int{bytes.Index(file, []byte(column)), bytes.LastIndex(file, []byte(column))} {
				damaged := must.Flipped(file, at, 1)
				must.Fail(t, must.Err(readAll(damaged, pipe, Options{URLColumn: "url"})), "column", column, "byte", at, "pipe", pipe)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	record := smallRecord(f)
	for _, e := range encodings {
		f.Add(libraryWrite(f, e, record.Schema(), record, record))
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, data, true) })
}

func FuzzFile(f *testing.F) {
	record := smallRecord(f)
	for _, e := range allEncodings[:3] {
		f.Add(libraryWrite(f, e, record.Schema(), record, record))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte(layout.Magic)) {
			fuzz(t, data, false)
		}
	})
}

func fuzz(t *testing.T, data []byte, pipe bool) {
	const memory = 1 << 20
	bytes := must.Allocated(func() {
		batches, err := readAll(data, pipe, Options{Memory: memory, BatchRows: 3})
		if err == nil {
			useAll(t, batches)
		}
	})
	must.Need(t, bytes <= 64*memory+1000*uint64(len(data)), "%d bytes allocated for %d", bytes, len(data))
}

// decodeAll reads a file, or what comes through a pipe, to its end.
func decodeAll(data []byte, stream bool) error {
	s, err := open(data, stream, Options{Name: "x.arrow"})
	if err != nil {
		return err
	}
	defer s.Close()
	return tablestest.Each(s, func(p batch.Piece) error {
		b, err := p.Decode()
		if err == nil {
			b.Release()
		}
		return err
	})
}

// Changed bytes of files and streams are found wherever they are, those of
// strings that are not compressed, too, and what is wrong names the batch.
func TestSums(t *testing.T) {
	for _, stream := range []bool{false, true} {
		data := summed(t, stream)
		must.Do(t, decodeAll(data, stream))
		if !stream { // a pipe
			must.Do(t, decodeAll(data, true))
		}
		for i := range data {
			changed := must.Flipped(data, i, 1<<rand.IntN(8))
			must.Be(t, decodeAll(changed, stream) != nil, "stream %v: byte %d of %d: no error", stream, i, len(data))
		}
		at := bytes.LastIndex(data, []byte("abc"))
		data[at] ^= 1
		err := decodeAll(data, stream)
		must.Be(t, err != nil && strings.Contains(err.Error(), "x.arrow: ") && strings.Contains(err.Error(), "its checksum does not match"), "error %v", err)
	}
}

// Other readers do not mind checksums.
func TestSumsAndTheLibrary(t *testing.T) {
	for _, stream := range []bool{false, true} {
		_, records := tablestest.ReadArrow(t, summed(t, stream))
		must.Equal(t, len(records), 3, "stream", stream, "record batches")
	}
}

// summed is a file or a stream with a dictionary that grows, not compressed.
func summed(t *testing.T, stream bool) []byte {
	t.Helper()
	records := []arrow.Record{
		dictionaryRecord(t, `[1,0,null]`, `["a","b"]`), dictionaryRecord(t, `[2,0]`, `["a","b","abc"]`), dictionaryRecord(t, `[1]`, `["a","b"]`),
	}
	var out output
	w := must.Get(NewSink(&out, SinkOptions{Stream: stream, Schema: records[0].Schema(), Codec: compress.None, Layout: batch.Layout{URLColumn: "url"}}))(t)
	for _, record := range records {
		b := tableBatch(t, record)
		must.Do(t, w.Write(must.Get(w.Encode(b, tablestest.Verdicts(b.URLs.Len())))(t)))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// strictFiles are files and streams with columns of many types: as the library writes
// them, and with columns of this program.
func strictFiles(t *testing.T) (files [][]byte) {
	t.Helper()
	for _, c := range tablestest.Columns(t) {
		if c.Array.Len() != 21 && c.Array.DataType().ID() == arrow.EXTENSION {
			continue
		}
		record := tablestest.NewRecord([]string{"url", c.Name}, tablestest.URLArray(c.Array.Len(), false), c.Array)
		data := libraryWrite(t, encoding{stream: true, compression: compress.Zstd}, record.Schema(), record)
		files = append(files, data, libraryWrite(t, encoding{}, record.Schema(), record))
		if out, err := passThrough(data, false, false, 4); err == nil {
			files = append(files, out)
		}
	}
	return files
}

// What this program and the library write is as other readers want it.
func TestCheckMetadata(t *testing.T) {
	for i, data := range strictFiles(t) {
		_, err := ipc.Check(bytes.NewReader(data), int64(len(data)), bytes.HasPrefix(data, []byte(layout.Magic)), 0)
		must.Be(t, err == nil, "file %d: %v", i, err)
	}
}

// Check finds a changed byte of what has checksums.
func TestCheckSums(t *testing.T) {
	check := func(data []byte, stream bool) (int64, error) {
		return ipc.Check(bytes.NewReader(data), int64(len(data)), !stream, 64<<20)
	}
	for _, stream := range []bool{false, true} {
		data := summed(t, stream)
		rows, err := check(data, stream)
		must.Be(t, rows == 6 && err == nil, "stream %t: %d rows: %v", stream, rows, err)
		data[bytes.LastIndex(data, []byte("abc"))] ^= 1
		must.Say(t, must.Err(check(data, stream)), "its checksum does not match", "stream", stream)
	}
}
