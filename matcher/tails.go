package matcher

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// addBunch writes what follows the first star of each entry: first those that
// allow, then those that disallow, the best of each kind first. above is the
// nearest bunch above.
func (b *builder) addBunch(entries []*entry, depth int, above uint32) (bunch uint32) {
	slices.SortFunc(entries, func(x, y *entry) int {
		if kind := int(y.rule&1) - int(x.rule&1); kind != 0 {
			return kind
		}
		return int(y.rule>>1) - int(x.rule>>1)
	})
	bunch = uint32(len(b.bunches) / bunchSize)
	first := uint32(len(b.tails) / tailSize)
	disallow := first
	up := b.bunches[above*bunchSize:]
	best := [2]uint32{le32(up[16:]), le32(up[20:])} // allow, disallow
	for _, e := range entries {
		kind := allowTails
		if e.rule&1 != 0 {
			disallow++
		} else {
			kind = disallowTails
		}
		best[kind] = max(best[kind], e.rule)
		b.addTail(e, bunch, b.split(e.text[depth+1:]))
	}
	last := first + uint32(len(entries))
	for _, field := range [...]uint32{uint32(depth), first, disallow, last, best[0], best[1], above} {
		b.bunches = binary.LittleEndian.AppendUint32(b.bunches, field)
	}
	return bunch
}

// split returns the literals of a tail, which stars separate.
func (b *builder) split(text []byte) [][]byte {
	start := len(b.pieces)
	for {
		i := bytes.IndexByte(text, star)
		if i < 0 {
			break
		}
		b.pieces = append(b.pieces, text[:i])
		text = text[i+1:]
	}
	b.pieces = append(b.pieces, text)
	return b.pieces[start:len(b.pieces):len(b.pieces)]
}

func (b *builder) addTail(e *entry, bunch uint32, literals [][]byte) {
	flags := uint32(len(literals)) << tailCount
	if e.anchored {
		flags |= tailAnchored
	}
	if e.query {
		flags |= tailQuery
	}
	first, longest := len(b.literals)/literalSize, 0
	if len(literals) == 1 {
		first, longest = len(b.octets), len(literals[0])
		b.octets = append(b.octets, literals[0]...)
	} else {
		for i := range literals {
			if len(literals[i]) > len(literals[longest]) {
				longest = i
			}
		}
		longest += first
		b.addLiterals(literals)
	}
	var sketch Sketch
	for _, literal := range literals {
		sketch |= literalSketch(literal)
	}
	b.sketches = binary.LittleEndian.AppendUint64(b.sketches, uint64(sketch))
	for _, field := range [...]uint32{e.rule, flags, uint32(first), uint32(longest), bunch} {
		b.tails = binary.LittleEndian.AppendUint32(b.tails, field)
	}
	b.tailLiterals = append(b.tailLiterals, literals)
	b.tailRules = append(b.tailRules, e.rule)
}

func (b *builder) addLiterals(literals [][]byte) {
	for _, literal := range literals {
		b.literals = binary.LittleEndian.AppendUint32(b.literals, uint32(len(b.octets)))
		b.literals = binary.LittleEndian.AppendUint32(b.literals, uint32(len(literal)))
		b.octets = append(b.octets, literal...)
	}
}

// bestTail returns the best tail of a kind that matches and beats floor, in a
// bunch and above it; 0 for none. Under the spelling that a tail asks for, the
// literal prefix that its bunch hangs on is known to match.
func (c *compiled) bestTail(p *Target, bunch uint32, kind tailKind, floor uint32) (best uint32) {
	if !c.mayBeat(bunch, kind, floor) {
		return 0
	}
	if c.hasIndex() {
		return c.indexedTail(p, bunch, kind, floor)
	}
	p.prepare()
	missing := ^p.sketch
	for c.mayBeat(bunch, kind, floor) {
		record := c.bunch(bunch)
		first, last := c.tailsOf(record, kind)
		for tail := c.nextTail(first, last, missing); tail < last; tail = c.nextTail(tail+1, last, missing) {
			rule := load32(c.data, c.tails+tail*tailSize)
			if rule <= floor {
				break
			}
			if c.matchTail(tail, p.plain, p.query, int(load32(c.data, record))) {
				best, floor = rule, rule
				break
			}
		}
		bunch = load32(c.data, record+24)
	}
	return best
}

