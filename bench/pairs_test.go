//go:build linux

package bench

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"robotsbatch/bench/figures"
	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

var (
	shapesFlag = flag.Int("shapes", 100, "number of hostile robots.txt files, and of hostile URLs")
	seedFlag   = flag.Uint64("seed", 1, "seed of hostile files and URLs")
)

var hostileAgents = []string{"*", "CCBot"}

// hostileFile is a hostile robots.txt, parsed and compiled.
type hostileFile struct {
	shape
	parsed *robotstxt.File
	tries  []matcher.Trie // by agent
}

func compileShape(body shape) hostileFile {
	f := robotstxt.Parse(body.data, robotstxt.Options{})
	return hostileFile{body, f, matcher.Compile(f, []matcher.Chain{{"*"}, {"CCBot"}})}
}

// match decides on a URL for each agent. The path is nil if there is no verdict.
func (f *hostileFile) match(url []byte) (took time.Duration, decisions []matcher.Decision, path []byte) {
	started := figures.ThreadTime()
	var scratch urls.Scratch
	_, path, err := scratch.Split(url)
	if err != nil {
		return 0, nil, nil
	}
	var target matcher.Target
	target.Set(path, robotstxt.RFC9309)
	decisions = make([]matcher.Decision, len(f.tries))
	for i := range f.tries {
		decisions[i] = f.tries[i].Match(&target)
	}
	return figures.ThreadTime() - started, decisions, slices.Clone(path)
}

// eachFile calls do with each hostile robots.txt, several at once.
func eachFile(do func(f hostileFile, chance *rand.Rand)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, body := range hostileBodies(*shapesFlag, *seedFlag) {
		group.Go(func() error {
			do(compileShape(body), rand.New(rand.NewPCG(*seedFlag, uint64(i))))
			return nil
		})
	}
	_ = group.Wait() // do fails by itself
}

// TestHostileShapes compares the engine with the reference, for hostile robots.txt and URLs.
func TestHostileShapes(t *testing.T) {
	const most = 10_000_000 // bytes of rules × bytes of a path that the reference is given
	list := hostileURLs(*shapesFlag, *seedFlag)
	var compared atomic.Int64
	eachFile(func(f hostileFile, chance *rand.Rand) {
		if whole, ok := matcher.CompileBody(f.parsed); ok {
			_, err := matcher.OpenBody(whole.AppendRules(nil), whole.AppendNotes(nil), func(uint32) []byte { return nil })
			must.Be(t, err == nil, "%s: what was compiled does not open: %v", f.name, err)
		}
		slow := reference.Parse(f.data, reference.RFC9309, 0)
		for _, url := range list {
			_, decisions, path := f.match(url.data)
			if path != nil && chance.IntN(50) == 0 && len(f.data)*len(path) <= most {
				f.compare(t, url, slow, decisions, string(path))
				compared.Add(1)
			}
		}
	})
	t.Logf("%d of %d pairs compared, for two agents each", compared.Load(), *shapesFlag**shapesFlag)
	must.Be(t, compared.Load() != 0, "no pair is short enough for the reference")
}

// compare compares decisions with those of the reference.
func (f *hostileFile) compare(t *testing.T, url shape, slow reference.File, decisions []matcher.Decision, path string) {
	_, slowPath, reason := reference.SplitURL(string(url.data))
	if reason != "" || slowPath != path {
		t.Errorf("%s: %s: the path is %.200q, the reference's %.200q (%s)", f.name, url.name, path, slowPath, reason)
		return
	}
	if is, _ := matcher.IsRobotsTxt([]byte(path), robotstxt.RFC9309); is != reference.IsRobotsTxt(path) {
		t.Errorf("%s: whether it is /robots.txt: %v", url.name, is)
	} else if is {
		return
	}
	for i, d := range decisions {
		want, text := reference.Decide(slow, hostileAgents[i:i+1], path, reference.RFC9309), ""
		if d.Reason.HasRule() {
			text = string(f.tries[i].Rule(d.Rule).Text)
		}
		if d.Allowed != want.Allowed || d.Reason.String() != want.Reason || text != want.Rule {
			t.Errorf("%s: %s: agent %s: %v %s %.200q, the reference %v %s %.200q", f.name, url.name, hostileAgents[i], d.Allowed, d.Reason, text, want.Allowed, want.Reason, want.Rule)
		}
	}
}

