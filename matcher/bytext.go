package matcher

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// textStart is an entry for sortByText, by its index in Compiler.entries. Most texts differ in their first
// eight bytes, which are compared where they lie.
type textStart struct {
	first uint64 // eight bytes, the first one highest
	entry int
}

// sortByText sets c.sorting to c.entries, sorted by text, then unanchored before anchored, then by
// rank, the highest first.
func (c *Compiler) sortByText() {
	c.sorting = c.sorting[:0]
	for i := range c.entries {
		c.sorting = append(c.sorting, textStart{bits.ReverseBytes64(firstWord(c.entries[i].text)), i})
	}
	slices.SortFunc(c.sorting, func(x, y textStart) int {
		if x.first != y.first {
			return cmp.Compare(x.first, y.first)
		}
		a, b := &c.entries[x.entry], &c.entries[y.entry]
		return cmp.Or(bytes.Compare(a.text, b.text), compareBool(a.anchored, b.anchored), cmp.Compare(b.rule, a.rule))
	})
}

// compareBool orders false before true.
func compareBool(a, b bool) int { return cmp.Compare(boolByte(a), boolByte(b)) }
