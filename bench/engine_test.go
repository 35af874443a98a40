package bench

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/figures"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
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

// The flat frontiers have this many hosts and URLs per host.
const (
	flatHosts = 100_000
	flatURLs  = 6
)

// BenchmarkEngineFlat measures the evaluator where caches do not help: there are so many
// hosts that the rules of nearly every origin come from main memory. All generated hosts
// have rules; of the real URLs, only those on hosts with rules are used.
func BenchmarkEngineFlat(b *testing.B) {
	if testing.Short() {
		b.Skip("makes 600,000 URLs")
	}
	b.Run("data=made-up", func(b *testing.B) {
		list, table := flatMadeUp()
		benchmarkEngine(b, newEngine(table, list, 1), nil)
	})
	b.Run("data=real", func(b *testing.B) {
		list, table := needReal(b).flattened()
		benchmarkEngine(b, newEngine(table, list, 1), nil)
	})
}

// flatMadeUp generates a frontier.
func flatMadeUp() ([][]byte, *ruletable.Table) {
	c := corpus.New(corpus.Options{Origins: flatHosts, URLs: flatURLs * flatHosts, LargestOrigin: 2 * flatURLs})
	var list [][]byte
	var table ruletable.Table
	var scratch urls.Scratch
	bodies := make(map[int][]matcher.Trie)
	last := -1
	for origin, url := range c.URLs() {
		list = append(list, append([]byte(nil), url...))
		if origin.Body < 0 || origin.Index == last {
			continue
		}
		key, _, err := scratch.Split(url)
		if err != nil {
			continue
		}
		last = origin.Index
		tries, ok := bodies[origin.Body]
		if !ok {
			tries = compiled(c.AppendBody(nil, origin.Body))
			bodies[origin.Body] = tries
		}
		table.Add(key, matcher.Origin{Access: access.Rules, Tries: tries})
	}
	return list, &table
}

// flattened cuts the URLs of each host into runs of six and gives each run a host and a
// copy of the rules of its own. It repeats the list as often as needed.
func (f *frontier) flattened() ([][]byte, *ruletable.Table) {
	var list [][]byte
	var table ruletable.Table
	var scratch urls.Scratch
	for hosts := 0; hosts < flatHosts; {
		for rest := f.urls; len(rest) >= flatURLs && hosts < flatHosts; {
			key, _, err := scratch.Split(rest[0])
			n := 1
			for n < flatURLs && err == nil && sameHost(rest[0], rest[n]) {
				n++
			}
			if n == flatURLs {
				body, known := f.bodies[string(key)]
				for _, url := range rest[:n] {
					list = append(list, underHost(hosts, url))
				}
				hosts++
				if known {
					key, _, _ = scratch.Split(list[len(list)-1])
					table.Add(key, matcher.Origin{Access: access.Rules, Tries: compiled(body)})
				}
			}
			rest = rest[n:]
		}
	}
	return list, &table
}

// sameHost reports whether two URLs have the same scheme and host.
func sameHost(a, b []byte) bool {
	start := bytes.Index(a, []byte("://"))
	if start < 0 {
		return false
	}
	end := bytes.IndexByte(a[start+3:], '/')
	return end > 0 && bytes.HasPrefix(b, a[:start+3+end+1])
}

// underHost inserts a label before the host of a URL.
func underHost(label int, url []byte) []byte {
	start := bytes.Index(url, []byte("://")) + 3
	return fmt.Appendf(nil, "%sw%d.%s", url[:start], label, url[start:])
}

func compiled(body []byte) []matcher.Trie {
	return matcher.Compile(robotstxt.Parse(body, robotstxt.Options{}), []matcher.Chain{{"CCBot"}})
}

// BenchmarkCompile measures parsing and compiling bodies for one agent, one after the other
// with one compiler, as for a folder of rules. With -rules the bodies are real, else
// generated.
func BenchmarkCompile(b *testing.B) {
	var bodies [][]byte
	if *rulesFlag != "" {
		for _, body := range needReal(b).bodies {
			bodies = append(bodies, body)
		}
	} else {
		c := corpus.New(corpus.Options{Origins: 2000})
		for i := range c.Bodies() {
			bodies = append(bodies, c.AppendBody(nil, i))
		}
	}
	agents := matcher.NewAgents([]matcher.Chain{{"CCBot"}})
	size := 0
	for _, body := range bodies {
		size += len(body)
	}
	var parser robotstxt.Parser
	b.Run("stage=parse", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, body := range bodies {
				parser.Parse(body, robotstxt.Options{})
			}
		}
	})
	for _, explain := range []bool{false, true} {
		b.Run(fmt.Sprintf("stage=parse+compile/explain=%t", explain), func(b *testing.B) {
			compiler := matcher.Compiler{Explain: explain}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, body := range bodies {
					compiler.Compile(parser.Parse(body, robotstxt.Options{}), agents)
				}
			}
		})
	}
}

// BenchmarkCompileLargeGroup measures a group of many agents and many rules. The time must
// be linear in its bytes.
func BenchmarkCompileLargeGroup(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000, 8000} {
		var body strings.Builder
		for i := range n {
			fmt.Fprintf(&body, "User-agent: bot%d\n", i)
		}
		for i := range n {
			fmt.Fprintf(&body, "Disallow: /section/%d/page\n", i*7919%n)
		}
		source := []byte(body.String())
		b.Run(fmt.Sprintf("agents=%d/rules=%d", n, n), func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				matcher.Compile(robotstxt.Parse(source, robotstxt.Options{}), []matcher.Chain{{"bot7"}})
			}
		})
	}
}
