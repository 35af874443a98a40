package matcher

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

// TestSweepOfEverySmallSuffix compares the sweeper with the reference on all wildcard
// suffixes and texts of two letters up to a length: each suffix alone, and all of them
// together.
func TestSweepOfEverySmallSuffix(t *testing.T) {
	var patterns []string
	for _, suffix := range textsOf("ab*", 5) {
		if !strings.HasSuffix(suffix, "*") {
			patterns = append(patterns, "/*"+suffix, "/*"+suffix+"$", "/a*"+suffix, "/ab*"+suffix+"$")
		}
	}
	trie := compileDisallowed(patterns)
	c := trie.rules
	var s sweeper
	s.build(&c)
	oracle := make([]reference.Pattern, len(s.starts)-1)
	for suffix := range oracle {
		oracle[suffix] = reference.NewPattern(trie.patternOf(suffix), reference.RFC9309)
	}
	longest := must.Short(5, 8)
	matches := 0
	for _, rest := range textsOf("ab", longest) {
		text := "/" + rest
		path, best := reference.NewPath(text, reference.RFC9309), uint32(0)
		var onTheWay []uint32
		for suffix := range oracle {
			rule, found := kernels.Load32(c.data, c.suffix(suffix)), uint32(0)
			if !strings.HasPrefix(text, trie.prefixOf(suffix)) {
				continue
			}
			onTheWay = append(onTheWay, uint32(suffix))
			if oracle[suffix].Match(path) {
				found, best = rule, max(best, rule)
				matches++
			}
			if got := s.sweep(&c, []byte(text), []uint32{uint32(suffix)}, 0); got != found {
				t.Fatalf("%s on %s: the sweep finds rule %d, want %d", trie.patternOf(suffix), text, got, found)
			}
		}
		got := s.sweep(&c, []byte(text), onTheWay, 0)
		must.Need(t, got == best, "%s: the sweep of all finds rule %d, want %d", text, got, best)
	}
	must.Be(t, matches >= 1000, "only %d matches: the test says little", matches)
}

// TestSweepOfNestedLiterals has literals that are suffixes of each other, in chains a
// thousand long with many branches. A pass must find the awaited literal in a chain.
func TestSweepOfNestedLiterals(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	rounds := must.Short(2, 20)
	for range rounds {
		var patterns []string
		for range 300 {
			pattern := "/"
			for range 1 + random.IntN(3) {
				pattern += "*" + randomText(random, random.IntN(4), "ab") + strings.Repeat("a", random.IntN(200)) + "a"
			}
			patterns = append(patterns, pattern)
		}
		trie := compileDisallowed(patterns)
		var s sweeper
		s.build(&trie.rules)
		for range 20 {
			text := "/" + strings.Repeat("a", random.IntN(300)) + randomText(random, random.IntN(20), "ab") + strings.Repeat("a", random.IntN(300))
			checkSweep(t, &trie, &s, []byte(text))
		}
	}
}

// checkSweep compares a sweep of a text with trying each suffix.
func checkSweep(t *testing.T, trie *Trie, s *sweeper, text []byte) {
	t.Helper()
	c := &trie.rules
	best, suffixes := uint32(0), []uint32(nil)
	for suffix := range len(s.starts) - 1 {
		prefix := trie.prefixOf(suffix)
		if !strings.HasPrefix(string(text), prefix) {
			continue
		}
		suffixes = append(suffixes, uint32(suffix))
		if c.matchSuffix(suffix, text, text, uint32(len(prefix))) {
			best = max(best, kernels.Load32(c.data, c.suffix(suffix)))
		}
	}
	got := s.sweep(c, text, suffixes, 0)
	must.Need(t, got == best, "%.200q: the sweep finds rule %d, trying all %d", text, got, best)
	for i, waiter := range s.waiting {
		must.Need(t, waiter == 0 && s.waited[i/64] == 0, "literal %d still has waiters", i)
	}
}