// BenchmarkHostileShapes measures the processor time of a URL for two agents, and prints the
// slowest pairs. It fails if one takes longer than the documentation of matcher.Trie allows: the
// length of the normalised URL × (a constant + the number of rules with wildcards).
func BenchmarkHostileShapes(b *testing.B) {
	const perURL, perByte, perPattern = 200_000, 200, 4 // nanoseconds; a pattern's are for each byte
	var slowest []pair
	var mu sync.Mutex
	list := hostileURLs(*shapesFlag, *seedFlag)
	for b.Loop() {
		eachFile(func(f hostileFile, _ *rand.Rand) {
			runtime.LockOSThread() // the processor time is that of the thread
			defer runtime.UnlockOSThread()
			wild := wildcards(f.parsed)
			var own []pair
			for _, url := range list {
				took, _, path := f.match(url.data)
				most := time.Duration(perURL + len(urls.Normalise(path))*(perByte+perPattern*wild))
				if took > most {
					took = f.best(url)
				}
				if took > most {
					b.Errorf("%s: %s takes %v, more than %v", f.name, url.name, took, most)
				}
				own = append(own, pair{f.shape, url, took})
			}
			own = longest(own)
			for i := range own {
				own[i].time = f.best(own[i].url)
			}
			mu.Lock()
			defer mu.Unlock()
			slowest = longest(append(slowest, own...))
		})
	}
	for _, p := range slowest {
		b.Logf("%.3f ms: %s, %d bytes, and %s, %d bytes", p.time.Seconds()*1000, p.body.name, len(p.body.data), p.url.name, len(p.url.data))
	}
	b.ReportMetric(slowest[0].time.Seconds()*1000, "slowest-ms")
}

// pair is a robots.txt and a URL.
type pair struct {
	body, url shape
	time      time.Duration
}

// longest returns the nine pairs that take longest: a benchmark prints ten lines.
func longest(list []pair) []pair {
	slices.SortFunc(list, func(x, y pair) int { return cmp.Compare(y.time, x.time) })
	return list[:min(len(list), 9)]
}

// best returns the shortest of three times.
func (f *hostileFile) best(url shape) time.Duration {
	shortest := time.Hour
	for range 3 {
		took, _, _ := f.match(url.data)
		shortest = min(shortest, took)
	}
	return shortest
}

// wildcards counts the rules with a wildcard.
func wildcards(f *robotstxt.File) (n int) {
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			if strings.ContainsAny(string(r.Pattern), "*$") {
				n++
			}
		}
	}
	return n
}

// shape is a hostile robots.txt or URL.
type shape struct {
	name string
	data []byte
}

// robotsSize is the number of bytes of a body that count.
const robotsSize = 500 << 10

