package bench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/corpus"
	"robotsbatch/bench/figures"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/rules/rulepack"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// madeUp returns a body of some rules, wild of them with a wildcard, and paths. About half
// of the paths start like one of the rules.
func madeUp(rules, wild int) (body string, paths [][]byte) {
	rng := rand.New(rand.NewPCG(uint64(rules), uint64(wild)))
	word := func() string {
		return [...]string{"shop", "cart", "search", "tag", "page", "user", "img", "api", "news", "archive"}[rng.IntN(10)] + fmt.Sprint(rng.IntN(100))
	}
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	var starts []string
	for i := range rules {
		start := "/" + word() + "/" + word()
		starts = append(starts, start)
		if i < wild {
			start = "/*/" + word() + "?" + word() + "="
		}
		fmt.Fprintf(&b, "%s: %s\n", [...]string{"Disallow", "Disallow", "Allow"}[rng.IntN(3)], start)
	}
	for range 1000 {
		start := "/" + word() + "/" + word()
		if len(starts) > 0 && rng.IntN(2) == 0 {
			start = starts[rng.IntN(len(starts))]
		}
		paths = append(paths, []byte(start+"/"+word()+"/"+word()+".html?"+word()+"=1"))
	}
	return b.String(), paths
}

// BenchmarkMatch measures one decision on a path, with compiled rules.
func BenchmarkMatch(b *testing.B) {
	for _, size := range []struct{ rules, wild int }{{0, 0}, {10, 2}, {100, 10}, {1000, 200}} {
		body, paths := madeUp(size.rules, size.wild)
		trie := matcher.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{}), []matcher.Chain{{matcher.Everyone}})[0]
		oracle := reference.Parse([]byte(body), reference.RFC9309, robotstxt.DefaultLimit)
		var target matcher.Target
		allowed := func(path []byte) bool {
			target.Set(path, robotstxt.RFC9309)
			allowed := trie.Allowed(&target)
			return allowed
		}
		expected := func(path []byte) bool {
			return reference.Decide(oracle, []string{matcher.Everyone}, string(path), reference.RFC9309).Allowed
		}
		for _, path := range paths {
			if allowed(path) != expected(path) {
				b.Fatalf("%s: the verdicts differ", path)
			}
		}
		for _, impl := range []struct {
			name    string
			allowed func([]byte) bool
		}{{"trie", allowed}, {"reference", expected}} {
			b.Run(fmt.Sprintf("impl=%s/rules=%d/wild=%d", impl.name, size.rules, size.wild), func(b *testing.B) {
				perURL(b, len(paths), func() {
					for _, path := range paths {
						impl.allowed(path)
					}
				})
			})
		}
	}
}

// BenchmarkEvaluate measures whole URLs of a generated frontier: splitting,
// finding the origin, deciding.
func BenchmarkEvaluate(b *testing.B) {
	c := corpus.New(corpus.Options{Origins: 300, URLs: 20_000})
	var all [][]byte
	var table ruletable.Table
	oracles := make(map[string]reference.File)
	var scratch urls.Scratch
	for origin, url := range c.URLs() {
		all = append(all, append([]byte(nil), url...))
		key, _, err := scratch.Split(url)
		if err != nil || origin.Body < 0 {
			continue
		}
		if _, known := oracles[string(key)]; !known {
			body := c.AppendBody(nil, origin.Body)
			oracles[string(key)] = reference.Parse(body, reference.RFC9309, robotstxt.DefaultLimit)
			tries := matcher.Compile(robotstxt.Parse(body, robotstxt.Options{}), []matcher.Chain{{"CCBot"}})
			table.Add(key, matcher.Origin{Access: access.Rules, Tries: tries})
		}
	}
	list := batches(all)
	e := evaluate.New(&table, evaluate.Options{})
	var v batch.Verdicts
	for _, x := range list {
		must.Do(b, e.Evaluate(x, &v))
		for row := range v.Rows {
			allowed, known := expectedOf(oracles, x.URLs.Value(row))
			bit := byte(1) << (row & 7)
			if allowed != (v.Agents[0].Allowed[row>>3]&bit != 0) || known != (v.Agents[0].Valid[row>>3]&bit != 0) {
				b.Fatalf("%s: the verdicts differ", x.URLs.Value(row))
			}
		}
	}
	b.Run("impl=trie", func(b *testing.B) {
		perURL(b, len(all), func() {
			for _, x := range list {
				must.Do(b, e.Evaluate(x, &v))
			}
		})
	})
	b.Run("impl=reference", func(b *testing.B) {
		perURL(b, len(all), func() {
			for _, url := range all {
				expectedOf(oracles, url)
			}
		})
	})
}