// TestManyRulesLikeReference compares engine and reference with so many rules, and so many
// index literals in a path, that the engine builds a sweeper.
func TestManyRulesLikeReference(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	rounds := must.Short(5, 30)
	for round := range rounds {
		alphabet := [...]string{"a*", "ab*", "a/*?", "ab%2F*?", "aaaaaab*"}[round%5]
		var body strings.Builder
		for range 150 + random.IntN(200) {
			kind := [...]string{"Allow", "Disallow", "Disallow"}[random.IntN(3)]
			end := [...]string{"", "", "$"}[random.IntN(3)]
			fmt.Fprintf(&body, "%s: /%s*%s%s\n", kind, randomText(random, random.IntN(3), alphabet), randomText(random, 1+random.IntN(16), alphabet), end)
		}
		compareWithReference(t, body.String(), func(yield func(string) bool) {
			for range 30 {
				if !yield("/" + randomText(random, random.IntN(90), strings.ReplaceAll(alphabet, "*", "a"))) {
					return
				}
			}
		})
	}
}

func FuzzSweep(f *testing.F) {
	f.Add("Disallow: /*a*b\nAllow: /*b*a$\nDisallow: /a*ab*ba", "/abbaab", uint8(60))
	f.Add("Disallow: /*aa*aaa*a\nAllow: /*a*aaaa\nDisallow: /*?*%2F", "/aaaaaaaaaaa?/%2F", uint8(90))
	f.Fuzz(func(t *testing.T, rules, path string, copies uint8) {
		if len(rules) > 2000 || len(path) > 2000 || strings.ContainsAny(rules, "\r") {
			return
		}
		// Many rules have different prefixes and the same literals.
		var body strings.Builder
		for i := range int(copies) {
			for rule := range strings.SplitSeq(rules, "\n") {
				fmt.Fprintf(&body, "%s%s\n", rule, strings.Repeat("*a", i%7))
			}
		}
		compareWithReference(t, body.String(), func(yield func(string) bool) {
			for i := range 4 {
				if !yield("/" + strings.Repeat(path, i)) {
					return
				}
			}
		})
	})
}

// compareWithReference compares the verdicts of engine and reference. The engine uses one
// Target for all paths, as a worker does.
func compareWithReference(t *testing.T, rules string, paths func(func(string) bool)) {
	t.Helper()
	body := []byte("User-agent: *\n" + rules)
	for _, profile := range []struct {
		engine    Profile
		reference reference.Profile
	}{{robotstxt.RFC9309, reference.RFC9309}, {robotstxt.Google, reference.Google}} {
		trie := Compile(robotstxt.Parse(body, robotstxt.Options{Profile: profile.engine}), []Chain{{Everyone}})[0]
		oracle := reference.Parse(body, profile.reference, 0)
		var p Target
		for path := range paths {
			if strings.ContainsAny(path, "\x00\r\n#") || reference.IsRobotsTxt(path) {
				continue
			}
			p.Set([]byte(path), profile.engine)
			want := reference.Decide(oracle, []string{Everyone}, path, profile.reference)
			got := trie.Match(&p)
			must.Need(t, got.Allowed == want.Allowed, "%s\n%q: allowed is %v, want %v", body, path, got.Allowed, want.Allowed)
			if got := trie.Allowed(&p); got != want.Allowed {
				t.Fatalf("%s\n%q: Allowed is %v, want %v", body, path, got, want.Allowed)
			}
		}
	}
}

// textsOf returns all texts of up to n letters.
func textsOf(letters string, n int) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var longer []string
		for _, text := range last {
			for _, letter := range letters {
				longer = append(longer, text+string(letter))
			}
		}
		all, last = append(all, longer...), longer
	}
	return all
}

func compileDisallowed(patterns []string) Trie {
	body := "User-agent: *\nDisallow: " + strings.Join(patterns, "\nDisallow: ") + "\n"
	return Compile(robotstxt.Parse([]byte(body), robotstxt.Options{}), []Chain{{Everyone}})[0]
}

// patternOf returns the pattern of the rule of a suffix; prefixOf returns the part before
// its first star.
func (t *Trie) patternOf(suffix int) string {
	rule := t.Rule(kernels.Load32(t.rules.data, t.rules.suffix(suffix)))
	return strings.TrimPrefix(string(rule.Text), "Disallow: ")
}

func (t *Trie) prefixOf(suffix int) string {
	prefix, _, _ := strings.Cut(t.patternOf(suffix), "*")
	return prefix
}

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
