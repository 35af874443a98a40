package matcher_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
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
	must.Be(t, len(tries) == 3 && slices.Equal(of, want), "compiled: %d tries, %v", len(tries), of)
	whole := reopened(t, f)
	if tries, of = whole.For(agents); len(tries) != 4 || !slices.Equal(of[:100], want[:100]) {
		// A and B have equal rules but different user-agent values.
		t.Errorf("opened: %d tries, %v", len(tries), of)
	}
	tries, of = inPlace(t, whole, agents)
	got := groupsOf(tries, of)
	must.Be(t, len(tries) == 3 && got == groupsOf(make([]matcher.Trie, 3), want), "in place: %d tries, %v", len(tries), of)
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
				if trie.Allowed(&target) == (i == j) {
					t.Errorf("%v of %s with %q", chains[i], path, more)
				}
			}
		}
	}
}
