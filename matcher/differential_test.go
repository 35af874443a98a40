package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

// Engine and reference must agree on all small inputs, on many random ones, and on
// everything that a fuzzer finds.

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	m.Run()
}

// alphabet has the tokens of patterns and paths in the exhaustive test, which takes all
// sequences up to a length. Paths start with a slash. Of the longest patterns it takes those
// that start with a slash or an asterisk: what any other start means, shorter ones show.
type alphabet struct {
	name            string
	tokens          []string
	patterns, paths int
}

var alphabets = []alphabet{
	{"wildcards", []string{"/", "a", "*", "$", "%"}, 5, 6},
	{"escapes", []string{"/", "a", "*", "$", "?", ":", "%", "%61", "%2F", "%2A", "%24", "%3A"}, 4, 4},
	{"blanks", []string{"/", "a", "*", "$", " ", "\t"}, 4, 5},
}

// shortStride is for -short: the exhaustive test then takes every 101st pattern, and all
// paths. The number is prime to the sizes of the alphabets, so each token occurs at each position.
const shortStride = 101

// TestEverySmallRule compares engine and reference for every rule and every path that an
// alphabet makes, one rule at a time.
func TestEverySmallRule(t *testing.T) {
	for _, a := range alphabets {
		for _, profile := range profiles {
			t.Run(a.name+"/"+profile.name, func(t *testing.T) {
				t.Parallel()
				stride := must.Short(shortStride, 1)
				paths := newSmallPaths(a, profile.engine, profile.reference)
				patterns := sequences(a.tokens, a.patterns-1)
				for _, rest := range patterns[len(sequences(a.tokens, a.patterns-2)):] {
					patterns = append(patterns, "/"+rest, "*"+rest)
				}
				for i := 0; i < len(patterns) && !t.Failed(); i += stride {
					paths.check(t, patterns[i])
				}
			})
		}
	}
}

// sequences returns all sequences of up to n tokens, the empty one first.
func sequences(tokens []string, n int) []string {
	all := []string{""}
	last := all
	for range n {
		var longer []string
		for _, s := range last {
			for _, token := range tokens {
				longer = append(longer, s+token)
			}
		}
		last = longer
		all = append(all, last...)
	}
	return all
}

// smallPaths are the paths of an alphabet, prepared for both implementations once. Each of
// these compiles a rule once and matches it opposite all paths.
type smallPaths struct {
	engine    matcher.Profile
	reference reference.Profile
	paths     []string // sorted
	targets   []matcher.Target
	spelt     []reference.Path
	first     []int // of the paths that the reference spells alike
	runs      prefixRuns
}

func newSmallPaths(a alphabet, engine matcher.Profile, oracle reference.Profile) *smallPaths {
	s := &smallPaths{engine: engine, reference: oracle}
	for _, rest := range sequences(a.tokens, a.paths-1) {
		s.paths = append(s.paths, "/"+rest)
	}
	slices.Sort(s.paths)
	s.targets = make([]matcher.Target, len(s.paths))
	firsts := make(map[reference.Path]int)
	for i, path := range s.paths {
		s.targets[i].Set([]byte(path), engine)
		spelt := reference.NewPath(path, oracle)
		if _, there := firsts[spelt]; !there {
			firsts[spelt] = i
		}
		s.spelt, s.first = append(s.spelt, spelt), append(s.first, firsts[spelt])
	}
	s.runs = newPrefixRuns(s.paths)
	return s
}

