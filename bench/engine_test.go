package bench

import (
	"bytes"
	"net/url"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/figures"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/urls"
)

// BenchmarkEngine measures the evaluator on columns in memory, in one goroutine. It
// compares each case with one bytes.IndexByte over each URL, the least cost of looking at a
// URL, and with the evaluator on the plain list for one agent.
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

// BenchmarkURLParse compares net/url.Parse, which only splits a URL, with the engine, which
// splits it, finds its host's rules and decides. Each pass of one is followed by a pass of the
// other, and the metrics are medians over the passes.
func BenchmarkURLParse(b *testing.B) {
	f := needReal(b)
	known := f.known()
	e := newEngine(f.table("CCBot"), known, 1)
	texts, same := make([]string, len(known)), 0
	var scratch urls.Scratch
	for i, text := range known {
		texts[i] = string(text)
		key, _, err := scratch.Split(text)
		if u, parsed := url.Parse(texts[i]); err == nil && parsed == nil && u.Scheme+"://"+u.Hostname() == string(key) {
			same++
		}
	}
	must.Need(b, same >= len(known)*99/100, "%d of %d URLs have the same host in both", same, len(known))
	var parse, engine, ratio []float64
	for b.Loop() {
		start := time.Now()
		for _, text := range texts {
			if u, err := url.Parse(text); err == nil {
				sum += len(u.Host)
			}
		}
		parsed := e.perURL(start)
		evaluated := e.evaluate(b)
		parse, engine, ratio = append(parse, parsed), append(engine, evaluated), append(ratio, parsed/evaluated)
	}
	b.ReportMetric(figures.Median(parse), "url.Parse-ns/url")
	b.ReportMetric(figures.Median(engine), "ns/url")
	b.ReportMetric(figures.Median(ratio), "x-engine")
	b.ReportMetric(0, "ns/op")
}

// engine is an evaluator with the batches that it is measured on.
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

// evaluate evaluates all batches and returns the nanoseconds per URL.
func (e *engine) evaluate(b *testing.B) float64 {
	start := time.Now()
	for _, x := range e.list {
		must.Do(b, e.evaluator.Evaluate(x, &e.verdicts))
	}
	return e.perURL(start)
}

// indexByte searches each URL for a byte and returns the nanoseconds per URL.
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

// benchmarkEngine evaluates batches in several passes. After each pass it searches each URL
// for a byte, and then runs a pass of plain, unless that is nil. It reports medians over
// the passes: the ns/url of e and of the search, and the ratios of e to the search and to
// plain. The speed of the machine may change between passes; it changes the times, but not
// the ratios.
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
	b.ReportMetric(figures.Median(engine), "ns/url")
	b.ReportMetric(figures.Median(indexByte), "indexbyte-ns/url")
	b.ReportMetric(figures.Median(byIndexByte), "x-indexbyte")
	if plain != nil {
		b.ReportMetric(figures.Median(byPlain), "x-plain")
	}
	b.ReportMetric(0, "ns/op")
}

// perURL times pass, which processes a number of URLs.
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
