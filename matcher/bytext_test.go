package matcher

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortByText compares the order of entries with that of their texts. Many share long
// prefixes or are equal.
func TestSortByText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c Compiler
	compare := func(x, y uint64) int {
		a, b := &c.entries[x], &c.entries[y]
		return cmp.Or(bytes.Compare(a.text, b.text), compareBool(a.anchored, b.anchored), cmp.Compare(b.rule, a.rule))
	}
	for range 2000 {
		c.entries = c.entries[:0]
		for range random.IntN(60) {
			text := []byte("/same/beginning"[:random.IntN(16)])
			for range random.IntN(8) {
				text = append(text, "\x00ab~"[random.IntN(4)])
			}
			e := entry{rule: random.Uint32N(100)}
			e.text, e.anchored = text, random.IntN(3) == 0
			c.entries = append(c.entries, e)
		}
		want := make([]uint64, len(c.entries))
		for i := range want {
			want[i] = uint64(i)
		}
		slices.SortStableFunc(want, compare)
		c.sortByText()
		for i := range c.keys {
			if compare(c.keys[i], want[i]) != 0 {
				t.Fatalf("position %d: %+v, want %+v", i, c.entries[c.keys[i]], c.entries[want[i]])
			}
		}
		if slices.Sort(c.keys); len(slices.Compact(c.keys)) != len(want) {
			t.Fatal("an entry occurs twice")
		}
	}
}
