package matcher

// Path is a path with query, with what its sketch says of it.
type Path struct {
	text   []byte
	sketch Sketch
}

// Text is the path as written.
func (p *Path) Text() []byte { return p.text }

// hardBits of a sketch: there may be several spellings, or something to trim or
// to cut off, or it may be /robots.txt. Such a path is for Settle.
const hardBits = workBit | fragmentBit

// PathOf is the Path of a text, which it aliases.
func PathOf(text []byte) Path {
	sketch := SketchOf(text)
	if string(text) == robotsTxt {
		sketch |= workBit
	}
	return Path{text, sketch}
}

// AppendPaths appends the paths of a column of URLs to dst: path i begins skip
// octets into data[offsets[i]:offsets[i+1]], which is at least as long. They
// alias data.
func AppendPaths[O int32 | int64](dst []Path, data []byte, offsets []O, skip int) []Path {
	for i, end := range offsets[1:] {
		dst = append(dst, PathOf(data[int(offsets[i])+skip:end]))
	}
	return dst
}

const (
	// maxHoldBunches, maxHoldTails and maxHoldTries bound what Hold does for a
	// path: bunches and tails whose sketches it looks at, and tails that it
	// tries. What takes more is for Settle, which may have an index.
	maxHoldBunches = 4
	maxHoldTails   = 512
	maxHoldTries   = 8
)

// Hold returns for how many paths in a row, from the first on, it sees that the
// verdict of an open Standing, which must hold for all of them, stays. The one
// after them is for Settle.
func (t *Trie) Hold(s *Standing, paths []Path) int {
	c := &t.rules
	var memory [maxHoldBunches]tailRange
	ranges, ok := c.appendRanges(memory[:0], s)
	if !ok {
		return 0
	}
	for i := range paths {
		if paths[i].sketch&hardBits != 0 || !c.holds(ranges, s.best, &paths[i]) {
			return i
		}
	}
	return len(paths)
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

// holds tells whether no tail that beats floor matches a path that has but one
// spelling; also false if that takes too many tries.
func (c *compiled) holds(ranges []tailRange, floor uint32, p *Path) bool {
	tries, missing := 0, ^p.sketch
	for i := range ranges {
		r := &ranges[i]
		for tail := c.nextTail(r.first, r.last, missing); tail < r.last; tail = c.nextTail(tail+1, r.last, missing) {
			if load32(c.data, c.tails+tail*tailSize) <= floor {
				break
			}
			if tries++; tries > maxHoldTries || c.matchTail(tail, p.text, p.text, r.depth) {
				return false
			}
		}
	}
	return true
}
