//go:build !race

package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"robotsbatch/io/store/must"
)

func init() { programs["robotsbatch-peak"] = peakOf }

// peakOf is robotsbatch that writes the most memory that it had, in KiB, to the file that
// the environment names. The system counts the parent's memory for a child as well.
func peakOf() {
	status := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	data, err := os.ReadFile("/proc/self/status")
	if err == nil {
		_, rest, _ := strings.Cut(string(data), "VmHWM:")
		size, _, _ := strings.Cut(rest, "kB")
		err = os.WriteFile(os.Getenv("PEAK_FILE"), []byte(strings.TrimSpace(size)), 0o666)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(status)
}

// peakMemory is the -memory of TestPeaks, and peakOver how much more the process may have
// with itself, as the manual's page on memory explains.
const peakMemory, peakOver = 64 << 20, 60 << 20

// peakFolders is the number of folders of which TestPeaks denies one a job.
const peakFolders = 4

var allPeaks = flag.Bool("peaks", false, "measure the peak of every pair of formats, not of a sixth")

// Documents of 24 KB, more of them than the memory has room for, go from every format to
// every format, filtered or decoded, and the process stays within -memory and what the
// program itself takes. A job's output is the input of the next in this format, which
// leaves out rows of another folder.
func TestPeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("it filters some gigabytes")
	}
	workplace(t)
	rules := ""
	for i := range peakFolders {
		rules += fmt.Sprintf("User-agent: bot%c\nDisallow: /private%d\n", 'a'+i, i)
	}
	must.WriteFile(t, "rules/example.com", rules)
	writeDocuments(t, "in.csv", peakMemory+peakOver+20<<20)
	// A row group of more than the memory has: with a limit it would have fewer rows.
	peakMemoryOf(t, math.MaxInt32, "-in", "in.csv", "-columns", "all", "-out", "in.parquet", "-batch-rows", "1000000", "-rules", "rules", "-agent", "bota")
	formats := []string{"parquet", "csv.zst", "arrow", "jsonl.zst", "csv", "jsonl"}
	for i, from := range formats {
		for j, to := range formats {
			if j != (i+1)%len(formats) && !*allPeaks && (from != "parquet" || to != "parquet") {
				continue
			}
			jobs := [][]string{{"-emit", "allowed"}}
			if from == "parquet" && to == "parquet" {
				jobs = append(jobs, []string{"-compression", "zstd"})
			}
			for _, job := range jobs {
				name := "out." + to
				if strings.HasPrefix(from, "jsonl") && !strings.HasPrefix(to, "jsonl") {
					job = append(job, "-columns", "url") // other formats have no place for other keys
				} else if j == i+1 {
					name = "in." + to
				}
				got := peakMemoryOf(t, peakMemory, append(job, "-prefix", fmt.Sprintf("r%d_", i), "-in", "in."+from, "-out", name, "-rules", "rules", "-agent", fmt.Sprintf("bot%c", 'a'+i%peakFolders))...)
				t.Logf("%s to %s %v: %d MiB", from, to, job, got>>20)
				must.Be(t, got <= peakMemory+peakOver, "%s to %s, %v: a peak of %d MiB with -memory %d MiB", from, to, job, got>>20, peakMemory>>20)
			}
		}
	}
}

// peakMemoryOf returns the peak of a job with so much -memory, in bytes.
func peakMemoryOf(t *testing.T, memory int, args ...string) int {
	t.Helper()
	cmd, file := peakCommand(t, memory, args...)
	out, err := cmd.CombinedOutput()
	must.Need(t, err == nil, "%v: %v: %s", args, err, out)
	return readPeak(t, file)
}

// peakCommand is a job with so much -memory that writes its peak to a file.
func peakCommand(t *testing.T, memory int, args ...string) (cmd *exec.Cmd, file string) {
	cmd = exec.Command("robotsbatch-peak", append(args, "-quiet", "-memory", fmt.Sprintf("%dMiB", memory>>20))...)
	file = filepath.Join(t.TempDir(), "peak")
	cmd.Env = append(os.Environ(), "PEAK_FILE="+file)
	return cmd, file
}

// readPeak returns the peak that a job wrote to a file, in bytes.
func readPeak(t *testing.T, file string) int {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	var kib int
	must.Get(fmt.Sscan(string(data), &kib))(t)
	return kib << 10
}

