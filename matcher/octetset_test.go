package matcher

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What is part of a string has no bit in its sets that the string has not,
// wherever it lies: else a tail would be settled that matches.
func TestSetsOfPartsAreSubsets(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const alphabet = "/.0a?/%A#"
	for range 200_000 {
		s := make([]byte, rng.IntN(40))
		for i := range s {
			s[i] = alphabet[rng.IntN(len(alphabet))]
		}
		low := rng.IntN(len(s) + 1)
		part := s[low : low+rng.IntN(len(s)-low+1)]
		if set := literalSet(part) &^ setOf(s); set != 0 {
			t.Fatalf("octets of %q in %q: %x more", part, s, set)
		}
		if set := slashSet(part) &^ slashSet(s); set != 0 {
			t.Fatalf("slashes of %q in %q: %x more", part, s, set)
		}
	}
}

// The sets say what they are documented to say, so that the subsets above are
// not those of empty sets.
func TestSets(t *testing.T) {
	var octets octetSet
	var slashes uint64
	s := []byte("/aa/bcd/e/.xyz/%2F/")
	for i, c := range s {
		octets |= octetBits[c]
		if c == '/' && i+2 < len(s) {
			slashes |= pairBit(s[i+1], s[i+2])
		}
	}
	if setOf(s) != octets || octets&workBit == 0 {
		t.Errorf("octets %x, want %x", setOf(s), octets)
	}
	if slashSet(s) != slashes || slashes == 0 {
		t.Errorf("slashes %x, want %x", slashSet(s), slashes)
	}
	if setOf([]byte("a#b"))&fragmentBit == 0 || setOf(bytes.Repeat([]byte("a"), 20))&(workBit|fragmentBit) != 0 {
		t.Error("the bits for fragments and work are wrong")
	}
}