// check compares engine and reference for a rule. It also checks the depth, the number of
// bytes of a path that the verdict depends on according to the engine.
func (s *smallPaths) check(t *testing.T, pattern string) {
	body := []byte("User-agent: *\nDisallow: " + pattern)
	trie := &matcher.Compile(robotstxt.Parse(body, robotstxt.Options{Profile: s.engine}), []matcher.Chain{{"*"}})[0]
	rule := reference.Parse(body, s.reference, 0).Groups[0].Rules[0]
	oracle := reference.NewPattern(rule.Pattern, s.reference)
	denials := make([]int, len(s.paths)+1) // how many paths before this one are denied
	for i := range s.paths {
		d := trie.Match(&s.targets[i])
		first := s.first[i]
		denied := first < i && denials[first] < denials[first+1] || first == i && oracle.Match(s.spelt[i])
		if d.Allowed == denied || (d.Reason == matcher.DisallowRule) != denied {
			t.Errorf("%q on %q: engine says allowed %v, %v; reference says %v", pattern, s.paths[i], d.Allowed, d.Reason, !denied)
			return
		}
		denials[i+1] = denials[i]
		if denied {
			denials[i+1]++
		}
	}
	verdicts := make([]matcher.PrefixVerdict, len(s.paths))
	changes := make([]int, len(s.paths)+1) // how often the verdict changes from path to path, up to this one
	for i, path := range s.paths {
		allowed := denials[i+1] == denials[i]
		verdict := trie.PrefixVerdict(&s.targets[i])
		if got := verdict.Denied() == (verdict.Undecided() && trie.Resolve(&verdict, &s.targets[i])); got != allowed {
			t.Errorf("%q on %q: prefixVerdict and resolve say %v, Match does not", pattern, path, got)
			return
		}
		verdicts[i], changes[i+1] = verdict, changes[i]
		if i > 0 && verdict != verdicts[i-1] {
			changes[i+1]++
		}
	}
	for i, path := range s.paths {
		depth, agree := verdicts[i].Depth(), false
		if verdicts[i].Undecided() {
			agree = s.runs.same(i, depth, changes)
		} else {
			agree = s.runs.agree(i, depth, denials) && s.agreesTrimmed(path, depth, denials)
		}
		if !agree {
			t.Errorf("%q on %q: the verdict depends on more than the first %d bytes", pattern, path, depth)
			return
		}
	}
}

// agreesTrimmed reports whether a path has the verdict of its first depth bytes without
// blanks at the end: the engine's caller compares URLs that are not trimmed.
func (s *smallPaths) agreesTrimmed(path string, depth int, denials []int) bool {
	if depth > len(path) || !strings.ContainsAny(path[depth-1:depth], " \t") {
		return true
	}
	i, _ := slices.BinarySearch(s.paths, path)
	j, _ := slices.BinarySearch(s.paths, strings.TrimRight(path[:depth], " \t"))
	return denials[i+1]-denials[i] == denials[j+1]-denials[j]
}

// prefixRuns has, for each string of a sorted list and each number of bytes, the range of
// strings with the same first bytes.
type prefixRuns [][][2]int

func newPrefixRuns(sorted []string) prefixRuns {
	runs := map[string]*[2]int{}
	for i, s := range sorted {
		for n := range len(s) + 1 {
			if runs[s[:n]] == nil {
				runs[s[:n]] = &[2]int{i, i}
			}
			runs[s[:n]][1] = i + 1
		}
	}
	all := make(prefixRuns, len(sorted))
	for i, s := range sorted {
		for n := range len(s) + 1 {
			all[i] = append(all[i], *runs[s[:n]])
		}
	}
	return all
}

// agree reports whether all strings that share the first depth bytes of string i have the
// same answer. yes counts the strings before each one whose answer is yes. A depth beyond
// the string says nothing about others. A depth of 0 would include URLs of other
// authorities.
func (r prefixRuns) agree(i, depth int, yes []int) bool {
	if depth >= len(r[i]) || depth < 1 {
		return depth >= 1
	}
	run := r[i][depth]
	n := yes[run[1]] - yes[run[0]]
	return n == 0 || n == run[1]-run[0]
}

// same does what agree does for an answer of many values. changes counts how often it
// changed up to each string.
func (r prefixRuns) same(i, depth int, changes []int) bool {
	if depth >= len(r[i]) || depth < 1 {
		return depth >= 1
	}
	run := r[i][depth]
	return changes[run[1]] == changes[run[0]+1]
}

// TestEveryRobotsTxt compares engine and reference on which paths are /robots.txt. It also
// checks the depth, the number of bytes of a path that the answer depends on according to
// the engine.
func TestEveryRobotsTxt(t *testing.T) {
	var paths []string
	for _, rest := range sequences([]string{"/", "robots", ".txt", "%72obots", "%2etxt", "%2F", "%", "?", "r"}, 4) {
		paths = append(paths, "/"+rest)
	}
	slices.Sort(paths)
	runs := newPrefixRuns(paths)
	for _, profile := range profiles {
		yes, depths := make([]int, len(paths)+1), make([]int, len(paths))
		for i, path := range paths {
			is, depth := matcher.IsRobotsTxt([]byte(path), profile.engine)
			want := profile.engine == robotstxt.RFC9309 && reference.IsRobotsTxt(path)
			must.Need(t, is == want, "%s: %q: engine says %v, reference %v", profile.name, path, is, want)
			yes[i+1], depths[i] = yes[i], depth
			if is {
				yes[i+1]++
			}
		}
		for i, path := range paths {
			must.Need(t, runs.agree(i, depths[i], yes), "%s: %q: the answer depends on more than the first %d bytes", profile.name, path, depths[i])
		}
	}
}