// Half a million captures of one host, with a thousand bodies in turns, stay within -memory.
func TestPeakOfOneHost(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads half a million captures")
	}
	t.Chdir(t.TempDir())
	f := must.Get(os.Create("captures.jsonl"))(t)
	w := bufio.NewWriter(f)
	for i := range 500_000 {
		fmt.Fprintf(w, `{"url":"http://a.test/robots.txt","body":"User-agent: *\nDisallow: /d%d\n","status":200,"fetched_at":%d}`+"\n", i%1000, 1_400_000_000+60*i)
	}
	must.Do(t, errors.Join(w.Flush(), f.Close()))
	must.WriteFile(t, "in.csv", "url,t\nhttp://a.test/d1,1400000000\n")
	const memory = 64 << 20
	got := peakMemoryOf(t, memory, "-in", "in.csv", "-rules", "captures.jsonl", "-as-of", "column:t", "-out", "out.csv")
	t.Logf("%d MiB", got>>20)
	must.Be(t, got <= memory+peakOver/2, "a peak of %d MiB with -memory %d MiB", got>>20, memory>>20)
}

// writeDocuments writes a csv with URLs and documents; the documents have size bytes in all. Each
// of peakFolders has one URL in 25. A document is noise twice: it compresses to half, and with
// half the work that words take.
func writeDocuments(t *testing.T, name string, size int) {
	t.Helper()
	f := must.Get(os.Create(name))(t)
	w := bufio.NewWriter(f)
	rng, noise := rand.NewChaCha8([32]byte{1}), make([]byte, 9000)
	fmt.Fprintln(w, "url,text")
	for i := 0; i*24_000 < size; i++ {
		folder := "news"
		if n := rng.Uint64() % 25; n < peakFolders {
			folder = fmt.Sprintf("private%d", n)
		}
		_, _ = rng.Read(noise)
		text := base64.StdEncoding.EncodeToString(noise)
		fmt.Fprintf(w, "https://example.com/%s/%d,%s%s\n", folder, i, text, text)
	}
	must.Do(t, w.Flush())
	must.Do(t, f.Close())
}

var (
	peakShapes = flag.Int("shapes", 3, "number of random `shapes` of tables whose peaks are measured")
	peakFirst  = flag.Uint64("shape", 1, "the first shape")
)

// shapeOver is how much more than -memory a process with a random table may take.
const shapeOver = 76 << 20

// Random tables, with one large page or many, long runs, deltas, lists and dictionaries, are
// filtered within -memory and what the program itself takes, or are refused within that.
func TestPeaksOfShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("it filters some gigabytes")
	}
	workplace(t)
	exact := memory.DefaultAllocator
	memory.DefaultAllocator = roomy{exact}
	t.Cleanup(func() { memory.DefaultAllocator = exact })
	worst := 0
	for seed := *peakFirst; seed < *peakFirst+uint64(*peakShapes); seed++ {
		s := newShape(seed)
		s.write(t)
		limit := 64 << 20 << s.IntN(5)
		args := []string{"-in", s.name, "-rules", "rules", "-emit", "allowed", "-out", "out" + s.name[2:]}
		peak, refused := peakOfShape(t, limit, args...)
		t.Logf("%d: %s: %d MiB at %d, refused: %q", seed, s, peak>>20, limit>>20, refused)
		if worst = max(worst, peak-limit); peak > limit+shapeOver {
			t.Errorf("shape %d, %s: a peak of %d MiB with -memory %d MiB", seed, s, peak>>20, limit>>20)
		}
	}
	t.Logf("at most %d MiB above -memory", worst>>20)
}

// peakOfShape is peakMemoryOf for a job that may be refused, with the reason.
func peakOfShape(t *testing.T, limit int, args ...string) (peak int, refused string) {
	t.Helper()
	cmd, file := peakCommand(t, limit, args...)
	out, err := cmd.CombinedOutput()
	must.Need(t, err == nil || strings.Contains(string(out), "-memory"), "%v: %v: %s", args, err, out)
	return readPeak(t, file), string(out)
}

// shape is a random table.
type shape struct {
	*rand.Rand
	name      string
	rows      int // of the table
	group     int // of a row group or record batch
	fields    []arrow.Field
	build     []func(array.Builder, int)
	keep      func(row int) bool
	parquet   []parquet.WriterProperty
	described []string
}

