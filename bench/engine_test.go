package bench

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/matcher"
)

// BenchmarkEngine measures the evaluator on columns in memory, in one
// goroutine, beside one bytes.IndexByte over each URL: the least that looking
// at a URL costs. All but the plain list for one agent is measured beside that,
// too.
func BenchmarkEngine(b *testing.B) {
	f := needReal(b)
	known := f.known()
	one, four := []string{"CCBot"}, []string{"CCBot", "Googlebot", "bingbot", "*"}
	for _, c := range []struct {
		name   string
		urls   [][]byte
		agents []string
		plain  bool
	}{
		{"data=known/agents=1", known, one, true},
		{"data=known/agents=4", known, four, false},
		{"data=all/agents=1", f.urls, one, false},
		{"data=all/agents=4", f.urls, four, false},
		{"data=shuffled/agents=1", shuffled(known), one, false},
		{"data=shuffled/agents=4", shuffled(known), four, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := newEngine(f.table(c.agents...), c.urls, len(c.agents))
			if c.plain {
				benchmarkEngine(b, e, nil)
			} else {
				benchmarkEngine(b, e, newEngine(f.table(one...), known, 1))
			}
		})
	}
}

// engine is an evaluator with what it is measured on.
type engine struct {
	evaluator *evaluate.Evaluator
	list      []*batch.Batch
	verdicts  batch.Verdicts
	urls      int
}

func newEngine(origins matcher.Origins, urls [][]byte, agents int) *engine {
	return &engine{
		evaluator: evaluate.New(origins, evaluate.Options{Agents: agents}),
		list:      batches(urls),
		urls:      len(urls),
	}
}

// evaluate evaluates all batches, and returns the nanoseconds a URL.
func (e *engine) evaluate(b *testing.B) float64 {
	start := time.Now()
	for _, x := range e.list {
		if err := e.evaluator.Evaluate(x, &e.verdicts); err != nil {
			b.Fatal(err)
		}
	}
	return e.perURL(start)
}

// indexByte looks for a byte in each URL, and returns the nanoseconds a URL.
func (e *engine) indexByte() float64 {
	start := time.Now()
	for _, x := range e.list {
		indexBytes(x)
	}
	return e.perURL(start)
}

func (e *engine) perURL(start time.Time) float64 {
	return float64(time.Since(start).Nanoseconds()) / float64(e.urls)
}

// benchmarkEngine evaluates batches, looks for a byte in each URL of theirs after
// every pass, and then has plain, unless that is nil, evaluate its own. It reports
// medians over the passes: ns/url of e and of the search, and how many times as long
// e takes as the search, and as plain. A machine that is faster now and slower then
// changes the times and not those.
func benchmarkEngine(b *testing.B, e, plain *engine) {
	var engine, indexByte, byIndexByte, byPlain []float64
	b.ReportAllocs()
	for b.Loop() {
		evaluated := e.evaluate(b)
		looked := e.indexByte()
		engine = append(engine, evaluated)
		indexByte = append(indexByte, looked)
		byIndexByte = append(byIndexByte, evaluated/looked)
		if plain != nil {
			byPlain = append(byPlain, evaluated/plain.evaluate(b))
		}
	}
	b.ReportMetric(median(engine), "ns/url")
	b.ReportMetric(median(indexByte), "indexbyte-ns/url")
	b.ReportMetric(median(byIndexByte), "x-indexbyte")
	if plain != nil {
		b.ReportMetric(median(byPlain), "x-plain")
	}
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
