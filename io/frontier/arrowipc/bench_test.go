package arrowipc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

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