// bodyMakers make hostile robots.txt, each in its own way; n counts up from 1.
var bodyMakers = []struct {
	name string
	make func(rng *rand.Rand, n int) string
}{
	{"deep stars", func(_ *rand.Rand, n int) string { return groupOf("Disallow: /" + strings.Repeat("*a", 40*n) + "*b") }},
	{"stars alone", func(_ *rand.Rand, n int) string { return groupOf("Disallow: " + strings.Repeat("*", 5000*n) + "$") }},
	{"stars and slashes", func(_ *rand.Rand, n int) string { return groupOf("Disallow: " + strings.Repeat("/*", 50*n) + "/x$") }},
	{"one huge line", func(_ *rand.Rand, n int) string { return groupOf("Disallow: /" + strings.Repeat("x", 5000*n)) }},
	{"many wildcards", func(_ *rand.Rand, n int) string {
		return repeatRule(60*n, func(i int) string { return fmt.Sprintf("Disallow: /*lit_%d*x%d$", i, i%7) })
	}},
	{"windows that are near", func(_ *rand.Rand, n int) string {
		return repeatRule(40*n, func(i int) string { return fmt.Sprintf("Disallow: /*aaaaaaaaaaaa*%db", i) })
	}},
	{"one prefix, many ends", func(_ *rand.Rand, n int) string {
		return repeatRule(200*n, func(i int) string { return fmt.Sprintf("Disallow: /a/b/c/%d/*$", i) })
	}},
	{"a chain of prefixes", func(_ *rand.Rand, n int) string {
		return repeatRule(10*n, func(i int) string { return "Allow: /" + strings.Repeat("a", i) })
	}},
	{"a million agents", func(_ *rand.Rand, n int) string {
		var b strings.Builder
		for i := range 1000 * n {
			fmt.Fprintf(&b, "User-agent: a%d\n", i)
		}
		return b.String() + "User-agent: CCBot\nUser-agent: *\nDisallow: /*a\n"
	}},
	{"many groups of one agent", func(_ *rand.Rand, n int) string {
		return strings.Repeat("User-agent: CCBot\nDisallow: /*a*b\nUser-agent: *\nAllow: /a\n", 100*n)
	}},
	{"NULs", func(rng *rand.Rand, n int) string {
		return groupOf("Disallow: /a\x00b", "\x00Disallow: /", "Disal\x00low: /x", strings.Repeat("\x00", 100*n), "Allow: /"+string(noise(rng, 50, "\x00ab*$")))
	}},
	{"invalid UTF-8", func(rng *rand.Rand, n int) string {
		return repeatRule(20*n, func(int) string { return "Disallow: /" + string(noise(rng, 40, "\xff\xc0\x80\xed\xa0\x80*/%")) })
	}},
	{"escapes and halves of them", func(rng *rand.Rand, n int) string {
		return repeatRule(20*n, func(int) string { return "Disallow: /" + string(noise(rng, 60, "%2Ff0*$?aA%%")) })
	}},
	{"query and its escapes", func(rng *rand.Rand, n int) string {
		return repeatRule(20*n, func(int) string { return "Disallow: /*?" + string(noise(rng, 30, "%2F3f*&=/?")) })
	}},
	{"one byte, again and again", func(rng *rand.Rand, n int) string {
		return strings.Repeat(string(byte(rng.IntN(256))), 10_000*n)
	}},
	{"line ends alone", func(rng *rand.Rand, n int) string { return string(noise(rng, 5000*n, "\r\n")) }},
	{"colons", func(rng *rand.Rand, n int) string { return string(noise(rng, 2000*n, ":\n #")) }},
	{"noise", func(rng *rand.Rand, n int) string {
		b := make([]byte, 1000*n)
		for i := range b {
			b[i] = byte(rng.IntN(256))
		}
		return string(b)
	}},
	{"words in disorder", func(rng *rand.Rand, n int) string {
		words := []string{"User-agent", "Disallow", "Allow", ":", " ", "\n", "*", "/", "CCBot", "$", "#", "\t", "%2A", "a", "sitemap", "\r"}
		var b strings.Builder
		for range 300 * n {
			b.WriteString(words[rng.IntN(len(words))])
		}
		return b.String()
	}},
	{"UTF-16", func(rng *rand.Rand, n int) string {
		text := []byte{0xFF, 0xFE}
		for _, c := range groupOf("Disallow: /"+string(noise(rng, 200*n, "ab*$/")), "Allow: /\u0101") {
			text = binary.LittleEndian.AppendUint16(text, uint16(c))
		}
		return string(text)
	}},
}

// groupOf returns a group for everyone and CCBot with these lines.
func groupOf(lines ...string) string {
	return "User-agent: *\nUser-agent: CCBot\n" + strings.Join(lines, "\n") + "\n"
}

func repeatRule(n int, line func(int) string) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(i)
	}
	return groupOf(lines...)
}

// noise returns random bytes of an alphabet.
func noise(rng *rand.Rand, n int, alphabet string) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return b
}

// hostileBodies makes n bodies, up to a little more than the size limit.
func hostileBodies(n int, seed uint64) []shape {
	bodies := make([]shape, n)
	for i := range bodies {
		m := bodyMakers[i%len(bodyMakers)]
		size := i/len(bodyMakers) + 1
		data := m.make(rand.New(rand.NewPCG(seed, uint64(i))), size)
		bodies[i] = shape{fmt.Sprintf("%s (%d)", m.name, size), []byte(data[:min(len(data), robotsSize+100)])}
	}
	return bodies
}

