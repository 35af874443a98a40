package outputs_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/outputs"
	"robotsbatch/io/frontier/tableio/tablestest"
	codecs "robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	m.Run()
}

// A damaged input ends a job with an error, or is another valid input: a letter of a
// string, an offset that is still in order. So outputs are compared. Another value in one
// column may be right, but lost rows or changes in several columns never are.

// sample is an intact input.
type sample struct {
	name, file string
	data       []byte
	numbers    *numberedFile // of Parquet
	sound      map[batch.Keep][]byte
}

// damageMemory is the memory of a job, and mostAllocated the most that it may allocate.
const (
	damageMemory  = 4 << 20
	mostAllocated = 160 << 20
)

// tableSchema has a column of each shape: strings, numbers, a dictionary, lists.
func tableSchema() *arrow.Schema {
	m := arrow.NewMetadata([]string{"made by"}, []string{"a test"})
	return arrow.NewSchema([]arrow.Field{
		{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "kind", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "found", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
	}, &m)
}

// tableRecords returns batches of rows, all with the same dictionary.
func tableRecords(schema *arrow.Schema, batches, rows int) (records []arrow.Record) {
	kindNames := []string{"page", "image", "feed", "video"}
	names := array.NewStringBuilder(memory.NewGoAllocator())
	names.AppendValues(kindNames, nil)
	b := array.NewRecordBuilder(memory.NewGoAllocator(), schema)
	kinds, tags := b.Field(2).(*array.BinaryDictionaryBuilder), b.Field(3).(*array.ListBuilder)
	_ = kinds.InsertStringDictValues(names.NewStringArray())
	for n := range batches * rows {
		b.Field(1).(*array.Int64Builder).Append(int64(n))
		if n%29 == 28 {
			for _, i := range []int{0, 2, 3, 4} {
				b.Field(i).AppendNull()
			}
		} else {
			b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("https://host%d.example/some/path/%d?q=%d", n/5, n*n, n))
			_ = kinds.AppendString(kindNames[n%4])
			tags.Append(true)
			for i := range n % 3 {
				tags.ValueBuilder().(*array.StringBuilder).Append([]string{"news", "archive"}[i])
			}
			b.Field(4).(*array.TimestampBuilder).Append(1_700_000_000_000_000 + 977*arrow.Timestamp(n))
		}
		if n%rows == rows-1 {
			records = append(records, b.NewRecord())
		}
	}
	return records
}

// samples returns intact inputs of all formats in which damage can be detected.
func samples(t testing.TB) (all []*sample) {
	t.Helper()
	schema := tableSchema()
	add := func(name, file string, data []byte) {
		s := &sample{name: name, file: file, data: data, sound: make(map[batch.Keep][]byte)}
		if strings.HasSuffix(file, ".parquet") {
			s.numbers = must.Get(parseParquet(data))(t)
		}
		for _, keep := range []batch.Keep{batch.KeepAll, batch.KeepURL, batch.KeepNone} {
			sound, err := convert(t, s.file, data, keep, "x.arrows", false)
			must.Need(t, err == nil, "%s: %v", name, err)
			s.sound[keep] = sound
		}
		all = append(all, s)
	}
	plain := libraryParquet(t, schema, compress.Codecs.Uncompressed, parquet.DataPageV1)
	for _, codec := range []codecs.Codec{codecs.None, codecs.LZ4, codecs.Zstd} {
		for _, file := range []string{"x.arrow", "x.arrows"} {
			data := must.Get(convertTo(t, "x.parquet", plain, batch.KeepAll, file, codec, false, false))(t)
			add(fmt.Sprintf("%s %s", file, codec), file, data)
		}
	}
	for _, file := range []string{"x.csv.gz", "x.jsonl.zst", "x.tsv.zst"} {
		data := must.Get(convertTo(t, "x.parquet", plain, batch.KeepURL, file, codecs.None, false, false))(t)
		add(file, file, data)
	}
	for i, encoding := range [][]parquet.WriterProperty{
		{parquet.WithDictionaryDefault(false)},
		nil,
		{
			parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("url", parquet.Encodings.DeltaLengthByteArray),
			parquet.WithEncodingFor("id", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("found", parquet.Encodings.DeltaBinaryPacked),
		},
		{parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("url", parquet.Encodings.DeltaByteArray), parquet.WithEncodingFor("kind", parquet.Encodings.DeltaByteArray)},
	} {
		for j, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli} {
			if i > 1 && j > 2 {
				break // these encodings are no other bytes to gzip and brotli
			}
			version := []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[(i+j)%2]
			add(fmt.Sprintf("parquet %d %s", i, codec), "x.parquet", libraryParquet(t, schema, codec, version, encoding...))
		}
	}
	return all
}

