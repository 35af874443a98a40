package bench

import (
	"bytes"
	"testing"

	"robotsbatch/batch"
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
		b.Run("data="+data.name+"/impl=indexbyte", func(b *testing.B) {
			perURL(b, len(data.urls), func() {
				for _, x := range list {
					indexBytes(x)
				}
			})
		})
		for _, agents := range [][]string{{"CCBot"}, {"CCBot", "Googlebot", "bingbot", "*"}} {
			name := "data=" + data.name + "/impl=engine"
			if len(agents) > 1 {
				name += "/agents=4"
			}
			b.Run(name, func(b *testing.B) { benchmarkEngine(b, f, list, len(data.urls), agents) })
		}
	}
}

func benchmarkEngine(b *testing.B, f *frontier, list []*batch.Batch, urls int, agents []string) {
	e := batch.NewEvaluator(f.table(agents...), batch.Options{Agents: len(agents)})
	var v batch.Verdicts
	perURL(b, urls, func() {
		for _, x := range list {
			if err := e.Evaluate(x, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
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
