package matcher

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// What is part of a string has no bit in its sketch that the string has not,
// wherever it lies: else a tail would be settled that matches.
func TestSketchesOfPartsAreSubsets(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const alphabet = "/.0a?/%A#\xFA"
	for range 200_000 {
		s := []byte(randomText(rng, rng.IntN(70), alphabet))
		if got, want := SketchOf(s), octetsOf(s)|headsOf(s); got != want {
			t.Fatalf("%q: %x, not %x as in plain Go", s, got, want)
		}
		low := rng.IntN(len(s) + 1)
		part := s[low : low+rng.IntN(len(s)-low+1)]
		if set := literalSketch(part) &^ SketchOf(s); set != 0 {
			t.Fatalf("%q in %q: %x more", part, s, set)
		}
	}
}

// A sketch says what it is documented to say, so that the subsets above are
// not those of empty sets.
func TestSketchOf(t *testing.T) {
	var want Sketch
	s := []byte("/aaaa/bcdefg/e/.xyz/%2F/")
	for i, c := range s {
		want |= octetBits[c]
		if c == '/' && i+headSize < len(s) {
			want |= headBit(le32(s[i+1:]))
		}
	}
	if got := SketchOf(s); got != want || got&workBit == 0 || got>>headShift&(1<<32-1) == 0 {
		t.Errorf("sketch %x, want %x", got, want)
	}
	if SketchOf([]byte("a#b"))&fragmentBit == 0 || SketchOf(bytes.Repeat([]byte("a"), 20))&(workBit|fragmentBit) != 0 {
		t.Error("the bits for fragments and work are wrong")
	}
}

// FuzzSketchAll compares the sketches of many texts at once with those in plain
// Go.
func FuzzSketchAll(f *testing.F) {
	f.Add([]byte("/some/path/of/words.html?with=a&query=%2F#and/\xFA/fragment"), []byte{56, 30, 56, 17, 16, 15, 0, 2, 33, 56})
	f.Add(bytes.Repeat([]byte("/ab"), 70), []byte{63, 64, 65, 66, 67, 125, 126, 127, 128, 129, 190, 210})
	f.Add(bytes.Repeat([]byte("/"), 60), []byte{60, 48, 47, 46, 33, 32, 31, 18, 17, 16, 15, 3, 2, 1})
	f.Fuzz(func(t *testing.T, s, cuts []byte) {
		texts := make([]bounds, 0, 2*len(cuts))
		for _, cut := range cuts {
			n := min(int(cut), len(s))
			texts = append(texts, bounds{0, n}, bounds{n, len(s)})
		}
		got, want := make([]Sketch, len(texts)), make([]Sketch, len(texts))
		sketchAllPortable(want, s, texts)
		for name, kernel := range sketchKernels() {
			kernel(got, s, texts)
			for i, text := range texts {
				if got[i] != want[i] {
					t.Fatalf("%s: %q: %x, not %x", name, s[text.low:text.high], got[i], want[i])
				}
			}
		}
	})
}