func libraryParquet(t testing.TB, schema *arrow.Schema, codec compress.Compression, version parquet.DataPageVersion, more ...parquet.WriterProperty) []byte {
	t.Helper()
	var out bytes.Buffer
	options := append([]parquet.WriterProperty{parquet.WithCompression(codec), parquet.WithDataPageVersion(version), parquet.WithDataPageSize(1 << 10), parquet.WithBatchSize(32)}, more...)
	w := must.Get(pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(options...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema())))(t)
	for _, record := range tableRecords(schema, 2, 60) {
		must.Do(t, w.Write(record))
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// memoryOutput is an output in memory.
type memoryOutput struct{ bytes.Buffer }

func (*memoryOutput) Close() error { return nil }
func (*memoryOutput) Abort()       {}

// convert runs a job on an input. If passes, columns go to the output undecoded where they
// can, and nothing else does, so that it can be read again.
func convert(t testing.TB, file string, data []byte, keep batch.Keep, out string, passes bool) ([]byte, error) {
	return convertTo(t, file, data, keep, out, codecs.None, passes, !passes)
}

func convertTo(t testing.TB, file string, data []byte, keep batch.Keep, to string, inside codecs.Codec, passes, judges bool) ([]byte, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), file)
	must.Do(t, os.WriteFile(name, data, 0o666))
	verdicts := must.Get(batch.VerdictColumns(batch.ColumnOptions{Agents: []string{"*"}}))(t)
	out := outputs.Output{Path: to, Inputs: []frontier.Input{{Path: name, Stem: file}}}
	o := &outputs.Options{Out: to, Inside: inside, Encode: !passes, Keep: keep, Verdicts: verdicts}
	if !judges {
		o.Verdicts = nil
	}
	reading := o.ReadOptions(out, frontier.Options{
		Memory: damageMemory, Keep: keep, Options: lines.Options{BatchRows: 50, Columns: true, Verdicts: o.Verdicts},
	})
	output := reading.Output
	reading.Output = func(in format.Format) (format.Format, error) {
		f, _ := output(in) // columns may be lost here
		return f, nil
	}
	src, err := frontier.Concatenate(context.Background(), out.Inputs, reading)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	target, err := o.Target(out, src.First())
	if err != nil {
		return nil, err
	}
	var w memoryOutput
	sink, err := o.NewSink(target, src.First(), damageMemory, &w)
	if err != nil {
		return nil, err
	}
	newEvaluator := func() batch.Evaluator { return evaluate.New(&ruletable.Table{}, evaluate.Options{Agents: 1}) }
	if _, err := batch.Run(context.Background(), src, sink, newEvaluator, batch.Options{Workers: 1, Memory: 2 * damageMemory}); err != nil {
		return nil, err
	}
	return w.Bytes(), src.Complete()
}

// judge converts a damaged input, and fails if the outcome is never right. It reports
// whether the input was refused.
func (s *sample) judge(t testing.TB, data []byte, keep batch.Keep, what string) (refused bool) {
	t.Helper()
	var out []byte
	var err error
	more := must.Allocated(func() { out, err = convert(t, s.file, data, keep, "x.arrows", false) })
	must.Be(t, more <= mostAllocated, "%s: %s: %d bytes were allocated", s.name, what, more)
	must.Be(t, err == nil || !strings.Contains(err.Error(), "internal error"), "%s: %s: %v", s.name, what, err)
	if err == nil {
		s.compare(t, out, keep, what)
	}
	if f, _ := format.ByName(s.file); f.IsBinary() && keep == batch.KeepAll {
		s.judgePassed(t, data, err, what)
	}
	return err != nil
}

// judgePassed has the columns of a damaged input pass. Where the output cannot be read,
// neither can the input, whose decoder said refused.
func (s *sample) judgePassed(t testing.TB, data []byte, refused error, what string) {
	t.Helper()
	passed, err := convert(t, s.file, data, batch.KeepAll, s.file, true)
	if err != nil {
		must.Be(t, !strings.Contains(err.Error(), "internal error"), "%s: %s: passing: %v", s.name, what, err)
		return
	}
	out, err := convert(t, s.file, passed, batch.KeepAll, "x.arrows", false)
	switch {
	case err == nil:
		s.compare(t, out, batch.KeepAll, "passing: "+what)
	case refused == nil:
		t.Errorf("%s: %s: it passes, and cannot be read any more: %v", s.name, what, err)
	}
}

