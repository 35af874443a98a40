package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/usage"
)

// allUses are the uses of both vocabularies, and one that no vocabulary has.
var allUses = append(append(usage.Vocabulary(usage.ContentUsage), usage.Vocabulary(usage.ContentSignal)...), usage.Use{Key: "x"})

// statedByEngine returns what a body says to each chain of a path, in the form of wanted:
// "-" if the path may not be fetched.
func statedByEngine(body, path string, chains []matcher.Chain, p matcher.Profile) []string {
	f := robotstxt.Parse([]byte(body), robotstxt.Options{Profile: p})
	u := matcher.CompileUsage(f, matcher.NewAgents(chains), matcher.UsageOptions{Uses: allUses})
	var target matcher.Target
	target.Set([]byte(path), p)
	values := make([]usage.Value, len(chains)*len(allUses))
	if u != nil {
		u.Decide(&target, values)
	}
	said := make([]string, len(chains))
	for i, trie := range matcher.Compile(f, chains) {
		is, _ := matcher.IsRobotsTxt([]byte(path), p)
		if !is && !trie.Allowed(&target) {
			said[i] = "-"
			continue
		}
		said[i] = listValues(func(n int) string {
			if v := values[i*len(allUses)+n]; v != usage.Unknown {
				return v.String()
			}
			return ""
		})
	}
	return said
}

// statedByReference returns what the reference says, in the same form.
func statedByReference(body, path string, chain matcher.Chain, p reference.Profile) string {
	keys := func(d usage.Directive) (keys []string) {
		for _, u := range allUses {
			if u.Directive == d {
				keys = append(keys, u.Key)
			}
		}
		return keys
	}
	maps := map[usage.Directive]map[string]string{
		usage.ContentUsage:  reference.Preferences([]byte(body), reference.ContentUsage, keys(usage.ContentUsage), chain, path, p),
		usage.ContentSignal: reference.Preferences([]byte(body), reference.ContentSignal, keys(usage.ContentSignal), chain, path, p),
	}
	if maps[usage.ContentUsage] == nil {
		return "-"
	}
	return listValues(func(n int) string { return maps[allUses[n].Directive][allUses[n].Key] })
}

func listValues(value func(n int) string) string {
	var said []string
	for n, use := range allUses {
		if v := value(n); v != "" {
			said = append(said, use.String()+" "+v)
		}
	}
	return strings.Join(said, ", ")
}

// usageCase is a body with what it says: "PATH → USES", with "AGENT PATH" for another agent
// than FooBot.
type usageCase struct {
	name, body string
	want       []string
}

