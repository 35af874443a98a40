package matcher_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

// bodyChains are tried on every body: "*", names in any case, chains whose first names have
// groups or not, and names that no body has.
var bodyChains = []string{"*", "A", "a", "B", "A,B", "B,A", "C,A", "A1", "a1", "C", "C,*", "FooBot", "foobot,A", "ü", "Ü", "x,y,z"}

func parseChains(t testing.TB, texts []string) []matcher.Chain {
	t.Helper()
	chains := make([]matcher.Chain, len(texts))
	for i, text := range texts {
		chains[i] = must.Get(matcher.ParseChain(text))(t)
	}
	return chains
}

// reopened compiles a body for all agents, writes it out and opens it again.
func reopened(t testing.TB, f *robotstxt.File) *matcher.Body {
	t.Helper()
	compiled, ok := matcher.CompileBody(f)
	must.Need(t, ok, "CompileBody refused the body")
	data, notes := compiled.AppendRules(nil), compiled.AppendNotes(nil)
	b := must.Get(matcher.OpenBody(data, notes, namesOf(compiled)))(t)
	must.Need(t, bytes.Equal(b.AppendRules(nil), data) && bytes.Equal(b.AppendNotes(nil), notes), "the bytes changed by opening")
	must.Need(t, b.Profile() == f.Profile, "the profile is %v", b.Profile())
	return b
}

// namesOf returns the dictionary of a body's own names.
func namesOf(b *matcher.Body) func(number uint32) []byte {
	names := slices.Collect(b.Names())
	return func(number uint32) []byte {
		if uint64(number) < uint64(len(names)) {
			return names[number]
		}
		return nil
	}
}

// bodiesOf returns bytes that may be those of a body, with its own names, as Bodies.
func bodiesOf(t testing.TB, data []byte, names func(uint32) []byte, count int, p matcher.Profile, agents *matcher.Agents) *matcher.Bodies {
	t.Helper()
	bodies := must.Get(matcher.NewBodies(data, 1, p, agents, func(name string) (uint32, bool, error) {
		for i := range count {
			if matcher.CompareName(names(uint32(i)), name) == 0 {
				return uint32(i), true, nil
			}
		}
		return 0, false, nil
	}))(t)
	return bodies
}

// inPlace opens a body where it lies.
func inPlace(t testing.TB, b *matcher.Body, agents *matcher.Agents) ([]matcher.Trie, []uint32) {
	t.Helper()
	count := len(slices.Collect(b.Names()))
	bodies := bodiesOf(t, b.AppendRules(nil), namesOf(b), count, b.Profile(), agents)
	var o [1]matcher.Origin
	must.Get(bodies.OpenAll([]uint32{0}, o[:]))(t)
	return o[0].Tries, o[0].Of
}

// groupsOf says which agents share a trie, whatever the tries' numbers are.
func groupsOf(tries []matcher.Trie, of []uint32) string {
	seen := make(map[uint32]int)
	var b strings.Builder
	for _, trie := range of {
		if _, ok := seen[trie]; !ok {
			seen[trie] = len(seen)
		}
		fmt.Fprintf(&b, "%d ", seen[trie])
	}
	return fmt.Sprint(len(tries), b.String())
}

// eachTrie returns one trie per agent, given the distinct ones.
func eachTrie(tries []matcher.Trie, of []uint32, agents int) []matcher.Trie {
	o := matcher.Origin{Tries: tries, Of: of}
	each := make([]matcher.Trie, agents)
	for i := range each {
		each[i] = *o.Trie(i)
	}
	return each
}

// checkDistinct checks that no two tries are the same.
func checkDistinct(t testing.TB, body string, tries []matcher.Trie) {
	t.Helper()
	for i := range tries {
		for j := range i {
			must.Need(t, tries[i].Identity() != tries[j].Identity(), "tries %d and %d are the same in\n%s", i, j, body)
		}
	}
}

