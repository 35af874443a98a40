package kernels

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// testTable is a table like the matcher's.
var testTable = NewSignatureTable(func(c byte) bool {
	return c <= ' ' || c >= 0x7F || bytes.IndexByte([]byte("%\"<>[\\]^`{|}"), c) >= 0
})

// TestSignaturesOfPartsAreSubsets: a part of a text has no bit that the text lacks,
// wherever the part lies. Otherwise a suffix that matches would be rejected.
func TestSignaturesOfPartsAreSubsets(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		s := make([]byte, random.IntN(70))
		for i := range s {
			s[i] = "/.0a?/%A#\xFA"[random.IntN(10)]
		}
		if got, want := testTable.Of(s), testTable.bytesOf(s)|gramsOf(s); got != want {
			t.Fatalf("%q: %x, not %x as in plain Go", s, got, want)
		}
		low := random.IntN(len(s) + 1)
		part := s[low : low+random.IntN(len(s)-low+1)]
		if set := testTable.Of(part) &^ testTable.Of(s); set != 0 {
			t.Fatalf("%q in %q: %x more", part, s, set)
		}
	}
}

// TestSignature checks that texts have the documented bits, so that the subsets above are
// not empty sets.
func TestSignature(t *testing.T) {
	var want Signature
	s := []byte("/aaaa/bcdefg/e/.xyz/%2F/")
	for i, c := range s {
		want |= testTable.bits[c]
		if c == '/' && i+gramSize < len(s) {
			want |= gramBit(binary.LittleEndian.Uint32(s[i+1:]))
		}
	}
	if got := testTable.Of(s); got != want || got&WorkBit == 0 || got>>gramShift&(1<<32-1) == 0 {
		t.Errorf("signature %x, want %x", got, want)
	}
	if testTable.Of([]byte("a#b"))&FragmentBit == 0 || testTable.Of(bytes.Repeat([]byte("a"), 20))&HardBits != 0 {
		t.Error("the bits for fragments and work are wrong")
	}
}

// FuzzSign compares Sign of many texts with its plain Go twin.
func FuzzSign(f *testing.F) {
	f.Add([]byte("/some/path/of/words.html?with=a&query=%2F#and/\xFA/fragment"), []byte{56, 30, 56, 17, 16, 15, 0, 2, 33, 56})
	f.Add(bytes.Repeat([]byte("/ab"), 70), []byte{63, 64, 65, 66, 67, 125, 126, 127, 128, 129, 190, 210})
	f.Add(bytes.Repeat([]byte("/"), 60), []byte{60, 48, 47, 46, 33, 32, 31, 18, 17, 16, 15, 3, 2, 1})
	f.Fuzz(func(t *testing.T, s, cuts []byte) {
		texts := make([]Bounds, 0, 2*len(cuts))
		for _, cut := range cuts {
			n := min(int(cut), len(s))
			texts = append(texts, Bounds{0, n}, Bounds{n, len(s)})
		}
		got, want := make([]Signature, len(texts)), make([]Signature, len(texts))
		testTable.signPortable(want, s, texts)
		for impl, sign := range signKernels(testTable) {
			sign(got, s, texts)
			for i, text := range texts {
				if got[i] != want[i] {
					t.Fatalf("%s: %q: %x, not %x", impl, s[text.Low:text.High], got[i], want[i])
				}
			}
		}
	})
}
