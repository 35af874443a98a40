package matcher

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"robotsbatch/matcher/robotstxt"
)

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
		if trie := Compile(file, []Chain{{Everyone}})[0]; trie.Match(&p).Allowed == want {
			t.Fatalf("%s in %s: matches: %v", pattern, path, !want)
		}
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
