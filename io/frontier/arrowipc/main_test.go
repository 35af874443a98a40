package arrowipc

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
	"robotsbatch/io/tables/arrow/layout"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	flag.Parse()
	if testing.Short() { // under the race detector the writers of LZ4 take many minutes
		encodings = slices.DeleteFunc(slices.Clone(allEncodings), func(e encoding) bool { return e.compression == compress.LZ4 })
	}
	goleak.VerifyTestMain(m)
}

// output is a blob.Writer in memory.
type output struct {
	bytes.Buffer
	closed, aborted bool
	fail            int // bytes after which writing fails; 0: never
}

func (o *output) Write(p []byte) (int, error) {
	if o.fail > 0 && o.Len()+len(p) > o.fail {
		return 0, errors.New("disk full")
	}
	return o.Buffer.Write(p)
}

func (o *output) Close() error { o.closed = true; return nil }
func (o *output) Abort()       { o.aborted = true }

// encoding is a way to write Arrow data.
type encoding struct {
	stream      bool
	compression compress.Codec
}

func (e encoding) String() string { return fmt.Sprintf("stream=%v/%s", e.stream, e.compression) }

var allEncodings = []encoding{
	{false, compress.Zstd},
	{false, compress.LZ4},
	{false, compress.None},
	{true, compress.Zstd},
	{true, compress.LZ4},
	{true, compress.None},
}

// encodings are those that a test of many tries.
var encodings = allEncodings

// libraryWrite writes records with the library's writers.
func libraryWrite(t testing.TB, e encoding, schema *arrow.Schema, records ...arrow.Record) []byte {
	t.Helper()
	return libraryWriteWith(t, e, schema, nil, records...)
}

func libraryWriteWith(t testing.TB, e encoding, schema *arrow.Schema, options []ipc.Option, records ...arrow.Record) []byte {
	t.Helper()
	switch e.compression {
	case compress.Zstd:
		options = append(options, ipc.WithZstd())
	case compress.LZ4:
		options = append(options, ipc.WithLZ4())
	}
	return tablestest.WriteArrow(t, e.stream, schema, records, options...)
}

// open opens data as a stream, or as a file when it is one and pipe is false.
func open(data []byte, pipe bool, o Options) (*Source, error) {
	if !pipe && bytes.HasPrefix(data, []byte(layout.Magic)) {
		return OpenFile(bytes.NewReader(data), int64(len(data)), o)
	}
	// Reading in small steps is what a pipe does.
	return OpenStream(&stepReader{data}, o)
}

type stepReader struct{ data []byte }

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1000)], r.data)
	r.data = r.data[n:]
	return n, nil
}

// readAll decodes everything; the batches are not released.
func readAll(data []byte, pipe bool, o Options) (batches []*batch.Batch, err error) {
	source, err := open(data, pipe, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	err = tablestest.Each(source, func(p batch.Piece) error {
		b, err := p.Decode()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
		batches = append(batches, b)
		return nil
	})
	return batches, err
}

// positions returns the positions of the tables in a vector.
func positions(t layout.Table, slot int) (list []int) {
	t.Tables(slot, func(element layout.Table) { list = append(list, element.Pos) })
	return list
}

// benchmarkRows is how many URLs a record batch of the benchmarks has.
const benchmarkRows = 65536

// benchmarkRecord returns URLs like those of a crawl: hosts of some pages each,
// words in their paths.
func benchmarkRecord() arrow.Record {
	rng := rand.New(rand.NewPCG(1, 2))
	b := array.NewStringBuilder(memory.NewGoAllocator())
	defer b.Release()
	words := make([]string, 5000)
	for i := range words {
		word := make([]byte, 3+rng.IntN(9))
		for k := range word {
			word[k] = "etaoinshrdlucmfwypvbgkqjxz"[min(rng.IntN(26), rng.IntN(26))]
		}
		words[i] = string(word)
	}
	host := ""
	for i := range benchmarkRows {
		if i%7 == 0 {
			host = words[rng.IntN(len(words))] + words[rng.IntN(len(words))]
		}
		b.Append(fmt.Sprintf("https://www.%s.com/%s/%s-%s-%d.html", host,
			words[rng.IntN(len(words))], words[rng.IntN(len(words))], words[rng.IntN(len(words))], rng.IntN(1e6)))
	}
	return tablestest.NewRecord([]string{"url"}, b.NewArray())
}

func BenchmarkDecode(b *testing.B) {
	record := benchmarkRecord()
	for _, e := range encodings {
		data := libraryWrite(b, e, record.Schema(), record, record, record, record)
		b.Run(e.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				source := must.Get(open(data, e.stream, Options{}))(b)
				must.Do(b, tablestest.Each(source, func(p batch.Piece) error {
					must.Get(p.Decode())(b).Release()
					return nil
				}))
				must.Do(b, source.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(4*benchmarkRows), "ns/row")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	record := benchmarkRecord()
	batches := must.Get(readAll(libraryWrite(b, allEncodings[2], record.Schema(), record), false, Options{}))(b)
	v := tablestest.Verdicts(benchmarkRows)
	for _, e := range encodings {
		b.Run(e.String(), func(b *testing.B) {
			var out output
			s := must.Get(NewSink(&out, SinkOptions{
				Layout: batch.Layout{URLColumn: "url", Verdicts: []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}},
				Schema: record.Schema(), Codec: e.compression, Stream: e.stream,
			}))(b)
			b.ReportAllocs()
			for b.Loop() {
				chunk := must.Get(s.Encode(batches[0], v))(b)
				out.Reset()
				must.Do(b, s.Write(chunk))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchmarkRows, "ns/row")
		})
	}
}
