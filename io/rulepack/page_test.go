package rulepack

import (
	"math/rand/v2"
	"testing"
)

// TestPageNext compares what next finds with what a loop over all does, for
// fingerprints that are alike, differ in one bit or by one, wherever they lie.
func TestPageNext(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := []uint64{0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF}
	for range 20_000 {
		var entries pageEntries
		hashes := make([]uint64, rng.IntN(14))
		for i := range hashes {
			hashes[i] = values[rng.IntN(len(values))] | rng.Uint64()<<16
			entries.add(hashes[i], origin{body: noBody}, []byte{'a' + byte(i)})
		}
		p := page(entries.appendPage(nil, pageHeader{}))
		hash := values[rng.IntN(len(values))] | rng.Uint64()<<16
		for from := range len(hashes) + 1 {
			want := from
			for want < len(hashes) && uint16(hashes[want]) != uint16(hash) {
				want++
			}
			if got := p.next(hash, from); got != want {
				t.Fatalf("%x in %x from %d: %d, not %d", hash, hashes, from, got, want)
			}
		}
	}
}
