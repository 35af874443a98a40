package matcher

import (
	"bytes"
	"testing"
)

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