func expectedOf(oracles map[string]reference.File, url []byte) (allowed, known bool) {
	key, path, reason := reference.SplitURL(string(url))
	if reason != "" {
		return false, false
	}
	file, ok := oracles[key]
	if !ok {
		return true, true
	}
	return reference.Decide(file, []string{"CCBot"}, path, reference.RFC9309).Allowed, true
}

// worst is a body that is hostile to a certain algorithm, and paths for it.
type worst struct {
	name         string
	rules, paths []string
}

// numbered returns n rules made from a format with one verb.
func numbered(n int, format string) []string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = fmt.Sprintf(format, i)
	}
	return rules
}

// ordinary returns paths of about 100 bytes like those of the web.
func ordinary() []string {
	paths := make([]string, 1000)
	for i := range paths {
		paths[i] = fmt.Sprintf("/section-%d/articles/2024/05/%d/some-ordinary-headline-of-the-day-%d.html?utm_source=feed&page=%d", i%17, i%31, i*7919, i%9)
	}
	return paths
}

func repeated(s string, n int) []string { return []string{strings.Repeat(s, n)} }

// pairs returns n rules of two literals each. Long paths of letters have prefixes of these
// literals nearly everywhere, and the literals themselves hardly anywhere.
func pairs(n int) []string {
	rules := make([]string, n)
	for i := range rules {
		const common = "eeeeeeeeeeeeeeee"
		rules[i] = "/*" + common[:10+i%7] + letters(uint64(2*i+2), 20) + "*" + common[:9+i%5] + letters(uint64(2*i+3), 12)
	}
	return rules
}

// letters returns n random bytes of two letters.
func letters(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	text := make([]byte, n)
	for i := range text {
		text[i] = "%e"[random.IntN(2)]
	}
	return string(text)
}

var worstCases = []worst{
	{"literals=5000/urls=ordinary", numbered(5000, "/*lit_%d*x"), ordinary()},
	{"sections=5000/urls=ordinary", numbered(5000, "/section-*/article/*-%d.html$"), ordinary()},
	{"near=5000/urls=a", numbered(5000, "/*aaaaaaaaaaaaaaaaaaaa%db"), repeated("/"+strings.Repeat("a", 99), 1)},
	{"near=5000/urls=ab", numbered(5000, "/*aaaaaaaaaaaaaaaaaaaa*b%d"), repeated("/"+strings.Repeat("a", 60)+"b1b2b3b4b5b6b7b8b9", 1)},
	{"near=5000/urls=ba", numbered(5000, "/*aaaaaaaaaaaaaaaaaaaa*b%d"), repeated("/b10b11b12b13b14b15"+strings.Repeat("a", 60), 1)},
	{"stars=12/urls=2000a", []string{"/*a*a*a*a*a*a*a*a*a*a*b"}, repeated("/"+strings.Repeat("a", 2000), 1)},
	{"stars=4000/urls=8000a", []string{"/" + strings.Repeat("*a", 4000)}, repeated("/"+strings.Repeat("a", 8000), 1)},
	{"stars=4000/urls=8000ab", []string{"/" + strings.Repeat("*a", 4000) + "*b"}, repeated("/b"+strings.Repeat("a", 8000), 1)},
	{"wild=500/urls=64KiB", numbered(500, "/*some-word-%d*end"), repeated("/"+strings.Repeat("some-path-of-words/", 3449), 1)},
	{"pairs=7000/urls=1KiB", pairs(7000), repeated("/"+letters(1, 1023), 1)},
	{"pairs=7000/urls=256KiB", pairs(7000), repeated("/"+letters(1, 1<<18-1), 1)},
	{"prefixes=500KiB/urls=ordinary", numbered(16000, "/section-3/articles/%d/"), ordinary()},
}

