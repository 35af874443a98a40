package rulepack

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// checkFirstPrint compares firstPrint and its portable twin with a loop over
// fingerprints, of which those behind the first n are none.
func checkFirstPrint(t *testing.T, prints []byte, n int, print uint16) {
	t.Helper()
	want := 0
	for want < n && binary.LittleEndian.Uint16(prints[2*want:]) != print {
		want++
	}
	for name, first := range map[string]func([]byte, uint16) int{"first": firstPrint, "portable": firstPrintPortable} {
		if got := first(prints[:2*n], print); got != want {
			t.Fatalf("%s: %04x in %x of %x: %d, not %d", name, print, prints[:2*n], prints, got, want)
		}
	}
}

// TestFirstPrint has every number of fingerprints up to some loads, the one that is
// looked for in every place and in none, behind them as well, and others that are
// like it in one octet.
func TestFirstPrint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		for at := range n + behindPrints/2 {
			print := uint16(rng.Uint32())
			prints := make([]byte, 2*n+behindPrints)
			for i := 0; i < len(prints); i += 2 {
				other := [...]uint16{print ^ 1, print ^ 0x8000, print + 0x100, print<<8 | print>>8, ^print}[rng.IntN(5)]
				binary.LittleEndian.PutUint16(prints[i:], other)
			}
			binary.LittleEndian.PutUint16(prints[2*at:], print)
			checkFirstPrint(t, prints, n, print)
		}
	}
}

func FuzzFirstPrint(f *testing.F) {
	f.Add(make([]byte, 100), uint16(0), uint8(3))
	f.Fuzz(func(t *testing.T, prints []byte, print uint16, n uint8) {
		if len(prints) < behindPrints {
			return
		}
		checkFirstPrint(t, prints, min(int(n), (len(prints)-behindPrints)/2), print)
	})
}

// Even a full page has enough octets behind its fingerprints.
func TestBehindPrints(t *testing.T) {
	if most := pageRoom / entrySize; pageRoom-2*most < behindPrints {
		t.Errorf("%d fingerprints have %d octets behind them", most, pageRoom-2*most)
	}
}
