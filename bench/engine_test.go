package bench

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/matcher"
)

// BenchmarkEngine measures the evaluator on columns in memory, in one
// goroutine, beside one bytes.IndexByte over each URL: the least that looking
// at a URL costs.
func BenchmarkEngine(b *testing.B) {
	f := needReal(b)
	known := f.known()
	for _, data := range []struct {
		name string
		urls [][]byte
	}{{"known", known}, {"all", f.urls}, {"shuffled", shuffled(known)}} {
		list := batches(data.urls)
		for _, agents := range [][]string{{"CCBot"}, {"CCBot", "Googlebot", "bingbot", "*"}} {
			b.Run(fmt.Sprintf("data=%s/agents=%d", data.name, len(agents)), func(b *testing.B) {
				benchmarkEngine(b, f.table(agents...), list, len(agents))
			})
		}
	}
}

// benchmarkEngine evaluates batches, and looks for an octet in each URL of
// theirs after every pass. It reports medians over the passes: ns/url of both,
// and how many times as long evaluating takes. A machine that is faster now and
// slower then changes the times and not that.
func benchmarkEngine(b *testing.B, origins matcher.Origins, list []*batch.Batch, agents int) {
	e := batch.NewEvaluator(origins, batch.Options{Agents: agents})
	var v batch.Verdicts
	urls := 0
	for _, x := range list {
		urls += x.URLs.Len()
	}
	var engine, indexByte, ratios []float64
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for _, x := range list {
			if err := e.Evaluate(x, &v); err != nil {
				b.Fatal(err)
			}
		}
		evaluated := time.Now()
		for _, x := range list {
			indexBytes(x)
		}
		looked := time.Since(evaluated)
		engine = append(engine, float64(evaluated.Sub(start).Nanoseconds())/float64(urls))
		indexByte = append(indexByte, float64(looked.Nanoseconds())/float64(urls))
		ratios = append(ratios, float64(evaluated.Sub(start))/float64(looked))
	}
	b.ReportMetric(median(engine), "ns/url")
	b.ReportMetric(median(indexByte), "indexbyte-ns/url")
	b.ReportMetric(median(ratios), "x-indexbyte")
	b.ReportMetric(0, "ns/op")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// perURL times pass, which looks at a number of URLs.
func perURL(b *testing.B, urls int, pass func()) {
	b.ReportAllocs()
	for b.Loop() {
		pass()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(urls), "ns/url")
	b.ReportMetric(0, "ns/op")
}

var sum int

func indexBytes(x *batch.Batch) {
	c := &x.URLs
	for i := range c.Len() {
		sum += bytes.IndexByte(c.Data[c.Offsets32[i]:c.Offsets32[i+1]], '#')
	}
}
