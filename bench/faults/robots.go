//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"robotsbatch/bench/figures"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// These bound the processor time of a URL for two agents, in nanoseconds. The documentation
// of matcher.Trie gives the bound: the length of the normalised URL × (a constant + the
// number of rules with wildcards).
const (
	boundURL     = 200_000
	boundByte    = 200 // per byte
	boundPattern = 4   // per byte and rule with a wildcard
)

// referenceWork is the most bytes of rules × bytes of a path that the reference is given.
const referenceWork = 10_000_000

var (
	hostileChains  = []matcher.Chain{{"*"}, {"CCBot"}}
	hostileAgents  = []string{"*", "CCBot"}
	slowestOfPairs = 10
)

// pair is a robots.txt and a URL.
type pair struct {
	body, url hostile
	time      time.Duration
}

// robotsTally counts the results of all pairs.
type robotsTally struct {
	mu                        sync.Mutex
	pairs, compared, verdicts int
	failures                  []string
	slowest                   []pair
}

// robotsSection matches hostile URLs against hostile robots.txt.
func robotsSection(b *bench) error {
	bodies, urls := hostileBodies(b.times(1000), b.seed), hostileURLs(b.times(1000), b.seed)
	t := &robotsTally{}
	started := time.Now()
	var group errgroup.Group
	group.SetLimit(b.workers)
	for i, body := range bodies {
		group.Go(func() error {
			t.body(body, urls, rand.New(rand.NewPCG(b.seed, uint64(i))))
			return nil
		})
	}
	_ = group.Wait() // failures are counted
	fmt.Printf("\n## %d hostile robots.txt against %d hostile URLs\n\n", len(bodies), len(urls))
	fmt.Printf("%d pairs in %.0f s, %d verdicts; %d of the pairs compared with the reference, for two agents each; %d failures.\n\n",
		t.pairs, time.Since(started).Seconds(), t.verdicts, t.compared, len(t.failures))
	fmt.Printf("The slowest, with the processor time of a URL for both agents (the best of three):\n\n| robots.txt | bytes | URL | bytes | ms |\n|---|---:|---|---:|---:|\n")
	for _, p := range t.slowest {
		fmt.Printf("| %s | %d | %s | %d | %.3f |\n", p.body.name, len(p.body.data), p.url.name, len(p.url.data), p.time.Seconds()*1000)
	}
	for _, failure := range t.failures[:min(50, len(t.failures))] {
		fmt.Println("\nFAILED:", failure)
	}
	if len(t.failures) > 0 {
		return fmt.Errorf("%d failures", len(t.failures))
	}
	return nil
}

func (t *robotsTally) fail(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

// body matches all URLs against one robots.txt.
func (t *robotsTally) body(body hostile, list []hostile, rng *rand.Rand) {
	runtime.LockOSThread() // the processor time is that of the thread
	defer runtime.UnlockOSThread()
	defer func() {
		if p := recover(); p != nil {
			t.fail("%s: panic: %v", body.name, p)
		}
	}()
	f := robotstxt.Parse(body.data, robotstxt.Options{})
	tries := matcher.Compile(f, hostileChains)
	if whole, ok := matcher.CompileBody(f); ok {
		if _, err := matcher.OpenBody(whole.AppendRules(nil), whole.AppendNotes(nil), func(uint32) []byte { return nil }); err != nil {
			t.fail("%s: what was compiled does not open: %v", body.name, err)
		}
	}
	wild := wildcards(f)
	slow := reference.Parse(body.data, reference.RFC9309, 0)
	var local []pair
	verdicts, compared := 0, 0
	for _, url := range list {
		elapsed, decisions, path := match(tries, url.data)
		if path == nil {
			continue
		}
		verdicts += len(decisions)
		bound := time.Duration(boundURL + len(urls.Normalise(path))*(boundByte+boundPattern*wild))
		if elapsed > bound {
			elapsed = best(tries, url.data)
		}
		if elapsed > bound {
			t.fail("%s: %s takes %v, more than %v", body.name, url.name, elapsed, bound)
		}
		local = append(local, pair{body, url, elapsed})
		if rng.IntN(50) == 0 && len(body.data)*len(path) <= referenceWork {
			compared++
			t.compare(body, url, slow, decisions, string(path), tries)
		}
	}
	slices.SortFunc(local, func(x, y pair) int { return int(y.time - x.time) })
	local = local[:min(len(local), slowestOfPairs)]
	for i := range local {
		local[i].time = best(tries, local[i].url.data)
	}
	t.join(local, len(list), verdicts, compared)
}

func (t *robotsTally) join(slow []pair, pairs, verdicts, compared int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pairs, t.verdicts, t.compared = t.pairs+pairs, t.verdicts+verdicts, t.compared+compared
	t.slowest = append(t.slowest, slow...)
	slices.SortFunc(t.slowest, func(x, y pair) int { return int(y.time - x.time) })
	t.slowest = t.slowest[:min(len(t.slowest), slowestOfPairs)]
}

// match decides on a URL; the path is nil if there is no verdict.
func match(tries []matcher.Trie, url []byte) (time.Duration, []matcher.Decision, []byte) {
	started := figures.ThreadTime()
	var scratch urls.Scratch
	_, path, err := scratch.Split(url)
	if err != nil {
		return 0, nil, nil
	}
	var target matcher.Target
	target.Set(path, robotstxt.RFC9309)
	decisions := make([]matcher.Decision, len(tries))
	for i := range tries {
		decisions[i] = tries[i].Match(&target)
	}
	return figures.ThreadTime() - started, decisions, slices.Clone(path)
}

// best returns the shortest of three times.
func best(tries []matcher.Trie, url []byte) time.Duration {
	shortest := time.Hour
	for range 3 {
		elapsed, _, _ := match(tries, url)
		shortest = min(shortest, elapsed)
	}
	return shortest
}

// compare compares decisions with those of the reference.
func (t *robotsTally) compare(body, url hostile, f reference.File, decisions []matcher.Decision, path string, tries []matcher.Trie) {
	_, slowPath, reason := reference.SplitURL(string(url.data))
	if reason != "" || slowPath != path {
		t.fail("%s: %s: the path is %.200q, the reference's %.200q (%s)", body.name, url.name, path, slowPath, reason)
		return
	}
	if is, _ := matcher.IsRobotsTxt([]byte(path), robotstxt.RFC9309); is != reference.IsRobotsTxt(path) {
		t.fail("%s: whether it is /robots.txt: %v", url.name, is)
	} else if is {
		return
	}
	for i, d := range decisions {
		want := reference.Decide(f, []string{hostileAgents[i]}, path, reference.RFC9309)
		text := ""
		if d.Reason.HasRule() {
			text = string(tries[i].Rule(d.Rule).Text)
		}
		if d.Allowed != want.Allowed || d.Reason.String() != want.Reason || text != want.Rule {
			t.fail("%s: %s: agent %s: %v %s %.200q, the reference %v %s %.200q", body.name, url.name, hostileAgents[i], d.Allowed, d.Reason, text, want.Allowed, want.Reason, want.Rule)
		}
	}
}

// wildcards counts the rules with a wildcard.
func wildcards(f *robotstxt.File) int {
	n := 0
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			if strings.ContainsAny(string(r.Pattern), "*$") {
				n++
			}
		}
	}
	return n
}
