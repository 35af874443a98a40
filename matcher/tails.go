package matcher

import (
	"bytes"
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
		var flags uint32
		if e.anchored {
			flags |= tailAnchored
		}
		if e.query {
			flags |= tailQuery
		}
		first := len(b.literals) / literalSize
		set := b.addLiterals(e.text[depth+1:])
		var record [tailSize]byte
		put64(record[0:], set)
		put32(record[8:], e.rule)
		put32(record[12:], flags)
		put32(record[16:], uint32(first))
		put32(record[20:], uint32(len(b.literals)/literalSize-first))
		b.tails = append(b.tails, record[:]...)
	}
	return counts
}

// addLiterals writes a tail's literals and returns the set of their octets.
func (b *builder) addLiterals(tail []byte) (set octetSet) {
	for more := true; more; {
		var literal []byte
		literal, tail, more = bytes.Cut(tail, []byte{star})
		var record [literalSize]byte
		put32(record[0:], uint32(len(b.octets)))
		put32(record[4:], uint32(len(literal)))
		b.literals = append(b.literals, record[:]...)
		b.octets = append(b.octets, literal...)
		set |= literalSet(literal)
	}
	return set
}

// bestTail returns the best tail of a kind that matches and beats floor, at an
// end and above it; 0 for none. Under the spelling that a tail asks for, its
// end's literal prefix is known to match.
func (c *compiled) bestTail(p *Target, end uint32, kind tailKind, floor uint32) (best uint32) {
	for end != 0 {
		record := c.end(end)
		if le32(record[kind.best:]) <= floor {
			break // neither here nor above
		}
		p.prepare()
		tail := int(le32(record[8:]))
		if kind.skip != 0 {
			tail += int(le32(record[kind.skip:]))
		}
		tails := c.data[c.tails+tail*tailSize:][:int(le32(record[kind.count:]))*tailSize]
		if rule := c.firstTail(p, tails, int(le32(record[32:])), floor); rule != 0 {
			best, floor = rule, rule
		}
		end = le32(record[20:])
	}
	return best
}

// firstTail returns the first of an end's tails that matches and beats floor.
func (c *compiled) firstTail(p *Target, tails []byte, depth int, floor uint32) uint32 {
	missing := ^(p.plainSet | p.querySet)
	for ; len(tails) >= tailSize; tails = tails[tailSize:] {
		if le64(tails)&missing != 0 {
			continue
		}
		rule := le32(tails[8:])
		if rule <= floor {
			break
		}
		path := p.plain
		if le32(tails[12:])&tailQuery != 0 {
			path = p.query
		}
		if c.matchTail(tails[:tailSize], path, depth) {
			return rule
		}
	}
	return 0
}

// matchTail tells whether a tail matches in path from octet start on: its
// literals in order, the last one at the very end if it is anchored. The first
// place of each literal is as good as any other, so nothing is tried twice and
// the time is linear in the path's length.
func (c *compiled) matchTail(tail []byte, path []byte, start int) bool {
	first, count := int(le32(tail[16:])), int(le32(tail[20:]))
	anchored := le32(tail[12:])&tailAnchored != 0
	rest := path[start:]
	for i := first; i < first+count; i++ {
		literal := c.literal(i)
		if anchored && i == first+count-1 {
			return bytes.HasSuffix(rest, literal)
		}
		at := bytes.Index(rest, literal)
		if at < 0 {
			return false
		}
		rest = rest[at+len(literal):]
	}
	return true
}

func (c *compiled) literal(i int) []byte {
	record := c.data[c.literals+i*literalSize:]
	offset, length := int(le32(record)), int(le32(record[4:]))
	return c.data[c.octets+offset : c.octets+offset+length]
}
