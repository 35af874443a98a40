package zstdcut

import "slices"

// minMatch is the least match length.
const minMatch = 3

// rewriting makes the literals and sequences of a block that is cut.
type rewriting struct {
	*Cutter
	k       int  // no kept range before this one has bytes that are still to come
	litLen  int  // literals since the last sequence
	changed bool // the new block may have other literals than the old one
}

// rewrite sets c.sequences and c.literals to what is kept of c.block, which begins at byte at. Range k is
// the first kept range that has a part of it. changed reports whether the literals may differ from the
// old block's; ok is false if a match begins before the frame.
func (c *Cutter) rewrite(at, k int) (changed, ok bool) {
	c.sequences, c.literals = c.sequences[:0], slices.Grow(c.literals[:0], maxBlockSize+32)
	end := at + c.block.contentSize
	w := rewriting{Cutter: c, k: k}
	for _, s := range c.block.sequences {
		match := at + int(s.litLen)
		next := match + int(s.matchLen)
		if !w.keepWhole(at, s) {
			w.eachPart(at, match, w.keepLiterals)
			if int(s.offset) > match {
				return false, false
			}
			w.keepMatch(match, next, int(s.offset))
		}
		at = next
	}
	w.eachPart(at, end, w.keepLiterals)
	return w.changed, true
}

// keepWhole adds a sequence that begins at byte at, if all of it is kept and so is what its
// match copies. If not, it returns false and adds nothing. Most sequences are of this kind.
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
	if offset == 0 {
		return false
	}
	w.literals = appendShort(w.literals, w.plain, at, low)
	w.sequences = append(w.sequences, sequence{uint32(w.litLen) + s.litLen, s.matchLen, uint32(offset)})
	w.litLen = 0
	return true
}

// eachPart calls f for each kept part of the bytes from low to high-1, which must not lie before
// those of an earlier call. If some of them are cut, it sets w.changed.
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

// keepMatch adds what is kept of a match that makes the bytes from low to high-1: as matches
// where the bytes that these copy, or copies of those, are kept, and else as literals.
func (w *rewriting) keepMatch(low, high, offset int) {
	w.eachPart(low, high, func(from, to int) {
		back, n := w.keptOffset(from, to, offset, w.k), to-from
		if back == 0 {
			back, n = w.copyOffset(from, to, offset, w.k)
			w.noteCopied(from, to, offset)
		}
		if n >= minMatch && back > 0 {
			w.sequences = append(w.sequences, sequence{uint32(w.litLen), uint32(n), uint32(back)})
			w.litLen = 0
			from += n
		}
		if from < to {
			w.changed = true
			w.keepLiterals(from, to)
		}
	})
	if r := w.kept[min(w.k, len(w.kept)-1)]; low < r.Low || high > r.High { // some of the match is cut
		w.noteCopies(low, high, offset)
	}
}

// appendShort appends the bytes from low to high-1 of from. Few bytes, as there mostly are,
// are copied in one step of fixed size.
func appendShort(dst, from []byte, low, high int) []byte {
	const most = 16
	if n := len(dst); high-low <= most && low+most <= len(from) && n+most <= cap(dst) {
		copy(dst[n:n+most], from[low:low+most])
		return dst[:n+high-low]
	}
	return append(dst, from[low:high]...)
}

// nearRanges is the number of kept ranges before its own in which a match's beginning is looked for one by
// one. Most matches begin in a near one.
const nearRanges = 8

// keptOffset returns the new offset of a match that makes the bytes from low to high-1, which
// are kept: the old one less what is cut between. It returns 0 if the bytes that the match
// copies are not all in one kept range. Range k ends after low, or one after it does.
func (c *Cutter) keptOffset(low, high, offset, k int) int {
	from := low - offset
	for c.kept[k].High <= low {
		k++
	}
	if from >= c.kept[k].Low {
		return offset
	}
	j := k - 1
	for steps := 0; j >= 0 && from < c.kept[j].Low; j-- {
		if steps++; steps > nearRanges {
			j = c.rangeAt(from)
			break
		}
	}
	if j < 0 || from < c.kept[j].Low || high-offset > c.kept[j].High {
		return 0
	}
	return c.newPlace(low, k) - c.newPlace(from, j)
}

// newPlace returns where byte at, which is in kept range k, is in the new frame's content.
func (c *Cutter) newPlace(at, k int) int { return c.starts[k] + at - c.kept[k].Low }

// copyOffset is for matches for which keptOffset returns 0. If a copy of the first byte that
// the match copies is kept, it returns the new offset of that copy, and the number of bytes that are
// equal from there on. Range k ends after low, or one after it does.
func (c *Cutter) copyOffset(low, high, offset, k int) (back, n int) {
	var s section
	number := c.cutNumber(&s, low-offset)
	if number < 0 || c.copies[number] < 0 {
		return 0, 0
	}
	for c.kept[k].High <= low {
		k++
	}
	place := int(c.copies[number])
	j := c.rangeAt(place)
	back = c.newPlace(low, k) - c.newPlace(place, j)
	if back > c.windowSize {
		return back, 0
	}
	return back, equalBytes(c.plain[low:high], c.plain[place:min(c.kept[j].High, low)])
}

// noteCopied is for a match that makes the kept bytes from low to high-1. Of the bytes that it copies, those
// that are cut have a kept copy in the match, which noteCopied records.
func (c *Cutter) noteCopied(low, high, offset int) {
	var s section
	for at := low; at < high; {
		number := c.cutNumber(&s, at-offset)
		part := min(high-at, s.high-(at-offset))
		if number >= 0 {
			for i := range part {
				c.copies[number+i] = int32(at + i)
			}
		}
		at += part
	}
}

// noteCopies notes for a match that makes the bytes from low to high-1 where copies of those that are cut
// are kept: in what the match copies, or where copies of that are.
func (c *Cutter) noteCopies(low, high, offset int) {
	var from, to section
	for at := low; at < high; {
		number := c.cutNumber(&to, at)
		part := min(high, to.high) - at
		if number >= 0 {
			before := c.cutNumber(&from, at-offset)
			part = min(part, from.high-(at-offset))
			for i := range part { // in order, because a match may copy what it has just made
				if before >= 0 {
					c.copies[number+i] = c.copies[before+i]
				} else {
					c.copies[number+i] = int32(at + i - offset)
				}
			}
		}
		at += part
	}
}

// section is a kept range, or what is cut between two of them: bytes low to high-1.
type section struct {
	low, high int
	first     int // the number of byte low among the bytes that are cut; -1 for a kept range
}

// cutNumber returns the number of byte at among the bytes that are cut, -1 if it is kept. s is
// the section of the last call, and becomes that of byte at.
func (c *Cutter) cutNumber(s *section, at int) int {
	if at < s.low || at >= s.high {
		*s = c.sectionOf(at)
	}
	if s.first < 0 {
		return -1
	}
	return s.first + at - s.low
}

// sectionOf returns the section of byte at.
func (c *Cutter) sectionOf(at int) section {
	k := c.rangeAt(at)
	if k < len(c.kept) && c.kept[k].Low <= at {
		return section{c.kept[k].Low, c.kept[k].High, -1}
	}
	s := section{high: len(c.plain)}
	if k > 0 {
		s.low, s.first = c.kept[k-1].High, c.cutBefore[k-1]
	}
	if k < len(c.kept) {
		s.high = c.kept[k].Low
	}
	return s
}

// equalBytes returns the number of equal bytes at the beginning of a and b.
func equalBytes(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
