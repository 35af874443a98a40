package matcher_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"robotsbatch/matcher"
	"robotsbatch/matcher/robotstxt"
)

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
	if len(tries) != 3 || !slices.Equal(of, want) {
		t.Errorf("compiled: %d tries, %v", len(tries), of)
	}
	whole := reopened(t, f)
	if tries, of = whole.For(agents); len(tries) != 4 || !slices.Equal(of[:100], want[:100]) {
		// A and B have equal rules but different user-agent values.
		t.Errorf("opened: %d tries, %v", len(tries), of)
	}
	if tries, of = matcher.ReopenBody(whole.AppendRules(nil), nil).For(agents); len(tries) != 3 || !slices.Equal(of, want) {
		t.Errorf("opened without notes: %d tries, %v", len(tries), of)
	}
	if tries, of = c.Compile(f, matcher.NewAgents(chains[:100])); len(tries) != 1 || of != nil {
		t.Errorf("without a group of their own: %d tries, %v", len(tries), of)
	}
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
				if x, y := want[i].Match(&target), got.Match(&target); x != y {
					t.Errorf("%s for %v: %v, opened %v", path, chains[i], x, y)
				}
			}
		}
	}
}
