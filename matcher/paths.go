package matcher

import (
	"bytes"
	"slices"
)

// Paths are paths with query in an array of octets, such as a column's, each with
// what its sketch says of it. The zero value is empty.
type Paths struct {
	data     []byte
	texts    []bounds
	sketches []Sketch // of the first ones
	met      meeting  // Hold's last
}

// meeting is a tail that Hold found to match in a path.
type meeting struct {
	path  int
	rules *byte  // the tail's Trie.Identity, nil for no meeting
	rule  uint32 // the tail's, the best of its bunch and of those below
	above uint32 // the bunch above, from which on no tail was tried
}

// Reset makes p empty. The paths that are added then lie in data, which p aliases.
func (p *Paths) Reset(data []byte) {
	p.data, p.texts, p.sketches, p.met = data, p.texts[:0], p.sketches[:0], meeting{}
}

// Add adds the path from octet low on and before high.
func (p *Paths) Add(low, high int) { p.texts = append(p.texts, bounds{low, high}) }

// prepare makes the sketches of the paths that were added, and cuts off what does
// not belong to them: blanks at the end of the URL, and then its fragment. What
// precedes the fragment stays, a blank, too. Trie.Hold needs it.
func (p *Paths) prepare() {
	p.sketches = slices.Grow(p.sketches[:0], len(p.texts))[:len(p.texts)]
	sketchAll(p.sketches, p.data, p.texts)
	for i, sketch := range p.sketches {
		if sketch&hardBits != 0 {
			p.trim(i)
		}
	}
}

// trim is prepare for path i.
func (p *Paths) trim(i int) {
	text := TrimURL(p.text(i))
	if fragment := bytes.IndexByte(text, '#'); fragment >= 0 {
		text = text[:fragment]
	}
	if high := p.texts[i].low + len(text); high < p.texts[i].high {
		p.texts[i].high, p.sketches[i] = high, SketchOf(text)
	}
}

// text is path i.
func (p *Paths) text(i int) []byte { return p.data[p.texts[i].low:p.texts[i].high] }

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
	c, kind := &t.rules, s.against()
	bunches, tails := 0, 0
	floor := s.contest.best
	for bunch := s.contest.bunch; c.mayBeat(bunch, kind, floor); {
		record := c.bunch(bunch)
		r := tailRange{depth: int(load32(c.data, record)), above: load32(c.data, record+24)}
		r.first, r.last = c.tailsOf(record, kind)
		bunches, tails = bunches+1, tails+r.last-r.first
		if bunches > maxHoldBunches || tails > maxHoldTails {
			return low
		}
		sketches := c.sketchesOf(r)
		for i := low; i < high; i++ {
			path, tail := firstFit(paths.sketches[i:high], sketches)
			if i += path; i < high && !c.holds(r, tail, floor, paths, i) {
				high = i
			}
		}
		bunch = r.above
	}
	return high
}

// tailRange is the tails of one kind in a bunch, whose literal prefix has depth
// octets.
type tailRange struct {
	first, last, depth int
	above              uint32 // the bunch above
}

// sketchesOf are the sketches of a range.
func (c *compiled) sketchesOf(r tailRange) []byte {
	return c.data[c.sketches+r.first*sketchSize : c.sketches+r.last*sketchSize]
}

// holds tells whether path i has but one spelling and no tail that beats floor
// matches it, of those from tail number fit of the range on, whose sketch is in
// the path's; also false if that takes too many tries. A tail that matches is noted.
func (c *compiled) holds(r tailRange, fit int, floor uint32, paths *Paths, i int) bool {
	sketch := paths.sketches[i]
	if sketch&hardBits != 0 {
		return false
	}
	path := paths.text(i)
	tries := 0
	for tail := r.first + fit; tail < r.last; tail = c.nextTail(tail+1, r.last, ^sketch) {
		rule := load32(c.data, c.tails+tail*tailSize)
		if rule <= floor {
			break
		}
		if tries++; tries > maxHoldTries {
			return false
		}
		if c.matchTail(tail, path, path, r.depth) {
			paths.met = meeting{path: i, rules: &c.data[0], rule: rule, above: r.above}
			return false
		}
	}
	return true
}