// checkBody compares a compiled body with what Compile returns for chains.
func checkBody(t testing.TB, body string, profile matcher.Profile, chains []matcher.Chain, paths []string) {
	t.Helper()
	f := robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile})
	whole := reopened(t, f)
	want := matcher.Compile(f, chains)
	got := whole.Tries(nil, chains)
	bare := must.Get(matcher.OpenBody(whole.AppendRules(nil), nil, namesOf(whole)))(t)
	silent := bare.Tries(nil, chains)
	agents := matcher.NewAgents(chains)
	tries, of := inPlace(t, whole, agents)
	checkDistinct(t, body, tries)
	some := eachTrie(tries, of, len(chains))
	tries, of = whole.For(agents)
	shared := eachTrie(tries, of, len(chains))
	var compiler matcher.Compiler
	compiler.Compile(robotstxt.Parse([]byte(brokenBodies[3]+body), robotstxt.Options{Profile: profile}), agents) // fills the compiler's memory with another body first
	tries, of = compiler.Compile(f, agents)
	checkDistinct(t, body, tries)
	alone := eachTrie(tries, of, len(chains))
	for i := range chains {
		a := &engineRules{body: body, profile: profile, trie: &want[i]}
		b := &engineRules{body: body, profile: profile, trie: &got[i]}
		var target matcher.Target
		for _, path := range paths {
			verdict := a.judge(path)
			other := b.judge(path)
			must.Need(t, verdict == other, "%q for %v by\n%s\nis %q, of the whole body %q", path, chains[i], body, verdict, other)
			target.Set([]byte(path), profile)
			x := want[i].Match(&target)
			y := some[i].Match(&target)
			must.Need(t, x == y, "%q for %v by\n%s\nis %v, in place %v", path, chains[i], body, x, y)
			if y := shared[i].Match(&target); x != y || y.Reason.HasRule() && !bytes.Equal(shared[i].Rule(y.Rule).Agent, want[i].Rule(x.Rule).Agent) {
				t.Fatalf("%q for %v by\n%s\nis %v, of the distinct tries %v", path, chains[i], body, x, y)
			}
			for _, trie := range []matcher.Trie{silent[i], alone[i]} {
				y := trie.Match(&target)
				must.Need(t, x == y && trie.Rule(y.Rule).Allow == (y.Rule&1 != 0), "%q for %v by\n%s\nis %v, without notes %v", path, chains[i], body, x, y)
			}
		}
		for j := range i {
			if want[i].Identity() == want[j].Identity() && got[i].Identity() != got[j].Identity() {
				t.Fatalf("%v and %v obey the same groups, but not one trie, by\n%s", chains[i], chains[j], body)
			}
		}
	}
}

// TestBodySemantics runs the cases of TestSemantics through CompileBody and OpenBody.
func TestBodySemantics(t *testing.T) {
	for _, cases := range [][]verdictCase{rfcCases(), bodyCases(), groupCases(), ruleCases(), escapeCases()} {
		for _, c := range cases {
			if c.limit != 0 || len(c.body) > robotstxt.DefaultLimit {
				continue
			}
			var paths []string
			for _, expectation := range slices.Concat(c.both, c.rfc, c.google) {
				if path, _, _ := strings.Cut(expectation, " → "); strings.HasPrefix(path, "/") {
					paths = append(paths, path)
				}
			}
			chains := bodyChains
			if c.chain != "" {
				chains = append(bodyChains[:len(bodyChains):len(bodyChains)], c.chain)
			}
			for _, profile := range profiles {
				checkBody(t, c.body, profile.engine, parseChains(t, chains), paths)
			}
		}
	}
}

func TestBodyRandomGroups(t *testing.T) {
	bodies := must.Short(300, 2500)
	chains := parseChains(t, bodyChains)
	for i, profile := range profiles {
		t.Run(profile.name, func(t *testing.T) {
			t.Parallel()
			g := generator{rand.New(rand.NewPCG(96, uint64(i)))}
			for range bodies {
				body, patterns := g.body()
				var paths []string
				for range 5 {
					paths = append(paths, g.path(patterns))
				}
				checkBody(t, body, profile.engine, chains, paths)
			}
		})
	}
}

func TestBodyNames(t *testing.T) {
	body := "User-agent: FooBot/2.1\nUser-agent: MJ12bot\nUser-agent: *\nUser-agent: \xC3\x9Cbot\nDisallow: /a\n" +
		"User-agent: foobot\nDisallow: /b\n"
	b := reopened(t, robotstxt.Parse([]byte(body), robotstxt.Options{}))
	var names []string
	for name := range b.Names() {
		names = append(names, string(name))
	}
	must.Equal(t, fmt.Sprintf("%q", names), `["foobot" "mj" "mj12bot" "Übot"]`, "names")
	must.Be(t, b.HasEveryone(), "no group for everyone")
	tries := b.Tries(nil, parseChains(t, []string{"FooBot"}))
	var lines []string
	for _, rule := range tries[0].Written() {
		lines = append(lines, fmt.Sprintf("%d %s", rule.Line, rule.Text))
	}
	must.Equal(t, strings.Join(lines, "; "), "5 Disallow: /a; 7 Disallow: /b", "rules")
	empty := reopened(t, robotstxt.Parse(nil, robotstxt.Options{}))
	must.Be(t, !empty.HasEveryone(), "an empty body has a group for everyone")
}

