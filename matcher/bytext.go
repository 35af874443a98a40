package matcher

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Entries are sorted by text as numbers, which takes a fraction of the time of
// comparing texts: a key has four bytes of the text, how many of these there are
// (keyGoesOn where they are not the last ones), and the index of the entry.
const (
	keyIndexBits = 29 // as many rules as 4 GiB can have
	keySizeBits  = 3
	keyBytes     = 4
	keyGoesOn    = keyBytes + 1

	// fewEntries is how many entries with equal keys are compared by their texts.
	fewEntries = 6
)

// run is a run of keys whose entries' texts agree in their first depth bytes.
type run struct{ low, high, depth int }

// sortByText makes keys the order of the entries by text, then those that are not
// anchored first, then by rank, the best first.
func (c *Compiler) sortByText() {
	keys := c.keys[:0]
	for i := range c.entries {
		keys = append(keys, uint64(i))
	}
	work := append(c.runs[:0], run{low: 0, high: len(keys)})
	for len(work) > 0 {
		r := work[len(work)-1]
		work = c.sortRun(keys, r, work[:len(work)-1])
	}
	c.keys, c.runs = keys, work
}

// sortRun sorts a run by the bytes from its depth on and pushes the runs that are
// not sorted by that.
func (c *Compiler) sortRun(keys []uint64, r run, work []run) []run {
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
		switch n := high - low; {
		case n == 1:
		case n <= fewEntries || key&(1<<keySizeBits-1) != keyGoesOn:
			slices.SortFunc(keys[low:high], c.compareEntries)
		default:
			work = append(work, run{low: r.low + low, high: r.low + high, depth: r.depth + keyBytes})
		}
		low = high
	}
	return work
}

// textKey is the key of a text, but for the index.
func textKey(text []byte) uint64 {
	first := uint64(bits.ReverseBytes32(uint32(firstWord(text))))
	size := uint64(min(len(text), keyGoesOn))
	return (first<<keySizeBits | size) << keyIndexBits
}

// indexIn is the index of a key's entry.
func indexIn(key uint64) uint64 { return key & (1<<keyIndexBits - 1) }

// compareEntries compares the entries of two keys.
func (c *Compiler) compareEntries(x, y uint64) int {
	a, b := &c.entries[indexIn(x)], &c.entries[indexIn(y)]
	if order := bytes.Compare(a.text, b.text); order != 0 {
		return order
	}
	if a.anchored != b.anchored {
		if a.anchored {
			return 1
		}
		return -1
	}
	return cmp.Compare(b.rule, a.rule)
}
