package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/batch/evaluate"
	"robotsbatch/bench/ruletable"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/robotstxt"
)

// worst is a body that is hostile to a certain algorithm, and paths for it.
type worst struct {
	name  string
	rules []string
	paths []string
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
