package matcher

import (
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/matcher/robotstxt"
)

// TestSkipUnaffected compares skipUnaffected followed by resolve with Match for each path.
// The rules have wildcards or not, allow or disallow, in lists one above the other; the
// paths share a prefix. Each outcome must occur.
func TestSkipUnaffected(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	skipped, changes, confirmed, bodies := 0, 0, 0, 20_000
	if testing.Short() {
		bodies = 1000
	}
	for range bodies {
		body := "User-agent: *\n"
		for range 1 + random.IntN(12) {
			body += [...]string{"Allow: /", "Disallow: /"}[random.IntN(2)] + randomText(random, random.IntN(7), "ab/**$") + "\n"
		}
		trie := &Compile(robotstxt.Parse([]byte(body), robotstxt.Options{}), []Chain{{Everyone}})[0]
		start := "/" + randomText(random, random.IntN(4), "ab/")
		var data []byte
		ends := []int{0}
		for range 20 {
			data = append(data, start+randomText(random, random.IntN(12), "aabb//c%")...)
			ends = append(ends, len(data))
		}
		var paths pathBlock
		paths.reset(data)
		for i, end := range ends[1:] {
			paths.add(ends[i], end)
		}
		paths.prepare()
		var p Target
		p.Set([]byte(start), robotstxt.RFC9309)
		s := trie.prefixVerdict(&p)
		if s.depth > len(start) || !s.undecided {
			continue // the verdict holds for this path only, or for all
		}
		for i := 0; i < len(paths.texts); i++ {
			end := trie.skipUnaffected(&s, &paths, i, len(paths.texts))
			for ; i < end; i++ {
				p.Set(paths.text(i), robotstxt.RFC9309)
				if skipped++; trie.Match(&p).Allowed == s.denied {
					t.Fatalf("%s%s: skipped, but its verdict changes", body, paths.text(i))
				}
			}
			if i == len(paths.texts) {
				break
			}
			p.setFrom(&paths, i, robotstxt.RFC9309)
			changed := trie.resolve(&s, &p)
			if changed {
				changes++
			} else {
				confirmed++
			}
			p.Set(paths.text(i), robotstxt.RFC9309)
			if trie.Match(&p).Allowed != (s.denied == changed) {
				t.Fatalf("%s%s: resolve returns %v, Match disagrees", body, paths.text(i), changed)
			}
		}
	}
	if t.Logf("%d skipped, %d changed, %d confirmed", skipped, changes, confirmed); skipped == 0 || changes == 0 || confirmed == 0 {
		t.Error("one of the outcomes did not occur")
	}
}

// Only a byte of 7 bits is a child, whatever the bits of a node say.
func TestHasChild(t *testing.T) {
	for char := range 256 {
		if got := hasChild(1<<63|1<<47, 1<<1|1, byte(char)); got != strings.Contains("/?@A", string(rune(char))) {
			t.Errorf("%#x: %v", char, got)
		}
	}
}