// TestRandomGroups compares verdict, reason, rule and agent of engine and reference, for
// bodies of several groups. A group has up to 30 rules, a few have hundreds.
func TestRandomGroups(t *testing.T) {
	bodies := must.Short(500, 4000)
	for i, profile := range profiles {
		t.Run(profile.name, func(t *testing.T) {
			t.Parallel()
			g := generator{rand.New(rand.NewPCG(9309, uint64(i)))}
			for n := 0; n < bodies && !t.Failed(); n++ {
				body, patterns := g.body()
				c := verdictCase{body: body, chain: g.pick("*", "A", "B", "A,B", "C,A", "A1")}
				oracle := referenceVerdicts(c, profile.reference)
				engine := newEngineRules(t, c, profile.engine)
				for range 20 {
					path := g.path(patterns)
					got, want := engine.judge(path), oracle.judge(path)
					must.Need(t, got == want, "%q for %s by\n%s\nengine says %q, reference %q", path, c.chain, body, got, want)
					got = engine.judge(path + "#" + g.pick(patterns...))
					must.Need(t, got == engine.judge(path), "%q with a fragment by\n%s\nis %q", path, body, got)
					g.checkDepth(t, engine, path, patterns)
				}
			}
		})
	}
}

// checkDepth checks that a verdict depends only on the first depth bytes of its path, as
// the engine says: another path with the same bytes must have the same verdict.
func (g generator) checkDepth(t *testing.T, engine *engineRules, path string, patterns []string) {
	t.Helper()
	verdict := engine.prefixVerdict(path)
	must.Need(t, verdict.Depth() >= 1, "%q has depth %d, before its slash", path, verdict.Depth())
	if verdict.Depth() > len(path) {
		return
	}
	other := path[:verdict.Depth()] + g.pick("", "61", "%61", "#", patterns[g.IntN(len(patterns))])
	other = strings.TrimRight(other, " ") // blanks at the end are not part of a URL
	if verdict.Undecided() && len(other) < verdict.Depth() {
		return
	}
	got, want := engine.resolved(verdict, other), engine.allowed(other)
	must.Need(t, got == want, "%q: allowed %v, but %d bytes that it shares with %q say %v; by\n%s", other, want, verdict.Depth(), path, got, engine.body)
}

// TestVerdictAtTrimmedBlank: a rule that ends in a blank and a star once gave a depth up to
// the blank. But the blank does not belong to the path of a URL that ends there.
func TestVerdictAtTrimmedBlank(t *testing.T) {
	for n := range 40 {
		path := "/" + strings.Repeat("a", n)
		c := verdictCase{body: atEveryone + "Disallow: /b\nDisallow: " + path + " *", chain: "*"}
		for _, profile := range profiles {
			engine := newEngineRules(t, c, profile.engine)
			s := engine.prefixVerdict(path + " b")
			must.Be(t, s.Denied() && !s.Undecided() && s.Depth() != len(path)+1, "%s: %q has the verdict %+v", profile.name, path+" b", s)
		}
	}
}

// generator makes random bodies and paths, the same in every run.
type generator struct{ *rand.Rand }