// TestBodySharesGroups: equal groups of many agents are stored once.
func TestBodySharesGroups(t *testing.T) {
	var one, many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "User-agent: Bot%c%c\nDisallow: /private\n\n", 'a'+i/10, 'a'+i%10)
	}
	one.WriteString("User-agent: Botaa\nDisallow: /private\n\n")
	size := func(body string) int {
		return len(reopened(t, robotstxt.Parse([]byte(body), robotstxt.Options{})).AppendRules(nil))
	}
	a, b := size(one.String()), size(many.String())
	must.Be(t, b <= a+99*20, "a group takes %d bytes, a hundred equal ones %d", a, b)
}

// TestBodyOverlap: a body that names an agent in each of many overlapping sets of groups is
// refused, because it would grow with the square of its length.
func TestBodyOverlap(t *testing.T) {
	overlapping := func(groups, rules int) string {
		var b strings.Builder
		for range rules {
			fmt.Fprintf(&b, "%sDisallow: /%d\n", first(b.Len() == 0, agentLines(groups)), b.Len())
		}
		for i := range groups {
			fmt.Fprintf(&b, "User-agent: bot%s\nDisallow: /%d\n", letters(i), i)
		}
		return b.String()
	}
	few := overlapping(3, 100)
	_, ok := matcher.CompileBody(robotstxt.Parse([]byte(few), robotstxt.Options{}))
	must.Be(t, ok, "a body of three agents and a common group was refused")
	for _, body := range []string{
		overlapping(1000, 1000),
		agentLines(1000) + "Disallow: /" + strings.Repeat("x", 100_000) + "\n" + overlapping(1000, 1), // a single long rule
	} {
		b, ok := matcher.CompileBody(robotstxt.Parse([]byte(body), robotstxt.Options{}))
		if ok {
			t.Errorf("%d bytes compile to %d", len(body), len(b.AppendRules(nil)))
		}
	}
}

func agentLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "User-agent: bot%s\n", letters(i))
	}
	return b.String()
}

func letters(i int) string {
	return string([]byte{'a' + byte(i/676%26), 'a' + byte(i/26%26), 'a' + byte(i%26)})
}

func first(is bool, s string) string {
	if is {
		return s
	}
	return ""
}

// brokenBodies are small bodies that together have every section of the layout.
var brokenBodies = []string{
	"",
	"User-agent: *\nDisallow: /\n",
	"User-agent: A\nUser-agent: B\nDisallow: /a\nAllow: /a/b$\n\nUser-agent: B\nDisallow: /ab*c\nUser-agent: *\nDisallow:\n",
	"User-agent: *\nDisallow: /*a*bb*c$\nDisallow: /x*y\nAllow: /x*?z=\nDisallow: /xylophone\nDisallow: /xylograph\nAllow: /xylo*p\nDisallow: /?a%2Fb*c\nDisallow: /%C3%BC*\nDisallow: /%C3%B6$\n",
	"User-agent: A\nAllow: /index.htm\nDisallow: /long/label/of/a/leaf/that/is/in/text\nDisallow: /long/label/of/a/leaf/that/is/another\nDisallow: /long/*\nAllow: /long/l*b\n",
}

// manySuffixes returns a body with enough wildcard rules for an index.
func manySuffixes() string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range 120 {
		fmt.Fprintf(&b, "%s: /%s*%s\n", []string{"Allow", "Disallow"}[i%2], []string{"", "a", "long/"}[i%3], letters(i)+[]string{"", "*x", "$", "/more"}[i%4])
	}
	return b.String()
}

var brokenPaths = []string{
	"/", "", "/a", "/a/b", "/abc", "/ab", "/xylophone", "/xylo", "/xyloxp", "/x?z=", "/xay", "/?a/bxc", "/?a%2Fbxc", "/?a%2F", "/%C3%BC", "/%c3%bc/",
	"/\xC3\xBC", "/%61", "/%4", "/%", "/long/label/of/a/leaf/that/is/in/text/", "/long/lxb", "/a#b", "#", "/xa1bb2c", "/aaabxaac", "/long/aad/more", strings.Repeat("/a", 100),
}

