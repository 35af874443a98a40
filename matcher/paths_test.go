package matcher

import (
	"math/rand/v2"
	"testing"

	"robotsbatch/matcher/robotstxt"
)

// TestHold compares Hold, and Settle behind it, with Match for each path alone: rules
// with and without wildcards, of both verdicts and in lists one above the other, and
// paths that begin alike. Each of what Hold can say of a path has to come up.
func TestHold(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	skipped, changes, kept := 0, 0, 0
	for range 20_000 {
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
			continue // nothing is known of the others, or all
		}
		for i := 0; i < len(paths.texts); i++ {
			end := trie.skipUnaffected(&s, &paths, i, len(paths.texts))
			for ; i < end; i++ {
				p.Set(paths.text(i), robotstxt.RFC9309)
				if skipped++; trie.Match(&p).Allowed == s.denied {
					t.Fatalf("%s%s: skipped, and changes", body, paths.text(i))
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
				kept++
			}
			p.Set(paths.text(i), robotstxt.RFC9309)
			if trie.Match(&p).Allowed != (s.denied == changed) {
				t.Fatalf("%s%s: changes: %v", body, paths.text(i), changed)
			}
		}
	}
	if t.Logf("%d skipped, %d changed, %d kept", skipped, changes, kept); skipped == 0 || changes == 0 || kept == 0 {
		t.Error("something never came up")
	}
}
