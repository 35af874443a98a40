package outputs_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
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
	src, err := frontier.Concatenate(context.Background(), out.Inputs, frontier.Options{
		Memory: damageMemory, Keep: keep, Passage: o.Passage(out), Options: lines.Options{BatchRows: 50, Columns: true, Verdicts: o.Verdicts},
	})
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