// compare fails if an output is not what another valid input would give.
func (s *sample) compare(t testing.TB, out []byte, keep batch.Keep, what string) {
	t.Helper()
	if bytes.Equal(out, s.sound[keep]) {
		return
	}
	text, valid := difference(s.sound[keep], out)
	if keep == batch.KeepNone && text == "values of one column" {
		valid = true // verdicts of other URLs
	}
	must.Be(t, valid, "%s: %s: %s", s.name, what, text)
}

// damage makes a damaged copy of a sample. cut says that it is cut off.
func (s *sample) damage(rng *rand.Rand) (data []byte, cut bool, what string) {
	at := rng.IntN(len(s.data))
	switch kind := rng.IntN(4); {
	case kind == 0:
		if rng.IntN(4) == 0 { // near the end, where a cut is hardest to notice
			at = len(s.data) - 1 - rng.IntN(min(len(s.data), 64))
		}
		return bytes.Clone(s.data[:at]), true, fmt.Sprintf("cut after %d of %d bytes", at, len(s.data))
	case kind == 1 && s.numbers != nil:
		data, what = s.numbers.change(rng)
		return data, false, what
	}
	change := byte(1) << rng.IntN(8)
	if rng.IntN(4) == 0 {
		change = byte(1 + rng.IntN(255))
	}
	data = bytes.Clone(s.data)
	data[at] ^= change
	return data, false, fmt.Sprintf("byte %d changed by %#02x", at, change)
}

func TestDamage(t *testing.T) {
	n := must.Short(400, 3000)
	all := samples(t)
	refused := make([]int, len(all))
	for i := range n {
		s := all[i%len(all)]
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		data, cut, what := s.damage(rng)
		keep := []batch.Keep{batch.KeepAll, batch.KeepURL, batch.KeepNone}[rng.IntN(3)]
		if s.judge(t, data, keep, what) {
			refused[i%len(all)]++
		} else if cut {
			t.Errorf("%s: %s, and nobody noticed", s.name, what)
		}
	}
	for i, s := range all {
		must.Be(t, refused[i] != 0, "%s: nothing was refused", s.name)
	}
}

// FuzzDamage damages samples as the fuzzer says.
func FuzzDamage(f *testing.F) {
	all := samples(f)
	for i := range all {
		f.Add(uint8(i), uint64(i), uint8(0))
	}
	f.Fuzz(func(t *testing.T, number uint8, seed uint64, keep uint8) {
		s := all[int(number)%len(all)]
		data, cut, what := s.damage(rand.New(rand.NewPCG(2, seed)))
		must.Be(t, s.judge(t, data, batch.Keep(keep%3), what) || !cut, "%s: %s, and nobody noticed", s.name, what)
	})
}

// difference describes how an output, an Arrow stream, differs from the right one, and
// whether the difference may be valid. Lost rows never are, nor is an output that the Arrow
// library cannot read.
func difference(sound, other []byte) (what string, valid bool) {
	x, err := readStream(sound)
	if err != nil {
		return "the sound output cannot be read", false
	}
	y, err := readStream(other)
	switch {
	case err != nil:
		return "the output cannot be read", false
	case rows(x) != rows(y):
		return "rows lost or won", false
	case !x[0].Schema().Equal(y[0].Schema()), !x[0].Schema().Metadata().Equal(y[0].Schema().Metadata()):
		return differentSchemas(x[0].Schema(), y[0].Schema()), true
	}
	var columns []string
	for i, field := range x[0].Schema().Fields() {
		if !array.ChunkedEqual(column(x, i), column(y, i)) {
			columns = append(columns, field.Name)
		}
	}
	// The verdicts depend on the URLs, so they are no second difference.
	columns = slices.DeleteFunc(columns, func(name string) bool { return name == "allowed" && len(columns) > 1 })
	switch len(columns) {
	case 0:
		return "the same values", true
	case 1:
		return "values of one column", columns[0] != "allowed"
	}
	return "values of " + strings.Join(columns, ", "), false
}

func differentSchemas(x, y *arrow.Schema) string {
	if !x.Metadata().Equal(y.Metadata()) {
		return "the schema's metadata"
	}
	for i, field := range x.Fields() {
		other := y.Field(i)
		switch {
		case field.Name != other.Name:
			return "a column's name"
		case !arrow.TypeEqual(field.Type, other.Type, arrow.CheckMetadata()):
			return "a column's type"
		case field.Nullable != other.Nullable:
			return "whether a column has nulls"
		}
	}
	return "a column's metadata"
}

