package matcher

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Entries are sorted by numeric keys, in a fraction of the time that comparing texts takes.
// A key has four bytes of the text, the number of these (keyGoesOn if more bytes follow),
// and the index of the entry.
const (
	keyIndexBits = 29 // enough for the rules of a body of 4 GiB
	keySizeBits  = 3
	keyBytes     = 4
	keyGoesOn    = keyBytes + 1

	// fewEntries is the most entries with equal keys that are compared by their texts.
	fewEntries = 6
)

// keyRange is a range of keys. The texts of its entries agree in their first depth bytes.
type keyRange struct{ low, high, depth int }

// sortByText sets c.keys to keys of c.entries (see indexIn), sorted by text, then unanchored
// before anchored, then by rank, the highest first.
func (c *Compiler) sortByText() {
	keys := c.keys[:0]
	for i := range c.entries {
		keys = append(keys, uint64(i))
	}
	work := append(c.runs[:0], keyRange{low: 0, high: len(keys)})
	for len(work) > 0 {
		r := work[len(work)-1]
		work = c.sortRun(keys, r, work[:len(work)-1])
	}
	c.keys, c.runs = keys, work
}

// sortRun sorts keys[r.low:r.high] by the next keyBytes bytes of their texts. It appends to
// work, a stack, the ranges in which texts are still equal after these bytes, except small
// ones, which it sorts by whole texts.
func (c *Compiler) sortRun(keys []uint64, r keyRange, work []keyRange) []keyRange {
	keys = keys[r.low:r.high]
	for i, key := range keys {
		index := indexIn(key)
		keys[i] = textKey(c.entries[index].text[r.depth:]) | index
	}
	slices.Sort(keys)
	for low := 0; low < len(keys); {
		key, high := keys[low]>>keyIndexBits, low+1
		for high < len(keys) && keys[high]>>keyIndexBits == key {
			high++
		}
		textsEnd := key&(1<<keySizeBits-1) != keyGoesOn // within these bytes, so the texts are equal
		switch n := high - low; {
		case n == 1:
		case n <= fewEntries || textsEnd:
			slices.SortFunc(keys[low:high], c.compareEntries)
		default:
			work = append(work, keyRange{low: r.low + low, high: r.low + high, depth: r.depth + keyBytes})
		}
		low = high
	}
	return work
}

// textKey returns the key of a text, with index 0.
func textKey(text []byte) uint64 {
	first := uint64(bits.ReverseBytes32(uint32(firstWord(text))))
	size := uint64(min(len(text), keyGoesOn))
	return (first<<keySizeBits | size) << keyIndexBits
}

// indexIn returns the index of the entry in a key.
func indexIn(key uint64) uint64 { return key & (1<<keyIndexBits - 1) }

// compareEntries orders the entries of two keys as sortByText does.
func (c *Compiler) compareEntries(x, y uint64) int {
	a, b := &c.entries[indexIn(x)], &c.entries[indexIn(y)]
	if order := bytes.Compare(a.text, b.text); order != 0 {
		return order
	}
	return cmp.Or(compareBool(a.anchored, b.anchored), cmp.Compare(b.rule, a.rule))
}

// compareBool orders false before true.
func compareBool(a, b bool) int { return cmp.Compare(boolByte(a), boolByte(b)) }
