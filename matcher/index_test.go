package matcher

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
)

// TestIndexFindsWhatTryingAllFinds compares a search of the index with trying every suffix.
// Other tests hold the latter opposite the reference.
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
	must.Be(t, found >= 25*rounds && indexed >= 5*rounds/2, "only %d paths had a rule, and %d groups an index: the test says little", found, indexed)
}

// TestNumberSet: reset empties the set, also when the epoch wraps around.
func TestNumberSet(t *testing.T) {
	s := numberSet{epoch: 1<<32 - 3}
	for range 5 {
		s.reset(3)
		must.Need(t, !s.has(0) && !s.has(1) && !s.has(2), "not empty after reset")
		s.add(1)
		must.Need(t, !s.has(0) && s.has(1) && !s.has(2), "not the number that was added")
	}
}

// FuzzFindLiteral compares findLiteral with bytes.Index, for all parts of a literal in all
// suffixes of a text.
func FuzzFindLiteral(f *testing.F) {
	f.Add([]byte("/owner/repository/pulls/12/commits/0123456789abcdef"), []byte("/pulse"))
	f.Add(bytes.Repeat([]byte("ab"), 40), []byte("aab"))
	f.Add(bytes.Repeat([]byte("a"), 100), []byte("aaaaaaaaaaaaaaaaba"))
	f.Fuzz(func(t *testing.T, s, literal []byte) {
		s, literal = s[:min(len(s), 200)], literal[:min(len(literal), 70)]
		for len(literal) > 0 {
			for low := range s {
				if got, want := findLiteral(s[low:], literal), bytes.Index(s[low:], literal); got != want {
					t.Fatalf("%q in %q: %d, not %d", literal, s[low:], got, want)
				}
			}
			literal = literal[1:]
		}
	})
}

// TestManyStars compares rules of many stars with a simple search for one literal after the
// other. The paths have the literals near, far away, or not at all.
func TestManyStars(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		pattern := "/*" + randomText(random, 1+random.IntN(20), "aab*") + "c" // the last byte is not a star
		path := "/" + randomText(random, random.IntN(60), "aaaab") + randomText(random, random.IntN(3), "cb")
		rest, want := []byte(path[1:]), true
		for literal := range strings.SplitSeq(pattern[2:], "*") {
			at := bytes.Index(rest, []byte(literal))
			if want = want && at >= 0; want {
				rest = rest[at+len(literal):]
			}
		}
		file := robotstxt.Parse([]byte("User-agent: *\nDisallow: "+pattern), robotstxt.Options{})
		var p Target
		p.Set([]byte(path), robotstxt.RFC9309)
		trie := Compile(file, []Chain{{Everyone}})[0]
		must.Need(t, trie.Match(&p).Allowed != want, "%s in %s: matches: %v", pattern, path, !want)
	}
}

// randomText returns n random bytes of an alphabet.
func randomText(random *rand.Rand, n int, alphabet string) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(text)
}
