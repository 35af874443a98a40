//go:build linux

package bench

import (
	"cmp"
	"flag"
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
