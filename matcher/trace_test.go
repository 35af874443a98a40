package matcher_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

// randomRules returns a body of up to n rules over few tokens, so that many patterns match
// one path and many are equal.
func randomRules(r *rand.Rand, tokens []string, n int) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for range 1 + r.IntN(n) {
		b.WriteString([]string{"Allow: ", "Disallow: ", "disallow :", "Allow\t"}[r.IntN(4)])
		b.WriteString([]string{"/", "/", "/", "*", ""}[r.IntN(5)])
		for range r.IntN(4) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
		b.WriteString([]string{"\n", "\n", " # why\n"}[r.IntN(3)])
	}
	return b.String()
}

var traceTokens = []string{"/", "a", "b", "*", "*", "$", "?", "%2F", "%2a", "%24", "%61", "%", "é", "\xFF", " ", "index.html"}

// TestTraceAgreesWithTheEngine: the first rule of a trace is the one that the engine
// decides by, and the trace has all rules that match according to the reference, with their
// lengths.
func TestTraceAgreesWithTheEngine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	matched, bodies := 0, must.Short(400, 4000)
	for range bodies {
		body := randomRules(r, traceTokens, 8)
		path := "/"
		for range r.IntN(6) {
			path += traceTokens[r.IntN(len(traceTokens))]
		}
		for _, profile := range profiles {
			trie := matcher.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine}), []matcher.Chain{{"*"}})[0]
			var target matcher.Target
			target.Set([]byte(path), profile.engine)
			d := trie.Match(&target)
			trace := trie.Trace([]byte(path))
			must.Need(t, (len(trace) > 0) == d.Reason.HasRule(), "%q on %q: engine %v, trace %+v", path, body, d, trace)
			if len(trace) > 0 {
				best := trie.Rule(d.Rule)
				must.Need(t, trace[0].Line == best.Line && trace[0].Allow == d.Allowed, "%q on %q: engine %q of line %d, trace %+v", path, body, best.Text, best.Line, trace)
			}
			want := referenceTrace(body, path, profile.reference)
			var got []int
			for _, rule := range trace {
				got = append(got, rule.Line)
				if profile.engine == robotstxt.RFC9309 && rule.Length != want[rule.Line] {
					t.Fatalf("%q on %q: line %d has length %d, want %d", path, body, rule.Line, rule.Length, want[rule.Line])
				}
			}
			slices.Sort(got)
			must.Need(t, slices.Equal(got, sortedKeys(want)), "%q on %q: lines %v, want %v", path, body, got, want)
			matched += len(trace)
		}
	}
	must.Be(t, matched >= bodies, "only %d rules matched", matched)
}

func sortedKeys(m map[int]int) []int {
	var keys []int
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// referenceTrace returns the lengths of the rules that match a path, by line. It asks the
// reference for each rule in a body of its own.
func referenceTrace(body, path string, p reference.Profile) map[int]int {
	lengths := make(map[int]int)
	for _, rule := range reference.Parse([]byte(body), p, 0).Groups[0].Rules {
		alone := reference.File{Groups: []reference.Group{{Agents: []reference.Agent{{Value: "*"}}, Rules: []reference.Rule{rule}}}}
		if reference.Decide(alone, nil, path, p).Rule != "" {
			lengths[rule.Line] = reference.NewPattern(rule.Pattern, p).Length()
		}
	}
	return lengths
}

// TestTraceSpelling: a trace spells patterns as they are compared.
func TestTraceSpelling(t *testing.T) {
	for _, test := range []struct {
		pattern, path, rfc, google string
		length                     int // under RFC 9309
	}{
		{"/a**b*$", "/a/b", "/a**b*$", "/a**b*$", 7},
		{"/%7Eu", "/~u", "/~u", "", 3},
		{"/f-%2a.html", "/f-*.html", "/f-%2A.html", "", 9},
		{"/%24", "/$", "/%24", "", 2},
		{"/a%24b", "/a$b", "/a$b", "", 4},
		{"/é", "/%C3%A9", "/%C3%A9", "/%C3%A9", 7},
		{"/?u=%2F", "/?u=/", "/?u=/", "", 5},
		{"/*%2F", "/%2F", "/*%2F", "/*%2F", 5},
		{"/%zz", "/%25zz", "/%25zz", "", 6},
	} {
		for _, profile := range profiles {
			body := "User-agent: *\nDisallow: " + test.pattern
			trie := matcher.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine}), []matcher.Chain{{"*"}})[0]
			want := test.rfc
			if profile.engine == robotstxt.Google {
				want = test.google
			}
			trace := trie.Trace([]byte(test.path))
			switch {
			case want == "":
				must.Be(t, len(trace) == 0, "%s, %s: %+v", test.pattern, profile.name, trace)
			case len(trace) != 1 || trace[0].Pattern != want || profile.engine == robotstxt.RFC9309 && trace[0].Length != test.length:
				t.Errorf("%s, %s: %+v, want %s and %d", test.pattern, profile.name, trace, want, test.length)
			}
		}
	}
}

