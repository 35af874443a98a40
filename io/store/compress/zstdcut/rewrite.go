package zstdcut

import "slices"

// minMatch is the least match length.
const minMatch = 3

// rewriting makes the literals and sequences of a block that is cut.
type rewriting struct {
	*Cutter
	k       int  // index of the first kept range that ends after the bytes so far
	litLen  int  // literals since the last sequence
	changed bool // the new block may have other literals than the old one
}

// rewrite sets c.sequences and c.literals to what is kept of c.block, whose content begins at byte at of c.plain.
// Range k is the first kept range that has a part of it. changed says that the literals may differ from the old
// block's.
func (c *Cutter) rewrite(at, k int) (changed bool) {
	c.sequences, c.literals = c.sequences[:0], slices.Grow(c.literals[:0], maxBlockSize+32)
	end := at + c.block.contentSize
	w := rewriting{Cutter: c, k: k}
	for _, s := range c.block.sequences {
		match := at + int(s.litLen)
		next := match + int(s.matchLen)
		if !w.keepWhole(at, s) {
			w.eachPart(at, match, w.keepLiterals)
			w.keepMatch(match, next, int(s.offset))
		}
		at = next
	}
	w.eachPart(at, end, w.keepLiterals)
	return w.changed
}

// keepWhole adds a sequence that begins at byte at, if all bytes that it makes and all that its
// match copies are kept. If not, it returns false and adds nothing. Most sequences are of this kind:
// without this a job that cuts texts of 24 KB takes 1.12 times the processor time.
func (w *rewriting) keepWhole(at int, s sequence) bool {
	for w.k < len(w.kept) && w.kept[w.k].High <= at {
		w.k++
	}
	low := at + int(s.litLen)
	high := low + int(s.matchLen)
	if w.k == len(w.kept) || w.kept[w.k].Low > at || high > w.kept[w.k].High {
		return false
	}
	offset := w.keptOffset(low, high, int(s.offset), w.k)
	if offset == 0 { // not all that its match copies is kept
		return false
	}
	w.literals = appendShort(w.literals, w.plain, at, low)
	w.sequences = append(w.sequences, sequence{uint32(w.litLen) + s.litLen, s.matchLen, uint32(offset)})
	w.litLen = 0
	return true
}

// eachPart calls f for each kept part of the bytes from low to high-1, and sets w.changed if some of these bytes are
// cut. Calls must come in the order of the bytes.
func (w *rewriting) eachPart(low, high int, f func(low, high int)) {
	for w.k < len(w.kept) && w.kept[w.k].High <= low {
		w.k++
	}
	if w.k == len(w.kept) || w.kept[w.k].Low >= high {
		w.changed = w.changed || low < high
		return
	}
	for i := w.k; i < len(w.kept) && w.kept[i].Low < high; i++ {
		from, to := max(low, w.kept[i].Low), min(high, w.kept[i].High)
		if from > low || to < high {
			w.changed = true
		}
		f(from, to)
	}
}

// keepLiterals adds the bytes from low to high-1 as literals.
func (w *rewriting) keepLiterals(low, high int) {
	w.literals = append(w.literals, w.plain[low:high]...)
	w.litLen += high - low
}

// keepMatch adds the kept parts of a match that makes the bytes from low to high-1: a part becomes a match if the
// bytes that it copies are kept, and literals otherwise.
func (w *rewriting) keepMatch(low, high, offset int) {
	w.eachPart(low, high, func(from, to int) {
		back := w.keptOffset(from, to, offset, w.k)
		if back == 0 || to-from < minMatch {
			w.changed = true
			w.keepLiterals(from, to)
			return
		}
		w.sequences = append(w.sequences, sequence{uint32(w.litLen), uint32(to - from), uint32(back)})
		w.litLen = 0
	})
}

// appendShort appends the bytes from low to high-1 of from. Few bytes, as there mostly are, are copied in
// one step of fixed size, which saves 3 % of a job that cuts, and writes beyond the result, up to dst's capacity.
func appendShort(dst, from []byte, low, high int) []byte {
	const most = 16
	if n := len(dst); high-low <= most && low+most <= len(from) && n+most <= cap(dst) {
		copy(dst[n:n+most], from[low:low+most])
		return dst[:n+high-low]
	}
	return append(dst, from[low:high]...)
}

// keptOffset returns the new offset of a match that makes the bytes from low to high-1, which are kept: the old
// offset less the number of bytes between that are cut. It returns 0 if the bytes that the match copies are not all
// in one kept range. The search for the range with byte low begins at range k.
func (c *Cutter) keptOffset(low, high, offset, k int) int {
	from := low - offset
	for c.kept[k].High <= low {
		k++
	}
	if from >= c.kept[k].Low {
		return offset
	}
	j := c.rangeAt(from)
	if from < c.kept[j].Low || high-offset > c.kept[j].High {
		return 0
	}
	return c.newPlace(low, k) - c.newPlace(from, j)
}

// newPlace returns where byte at, which is in kept range k, is in the new frame's content.
func (c *Cutter) newPlace(at, k int) int { return c.starts[k] + at - c.kept[k].Low }