// pathMakers make the part of a URL after http://host.
var pathMakers = []struct {
	name string
	make func(rng *rand.Rand, n int) string
}{
	{"ordinary", func(_ *rand.Rand, n int) string { return fmt.Sprintf("/section-%d/article-%d.html?page=%d", n, n*7, n) }},
	{"as", func(_ *rand.Rand, n int) string { return "/" + strings.Repeat("a", 40*n) }},
	{"as and b", func(_ *rand.Rand, n int) string { return "/" + strings.Repeat("a", 40*n) + "b" }},
	{"literals", func(_ *rand.Rand, n int) string {
		var b strings.Builder
		for i := range 4 * n {
			fmt.Fprintf(&b, "/lit_%dx%d", i, i%7)
		}
		return b.String()
	}},
	{"slashes", func(_ *rand.Rand, n int) string { return strings.Repeat("/", 30*n) + "x" }},
	{"dots up", func(_ *rand.Rand, n int) string { return strings.Repeat("/..%2f", 10*n) + "etc" }},
	{"raw controls", func(rng *rand.Rand, n int) string { return "/" + string(noise(rng, 20*n, "\x01\x02\x1f\x7f a/")) }},
	{"NUL, CR and LF", func(rng *rand.Rand, n int) string { return "/" + string(noise(rng, 5*n, "\x00\r\nab")) }},
	{"invalid UTF-8", func(rng *rand.Rand, n int) string { return "/" + string(noise(rng, 30*n, "\xff\xc0\x80\xed\xa0/%")) }},
	{"halves of escapes", func(rng *rand.Rand, n int) string { return "/" + string(noise(rng, 30*n, "%2Ff0aA%%*$?")) }},
	{"query", func(rng *rand.Rand, n int) string { return "/?" + string(noise(rng, 30*n, "%2F3f*&=/?#")) }},
	{"stars and dollars", func(rng *rand.Rand, n int) string { return "/" + string(noise(rng, 30*n, "*$a/b")) }},
}

// authorities are odd ones, with their schemes.
var authorities = []string{
	"http://[::1", "http://[::1]:80:80", "http://[v1.x]", "http://[::ffff:1.2.3.4%25eth0]", "http://[]", "https://[fe80::1%eth0]",
	"http://1.2.3.4.5", "http://0x7f.1", "http://256.1.1.1", "http://999999999999", "http://a..b", "http://.", "http://..", "http://-a-",
	"http://xn--" + strings.Repeat("a", 60), "http://xn--" + strings.Repeat("9", 200), "http://xn--0", "http://xn--\xff",
	"http://" + strings.Repeat("ü", 5000), "http://" + strings.Repeat("a.", 2000) + "b", "http://" + strings.Repeat("%61", 5000), "http://%00", "http://%2f%2f",
	"http://a@b@c@d", "http://" + strings.Repeat("@", 5000) + "a", "http://a:0", "http://a:65536", "http://a:99999999999999999999", "http://a:+80",
	"HTTP://A", "hTTps://例え.テスト", "http://\u200d", "http://a\u3002b", "ftp://x", "javascript:alert(1)", "//h/a", "http:/h", "http:///", "", " ", "data:,x",
}

// hostileURLs makes n URLs. Most have an ordinary authority, so that rules apply; one in
// thirty has 64 KiB.
func hostileURLs(n int, seed uint64) []shape {
	urls := make([]shape, n)
	for i := range urls {
		rng := rand.New(rand.NewPCG(seed+1, uint64(i)))
		m := pathMakers[i%len(pathMakers)]
		size := i/len(pathMakers)%20 + 1
		name, path := fmt.Sprintf("%s (%d)", m.name, size), m.make(rng, size)
		if i%31 == 30 {
			name, path = m.name+" (64 KiB)", m.make(rng, 100)
			path += strings.Repeat(path, 64<<10/len(path))
		}
		host := "http://h.example"
		if i%5 == 4 {
			host = authorities[i/5%len(authorities)]
			name = fmt.Sprintf("%s at %.40q", name, host)
		}
		urls[i] = shape{name, bytes.Clone([]byte(host + path))}
	}
	return urls
}
