package matcher

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// sortByText sets c.keys to the indices of c.entries, sorted by text, then unanchored before
// anchored, then by rank, the highest first. Most texts differ in their first eight bytes.
func (c *Compiler) sortByText() {
	c.keys = c.keys[:0]
	for i := range c.entries {
		e := &c.entries[i]
		e.start = bits.ReverseBytes64(firstWord(e.text))
		c.keys = append(c.keys, uint64(i))
	}
	slices.SortFunc(c.keys, func(x, y uint64) int {
		a, b := &c.entries[x], &c.entries[y]
		if a.start != b.start {
			return cmp.Compare(a.start, b.start)
		}
		return cmp.Or(bytes.Compare(a.text, b.text), compareBool(a.anchored, b.anchored), cmp.Compare(b.rule, a.rule))
	})
}

// compareBool orders false before true.
func compareBool(a, b bool) int { return cmp.Compare(boolByte(a), boolByte(b)) }