// column returns column i of all records. Where one record ends and the next begins is
// no difference: a footer's sizes decide how many rows are in a batch.
func column(records []arrow.Record, i int) *arrow.Chunked {
	chunks := make([]arrow.Array, len(records))
	for j, r := range records {
		chunks[j] = r.Column(i)
	}
	return arrow.NewChunked(records[0].Schema().Field(i).Type, chunks)
}

func rows(records []arrow.Record) int64 {
	n := int64(0)
	for _, r := range records {
		n += r.NumRows()
	}
	return n
}

func readStream(data []byte) (records []arrow.Record, err error) {
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	for r.Next() {
		r.Record().Retain()
		records = append(records, r.Record())
	}
	return records, r.Err()
}

func TestDifferenceIgnoresBatches(t *testing.T) {
	whole := stream(t, []string{"a", "b", "c"})
	for _, test := range []struct {
		name  string
		other []byte
		want  string
		valid bool
	}{
		{"cut elsewhere", stream(t, []string{"a"}, []string{"b", "c"}), "the same values", true},
		{"another value", stream(t, []string{"a"}, []string{"b", "d"}), "values of one column", true},
		{"a row less", stream(t, []string{"a"}, []string{"b"}), "rows lost or won", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			what, valid := difference(whole, test.other)
			must.Be(t, what == test.want && valid == test.valid, "difference = %q, %v, want %q, %v", what, valid, test.want, test.valid)
		})
	}
}

// stream returns an Arrow stream of one column, in the given batches.
func stream(t *testing.T, batches ...[]string) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil)
	var records []arrow.Record
	for _, values := range batches {
		b := array.NewStringBuilder(memory.NewGoAllocator())
		b.AppendValues(values, nil)
		records = append(records, array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(len(values))))
	}
	return tablestest.WriteArrow(t, true, schema, records)
}

// numberedFile is a file with the positions of its numbers.
type numberedFile struct {
	data   []byte
	footer []number // relative to begin
	begin  int
	pages  []parquetPage
}

// parquetPage is a page's header, and its body after that.
type parquetPage struct {
	header           []number // relative to begin
	begin, body, end int
}

// number is an integer in Thrift's compact protocol.
type number struct {
	path    string // field numbers, outermost first
	at, end int
	value   int64
	boolean bool // it is the type in the low half of a field's header
}

func parseParquet(data []byte) (*numberedFile, error) {
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	f := &numberedFile{data: data, begin: len(data) - 8 - length}
	w := numberWalk{data: data[f.begin : len(data)-8]}
	w.structure("")
	if f.footer = w.numbers; w.failed || w.at != length {
		return nil, errors.New("the footer cannot be read")
	}
	return f, f.findPages()
}

// findPages finds the pages, one after the other from the start of the file.
func (f *numberedFile) findPages() error {
	for at := 4; at < f.begin; {
		w := numberWalk{data: f.data[at:f.begin]}
		w.structure("")
		size := int64(-1)
		for _, n := range w.numbers {
			if n.path == "3" {
				size = n.value
			}
		}
		if w.failed || size < 0 {
			return fmt.Errorf("no page at %d", at)
		}
		p := parquetPage{header: w.numbers, begin: at, body: at + w.at, end: at + w.at + int(size)}
		f.pages = append(f.pages, p)
		at = p.end
	}
	return nil
}

// change changes a number of the footer or of a page header, or the first bytes of a page:
// counts, sizes, offsets and encodings that a reader may trust wrongly. If a number becomes
// longer, the rest of the file moves, and the offsets in the footer are adjusted.
func (f *numberedFile) change(rng *rand.Rand) (data []byte, what string) {
	page := &f.pages[rng.IntN(len(f.pages))]
	switch kind := rng.IntN(10); {
	case kind < 4:
		n := f.footer[rng.IntN(len(f.footer))]
		v := n.other(rng)
		footer := rewrite(f.data[f.begin:len(f.data)-8], f.footer, func(m number) int64 {
			if m.at == n.at {
				return v
			}
			return m.value
		})
		return f.withFooter(bytes.Clone(f.data[:f.begin]), footer), fmt.Sprintf("footer field %s from %d to %d", n.path, n.value, v)
	case kind < 8:
		n := page.header[rng.IntN(len(page.header))]
		v := n.other(rng)
		header := rewrite(f.data[page.begin:page.body], page.header, func(m number) int64 {
			if m.at == n.at {
				return v
			}
			return m.value
		})
		return f.withHeader(page, header), fmt.Sprintf("field %s of the page at %d from %d to %d", n.path, page.begin, n.value, v)
	}
	data = bytes.Clone(f.data)
	if page.body == page.end {
		return data, "nothing"
	}
	at := page.body + rng.IntN(min(24, page.end-page.body))
	size := min(1+rng.IntN(9), page.end-at)
	for i := range size { // the largest number that fits
		data[at+i] = 0xFF
	}
	data[at+size-1] = byte(rng.IntN(128))
	return data, fmt.Sprintf("%d bytes at %d", size, at)
}

