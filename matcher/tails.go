package matcher

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// addTails writes what follows the first star of each entry: first those that
// allow, then those that disallow, the best of each kind first. It returns how
// many there are of each.
func (b *builder) addTails(entries []*entry, depth int) (counts [2]uint32) {
	slices.SortFunc(entries, func(x, y *entry) int {
		if kind := int(y.rule&1) - int(x.rule&1); kind != 0 {
			return kind
		}
		return int(y.rule>>1) - int(x.rule>>1)
	})
	for _, e := range entries {
		counts[e.rule&1]++
		b.addTail(e, bytes.Split(e.text[depth+1:], []byte{star}))
	}
	return counts
}

func (b *builder) addTail(e *entry, literals [][]byte) {
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
	var set octetSet
	var slashes uint64
	for _, literal := range literals {
		set |= literalSet(literal)
		slashes |= slashSet(literal)
	}
	b.sets = binary.LittleEndian.AppendUint64(b.sets, set)
	for _, field := range [...]uint32{e.rule, flags, uint32(first), uint32(longest)} {
		b.tails = binary.LittleEndian.AppendUint32(b.tails, field)
	}
	b.tails = binary.LittleEndian.AppendUint64(b.tails, slashes)
	b.tails = binary.LittleEndian.AppendUint32(b.tails, uint32(len(b.ends)/endSize))
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

// bestTail returns the best tail of a kind that matches and beats floor, at an
// end and above it; 0 for none. Under the spelling that a tail asks for, its
// end's literal prefix is known to match.
func (c *compiled) bestTail(p *Target, end uint32, kind *tailKind, floor uint32) (best uint32) {
	if c.hasIndex() {
		return c.indexedTail(p, end, kind, floor)
	}
	p.prepare()
	missing := ^p.sets
	for end != 0 {
		record := c.end(end)
		if load32(c.data, record+kind.best) <= floor {
			break // neither here nor above
		}
		tail := int(load32(c.data, record+8))
		if kind.skip != 0 {
			tail += int(load32(c.data, record+kind.skip))
		}
		last := tail + int(load32(c.data, record+kind.count))
		for tail = c.nextTail(tail, last, missing); tail < last; tail = c.nextTail(tail+1, last, missing) {
			rule := load32(c.data, c.tails+tail*tailSize)
			if rule <= floor {
				break
			}
			if c.matchTail(tail, p, int(load32(c.data, record+32))) {
				best, floor = rule, rule
				break
			}
		}
		end = load32(c.data, record+20)
	}
	return best
}

// nextTail returns the first tail, from one on and before last, whose set has
// nothing that is missing; last or more if there is none.
func (c *compiled) nextTail(tail, last int, missing octetSet) int {
	data, at := c.data, c.sets+tail*setSize
	for ; tail < last; tail++ {
		if load64(data, at)&missing == 0 {
			return tail
		}
		at += setSize
	}
	return tail
}

// matchTail tells whether a tail, whose set is in the path's, matches in the
// path from octet start on: its slashes' pairs are in the path's, too, and its
// literals in order, the last one at the very end if it is anchored. The first
// place of each literal is as good as any other, so nothing is tried twice and
// the time is linear in the path's length.
func (c *compiled) matchTail(tail int, p *Target, start int) bool {
	record := c.tails + tail*tailSize
	if load64(c.data, record+16)&^p.slashSet() != 0 {
		return false
	}
	flags := load32(c.data, record+4)
	path := p.plain
	if flags&tailQuery != 0 {
		path = p.query
	}
	rest := path[start:]
	first, longest := int(load32(c.data, record+8)), int(load32(c.data, record+12))
	var final []byte
	if count := int(flags >> tailCount); count == 1 {
		final = c.data[c.octets+first:][:longest]
	} else {
		// Most paths lack the longest literal, wherever the others are.
		if !bytes.Contains(rest, c.literal(longest)) {
			return false
		}
		last := first + count - 1
		for i := first; i < last; i++ {
			literal := c.literal(i)
			at := bytes.Index(rest, literal)
			if at < 0 {
				return false
			}
			rest = rest[at+len(literal):]
		}
		final = c.literal(last)
	}
	if flags&tailAnchored != 0 {
		return bytes.HasSuffix(rest, final)
	}
	return bytes.Contains(rest, final)
}

func (c *compiled) literal(i int) []byte {
	record := c.literals + i*literalSize
	return c.data[c.octets+int(load32(c.data, record)):][:load32(c.data, record+4)]
}