// use calls everything on a body that opens; nothing may panic.
func use(b *matcher.Body, paths []string) {
	chains := []matcher.Chain{{"*"}, {"A"}, {"B"}, {"C", "A"}}
	for name := range b.Names() {
		chains = append(chains, matcher.Chain{string(name)})
	}
	tries := b.Tries(nil, chains)
	b.HasEveryone()
	useTries(tries, paths)
}

// useSome opens bytes in place for a few chains. If OpenBody accepts them (intact), OpenAll
// must too. Otherwise it may: then its tries must be usable.
func useSome(t testing.TB, data []byte, names func(uint32) []byte, p matcher.Profile, intact bool, paths []string) {
	var o [1]matcher.Origin
	for _, chains := range [][]matcher.Chain{{{"*"}}, {{"A"}}, {{"A"}, {"C", "B"}, {"A", "B"}}} {
		_, err := bodiesOf(t, data, names, 3, p, matcher.NewAgents(chains)).OpenAll([]uint32{0}, o[:])
		switch {
		case err == nil:
			useTries(o[0].Tries, paths)
		case intact || !errors.Is(err, matcher.ErrBadBody):
			t.Fatalf("for %v: %v", chains, err)
		}
	}
}

// reseal makes the checksums of broken rules right, as somebody does who forges them.
func reseal(data []byte) { matcher.Reseal(data) }

func useTries(tries []matcher.Trie, paths []string) {
	var target matcher.Target
	for i := range tries {
		t := &tries[i]
		t.Written()
		if slices.ContainsFunc(tries[:i], func(other matcher.Trie) bool { return t.Identity() == other.Identity() }) {
			continue // they decide alike
		}
		for _, path := range paths {
			target.Set([]byte(path), t.Profile())
			t.Allowed(&target)
			t.Rule(t.Match(&target).Rule)
		}
	}
}

// TestOpenBrokenBody changes bodies at every byte, in turns those of the two profiles, which
// differ in a byte that names them and in how patterns are spelt. Reads outside their bounds
// are sure to be seen only with the build tag purego.
func TestOpenBrokenBody(t *testing.T) {
	for first, profile := range profiles {
		for n, body := range append(brokenBodies[:len(brokenBodies):len(brokenBodies)], manySuffixes()) {
			t.Run(fmt.Sprintf("%s/%d", profile.name, n), func(t *testing.T) {
				t.Parallel()
				whole := reopened(t, robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine}))
				data, notes, names := whole.AppendRules(nil), whole.AppendNotes(nil), namesOf(whole)
				for cut := range data {
					_, err := matcher.OpenBody(data[:cut], notes, names)
					must.Need(t, errors.Is(err, matcher.ErrBadBody), "cut to %d of %d bytes: %v", cut, len(data), err)
				}
				for cut := range notes {
					_, err := matcher.OpenBody(data, notes[:cut:cut], names)
					must.Need(t, errors.Is(err, matcher.ErrBadBody), "notes cut to %d of %d bytes: %v", cut, len(notes), err)
				}
				opened := 0
				intact := bytes.Clone(data)
				try := func() {
					if !bytes.Equal(data, intact) {
						_, err := matcher.OpenBody(data, nil, names)
						must.Need(t, err != nil, "a changed body opens")
						was := bytes.Clone(data)
						defer copy(data, was)
						reseal(data)
					}
					b, err := matcher.OpenBody(data, notes, names)
					useSome(t, data, names, profile.engine, err == nil, brokenPaths)
					if err == nil {
						use(b, brokenPaths)
						opened++
					} else if !errors.Is(err, matcher.ErrBadBody) {
						t.Fatalf("not an ErrBadBody: %v", err)
					}
				}
				tried, stride := 0, 1+len(data)/700
				for _, run := range [][]byte{data, notes} {
					for i := first * stride; i < len(run); i += len(profiles) * stride {
						was := run[i]
						values := []byte{was ^ 1, was ^ 2, was ^ 4, was ^ 8, was ^ 16, was ^ 32, was ^ 64, was ^ 128, 0, 255, was + 1, was - 1}
						slices.Sort(values)
						for _, now := range slices.Compact(values) {
							run[i] = now
							try()
							tried++
						}
						run[i] = was
					}
				}
				breakNumbers(data, notes, func() { try(); tried++ })
				t.Logf("%d of %d broken ones open", opened, tried)
			})
		}
	}
}