// other returns another value for a number.
func (n number) other(rng *rand.Rand) int64 {
	if n.boolean {
		return 3 - n.value
	}
	values := []int64{
		n.value + 1, n.value - 1, 2 * n.value, n.value / 2, n.value ^ 1<<rng.IntN(40), 0, 1, -1, int64(rng.IntN(20)),
		math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MaxUint32, 1e9, 1e12, 1 << 62, math.MinInt64, int64(rng.Uint32()),
	}
	for {
		if v := values[rng.IntN(len(values))]; v != n.value {
			return v
		}
	}
}

// rewrite copies a structure with other numbers.
func rewrite(data []byte, numbers []number, value func(number) int64) []byte {
	var out []byte
	at := 0
	for _, n := range numbers {
		out = append(out, data[at:n.at]...)
		if n.boolean {
			out = append(out, data[n.at]&0xF0|byte(value(n)))
		} else {
			out = binary.AppendVarint(out, value(n)) // Thrift's zigzag coding
		}
		at = n.end
	}
	return append(out, data[at:]...)
}

// withFooter appends a footer and the end of the file.
func (f *numberedFile) withFooter(data, footer []byte) []byte {
	data = append(data, footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

// withHeader replaces the header of a page and moves what follows it.
func (f *numberedFile) withHeader(page *parquetPage, header []byte) []byte {
	more := int64(len(header) - (page.body - page.begin))
	data := append(bytes.Clone(f.data[:page.begin]), header...)
	data = append(data, f.data[page.body:f.begin]...)
	size := make(map[int]bool) // of the chunk that has the page
	last := -1
	for i, n := range f.footer { // the size comes before the offsets
		switch n.path {
		case "4.1.3.7":
			last = i
		case "4.1.3.9", "4.1.3.11":
			if low, high := n.value, n.value+f.footer[last].value; int64(page.begin) >= low && int64(page.begin) < high {
				size[f.footer[last].at] = true
			}
		}
	}
	footer := rewrite(f.data[f.begin:len(f.data)-8], f.footer, func(n number) int64 {
		switch {
		case size[n.at]:
			return n.value + more
		case (n.path == "4.1.3.9" || n.path == "4.1.3.11" || n.path == "4.1.2" || n.path == "4.5") && n.value > int64(page.begin):
			return n.value + more
		}
		return n.value
	})
	return f.withFooter(data, footer)
}

// numberWalk finds the integers and booleans of a structure in Thrift's compact protocol.
type numberWalk struct {
	data    []byte
	at      int
	numbers []number
	failed  bool
}

func (w *numberWalk) byte() byte {
	if w.at >= len(w.data) {
		w.failed = true
		return 0
	}
	w.at++
	return w.data[w.at-1]
}

func (w *numberWalk) uvarint() int {
	v, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 || v > uint64(len(w.data)) {
		w.failed = true
		return 0
	}
	w.at += n
	return int(v)
}

// structure walks over the structure at a path.
func (w *numberWalk) structure(path string) {
	for id := 0; !w.failed; {
		at := w.at
		header := w.byte()
		if header == 0 {
			return
		}
		if id += int(header >> 4); header>>4 == 0 {
			w.failed = true // the library writes no such fields
		}
		field := strings.TrimPrefix(fmt.Sprintf("%s.%d", path, id), ".")
		if kind := header & 15; kind <= 2 {
			w.numbers = append(w.numbers, number{path: field, at: at, end: at + 1, value: int64(kind), boolean: true})
		} else {
			w.value(kind, field)
		}
	}
}

// value walks over a value other than a boolean field.
func (w *numberWalk) value(kind byte, path string) {
	switch kind {
	case 1, 2, 3:
		w.byte()
	case 4, 5, 6:
		v, n := binary.Varint(w.data[w.at:])
		if n <= 0 {
			w.failed = true
			return
		}
		w.numbers = append(w.numbers, number{path: path, at: w.at, end: w.at + n, value: v})
		w.at += n
	case 8:
		w.at += w.uvarint()
	case 9:
		header := w.byte()
		n := int(header >> 4)
		if n == 15 {
			n = w.uvarint()
		}
		for ; n > 0 && !w.failed; n-- {
			w.value(header&15, path)
		}
	case 12:
		w.structure(path)
	default:
		w.failed = true
	}
}
