package matcher

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/matcher/robotstxt"
)

// TestIndexFindsWhatTryingAllFinds compares a search of the index with trying every suffix.
// Other tests hold the latter against the reference.
func TestIndexFindsWhatTryingAllFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	word := func(alphabet string, most int) string { return randomText(rng, rng.IntN(most+1), alphabet) }
	found, indexed, rounds := 0, 0, 40
	if testing.Short() {
		rounds = 4
	}
	for _, alphabet := range []string{"/a*", "/ab*$?", "/abc%2F*?=", "aaaaaaaab/*"} {
		for _, profile := range []Profile{robotstxt.RFC9309, robotstxt.Google} {
			for range rounds {
				var body strings.Builder
				body.WriteString("User-agent: *\n")
				for range 20 + rng.IntN(300) {
					kind := [...]string{"Allow", "Disallow"}[rng.IntN(2)]
					fmt.Fprintf(&body, "%s: /%s*%s\n", kind, word(alphabet, 3), word(alphabet, 25))
				}
				file := robotstxt.Parse([]byte(body.String()), robotstxt.Options{Profile: profile})
				trie := Compile(file, []Chain{{Everyone}})[0]
				plain := trie
				plain.rules.index = uint32(len(plain.rules.data)) // no index
				if trie.rules.hasIndex() {
					indexed++
				}
				for range 200 {
					path := "/" + word(strings.ReplaceAll(alphabet, "*", "a"), 60)
					var p Target
					p.Set([]byte(path), profile)
					got, want := trie.Match(&p), plain.Match(&p)
					if got != want {
						t.Fatalf("%s\n%s: the index finds %+v, trying all %+v", body.String(), path, got, want)
					}
					allowed := trie.Allowed(&p)
					if allowed != want.Allowed {
						t.Fatalf("%s\n%s: Allowed %v, want %v", body.String(), path, allowed, want.Allowed)
					}
					if want.Reason.HasRule() {
						found++
					}
				}
			}
		}
	}
	if found < 25*rounds || indexed < 5*rounds/2 {
		t.Errorf("only %d paths had a rule, and %d groups an index: the test says little", found, indexed)
	}
}

// TestMarks: clear unmarks all numbers, also when the epoch wraps around.
func TestMarks(t *testing.T) {
	m := marks{epoch: 1<<32 - 3}
	for range 5 {
		m.clear(3)
		if m.marked(0) || m.marked(1) || m.marked(2) {
			t.Fatal("marked after clear")
		}
		m.mark(1)
		if m.marked(0) || !m.marked(1) || m.marked(2) {
			t.Fatal("not marked as told")
		}
	}
}
