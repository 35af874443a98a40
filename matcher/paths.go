package matcher

import (
	"bytes"
	"slices"
)

// Paths are paths with query, each with what its sketch says of it. The zero
// value is empty.
type Paths struct {
	data     []byte
	texts    []bounds
	sketches []Sketch
}

// SetPaths makes p the paths of a column of URLs, which it aliases: path i
// begins skip octets into data[offsets[i]:offsets[i+1]], which is at least as
// long.
func SetPaths[O int32 | int64](p *Paths, data []byte, offsets []O, skip int) {
	n := len(offsets) - 1
	p.data = data
	p.texts = slices.Grow(p.texts[:0], n)[:n]
	p.sketches = slices.Grow(p.sketches[:0], n)[:n]
	for i := range p.texts {
		p.texts[i] = bounds{int(offsets[i]) + skip, int(offsets[i+1])}
	}
	sketchAll(p.sketches, data, p.texts)
}

// SetPath makes p a single path, which it aliases.
func (p *Paths) SetPath(path []byte) {
	p.data = path
	p.texts = append(p.texts[:0], bounds{0, len(path)})
	p.sketches = append(p.sketches[:0], SketchOf(path))
}

// Len is the number of paths.
func (p *Paths) Len() int { return len(p.texts) }

// text is path i.
func (p *Paths) text(i int) []byte { return p.data[p.texts[i].low:p.texts[i].high] }

// Trim cuts off what does not belong to path i: blanks at its end, and its
// fragment. It tells whether there was a fragment.
func (p *Paths) Trim(i int) bool {
	if p.sketches[i]&hardBits == 0 {
		return false
	}
	text := TrimURL(p.text(i))
	fragment := bytes.IndexByte(text, '#')
	if fragment >= 0 {
		text = text[:fragment]
	}
	if high := p.texts[i].low + len(text); high < p.texts[i].high {
		p.texts[i].high, p.sketches[i] = high, SketchOf(text)
	}
	return fragment >= 0
}

// hardBits of a sketch: there may be several spellings, or something to trim or
// to cut off.
const hardBits = workBit | fragmentBit

const (
	// maxHoldBunches, maxHoldTails and maxHoldTries bound what Hold does for a
	// path: bunches and tails whose sketches it looks at, and tails that it
	// tries. What takes more is for Settle, which may have an index.
	maxHoldBunches = 4
	maxHoldTails   = 512
	maxHoldTries   = 8
)

// Hold returns the first path from low on, and before high, of which it does not
// see that the verdict of an open Standing, which must hold for all of them,
// stays; high if there is none. That one is for Settle.
func (t *Trie) Hold(s *Standing, paths *Paths, low, high int) int {
	c := &t.rules
	var memory [maxHoldBunches]tailRange
	ranges, ok := c.appendRanges(memory[:0], s)
	if !ok {
		return low
	}
	for _, r := range ranges {
		for i := low; i < high; i++ {
			path, tail := firstFit(paths.sketches[i:high], c.sketchesOf(r))
			if i += path; i < high && !c.holds(r, tail, s.best, paths, i) {
				high = i
			}
		}
	}
	return high
}

// tailRange is the tails of one kind in a bunch.
type tailRange struct{ first, last, depth int }

// appendRanges appends the tails that could change a standing's verdict. ok is
// false if they are too many.
func (c *compiled) appendRanges(ranges []tailRange, s *Standing) (_ []tailRange, ok bool) {
	kind, tails := s.against(), 0
	for bunch := s.bunch; bunch != 0; {
		record := c.bunch(bunch)
		if c.bestOf(record, kind) <= s.best {
			break // neither here nor above
		}
		first, last := c.tailsOf(record, kind)
		if tails += last - first; tails > maxHoldTails || len(ranges) == cap(ranges) {
			return nil, false
		}
		ranges = append(ranges, tailRange{first, last, int(load32(c.data, record))})
		bunch = load32(c.data, record+24)
	}
	return ranges, true
}

// sketchesOf are the sketches of a range.
func (c *compiled) sketchesOf(r tailRange) []byte {
	return c.data[c.sketches+r.first*sketchSize : c.sketches+r.last*sketchSize]
}

// holds tells whether path i has but one spelling and no tail that beats floor
// matches it, of those from tail number fit of the range on, whose sketch is in
// the path's; also false if that takes too many tries.
func (c *compiled) holds(r tailRange, fit int, floor uint32, paths *Paths, i int) bool {
	sketch := paths.sketches[i]
	if sketch&hardBits != 0 {
		return false
	}
	path := paths.text(i)
	tries := 0
	for tail := r.first + fit; tail < r.last; tail = c.nextTail(tail+1, r.last, ^sketch) {
		if load32(c.data, c.tails+tail*tailSize) <= floor {
			break
		}
		if tries++; tries > maxHoldTries || c.matchTail(tail, path, path, r.depth) {
			return false
		}
	}
	return true
}
