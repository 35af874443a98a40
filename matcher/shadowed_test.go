package matcher_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher"
	"robotsbatch/matcher/reference"
	"robotsbatch/matcher/robotstxt"
)

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
	shadowed, bodies := 0, 120
	if testing.Short() {
		bodies = 12
	}
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