// The first cases have the sentences of draft-ietf-aipref-attach-05, the others what it
// leaves open and what the other directives say.
var usageCases = []usageCase{
	{"example of the draft", "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: train-ai=y\n", []string{
		"/test → train-ai disallowed", "/never/test → -", "/ai-ok/test → train-ai allowed", "ExampleBot /never/test → train-ai allowed",
	}},
	{"patterns are normalised", "User-agent: *\nContent-Usage: /%7Ea/ train-ai=n\nContent-Usage: /b\u00fc search=y", []string{
		"/~a/1 → train-ai disallowed", "/%7ea/ → train-ai disallowed", "/b%C3%BC → search allowed",
	}},
	{"patterns have wildcards and ends", "User-agent: *\nContent-Usage: /*.pdf$ train-ai=n\nContent-Usage: search=y", []string{
		"/files/a.pdf → train-ai disallowed", "/files/a.pdf?x=1 → search allowed",
	}},
	{"the longest in bytes wins", "User-agent: *\nContent-Usage: /\u00fc* train-ai=n\nContent-Usage: /*bcdef train-ai=y", []string{
		// /%C3%BC* has eight bytes, though it has fewer characters than /*bcdef.
		"/\u00fcbcdef → train-ai disallowed",
	}},
	{"order means nothing", "User-agent: *\nContent-Usage: /a/ train-ai=y\nContent-Usage: train-ai=n", []string{"/a/ → train-ai allowed", "/ → train-ai disallowed"}},
	{"the longest selects one rule", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /docs/ search=y", []string{"/docs/1 → search allowed", "/ → train-ai disallowed"}},
	{"statements of identical paths combine", "User-agent: *\nContent-Usage: train-ai=n, search=y\nContent-Usage: train-ai=y, ai-use=y\nContent-Usage: /a search=n\nContent-Usage: /%61 search=y", []string{
		"/ → train-ai disallowed, ai-use allowed, search allowed", "/a → search disallowed",
	}},
	{"a path that may not be fetched has no preferences", "User-agent: *\nDisallow: /a\nContent-Usage: /a train-ai=y", []string{"/a → -", "/ → "}},
	{"groups are chosen as for access", "User-agent: foobot/2\nContent-Usage: train-ai=n\nUser-agent: *\nContent-Usage: train-ai=y", []string{"/ → train-ai disallowed", "Other / → train-ai allowed"}},
	{"groups of one agent merge", "User-agent: FooBot\nContent-Usage: train-ai=n\nUser-agent: Other\nAllow: /\nUser-agent: foobot\nContent-Usage: search=y", []string{"/ → train-ai disallowed, search allowed"}},
	{"a group of its own hides that of everyone", "User-agent: *\nContent-Usage: train-ai=n\nUser-agent: FooBot\nAllow: /", []string{"/ → ", "Other / → train-ai disallowed"}},
	{"a line before any group is nobody's, and no silence", "Content-Usage: train-ai=n\nUser-agent: *\nDisallow: /x", []string{"/ → train-ai unreadable", "/x → -"}},
	{"a line without groups is nobody's, and no silence", "Content-Usage: train-ai=n\nContent-Signal: search=no", []string{"/ → train-ai unreadable, signal:search unreadable"}},
	{"any other key may be asked for", "User-agent: *\nContent-Usage: robots=n, x=y", []string{"/ → x allowed"}},
	{"what does not parse as a whole cannot be read", "User-agent: *\nContent-Usage: search=y, Train-AI=n", []string{"/ → train-ai unreadable, ai-use unreadable, search unreadable, x unreadable"}},
	{"a line between agents ends their list for usage alone", "User-agent: FooBot\nContent-Usage: train-ai=n\nUser-agent: Other\nDisallow: /x\nContent-Usage: search=y", []string{
		"/ → train-ai disallowed", "/x → -", "Other / → search allowed", "Other /x → -",
	}},
	{"a shorter rule does not fill", "User-agent: *\nContent-Usage: train-ai=n, search=n\nContent-Usage: /a train-ai=y", []string{"/a → train-ai allowed"}},
	{"a longest rule that does not parse selects", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a TRAIN-AI=y", []string{"/a → train-ai unreadable, ai-use unreadable, search unreadable, x unreadable", "/ → train-ai disallowed"}},
	{"a longest rule without a statement selects", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a", []string{"/a → ", "/ → train-ai disallowed"}},
	{"no path is shorter than a slash", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: / search=n", []string{"/ → search disallowed", "/a → search disallowed"}},
	{"paths of one length apply together", "User-agent: *\nContent-Usage: /a* train-ai=y, search=n\nContent-Usage: /*b train-ai=n, search=y", []string{
		"/ab → train-ai disallowed, search disallowed", "/ac → train-ai allowed, search disallowed", "/cb → train-ai disallowed, search allowed",
	}},
	{"robots.txt itself may be fetched", "User-agent: *\nDisallow: /\nContent-Usage: train-ai=n", []string{"/robots.txt → train-ai disallowed", "/ → -"}},

	{"signals", "User-Agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /", []string{"/ → signal:ai-train disallowed, signal:search allowed"}},
	{"signals by path", "User-Agent: *\nContent-Signal: /about ai-train=yes, search=yes, ai-input=yes\nAllow: /about\n\nUser-Agent: *\nContent-Signal: /blog/ ai-train=no, search=yes, ai-input=no\nAllow: /blog/\n\nUser-Agent: *\nDisallow: /dashboard/\n", []string{
		"/about/team → signal:ai-train allowed, signal:ai-input allowed, signal:search allowed", "/other → ", "/dashboard/ → -",
		"/blog/1 → signal:ai-train disallowed, signal:ai-input disallowed, signal:search allowed",
	}},
	{"signals with a grade", "User-agent: *\nContent-signal: search=yes,ai-train=no,use=reference\nAllow: /\n\nUser-agent: CCBot\nDisallow: /\n", []string{
		"/ → signal:ai-train disallowed, signal:search allowed, signal:use reference", "CCBot / → -",
	}},
	{"signals of ties are the most restrictive", "User-agent: *\nContent-Signal: ai-train=yes, use=full\nContent-Signal: ai-train=no, use=immediate", []string{"/ → signal:ai-train disallowed, signal:use immediate"}},
	{"signals before any group are nobody's, and no silence", "Content-Signal: ai-train=no\nUser-agent: *\nAllow: /", []string{"/ → signal:ai-train unreadable"}},
	{"signals between agents do not end their list", "User-agent: FooBot\nContent-Signal: ai-train=no\nUser-agent: Other\nDisallow: /x", []string{"/ → signal:ai-train disallowed", "Other / → signal:ai-train disallowed"}},
	{"signals and usage are not merged", "User-agent: *\nContent-Signal: search=no\nContent-Usage: search=y", []string{"/ → search allowed, signal:search disallowed"}},
}

// wildCases are forms in which sites try to say something, which the drafts do not define.
var wildCases = []usageCase{
	{"another value", "User-agent: *\nContent-Usage: train-ai=no", []string{"/ → train-ai unreadable"}},
	{"a truth value", "User-agent: *\nContent-Usage: train-ai=false, search=true", []string{"/ → train-ai unreadable, search unreadable"}},
	{"a boolean", "User-agent: *\nContent-Usage: train-ai=?0, ai-use=?1", []string{"/ → train-ai unreadable, ai-use unreadable"}},
	{"no value", "User-agent: *\nContent-Usage: train-ai, search=y", []string{"/ → train-ai unreadable, search allowed"}},
	{"a string", "User-agent: *\nContent-Usage: train-ai=\"n\"", []string{"/ → train-ai unreadable"}},
	{"upper case", "User-agent: *\nContent-Usage: train-ai=N, ai-use=y", []string{"/ → train-ai unreadable, ai-use allowed"}},
	{"the key of the other directive", "User-agent: *\nContent-Usage: ai-train=n\nContent-Signal: train-ai=no", []string{"/ → "}},
	{"a colon", "User-agent: *\nContent-Usage: train-ai: n", []string{"/ → train-ai unreadable, ai-use unreadable, search unreadable, x unreadable"}},
	{"a blank", "User-agent: *\nContent-Usage: train-ai = n", []string{"/ → train-ai unreadable, ai-use unreadable, search unreadable, x unreadable"}},
	{"a comma at the end", "User-agent: *\nContent-Usage: train-ai=n,", []string{"/ → train-ai unreadable, ai-use unreadable, search unreadable, x unreadable"}},
	{"a semicolon is read as a parameter", "User-agent: *\nContent-Usage: search=y; train-ai=n", []string{"/ → search allowed"}},
	{"keys of older drafts", "User-agent: *\nContent-Usage: ai=n\nContent-Usage: train-genai=n", []string{"/ → train-ai unreadable, ai-use unreadable"}},
	{"train-genai alone", "User-agent: *\nContent-Usage: train-genai=n, search=y", []string{"/ → train-ai unreadable, search allowed"}},
	{"tdm", "User-agent: *\nContent-Usage: tdm=n", []string{"/ → train-ai unreadable, ai-use unreadable"}},
	{"bots, beside a line that can be read", "User-agent: *\nContent-Usage: bots=n\nContent-Usage: train-ai=y", []string{"/ → train-ai allowed, ai-use unreadable"}},
	{"keys of older drafts that allow", "User-agent: *\nContent-Usage: ai=y, tdm=y, bots=y, train-genai=y", []string{"/ → "}},
	{"what can be read wins", "User-agent: *\nContent-Usage: train-ai=no\nContent-Usage: train-ai=n\nContent-Usage: ,", []string{"/ → train-ai disallowed, ai-use unreadable, search unreadable, x unreadable"}},
	{"a longer path hides it", "User-agent: *\nContent-Usage: train-ai=no\nContent-Usage: /a search=y", []string{"/a → search allowed", "/b → train-ai unreadable"}},
	{"another group hides it", "User-agent: *\nContent-Usage: train-ai=no\nUser-agent: FooBot\nAllow: /", []string{"/ → ", "Other / → train-ai unreadable"}},
	{"a line before the groups, and one of the group", "Content-Usage: train-ai=y, search=y\nUser-agent: *\nContent-Usage: train-ai=n", []string{"/ → train-ai disallowed, search unreadable"}},
	{"a line before the groups has a path", "Content-Usage: /a train-ai=n\nUser-agent: *\nAllow: /", []string{"/a → train-ai unreadable", "/b → "}},
	{"a line before the groups is for agents with groups, too", "Content-Usage: train-ai=n\nUser-agent: *\nAllow: /\nUser-agent: FooBot\nDisallow: /x", []string{"/ → train-ai unreadable", "/x → -", "Other /x → train-ai unreadable"}},
	{"a line before the groups of an older draft", "Content-Usage: ai=n\nUser-agent: *\nAllow: /", []string{"/ → train-ai unreadable, ai-use unreadable"}},

	{"a signal that is false", "User-agent: *\nContent-Signal: ai-train=false, search=true", []string{"/ → signal:ai-train unreadable, signal:search unreadable"}},
	{"a signal in the words of the other directive", "User-agent: *\nContent-Signal: ai-train=n, search=y", []string{"/ → signal:ai-train unreadable, signal:search unreadable"}},
	{"a signal in quotation marks", "User-agent: *\nContent-Signal: ai-train=\"no\"", []string{"/ → signal:ai-train unreadable"}},
	{"a signal without a value", "User-agent: *\nContent-Signal: ai-train, search=yes", []string{"/ → signal:ai-train unreadable, signal:search allowed"}},
	{"signals in any case", "User-agent: *\nContent-Signal: AI-TRAIN=No, Search=YES", []string{"/ → signal:ai-train disallowed, signal:search allowed"}},
	{"a grade that is none", "User-agent: *\nContent-Signal: use=none", []string{"/ → signal:use unreadable"}},
	{"signals by semicolons", "User-agent: *\nContent-Signal: search=yes; ai-train=no", []string{"/ → signal:ai-train unreadable, signal:ai-input unreadable, signal:search unreadable, signal:use unreadable"}},
	{"signals by blanks", "User-agent: *\nContent-Signal: search=yes ai-train=no", []string{"/ → signal:ai-train unreadable, signal:ai-input unreadable, signal:search unreadable, signal:use unreadable"}},
	{"a signal with a colon", "User-agent: *\nContent-Signal: ai-train: no, search=yes", []string{"/ → signal:ai-train unreadable, signal:ai-input unreadable, signal:search allowed, signal:use unreadable"}},
	{"signals of no vocabulary", "User-agent: *\nContent-Signal: ai-training=no, crawl=yes", []string{"/ → "}},
	{"a signal that can be read wins", "User-agent: *\nContent-Signal: ai-train=false\nContent-Signal: ai-train=no", []string{"/ → signal:ai-train disallowed"}},
	{"signals before the groups, and in one", "Content-Signal: search=yes, ai-train=no\nUser-agent: *\nContent-Signal: search=yes", []string{"/ → signal:ai-train unreadable, signal:search allowed"}},
}

func TestUsage(t *testing.T) {
	for _, c := range slices.Concat(usageCases, wildCases) {
		t.Run(c.name, func(t *testing.T) {
			for _, w := range c.want {
				where, want, _ := strings.Cut(w, " → ")
				agent, path := "FooBot", where
				if a, p, ok := strings.Cut(where, " "); ok {
					agent, path = a, p
				}
				for i, profile := range profiles {
					chain := matcher.Chain{agent}
					got := statedByEngine(c.body, path, []matcher.Chain{{"Unnamed"}, chain}, profile.engine)[1]
					must.Be(t, got == want || i != 0 && hasEscapes(c.name), "engine, %s: %s: got %q", profile.name, w, got)
					got = statedByReference(c.body, path, chain, profile.reference)
					must.Be(t, got == want || i != 0 && hasEscapes(c.name), "reference, %s: %s: got %q", profile.name, w, got)
				}
			}
		})
	}
}

// hasEscapes reports whether a case depends on what rfc9309 alone does to paths.
func hasEscapes(name string) bool {
	return slices.Contains([]string{"patterns are normalised", "statements of identical paths combine", "the longest in bytes wins", "robots.txt itself may be fetched"}, name)
}

// compareUsage compares engine and reference for two agents, one with a group of its own
// perhaps.
func compareUsage(t *testing.T, body, path string) {
	t.Helper()
	chains := []matcher.Chain{{"a"}, {"b", "a"}, {"*"}}
	for _, profile := range profiles {
		got := statedByEngine(body, path, chains, profile.engine)
		for i, chain := range chains {
			want := statedByReference(body, path, chain, profile.reference)
			must.Need(t, got[i] == want, "%s: %q for %v of\n%s\nengine: %q\nreference: %q", profile.name, path, chain, body, got[i], want)
		}
	}
}

// TestEverySmallUsage compares engine and reference for all pairs of paths and all paths
// that a small alphabet makes, and for all bodies of a few lines.
func TestEverySmallUsage(t *testing.T) {
	patterns := sequences([]string{"/", "a", "*", "$"}, 3)
	paths := sequences([]string{"/", "a", "b"}, 3)
	stride := must.Short(101, 3) // prime to the number of patterns
	number := 0
	for _, x := range patterns {
		for _, y := range patterns {
			if number++; number%stride != 0 {
				continue
			}
			body := "User-agent: *\nContent-Usage: /" + x + " train-ai=n, search=y\nContent-Usage: /" + y + " train-ai=y, ai-use=y\nContent-Usage: search=n"
			comparePaths(t, body, paths)
		}
	}
}

// comparePaths compares engine and reference for many paths, without denials. It also
// checks that what is said of a path holds for all with the same first depth bytes.
func comparePaths(t *testing.T, body string, paths []string) {
	t.Helper()
	f := robotstxt.Parse([]byte(body), robotstxt.Options{})
	u := matcher.CompileUsage(f, matcher.NewAgents([]matcher.Chain{{"*"}}), matcher.UsageOptions{Uses: allUses})
	groups, _ := reference.Statements([]byte(body), reference.ContentUsage, reference.RFC9309, 0)
	values := make([]usage.Value, len(allUses))
	byPrefix := make(map[string]string)
	depths := make(map[int]bool)
	for _, rest := range paths {
		path := "/" + rest
		var target matcher.Target
		target.Set([]byte(path), robotstxt.RFC9309)
		depth := u.Decide(&target, values)
		got := fmt.Sprint(values)
		want := make([]usage.Value, len(allUses))
		longest := 0
		oracle := reference.NewPath(path, reference.RFC9309)
		for pass := range 2 {
			for _, s := range groups[0].Statements {
				length := 0
				if s.Path != "" {
					if p := reference.NewPattern(s.Path, reference.RFC9309); p.Match(oracle) {
						length = p.Length()
					} else {
						length = -1
					}
				}
				if longest = max(longest, length); pass == 0 || length != longest {
					continue
				}
				for i, use := range allUses[:3] {
					switch stated := reference.Stated(reference.ContentUsage, s.Value, use.Key); {
					case stated == "disallowed":
						want[i] = usage.Disallowed
					case stated == "allowed" && want[i] == usage.Unknown:
						want[i] = usage.Allowed
					}
				}
			}
		}
		must.Need(t, got == fmt.Sprint(want), "%q of\n%s\nengine: %v\nreference: %v", path, body, got, want)
		if depth <= len(path) {
			byPrefix[path[:depth]] = got
			depths[depth] = true
		}
	}
	for _, rest := range paths {
		path := "/" + rest
		var target matcher.Target
		target.Set([]byte(path), robotstxt.RFC9309)
		u.Decide(&target, values)
		for depth := range depths {
			if depth > len(path) {
				continue
			}
			said, ok := byPrefix[path[:depth]]
			must.Need(t, !ok || said == fmt.Sprint(values), "%q of\n%s\nsays %v, and by its first %d bytes %v", path, body, values, depth, said)
		}
	}
}

// TestEverySmallStatementOfWilds compares engine and reference for lists of a few words, in a line
// before the groups or of a group, beside each other: every second of all lists, beside one that is
// as likely any other.
func TestEverySmallStatementOfWilds(t *testing.T) {
	words := []string{"train-ai", "ai", "ai-train", "use", "=n", "=no", "=full", "=?0", ", ", "; ", ": "}
	length, stride := 4, 2 // which is prime to the number of words
	if testing.Short() {
		length, stride = 3, 13 // likewise
	}
	lists := sequences(words, length)
	for i := 0; i < len(lists); i += stride {
		list, other := lists[i], lists[(i*7919+1)%len(lists)]
		compareUsage(t, fmt.Sprintf("Content-Usage: %s\nContent-Signal: %[2]s\nUser-agent: a\nContent-Usage: %[2]s\nUser-agent: *\nContent-Usage: %[1]s\nContent-Signal: %[1]s", list, other), "/x")
	}
}

// The statements of all paths of one length that match count together, whatever their number.
func TestManyPathsOfOneLength(t *testing.T) {
	var body strings.Builder
	body.WriteString("User-agent: *\n")
	for i := range 100 {
		fmt.Fprintf(&body, "Content-Usage: /*%02d train-ai=y, search=n\nContent-Usage: /%02d* train-ai=n, search=y\n", i, i)
	}
	for _, path := range []string{"/00/99", "/99/00", "/42", "/7/00", "/x"} {
		compareUsage(t, body.String(), path)
	}
}

// TestRandomUsage compares engine and reference for bodies of random lines.
func TestRandomUsage(t *testing.T) {
	lines := []string{
		"User-agent: a", "User-agent: b", "User-agent: *", "Disallow: /x", "Allow: /", "Disallow: /*b$", "License: /l", "# comment", "Crawl-delay: 1",
		"Content-Usage: train-ai=n", "Content-Usage: train-ai=y, search=n", "Content-usage: /a train-ai=y", "Content-Usage: /a* search=y", "Content-Usage: /*b search=n, x=y",
		"Content-Usage: /a%62 ai-use=n", "Content-Usage: /ab$\tai-use=y", "Content-Usage: /x AI=n", "Content-Usage: / x=n", "Content-Usage: a=", "Content-Usage:",
		"Content-Signal: search=yes, ai-train=no", "Content-signal: /a ai-train=yes,use=full", "Content-Signal: /*b use=immediate, ai-train=no", "Content-Signal: nothing",
		"Content-Usage: /?q=* train-ai=n", "Content-Usage: /*?q=%2F train-ai=y",
		"Content-Usage: train-ai=no, ai-use=?0", "Content-Usage: /a ai=n, train-genai=y", "Content-Usage: bots=n", "Content-Usage: /a* tdm=n;x", "Content-Usage: train-ai=n,",
		"Content-Signal: ai-train=false, search", "Content-Signal: search=yes; ai-train=no", "Content-Signal: /a ai-train: no", "Content-Signal: use=none, AI-Input=NO",
	}
	paths := []string{"/", "/a", "/ab", "/a%62", "/x", "/xb", "/?q=%2F", "/?q=/", "/robots.txt", "/c"}
	random := rand.New(rand.NewPCG(1, 2))
	rounds := must.Short(300, 5000)
	for range rounds {
		var body strings.Builder
		for range 1 + random.IntN(12) {
			body.WriteString(lines[random.IntN(len(lines))] + "\n")
		}
		compareUsage(t, body.String(), paths[random.IntN(len(paths))])
	}
}

func FuzzUsage(f *testing.F) {
	for _, c := range slices.Concat(usageCases, wildCases) {
		f.Add(c.body, "/a/b?c")
	}
	f.Fuzz(func(t *testing.T, body, path string) {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\x00#") || strings.Contains(body, ":=") || strings.Contains(body, "=:") {
			return // byte sequences: the library wants their padding
		}
		if strings.ContainsAny(path, " \t\r\n\v\f") || len(body) > 4096 {
			return
		}
		compareUsage(t, body, path)
	})
}

func TestLicenses(t *testing.T) {
	for _, tt := range []struct{ name, body, agent, want string }{
		{"in a group, for that group", "User-agent: A\nAllow: /\nLicense: https://example.com/a.xml\n\nUser-agent: *\nAllow: /\nLicense: https://example.com/all.xml\n", "A", "[https://example.com/a.xml]"},
		{"in the group of everyone", "User-agent: A\nAllow: /\nLicense: https://example.com/a.xml\n\nUser-agent: *\nAllow: /\nLicense: https://example.com/all.xml\n", "B", "[https://example.com/all.xml]"},
		{"before groups, for all", "License: https://example.com/license.xml\n\nUser-agent: A\nAllow: /\n", "A", "[https://example.com/license.xml]"},
		{"before groups, for agents without a group", "License: https://example.com/license.xml\n\nUser-agent: A\nAllow: /\n", "B", "[https://example.com/license.xml]"},
		{"without groups", "License: https://example.com/license.xml", "B", "[https://example.com/license.xml]"},
		{"in a group, which hides the former", "License: https://example.com/0\nUser-agent: A\nLicense: https://example.com/1\nLicense: https://example.com/2", "A", "[https://example.com/1 https://example.com/2]"},
		{"relative ones are none", "License: /license.xml\nUser-agent: *\nAllow: /\n", "A", "[]"},
		{"relative ones hide nothing", "License: https://example.com/0\nUser-agent: *\nLicense: /1", "A", "[https://example.com/0]"},
	} {
		f := robotstxt.Parse([]byte(tt.body), robotstxt.Options{})
		u := matcher.CompileUsage(f, matcher.NewAgents([]matcher.Chain{{tt.agent}}), matcher.UsageOptions{Licenses: true})
		must.Equal(t, fmt.Sprint(u.Licenses(0)), tt.want, tt.name, "engine")
		must.Equal(t, fmt.Sprint(reference.Licenses([]byte(tt.body), []string{tt.agent}, reference.RFC9309)), tt.want, tt.name, "reference")
	}
}

func TestUsageLine(t *testing.T) {
	const body = "User-agent: *\nContent-Usage: train-ai=y, search=y\nContent-Usage: train-ai=n # no\nContent-Usage: train-ai=n\nContent-Usage: /a* search=y\nContent-Usage: /*b search=n\n"
	for _, tt := range []struct{ path, use, want string }{
		{"/", "train-ai", "disallowed 3 Content-Usage: train-ai=n"},
		{"/", "search", "allowed 2 Content-Usage: train-ai=y, search=y"},
		{"/", "ai-use", "unknown 2 Content-Usage: train-ai=y, search=y"},
		{"/ab", "search", "disallowed 6 Content-Usage: /*b search=n"},
		{"/ab", "train-ai", "unknown 5 Content-Usage: /a* search=y"},
		{"/", "signal:search", "unknown 0 "},
	} {
		use := must.Get(usage.ParseUse(tt.use))(t)
		f := robotstxt.Parse([]byte(body), robotstxt.Options{})
		u := matcher.CompileUsage(f, matcher.NewAgents([]matcher.Chain{{"x"}, {"y"}}), matcher.UsageOptions{Uses: []usage.Use{{Key: "z"}, use}, Explain: true})
		got := matcher.UsageLine{}
		if u != nil {
			var target matcher.Target
			target.Set([]byte(tt.path), robotstxt.RFC9309)
			got = u.Explain(&target, 1, 1)
		}
		must.Equal(t, fmt.Sprintf("%v %d %s", got.Value, got.Line, got.Text), tt.want, tt.use, tt.path)
	}
}

func TestUsageDecidesWithoutAllocation(t *testing.T) {
	f := robotstxt.Parse([]byte("User-agent: *\nContent-Usage: /a* train-ai=n\nContent-Usage: /*b train-ai=y\nContent-Usage: search=y"), robotstxt.Options{})
	u := matcher.CompileUsage(f, matcher.NewAgents([]matcher.Chain{{"*"}}), matcher.UsageOptions{Uses: allUses})
	values := make([]usage.Value, len(allUses))
	var target matcher.Target
	path := []byte("/ab/c%7E")
	if n := testing.AllocsPerRun(100, func() {
		target.Set(path, robotstxt.RFC9309)
		u.Decide(&target, values)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// What is stated is what any of the paths has, and the lines with one path count together.
func TestStated(t *testing.T) {
	uses := []usage.Use{{Key: "train-ai"}, {Key: "search"}, usage.SignalUse}
	stated := func(body string) *matcher.Usage {
		f := robotstxt.Parse([]byte(body), robotstxt.Options{})
		return matcher.CompileUsage(f, matcher.NewAgents([]matcher.Chain{{"*"}, {"bot"}}), matcher.UsageOptions{Uses: uses})
	}
	for _, tt := range []struct{ body, want string }{
		{"User-agent: *\nContent-Usage: train-ai=n, search", "disallowed,unreadable, disallowed,unreadable,"},
		{"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a train-ai=y", "mixed,, mixed,,"},
		{"User-agent: *\nContent-Usage: /%61 train-ai=n\nContent-Usage: /a train-ai=y", "disallowed,, disallowed,,"},
		{"User-agent: bot\nContent-Usage: search=y\nContent-Signal: use=full", ",, ,allowed,full"},
		{"User-agent: *\nContent-Usage: train-ai=n\nUser-agent: bot\nAllow: /", "disallowed,, ,,"},
		{"Content-Usage: train-ai=n\nUser-agent: *\nAllow: /", "unreadable,, unreadable,,"},
	} {
		u := stated(tt.body)
		var said []string
		for agent := range 2 {
			said = append(said, fmt.Sprintf("%v,%v,%v", u.Stated(agent, 0), u.Stated(agent, 1), u.Stated(agent, 2)))
		}
		must.Equal(t, strings.Join(said, " "), tt.want, tt.body)
	}
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"", "User-agent: *\nContent-Usage: search=y", true},
		{"User-agent: *\nContent-Usage: train-ai=n", "User-agent: x\nUser-agent: *\nAllow: /\nContent-Usage: search=y, train-ai=n", true},
		{"User-agent: *\nContent-Usage: /a train-ai=n", "User-agent: *\nContent-Usage: /%61 train-ai=n", true},
		{"User-agent: *\nContent-Usage: /a train-ai=n", "User-agent: *\nContent-Usage: /b train-ai=n", false},
		{"User-agent: *\nContent-Usage: /a train-ai=n", "User-agent: *\nContent-Usage: /a$ train-ai=n", false},
		{"Content-Usage: /a train-ai=n\nUser-agent: *\nContent-Usage: /a search=y", "User-agent: *\nContent-Usage: /a search=y", false},
		// The longer path takes the place of the shorter one.
		{"User-agent: *\nContent-Usage: train-ai=n", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a search=y", false},
	} {
		must.Be(t, matcher.SameStated(stated(tt.a), stated(tt.b), 0, 0) == tt.same && matcher.SameStated(stated(tt.b), stated(tt.a), 0, 0) == tt.same,
			"%q and %q: want %v", tt.a, tt.b, tt.same)
	}
}

// Bodies with the same key of statements say the same of every path, with the same licences.
func TestSameKeySaysTheSame(t *testing.T) {
	lines := []string{
		"User-agent: a", "User-agent: *", "Disallow: /x", "License: https://l.example/1", "License: https://l.example/2", "# comment",
		"Content-Usage: train-ai=n", "Content-Usage: /a train-ai=y", "Content-Usage: /%61 train-ai=y", "Content-Usage: /* search=n", "Content-Usage: /%2A search=n", "Content-Usage: /*$ search=n",
		"Content-Signal: search=yes", "Content-Signal: use=full",
	}
	agents := matcher.NewAgents([]matcher.Chain{{"a"}, {"*"}})
	random := rand.New(rand.NewPCG(3, 4))
	bodies := must.Short(1000, 4000)
	o := matcher.UsageOptions{Uses: allUses, Licenses: true}
	said := make(map[matcher.StatementsKey]string)
	seen, again := 0, 0
	for range bodies {
		var body strings.Builder
		for range 2 + random.IntN(4) {
			body.WriteString(lines[random.IntN(len(lines))] + "\n")
		}
		f := robotstxt.Parse([]byte(body.String()), robotstxt.Options{})
		u := matcher.CompileUsage(f, agents, o)
		if u == nil {
			continue
		}
		var all strings.Builder
		values := make([]usage.Value, 2*len(allUses))
		byPath := make(map[string]bool)
		for _, path := range []string{"/", "/a", "/*", "/b", "/ax"} {
			var target matcher.Target
			target.Set([]byte(path), robotstxt.RFC9309)
			u.Decide(&target, values)
			fmt.Fprintln(&all, values, u.Licenses(0), u.Licenses(1))
			byPath[fmt.Sprint(values)] = true
		}
		if len(byPath) > 1 && !u.HasPaths() {
			t.Fatalf("%q says different things, and has no paths", body.String())
		}
		key := matcher.KeyOfStatements(f.AppendStatements(nil))
		if before, ok := said[key]; ok {
			again++
			must.Need(t, before == all.String(), "%q says\n%s\nwant\n%s", body.String(), all.String(), before)
		}
		said[key] = all.String()
		seen++
	}
	must.Be(t, again >= seen/20 && len(said) >= 50, "of %d bodies %d had the key of another, and there were %d keys", seen, again, len(said))
}

// The head of a body has the key of its statements, which is that of others who say the same
// in other lines, and a body without statements has no byte for it.
func TestStatementsKey(t *testing.T) {
	compiled := func(text string) (matcher.BodyInfo, int) {
		body, ok := matcher.CompileBody(robotstxt.Parse([]byte(text), robotstxt.Options{}))
		must.Need(t, ok, "%v", text)
		data := body.AppendRules(nil)
		bodies := must.Get(matcher.NewBodies(data, 1, robotstxt.RFC9309, matcher.NewAgents(nil), nil))(t)
		info := must.Get(bodies.Info(0))(t)
		return info, len(data)
	}
	said, length := compiled("User-agent: *\nContent-Usage: train-ai=n\nDisallow: /a")
	for text, same := range map[string]bool{
		"# one\n\nUser-agent: *\n# two\nContent-Usage: train-ai=n\n\nDisallow: /b": true,
		"User-agent: *\nContent-Usage: train-ai=n\nAllow: /":                       true,
		"User-agent: *\nDisallow: /a\nContent-Usage: train-ai=n":                   false, // it could be: the rule comes first
		"User-agent: *\nContent-Usage: train-ai=y\nDisallow: /a":                   false,
		"User-agent: b\nContent-Usage: train-ai=n\nDisallow: /a":                   false,
		"User-agent: *\nContent-Usage: /x train-ai=n\nDisallow: /a":                false,
	} {
		other, _ := compiled(text)
		must.Be(t, other.HasSaid && (other.Said == said.Said) == same, "%q: key %x of %x", text, other.Said, said.Said)
	}
	plain, shorter := compiled("User-agent: *\nDisallow: /a")
	must.Be(t, !plain.HasSaid && !plain.Statements && plain.Data[14] == 0 && shorter <= length,
		"without statements: %+v, %d bytes, with them %d", plain, shorter, length)
}