// breakNumbers changes a few numbers at a time, mostly to others that occur in the data. So
// links lead to wrong but existing places.
func breakNumbers(data, notes []byte, try func()) {
	g := rand.New(rand.NewPCG(uint64(len(data)), 7))
	original := slices.Concat(data, notes)
	for range 3000 {
		for range 1 + g.IntN(3) {
			run := data
			if g.IntN(4) == 0 {
				run = notes
			}
			number := run[4*g.IntN(len(run)/4):]
			switch g.IntN(4) {
			case 0:
				binary.LittleEndian.PutUint32(number, uint32(g.IntN(64)))
			case 1:
				binary.LittleEndian.PutUint32(number, binary.LittleEndian.Uint32(number)+1)
			default:
				copy(number[:4], run[4*g.IntN(len(run)/4):])
			}
		}
		try()
		copy(data, original)
		copy(notes, original[len(data):])
	}
}

// FuzzOpenBody opens changed bodies and arbitrary bytes.
func FuzzOpenBody(f *testing.F) {
	for _, body := range append(brokenBodies[:len(brokenBodies):len(brokenBodies)], manySuffixes()) {
		for _, profile := range profiles {
			b, _ := matcher.CompileBody(robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine}))
			f.Add(b.AppendRules(nil), b.AppendNotes(nil), "/xyloxp?z=%2F#")
		}
	}
	f.Fuzz(func(t *testing.T, data, notes []byte, path string) {
		paths := append([]string{path, "/" + path}, brokenPaths...)
		data = bytes.Clone(data)
		reseal(data)
		names := func(number uint32) []byte { return fmt.Appendf(nil, "%d", number) }
		for _, n := range [][]byte{nil, notes} {
			b, err := matcher.OpenBody(data, n, names)
			for _, profile := range profiles {
				useSome(t, data, names, profile.engine, err == nil && b.Profile() == profile.engine, paths)
			}
			if err == nil {
				use(b, paths)
			} else if !errors.Is(err, matcher.ErrBadBody) {
				t.Fatal(err)
			}
		}
	})
}

// FuzzBody compares CompileBody with Compile.
func FuzzBody(f *testing.F) {
	for _, body := range brokenBodies {
		f.Add(body, "/xyloxp", "A", false)
	}
	f.Fuzz(func(t *testing.T, body, path, chain string, google bool) {
		c, err := matcher.ParseChain(chain)
		if err != nil || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\r\n\x00") {
			return
		}
		profile := robotstxt.RFC9309
		if google {
			profile = robotstxt.Google
		}
		if _, ok := matcher.CompileBody(robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile})); ok {
			checkBody(t, body, profile, []matcher.Chain{{"*"}, c}, []string{path})
		}
	})
}

// TestManyAgentsShareGroups: agents that obey the same group, or none, share a trie,
// whether a body is compiled for them or opened.
func TestManyAgentsShareGroups(t *testing.T) {
	body := "User-agent: A\nUser-agent: B\nDisallow: /ab\n\nUser-agent: C\nDisallow: /c\n\nUser-agent: *\nDisallow: /all\n"
	f := robotstxt.Parse([]byte(body), robotstxt.Options{})
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("nobody%d", i))
	}
	chains := parseChains(t, append(texts, "b", "A", "x,C", "*", "C,A"))
	agents := matcher.NewAgents(chains)
	want := append(slices.Repeat([]uint32{0}, 100), 1, 1, 2, 0, 2)
	var c matcher.Compiler
	tries, of := c.Compile(f, agents)
	must.Be(t, len(tries) == 3 && slices.Equal(of, want), "compiled: %d tries, %v", len(tries), of)
	whole := reopened(t, f)
	if tries, of = whole.For(agents); len(tries) != 4 || !slices.Equal(of[:100], want[:100]) {
		// A and B have equal rules but different user-agent values.
		t.Errorf("opened: %d tries, %v", len(tries), of)
	}
	tries, of = inPlace(t, whole, agents)
	got := groupsOf(tries, of)
	must.Be(t, len(tries) == 3 && got == groupsOf(make([]matcher.Trie, 3), want), "in place: %d tries, %v", len(tries), of)
	tries, of = c.Compile(f, matcher.NewAgents(chains[:100]))
	must.Be(t, len(tries) == 1 && of == nil, "without a group of their own: %d tries, %v", len(tries), of)
}