func (g generator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// randomTokens are alphabets for rules; the rules of a body use one of them.
var randomTokens = [][]string{
	{"/", "a", "b", "*"},
	{"/", "a", "a", "*", "$"},
	{"/", "a", "*", "?", "%2F", "%2f", "%3F", "%"},
	{"/", "a", "%61", "*", "%2A", "$", "%24", ":", "%3a"},
	{"/", "ü", "%C3%BC", "%c3", "\xBC", "\xFF", "*", " ", "%20", "|"},
	{"/", "index.htm", "l", "*", "$", "?", "a"},
	{"/", "robots.txt", "*", "$", "%72obots.txt", "?"},
	{"/abcdefgh", "/abcdefghi", "j", "*", "$", "/"},
	{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "/", "*"},
}

// body returns a random body and its patterns.
func (g generator) body() (body string, patterns []string) {
	tokens := randomTokens[g.IntN(len(randomTokens))]
	var b strings.Builder
	for range 1 + g.IntN(3) {
		for range 1 + g.IntN(2) {
			fmt.Fprintf(&b, "User-agent: %s\n", g.pick("*", "A", "B", "a/1", "* x", "A1", "\xFF"))
		}
		rules := g.IntN(31)
		if g.IntN(100) == 0 {
			rules += 400
		}
		for range rules {
			pattern := g.pick("/", "/", "/", "/", "/", "/", "/", "*", "", "a")
			for range g.IntN(7) {
				pattern += g.pick(tokens...)
			}
			patterns = append(patterns, pattern)
			fmt.Fprintf(&b, "%s: %s\n", g.pick("Allow", "Disallow"), pattern)
		}
	}
	return b.String(), append(patterns, g.pick(tokens...))
}

// path returns a path that resembles one or several of the patterns.
func (g generator) path(patterns []string) string {
	var b strings.Builder
	b.WriteByte('/')
	for range 1 + g.IntN(3) {
		pattern := patterns[g.IntN(len(patterns))]
		if g.IntN(4) == 0 {
			pattern = pattern[:g.IntN(len(pattern)+1)]
		}
		for _, c := range []byte(pattern) {
			switch {
			case c == '*' && g.IntN(5) > 0:
				b.WriteString(g.pick("", "", "a", "/", patterns[g.IntN(len(patterns))]))
			case c == '$' && g.IntN(5) > 0: // matches the end, or nothing
			default:
				b.WriteByte(c)
			}
		}
	}
	return "/" + strings.TrimLeft(b.String(), "/")
}

// FuzzBodyURL compares engine and reference from the bytes of the body to the verdict.
func FuzzBodyURL(f *testing.F) {
	for _, cases := range [][]verdictCase{rfcCases(), lineCases(), markCases(), keyCases(), groupCases(), ruleCases(), escapeCases()} {
		for _, c := range cases {
			if c.chain == "" {
				c.chain = "FooBot"
			}
			for _, expectation := range append(append(c.both, c.rfc...), c.google...) {
				path, _, _ := strings.Cut(expectation, " → ")
				if strings.HasPrefix(path, "/") {
					path = "http://h" + path
				}
				f.Add([]byte(c.body), path, c.chain, len(c.google) > 0)
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, url, chain string, google bool) {
		profile := profiles[0]
		if google {
			profile = profiles[1]
		}
		engineFile := robotstxt.Parse(body, robotstxt.Options{Profile: profile.engine})
		referenceFile := reference.Parse(body, profile.reference, 0)
		if got, want := showEngine(engineFile), showReference(referenceFile); got != want {
			t.Fatalf("%q: engine reads\n%s\nreference reads\n%s", body, got, want)
		}
		split := referenceSplit(url)
		if got := engineSplit(url); got != split {
			t.Fatalf("%q: engine says %q, reference %q", url, got, split)
		}
		if _, err := matcher.ParseChain(chain); err != nil {
			return
		}
		if _, path, ok := strings.Cut(split, " "); ok {
			c := verdictCase{body: string(body), chain: chain}
			got := newEngineRules(t, c, profile.engine).judge(path)
			want := referenceVerdicts(c, profile.reference).judge(path)
			must.Need(t, got == want, "%q for %s by\n%q\nengine says %q, reference %q", path, chain, body, got, want)
		}
	})
}

// showEngine and showReference format a parsed body in the same way.
func showEngine(f *robotstxt.File) string {
	var b strings.Builder
	fmt.Fprintln(&b, "limited", f.Limited)
	for _, g := range f.Groups {
		fmt.Fprintln(&b, "group")
		for _, a := range g.Agents {
			fmt.Fprintf(&b, "%d agent %q\n", a.Line, a.Value)
		}
		for _, r := range g.Rules {
			fmt.Fprintf(&b, "%d allow %v %q %q\n", r.Line, r.Allow, r.Pattern, r.Text)
		}
	}
	return b.String()
}

func showReference(f reference.File) string {
	var b strings.Builder
	fmt.Fprintln(&b, "limited", f.Limited)
	for _, g := range f.Groups {
		fmt.Fprintln(&b, "group")
		for _, a := range g.Agents {
			fmt.Fprintf(&b, "%d agent %q\n", a.Line, a.Value)
		}
		for _, r := range g.Rules {
			fmt.Fprintf(&b, "%d allow %v %q %q\n", r.Line, r.Allow, r.Pattern, r.Text)
		}
	}
	return b.String()
}
