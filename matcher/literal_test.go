package matcher

import (
	"bytes"
	"testing"
)

// FuzzIndexLiteral compares indexLiteral with bytes.Index, and indexPair with its
// twin in plain Go, for all parts of a literal in all ends of a text.
func FuzzIndexLiteral(f *testing.F) {
	f.Add([]byte("/owner/repository/pulls/12/commits/0123456789abcdef"), []byte("/pulse"))
	f.Add(bytes.Repeat([]byte("ab"), 40), []byte("aab"))
	f.Add(bytes.Repeat([]byte("a"), 100), []byte("aaaaaaaaaaaaaaaaba"))
	f.Fuzz(func(t *testing.T, s, literal []byte) {
		s, literal = s[:min(len(s), 200)], literal[:min(len(literal), 70)]
		for len(literal) > 0 {
			for low := range s {
				if got, want := indexLiteral(s[low:], literal), bytes.Index(s[low:], literal); got != want {
					t.Fatalf("%q in %q: %d, not %d", literal, s[low:], got, want)
				}
				gap := len(literal) - 1
				if gap == 0 || len(s)-low-gap < minPairs {
					continue
				}
				first, last := literal[0], literal[gap]
				if got, want := indexPair(s[low:], gap, first, last), indexPairPortable(s[low:], gap, first, last); got != want {
					t.Fatalf("%q and %d behind %q in %q: %d, not %d", first, gap, last, s[low:], got, want)
				}
			}
			literal = literal[1:]
		}
	})
}