// BenchmarkWorst measures the time for a URL with hostile rules.
func BenchmarkWorst(b *testing.B) {
	for _, w := range worstCases {
		body := "User-agent: *\nDisallow: " + strings.Join(w.rules, "\nDisallow: ") + "\n"
		file := robotstxt.Parse([]byte(body), robotstxt.Options{})
		var table ruletable.Table
		table.Add([]byte("http://example.com"), matcher.Origin{Access: access.Rules, Tries: matcher.Compile(file, []matcher.Chain{{"*"}})})
		urls := make([][]byte, len(w.paths))
		for i, path := range w.paths {
			urls[i] = []byte("http://example.com" + path)
		}
		b.Run(w.name, func(b *testing.B) {
			e := evaluate.New(&table, evaluate.Options{})
			var v batch.Verdicts
			list := batches(urls)
			perURL(b, len(urls), func() {
				for _, x := range list {
					must.Do(b, e.Evaluate(x, &v))
				}
			})
		})
	}
}

// BenchmarkHosts measures what a host costs: the evaluator with a rule pack in which each
// host has a body of its own, more than caches hold, over lists with a number of URLs a host,
// as crawls list them and shuffled. A pass opens the pack again, as a job does.
func BenchmarkHosts(b *testing.B) {
	if testing.Short() {
		b.Skip("compiles packs of 100 MB")
	}
	for _, c := range []struct{ hosts, urls int }{{60_000, 1}, {60_000, 10}, {15_000, 60}, {3_000, 500}} {
		flat := corpus.NewFlat(c.hosts, c.urls)
		var sorted [][]byte
		for url := range flat.BySURT() {
			sorted = append(sorted, bytes.Clone(url))
		}
		mixed := append([][]byte(nil), sorted...)
		corpus.Shuffle(mixed)
		name := packOf(b, flat)
		for _, order := range []struct {
			name string
			urls [][]byte
		}{{"sorted", sorted}, {"shuffled", mixed}} {
			b.Run(fmt.Sprintf("urls=%d/order=%s", c.urls, order.name), func(b *testing.B) {
				benchmarkHosts(b, name, order.urls, c.hosts)
			})
		}
	}
}

// packOf compiles the bodies of a corpus to a rule pack, and returns its name.
func packOf(b *testing.B, c *corpus.Corpus) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "site.rules")
	pack := must.Get(rulepack.Create(context.Background(), name, rulepack.BuildOptions{}))(b)
	defer pack.Abort()
	for o := range c.Origins() {
		entry := rulepack.Entry{Authority: o.Authority(), Access: access.Rules, Body: c.AppendBody(nil, o.Body), Status: 200}
		must.Do(b, pack.Add(entry))
	}
	must.Get(pack.Finish())(b)
	return name
}

func benchmarkHosts(b *testing.B, name string, list [][]byte, hosts int) {
	columns := batches(list)
	var took, byIndexByte []float64
	b.ReportAllocs()
	for b.Loop() {
		nanoseconds := evaluateHosts(b, name, columns)
		start := time.Now()
		for _, x := range columns {
			indexBytes(x)
		}
		looked := float64(time.Since(start).Nanoseconds())
		took, byIndexByte = append(took, nanoseconds), append(byIndexByte, nanoseconds/looked)
	}
	b.ReportMetric(figures.Median(took)/float64(len(list)), "ns/url")
	b.ReportMetric(figures.Median(took)/1000/float64(hosts), "µs/host")
	b.ReportMetric(figures.Median(byIndexByte), "x-indexbyte")
	b.ReportMetric(0, "ns/op")
}

// evaluateHosts opens a pack, evaluates batches and returns the nanoseconds.
func evaluateHosts(b *testing.B, name string, columns []*batch.Batch) float64 {
	start := time.Now()
	pack := must.Get(rulepack.Open(name, rulepack.Options{Chains: []matcher.Chain{{"CCBot"}}}))(b)
	defer pack.Close()
	e := evaluate.New(pack, evaluate.Options{})
	var v batch.Verdicts
	for _, x := range columns {
		must.Do(b, e.Evaluate(x, &v))
	}
	return float64(time.Since(start).Nanoseconds())
}
