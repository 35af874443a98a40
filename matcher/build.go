package matcher

import (
	"bytes"
	"unicode/utf8"
)

// builder lays a group's rules out as layout.go describes.
type builder struct {
	flags   uint32
	entries []entry  // sorted by text, no two alike
	rules   []uint32 // index into sources, by rank
	sources []source

	nodes    []byte
	ends     []byte
	tails    []byte
	literals []byte
	octets   []byte
}

// span is a run of entries whose texts agree in their first depth octets, and
// the node that stands for these.
type span struct {
	low, high int // entries[low:high]
	depth     int
	node      int
	above     uint32 // the nearest end above, 0 for none
}

// build makes the compiled form. Nodes come out with siblings side by side and
// subtrees depth first, so that a walk down stays close.
func (b *builder) build() compiled {
	b.nodes = make([]byte, nodeSize, nodeSize*(len(b.entries)+1))
	b.ends = make([]byte, endSize, endSize*(len(b.entries)+1))
	work := []span{{low: 0, high: len(b.entries)}}
	for len(work) > 0 {
		top := work[len(work)-1]
		work = b.fill(top, work[:len(work)-1])
	}
	return b.assemble()
}

// fill writes the node of a span and pushes the spans of its children.
func (b *builder) fill(s span, work []span) []span {
	if s.low == s.high {
		return work // no rules at all: an empty root
	}
	label := b.commonLabel(s)
	s.depth += len(label)
	var word uint64
	for i, c := range label {
		word |= uint64(c) << (8 * i)
	}
	node := b.nodes[s.node*nodeSize:]
	put64(node, word|uint64(len(label))<<56)
	s.low, s.above = b.fillEnd(s)
	return b.addChildren(s, work)
}

// commonLabel returns the octets that all texts of a span share behind its
// depth, up to seven, none of them a star.
func (b *builder) commonLabel(s span) []byte {
	const most = 7
	first, last := literalPrefix(b.entries[s.low].text), literalPrefix(b.entries[s.high-1].text)
	n := s.depth
	for n < len(first) && n < len(last) && n < s.depth+most && first[n] == last[n] {
		n++
	}
	return first[s.depth:n]
}

func literalPrefix(text []byte) []byte {
	if i := bytes.IndexByte(text, star); i >= 0 {
		return text[:i]
	}
	return text
}

// fillEnd writes the end of a span's node if a literal prefix ends there, and
// returns the first entry that goes on below, and the nearest end for it.
func (b *builder) fillEnd(s span) (low int, end uint32) {
	low = s.low
	for low < s.high && (len(b.entries[low].text) == s.depth || b.entries[low].text[s.depth] == star) {
		low++
	}
	if low == s.low {
		return low, s.above
	}
	above := b.end(s.above)
	prefix, up := le32(above), s.above
	best := [2]uint32{le32(above[24:]), le32(above[28:])} // disallow, allow
	if le32(above[12:])+le32(above[16:]) == 0 {
		up = le32(above[20:])
	}
	var exact uint32
	var tails []*entry
	for i := s.low; i < low; i++ {
		e := &b.entries[i]
		switch {
		case len(e.text) > s.depth:
			tails = append(tails, e)
			best[e.rule&1] = max(best[e.rule&1], e.rule)
		case e.anchored:
			exact = e.rule
		default:
			prefix = max(prefix, e.rule)
		}
	}
	end = uint32(len(b.ends) / endSize)
	firstTail := len(b.tails) / tailSize
	counts := b.addTails(tails, s.depth)
	var record [endSize]byte
	put32(record[0:], prefix)
	put32(record[4:], exact)
	put32(record[8:], uint32(firstTail))
	put32(record[12:], counts[1])
	put32(record[16:], counts[0])
	put32(record[20:], up)
	put32(record[24:], best[0])
	put32(record[28:], best[1])
	put32(record[32:], uint32(s.depth))
	b.ends = append(b.ends, record[:]...)
	put32(b.nodes[s.node*nodeSize+28:], end)
	return low, end
}

func (b *builder) end(number uint32) []byte { return b.ends[int(number)*endSize:] }

// addChildren makes nodes for the octets that follow in a span's texts.
func (b *builder) addChildren(s span, work []span) []span {
	if s.low == s.high {
		return work
	}
	first := len(b.nodes) / nodeSize
	pushed := len(work)
	var branches [2]uint64
	for low := s.low; low < s.high; {
		c := b.entries[low].text[s.depth]
		high := low + 1
		for high < s.high && b.entries[high].text[s.depth] == c {
			high++
		}
		branches[c>>6] |= 1 << (c & 63)
		work = append(work, span{low: low, high: high, depth: s.depth + 1, node: len(b.nodes) / nodeSize, above: s.above})
		b.nodes = append(b.nodes, make([]byte, nodeSize)...)
		low = high
	}
	node := b.nodes[s.node*nodeSize:]
	put64(node[8:], branches[0])
	put64(node[16:], branches[1])
	put32(node[24:], uint32(first))
	// The stack gives back the last first: turn them round.
	for i, j := pushed, len(work)-1; i < j; i, j = i+1, j-1 {
		work[i], work[j] = work[j], work[i]
	}
	return work
}

func (b *builder) assemble() compiled {
	rules, text := b.describe()
	data := make([]byte, headerSize, headerSize+len(b.nodes)+len(b.ends)+len(b.tails)+len(b.literals)+len(rules)+len(b.octets)+len(text))
	for field, value := range [...]int{
		hFormat: trieFormat, hFlags: int(b.flags),
		hNodes: len(b.nodes) / nodeSize, hEnds: len(b.ends) / endSize,
		hTails: len(b.tails) / tailSize, hLiterals: len(b.literals) / literalSize,
		hRules: len(rules) / ruleSize, hOctets: len(b.octets), hText: len(text),
	} {
		put32(data[4*field:], uint32(value))
	}
	for _, section := range [][]byte{b.nodes, b.ends, b.tails, b.literals, rules, b.octets, text} {
		data = append(data, section...)
	}
	return newCompiled(data)
}

// describe writes the rules' lines and texts.
func (b *builder) describe() (rules, text []byte) {
	rules = make([]byte, ruleSize*len(b.rules))
	for rank := 1; rank < len(b.rules); rank++ {
		source := b.sources[b.rules[rank]]
		start := len(text)
		text = appendValid(text, source.Text)
		record := rules[rank*ruleSize:]
		put32(record, uint32(source.Line))
		put32(record[4:], uint32(start))
		put32(record[8:], uint32(len(text)-start))
		put32(record[12:], source.group)
	}
	return rules, text
}

// appendValid appends s with octets that are not UTF-8 as %XX.
func appendValid(dst, s []byte) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		if r == utf8.RuneError && size == 1 {
			dst = appendEscape(dst, s[0])
		} else {
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}