// TestBodyOfManyNames looks up a few agents in a body that names many: a different code
// path from many agents and a body that names few.
func TestBodyOfManyNames(t *testing.T) {
	var body strings.Builder
	for i := range 500 {
		fmt.Fprintf(&body, "User-agent: bot-%d\nDisallow: /%d\n", i, i)
	}
	f := robotstxt.Parse([]byte(body.String()), robotstxt.Options{})
	whole := reopened(t, f)
	for _, texts := range [][]string{{"BOT-7"}, {"nobody", "bot-499", "bot-0"}} {
		chains := parseChains(t, texts)
		want := matcher.Compile(f, chains)
		tries, of := whole.For(matcher.NewAgents(chains))
		for i, got := range eachTrie(tries, of, len(chains)) {
			for _, path := range []string{"/7", "/499", "/0", "/x"} {
				var target matcher.Target
				target.Set([]byte(path), robotstxt.RFC9309)
				must.Equal(t, want[i].Match(&target), got.Match(&target), path, "for", chains[i])
			}
		}
	}
}

// TestBodyWithAnotherTable: a table that a later version adds to a body changes nothing for
// this one.
func TestBodyWithAnotherTable(t *testing.T) {
	f := robotstxt.Parse([]byte("User-agent: A\nDisallow: /a\n\nUser-agent: B\nDisallow: /b\n\nUser-agent: *\nDisallow: /z\n"), robotstxt.Options{})
	whole := reopened(t, f)
	chains := parseChains(t, []string{"A", "B", "C"})
	for _, more := range []string{"", "x", strings.Repeat("another table ", 9)} {
		data := matcher.WithMore(whole.AppendRules(nil), []byte(more))
		b := must.Get(matcher.OpenBody(data, whole.AppendNotes(nil), namesOf(whole)))(t)
		tries, of := inPlace(t, b, matcher.NewAgents(chains))
		for i, trie := range eachTrie(tries, of, len(chains)) {
			for j, path := range []string{"/a", "/b", "/z"} {
				var target matcher.Target
				target.Set([]byte(path), robotstxt.RFC9309)
				must.Be(t, trie.Allowed(&target) != (i == j), "%v of %s with %q", chains[i], path, more)
			}
		}
	}
}

// What is allocated for a body while it is compiled, garbage included, is at most three times what
// CompileMemory says is in use.
func TestCompileMemory(t *testing.T) {
	const size = 128 << 10
	everyone := "User-agent: *\n"
	for _, test := range []struct{ head, line string }{
		{everyone, "\n"},
		{everyone, "x:\n"},
		{everyone, "allow:\r\n"},
		{everyone, "allow:/\n"},
		{everyone, "allow:/%x\n"},
		{everyone, "allow:/*%x$\n"},
		{everyone, "allow:/*%x*a*b*c*d*e*f*g\n"},
		{everyone, "allow:/%x" + strings.Repeat("abcdef/", 20) + "\n"},
		{everyone + "allow:/", strings.Repeat("a", size)},
		{everyone + "allow:/", strings.Repeat("\xff", size)},
		{everyone + "allow:/", strings.Repeat("{\"%", size/3)},
		{everyone + "allow:/", strings.Repeat("%c3", size/3)},
		{everyone, "content-usage:/ train-ai=n\n"},
		{"", "sitemap:\n"},
		{"", "user-agent:a%x\n"},
		{"", "user-agent:a%x\nallow:/\n"},
		{"", "user-agent:a\nallow:/\n"},
	} {
		var b strings.Builder
		b.WriteString(test.head)
		for i := 0; b.Len() < size; i++ {
			if strings.Contains(test.line, "/%x") || strings.Contains(test.line, "*%x") || strings.Contains(test.line, "a%x") {
				fmt.Fprintf(&b, test.line, i)
			} else {
				b.WriteString(test.line)
			}
		}
		body := []byte(b.String())
		for _, explain := range []bool{false, true} {
			taken, said := must.Allocated(func() {
				c := matcher.Compiler{Explain: explain}
				c.Compile(robotstxt.Parse(body, robotstxt.Options{}), matcher.NewAgents([]matcher.Chain{{"a"}, {matcher.Everyone}}))
			}), uint64(matcher.CompileMemory(body))
			t.Logf("%.60q: %.2f", test.line, float64(taken)/float64(said))
			must.Be(t, taken <= 3*said, "%.60q: %d bytes were allocated, where %d are said to be in use", test.line, taken, said)
		}
	}
}