// tailKind tells the tails that allow from those that disallow.
type tailKind int

const (
	allowTails tailKind = iota
	disallowTails
)

// bunch is the offset of a bunch's record.
func (c *compiled) bunch(number uint32) int { return c.bunches + int(number)*bunchSize }

// mayBeat tells whether a tail of a kind beats floor if it matches, in a bunch or above
// it; false for no bunch.
func (c *compiled) mayBeat(bunch uint32, kind tailKind, floor uint32) bool {
	return bunch != 0 && load32(c.data, c.bunch(bunch)+16+4*int(kind)) > floor
}

// tailsOf are the tails of a kind in a bunch.
func (c *compiled) tailsOf(bunch int, kind tailKind) (first, last int) {
	bunch += 4 * int(kind)
	return int(load32(c.data, bunch+4)), int(load32(c.data, bunch+8))
}

// nextTail returns the first tail, from one on and before last, whose sketch has
// nothing that is missing; last if there is none.
func (c *compiled) nextTail(tail, last int, missing Sketch) int {
	return tail + firstWithout(c.data, c.sketches+tail*sketchSize, last-tail, missing)
}

// matchTail tells whether a tail, whose sketch is in the path's, matches in the
// path, given in both spellings, from octet start on: its literals are there in
// order, the last one at the very end if it is anchored. The first place of each
// literal is as good as any other, so nothing is tried twice and the time is
// linear in the path's length.
func (c *compiled) matchTail(tail int, plain, query []byte, start int) bool {
	record := c.tails + tail*tailSize
	flags := load32(c.data, record+4)
	path := plain
	if flags&tailQuery != 0 {
		path = query
	}
	rest := path[start:]
	first, longest := int(load32(c.data, record+8)), int(load32(c.data, record+12))
	var final []byte
	if count := int(flags >> tailCount); count == 1 {
		final = c.data[c.octets+first:][:longest]
	} else {
		// Most paths lack the longest literal, wherever the others are.
		if indexLiteral(rest, c.literal(longest)) < 0 {
			return false
		}
		last := first + count - 1
		at := c.pastLiterals(rest, first, last)
		if at < 0 {
			return false
		}
		rest, final = rest[at:], c.literal(last)
	}
	if flags&tailAnchored != 0 {
		return bytes.HasSuffix(rest, final)
	}
	return indexLiteral(rest, final) >= 0
}

// pastLiterals returns where in s the literals from number first on and before last
// end, each in its first place behind the one before; -1 if one is not there. A rule
// that is made of stars has thousands of them, of one octet each, which are near the
// one before in the paths that take the longest: those need no call.
func (c *compiled) pastLiterals(s []byte, first, last int) (at int) {
	data, octets := c.data, c.octets
	end := c.literals + last*literalSize
	for record := c.literals + first*literalSize; record < end; record += literalSize {
		literal := load64(data, record)
		offset, length := octets+int(uint32(literal)), int(literal>>32)
		if length == 1 && at+4 <= len(s) {
			if n := endIn4(s[at:at+4], load8(data, offset)); n > 0 {
				at += n
				continue
			}
		}
		skipped := indexLiteral(s[at:], data[offset:offset+length])
		if skipped < 0 {
			return -1
		}
		at += skipped + length
	}
	return at
}

// endIn4 returns where the first of an octet ends in four octets, 0 if it is not
// there.
func endIn4(s []byte, octet byte) int {
	switch octet {
	case s[0]:
		return 1
	case s[1]:
		return 2
	case s[2]:
		return 3
	case s[3]:
		return 4
	}
	return 0
}

func (c *compiled) literal(i int) []byte {
	record := c.literals + i*literalSize
	return c.data[c.octets+int(load32(c.data, record)):][:load32(c.data, record+4)]
}