func newShape(seed uint64) *shape {
	s := &shape{Rand: rand.New(rand.NewPCG(seed, 39))}
	s.name = []string{"in.parquet", "in.parquet", "in.arrow"}[s.IntN(3)]
	s.rows = 1 << (14 + s.IntN(8))
	s.group = s.rows >> []int{0, 0, 2, 6}[s.IntN(4)]
	every, denied := 1<<s.IntN(8), 1
	if s.IntN(2) == 0 {
		denied = max(1, every/2)
	}
	s.keep = func(row int) bool { return row%every >= denied }
	s.say("%d rows in groups of %d, %d of %d denied", s.rows, s.group, denied, every)
	codec := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip}[s.IntN(4)]
	page := int64(1) << (13 + s.IntN(18))
	dictionary := s.IntN(2) == 0
	s.parquet = []parquet.WriterProperty{
		parquet.WithCompression(codec), parquet.WithDataPageSize(page), parquet.WithDictionaryDefault(dictionary),
		parquet.WithMaxRowGroupLength(int64(s.group)), parquet.WithBatchSize(int64(s.group)),
		parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[s.IntN(2)]),
	}
	s.say("%s, pages of %d KiB, dictionaries %v", codec, page>>10, dictionary)
	for range 1 + s.IntN(3) {
		s.column(dictionary)
	}
	return s
}

func (s *shape) say(format string, args ...any) {
	s.described = append(s.described, fmt.Sprintf(format, args...))
}

func (s *shape) String() string { return s.name + ", " + strings.Join(s.described, "; ") }

// column adds a column of at most some 300 MB.
func (s *shape) column(dictionary bool) {
	name := fmt.Sprint("c", len(s.fields))
	distinct := 1 << s.IntN(21)
	length := min(1<<s.IntN(14), max(1, 300<<20/s.rows))
	if distinct > 1<<12 { // else a dictionary alone would be as large
		length = min(length, 1<<8)
	}
	field := arrow.Field{Name: name, Nullable: true}
	var build func(array.Builder, int)
	filler := strings.Repeat("lorem ipsum dolor ", length/18+1)[:length]
	text := func(row int) string { return strconv.FormatInt(int64(row%distinct), 16) + " " + filler }
	switch kind := s.IntN(6); kind {
	case 0, 1:
		field.Type = arrow.BinaryTypes.String
		build = func(b array.Builder, row int) { b.(*array.StringBuilder).Append(text(row)) }
		s.say("%d texts of %d", distinct, length)
	case 2:
		field.Type = arrow.PrimitiveTypes.Int32
		build = func(b array.Builder, row int) { b.(*array.Int32Builder).Append(int32(row % distinct)) }
		s.say("%d int32", distinct)
	case 3:
		field.Type = arrow.PrimitiveTypes.Int64
		run := 1 << s.IntN(18)
		build = func(b array.Builder, row int) {
			if row/run%3 == 0 {
				b.AppendNull()
			} else {
				b.(*array.Int64Builder).Append(int64(row / run))
			}
		}
		s.say("int64 in runs of %d", run)
		// The library cannot write deltas of a chunk that has only nulls.
		if !dictionary && s.IntN(2) == 0 && run < s.group {
			s.parquet = append(s.parquet, parquet.WithEncodingFor(name, parquet.Encodings.DeltaBinaryPacked))
			s.say("delta")
		}
	case 4:
		field.Type = arrow.ListOf(arrow.PrimitiveTypes.Int32)
		most := 1 + s.IntN(max(1, min(50, 60<<20/s.rows)))
		build = func(b array.Builder, row int) {
			l := b.(*array.ListBuilder)
			l.Append(true)
			for i := range row % most {
				l.ValueBuilder().(*array.Int32Builder).Append(int32(row + i))
			}
		}
		s.say("lists of up to %d", most)
	case 5:
		field.Type = &arrow.FixedSizeBinaryType{ByteWidth: 1 + s.IntN(64)}
		width := field.Type.(*arrow.FixedSizeBinaryType).ByteWidth
		build = func(b array.Builder, row int) {
			b.(*array.FixedSizeBinaryBuilder).Append([]byte(fmt.Sprintf("%0*d", width, row%distinct%10))[:width])
		}
		s.say("%d bytes each", width)
	}
	s.fields, s.build = append(s.fields, field), append(s.build, build)
}

