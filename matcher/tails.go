package matcher

import (
	"bytes"
	"slices"
)

// addTails writes what follows the first star of each entry, the best first.
func (b *builder) addTails(entries []*entry, depth int) {
	slices.SortFunc(entries, func(x, y *entry) int { return int(y.rule>>1) - int(x.rule>>1) })
	for _, e := range entries {
		var flags uint32
		if e.anchored {
			flags |= tailAnchored
		}
		if e.query {
			flags |= tailQuery
		}
		first := len(b.literals) / literalSize
		set := b.addLiterals(e.text[depth+1:])
		record := make([]byte, tailSize)
		put32(record, e.rule)
		put32(record[4:], flags)
		put32(record[8:], uint32(first))
		put32(record[12:], uint32(len(b.literals)/literalSize-first))
		put64(record[16:], set)
		b.tails = append(b.tails, record...)
	}
}

// addLiterals writes a tail's literals and returns the set of their octets.
func (b *builder) addLiterals(tail []byte) (set uint64) {
	for more := true; more; {
		var literal []byte
		literal, tail, more = bytes.Cut(tail, []byte{star})
		record := make([]byte, literalSize)
		put32(record, uint32(len(b.octets)))
		put32(record[4:], uint32(len(literal)))
		b.literals = append(b.literals, record...)
		b.octets = append(b.octets, literal...)
		set |= octetSet(literal)
	}
	return set
}

// matchTail tells whether a tail matches in path from octet start on: its
// literals in order, the last one at the very end if it is anchored. The first
// place of each literal is as good as any other, so nothing is tried twice and
// the time is linear in the path's length.
func (c *compiled) matchTail(tail []byte, path []byte, start int) bool {
	first, count := int(le32(tail[8:])), int(le32(tail[12:]))
	anchored := le32(tail[4:])&tailAnchored != 0
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