// TestShadowedNeverDecides runs the reference on all short paths. No verdict may come from
// a rule that Shadowed returns. Without wildcards in queries, each other rule must decide
// some path.
func TestShadowedNeverDecides(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tokens := []string{"/", "a", "b", "*", "*", "$", "?", "%2F", "%61", "index.html"}
	var paths []string
	for _, rest := range sequences([]string{"/", "a", "b", "?", "$", "!", "%2F", "index.html"}, 4) {
		paths = append(paths, "/"+rest)
	}
	shadowed, bodies := 0, must.Short(12, 120)
	for range bodies {
		body := randomRules(r, tokens, 6)
		for _, profile := range profiles {
			trie := matcher.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{Profile: profile.engine}), []matcher.Chain{{"*"}})[0]
			dead := make(map[int]matcher.Shadowed)
			for _, s := range trie.Shadowed() {
				dead[s.Rule.Line] = s
			}
			shadowed += len(dead)
			file := reference.Parse([]byte(body), profile.reference, 0)
			decides := make(map[int]bool)
			for _, path := range paths {
				d := reference.Decide(file, nil, path, profile.reference)
				decides[d.Line] = true
				if s, isDead := dead[d.Line]; isDead && d.Rule != "" {
					t.Fatalf("%s: %q on %q is decided by line %d, reported as shadowed by %q", profile.name, path, body, d.Line, s.By.Text)
				}
			}
			if strings.Contains(body, "?") && strings.Contains(body, "*") {
				continue
			}
			for _, rule := range file.Groups[0].Rules {
				short := len(rule.Pattern) <= 3 && (strings.HasPrefix(rule.Pattern, "/") || strings.HasPrefix(rule.Pattern, "*"))
				if _, isDead := dead[rule.Line]; !isDead && short && !decides[rule.Line] {
					t.Errorf("%s: line %d of %q decides no path and is not reported as shadowed", profile.name, rule.Line, body)
				}
			}
		}
	}
	must.Be(t, shadowed >= 5*bodies/12, "only %d rules were shadowed", shadowed)
}

func TestShadowed(t *testing.T) {
	for _, test := range []struct{ rules, want string }{
		{"Disallow: /a|Disallow: /a/b", ""},
		{"Disallow: /a|Allow: /a", "Disallow: /a by Allow: /a"},
		{"Disallow: /a|Disallow: /a", "Disallow: /a by Disallow: /a"},
		{"Disallow: /a*|Disallow: /a", "Disallow: /a by Disallow: /a*"},
		{"Disallow: /a*|Allow: /a", "Allow: /a by Disallow: /a*"},
		{"Allow: /*.js|Disallow: /a.js", "Disallow: /a.js by Allow: /*.js"},
		{"Allow: /a$|Disallow: /a", ""},
		{"Disallow: /*/a|Allow: */a", ""}, // the second rule matches /a
		{"Disallow: /b*|Allow: /*b|Disallow: /bb", "Disallow: /b* by Allow: /*b, Disallow: /bb by Allow: /*b"},
		{"Disallow: *|Allow: /", "Disallow: * by Allow: /"},
		{"Disallow: /a?b|Allow: /a*b", ""}, // compared with two spellings: not examined
		{"Disallow: /a?b|Allow: /a***", "Disallow: /a?b by Allow: /a***"},
		{"Disallow: /a?u=/|Allow: /a?u=%2F", "Disallow: /a?u=/ by Allow: /a?u=%2F"},
		{"Disallow: /%61|Allow: /a", "Disallow: /%61 by Allow: /a"},
		{"Disallow:|Disallow: /", ""},
	} {
		body := "User-agent: *\n" + strings.ReplaceAll(test.rules, "|", "\n")
		trie := matcher.Compile(robotstxt.Parse([]byte(body), robotstxt.Options{}), []matcher.Chain{{"*"}})[0]
		var got []string
		for _, s := range trie.Shadowed() {
			got = append(got, string(s.Rule.Text)+" by "+string(s.By.Text))
		}
		must.Equal(t, strings.Join(got, ", "), test.want, test.rules, got)
	}
}