func (s *shape) write(t *testing.T) {
	t.Helper()
	f := must.Get(os.Create(s.name))(t)
	fields := append([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, s.fields...)
	columns := arrow.NewSchema(fields, nil)
	var add func(arrow.Record) error
	var end func() error
	if strings.HasSuffix(s.name, "parquet") {
		w := file.NewParquetWriter(f, parquetSchema(t, fields), file.WithWriterProps(parquet.NewWriterProperties(s.parquet...)))
		add, end = func(record arrow.Record) error { return addRowGroup(w, record) }, w.Close
	} else {
		options := []ipc.Option{ipc.WithSchema(columns)}
		switch s.IntN(3) {
		case 0:
			options = append(options, ipc.WithZstd())
		case 1:
			options = append(options, ipc.WithLZ4())
		}
		w := must.Get(ipc.NewFileWriter(f, options...))(t)
		add, end = w.Write, func() error { return w.Close() }
	}
	for at := 0; at < s.rows; at += s.group {
		b := array.NewRecordBuilder(memory.DefaultAllocator, columns)
		urls := b.Field(0).(*array.StringBuilder)
		for row := at; row < min(at+s.group, s.rows); row++ {
			folder := "private"
			if s.keep(row) {
				folder = "news"
			}
			urls.Append(fmt.Sprintf("https://example.com/%s/%d", folder, row))
			for i, build := range s.build {
				build(b.Field(1+i), row)
			}
		}
		record := b.NewRecord()
		must.Do(t, add(record))
		record.Release()
		b.Release()
	}
	must.Do(t, end())
	_ = f.Close() // the Parquet writer closes it
}

// roomy doubles a buffer that grows. The library's encoder of levels grows its buffer for each
// eight levels, which takes quadratic time where buffers get exact sizes.
type roomy struct{ memory.Allocator }

func (a roomy) Reallocate(size int, b []byte) []byte {
	if size > cap(b) {
		b = append(make([]byte, 0, 2*size), b...)
	}
	return b[:size]
}

// parquetSchema is the schema of fields of a shape in Parquet.
func parquetSchema(t *testing.T, fields []arrow.Field) *schema.GroupNode {
	t.Helper()
	var nodes schema.FieldList
	for _, field := range fields {
		repeats := parquet.Repetitions.Required
		if field.Nullable {
			repeats = parquet.Repetitions.Optional
		}
		var node schema.Node
		switch of := field.Type.(type) {
		case *arrow.StringType:
			node = must.Get(schema.NewPrimitiveNodeLogical(field.Name, repeats, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))(t)
		case *arrow.Int32Type:
			node = schema.NewInt32Node(field.Name, repeats, -1)
		case *arrow.Int64Type:
			node = schema.NewInt64Node(field.Name, repeats, -1)
		case *arrow.FixedSizeBinaryType:
			node = schema.NewFixedLenByteArrayNode(field.Name, repeats, int32(of.ByteWidth), -1)
		case *arrow.ListType:
			node = must.Get(schema.ListOf(schema.NewInt32Node(field.Name, parquet.Repetitions.Optional, -1), repeats, -1))(t)
		}
		nodes = append(nodes, node)
	}
	return must.Get(schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1))(t)
}

// addRowGroup writes a record as a row group. The library's own way from Arrow to Parquet would
// link gRPC to every program of these tests.
func addRowGroup(w *file.Writer, record arrow.Record) error {
	group := w.AppendRowGroup()
	for i, column := range record.Columns() {
		chunk, err := group.NextColumn()
		if err != nil {
			return err
		}
		// Where there are no nulls, a value has the greatest level.
		definitions := slices.Repeat([]int16{chunk.Descr().MaxDefinitionLevel()}, column.Len())
		switch column := column.(type) {
		case *array.String:
			texts, all := make([]parquet.ByteArray, column.Len()), column.ValueBytes()
			for row := range texts {
				texts[row] = all[column.ValueOffset(row):column.ValueOffset(row+1)]
			}
			_, err = chunk.(*file.ByteArrayColumnChunkWriter).WriteBatch(texts, definitions, nil)
		case *array.Int32:
			_, err = chunk.(*file.Int32ColumnChunkWriter).WriteBatch(column.Int32Values(), definitions, nil)
		case *array.Int64:
			var numbers []int64
			for row, number := range column.Int64Values() {
				if column.IsNull(row) {
					definitions[row] = 0
				} else {
					numbers = append(numbers, number)
				}
			}
			_, err = chunk.(*file.Int64ColumnChunkWriter).WriteBatch(numbers, definitions, nil)
		case *array.FixedSizeBinary:
			values := make([]parquet.FixedLenByteArray, column.Len())
			for row := range values {
				values[row] = column.Value(row)
			}
			_, err = chunk.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(values, definitions, nil)
		case *array.List:
			var levels, repeats []int16
			for row := range column.Len() {
				start, end := column.ValueOffsets(row)
				for at := start; at < end || at == start; at++ {
					level, repeat := definitions[row], int16(0)
					if at > start {
						repeat = 1
					}
					if start == end { // an empty list
						level = 1
					}
					levels, repeats = append(levels, level), append(repeats, repeat)
				}
			}
			_, err = chunk.(*file.Int32ColumnChunkWriter).WriteBatch(column.ListValues().(*array.Int32).Int32Values(), levels, repeats)
		default:
			err = fmt.Errorf("%s is for no shape", record.ColumnName(i))
		}
		if err = errors.Join(err, chunk.Close()); err != nil {
			return err
		}
	}
	return group.Close()
}
