package matcher

import (
	"bytes"
	"math/bits"
	"slices"
	"unicode/utf8"

	"robotsbatch/matcher/urls"
)

// builder writes groups in the layout of layout.go, one after the other, and reuses its
// memory.
type builder struct {
	flags   uint32  // flagGroup and flagGoogle, to be set between reset and build
	entries []entry // as Compiler.dedupe sorts them

	// The sections.
	nodes      []byte
	leaves     []byte
	ends       []byte
	lists      []byte
	signatures []byte
	suffixes   []byte
	literals   []byte
	text       []byte

	// What the index is made of.
	suffixLiterals [][][]byte // by suffix; parts of pieces
	suffixRules    []uint32   // by suffix
	pieces         [][]byte   // the literals of all suffixes

	work []span   // memory of build: the spans whose nodes are not written yet
	wild []*entry // memory of addEnd: the entries with a wildcard
}

// reset starts a group of entries, in the order in which Compiler.dedupe leaves them.
func (b *builder) reset(entries []entry) {
	b.flags, b.entries = 0, entries
	b.nodes, b.leaves, b.text = b.nodes[:0], b.leaves[:0], b.text[:0]
	b.ends, b.lists = b.ends[:0], b.lists[:0]
	b.signatures, b.suffixes, b.literals = b.signatures[:0], b.suffixes[:0], b.literals[:0]
	b.suffixLiterals, b.suffixRules, b.pieces = b.suffixLiterals[:0], b.suffixRules[:0], b.pieces[:0]
}

// span is a range of entries whose texts agree in their first depth bytes, and the node or
// leaf for these bytes.
type span struct {
	low, high int // entries[low:high]
	depth     int
	node      int    // the index of the node or of the leaf
	above     uint32 // the nearest end above, 0 for none
}

// build returns the compiled form of the group. Siblings lie side by side and subtrees depth
// first, so that the nodes of one walk are close in memory.
func (b *builder) build() compiled {
	b.nodes = append(b.nodes, make([]byte, nodeSize)...) // the root
	b.ends = append(b.ends, make([]byte, endSize)...)    // end 0 and list 0 mean none
	b.lists = append(b.lists, make([]byte, listSize)...)
	work := append(b.work[:0], span{low: 0, high: len(b.entries)})
	for len(work) > 0 {
		top := work[len(work)-1]
		work = b.writeNode(top, work[:len(work)-1])
	}
	b.work = work
	return b.assemble()
}

// writeNode writes the node of a span, which is reserved, and its children if all are leaves. Else
// it appends the children's spans to work, a stack. It returns work.
func (b *builder) writeNode(s span, work []span) []span {
	if s.low == s.high {
		return work // no rules: the root stays empty
	}
	label, length := b.commonLabel(s)
	s.depth += length
	put64(b.nodes[s.node*nodeSize:], label|uint64(length)<<56) // the length in the top byte
	// The entries whose literal prefix ends here come first.
	ending := s
	ending.high = s.low
	for ending.high < s.high && b.entries[ending.high].prefix == s.depth {
		ending.high++
	}
	if ending.low < ending.high {
		s.above = b.addEnd(ending)
		put32(b.nodes[s.node*nodeSize+nodeEndAt:], s.above)
	}
	s.low = ending.high
	return b.addChildren(s, work)
}

// writeLeaf writes the leaf of a span whose entries have one literal prefix, and the end that
// the leaf needs unless its only rule has neither a wildcard nor a '$'.
func (b *builder) writeLeaf(s span) {
	only := &b.entries[s.low]
	label := only.literalPrefix()[s.depth:]
	leaf := b.leaves[s.node*leafSize:][:leafSize]
	put32(leaf[leafTextAt:], uint32(len(b.text)))
	put32(leaf[leafLengthAt:], uint32(len(label)))
	b.text = append(b.text, label...)
	s.depth += len(label)
	if s.high-s.low == 1 && !only.anchored && len(only.text) == s.depth {
		above := b.end(s.above)
		put32(leaf[leafBestAt:], max(le32(above[endBestAt:]), only.rule))
		put32(leaf[leafListAt:], le32(above[endListAt:]))
		return
	}
	put32(leaf[leafBestAt:], endBit|b.addEnd(s))
}

// isLeaf reports whether all entries of a span have the same literal prefix. They are sorted, so
// the first and the last one tell.
func (b *builder) isLeaf(s span) bool {
	if s.high-s.low == 1 {
		return true
	}
	first, last := b.entries[s.low].literalPrefix(), b.entries[s.high-1].literalPrefix()
	return bytes.Equal(first, last)
}

// commonLabel returns the bytes that all texts of a span share after its depth, up to the
// first star and seven at most, and their number. The first byte is the lowest one of
// label. The texts are sorted, so the first and the last one tell.
func (b *builder) commonLabel(s span) (label uint64, length int) {
	const most = 7 // the eighth byte of a node's label is its length
	first, last := b.entries[s.low].literalPrefix()[s.depth:], b.entries[s.high-1].literalPrefix()[s.depth:]
	label = firstWord(first)
	length = bits.TrailingZeros64(label^firstWord(last)) / 8
	length = min(length, len(first), len(last), most)
	return label & (1<<(8*length) - 1), length
}

// firstWord returns the first eight bytes of a text as a little-endian word.
func firstWord(text []byte) (word uint64) {
	if len(text) >= 8 {
		return le64(text)
	}
	for i, c := range text {
		word |= uint64(c) << (8 * i)
	}
	return word
}

// addEnd writes the end of a span, and the list of the wildcard suffixes of its entries, if they have
// any. All entries must have a literal prefix of s.depth bytes. It returns the end's number.
func (b *builder) addEnd(s span) (end uint32) {
	above := b.end(s.above)
	prefix, list := le32(above[endBestAt:]), le32(above[endListAt:])
	var exact uint32
	wild := b.wild[:0]
	for i := s.low; i < s.high; i++ {
		e := &b.entries[i]
		switch {
		case len(e.text) > s.depth:
			wild = append(wild, e)
		case e.anchored:
			exact = e.rule
		default:
			prefix = max(prefix, e.rule)
		}
	}
	if len(wild) > 0 {
		list = b.addList(wild, s.depth, list)
	}
	b.wild = wild
	end = uint32(len(b.ends) / endSize)
	b.ends = append32(b.ends, prefix, exact, list)
	return end
}

// end returns the record of an end, with those after it.
func (b *builder) end(number uint32) []byte { return b.ends[int(number)*endSize:] }

// addChildren makes a child for each byte that comes next in the literal prefixes of a span, which are longer
// than its depth, and completes the span's node. The children of a node are all leaves, which it writes, or all
// nodes: it reserves these and appends their spans to work, the stack of build. It returns work.
func (b *builder) addChildren(s span, work []span) []span {
	if s.low == s.high {
		return work
	}
	pushed := len(work)
	leaves := true
	var branches [2]uint64 // a bit for each byte that has a child
	for low := s.low; low < s.high; {
		c := b.entries[low].text[s.depth]
		high := low + 1
		for high < s.high && b.entries[high].text[s.depth] == c {
			high++
		}
		branches[c>>6] |= 1 << (c & 63)
		child := span{low: low, high: high, depth: s.depth + 1, above: s.above}
		leaves = leaves && b.isLeaf(child)
		work = append(work, child)
		low = high
	}
	children := work[pushed:]
	first := b.reserve(len(children), leaves)
	for i := range children {
		children[i].node = first + i
	}
	node := b.nodes[s.node*nodeSize:][:nodeSize]
	put64(node[nodeLowAt:], branches[0])
	put64(node[nodeHighAt:], branches[1])
	put32(node[nodeChildAt:], uint32(first))
	if leaves {
		put32(node[nodeChildAt:], leafBit|uint32(first))
		for i := range children {
			b.writeLeaf(children[i])
		}
		return work[:pushed]
	}
	slices.Reverse(children) // build takes the last one first
	return work
}

// reserve appends n nodes, or leaves, of zeros and returns the number of the first.
func (b *builder) reserve(n int, leaves bool) (first int) {
	if leaves {
		first = len(b.leaves) / leafSize
		b.leaves = append(b.leaves, make([]byte, n*leafSize)...)
		return first
	}
	first = len(b.nodes) / nodeSize
	b.nodes = append(b.nodes, make([]byte, n*nodeSize)...)
	return first
}

// assemble returns the group whose sections were built, with an index if it has many suffixes.
// It aliases no memory of b.
func (b *builder) assemble() compiled {
	var index []byte
	if len(b.suffixRules) >= indexThreshold {
		index = buildIndex(b.suffixLiterals, b.suffixRules)
	}
	header := append32(make([]byte, 0, headerSize),
		b.flags|uint32(len(b.nodes)/nodeSize), uint32(len(b.leaves)/leafSize), uint32(len(b.ends)/endSize), uint32(len(b.lists)/listSize),
		uint32(len(b.suffixes)/suffixSize), uint32(len(b.literals)/literalSize), uint32(len(b.text)), uint32(len(index)))
	c, ok := openCompiled(slices.Concat(header, b.nodes, b.leaves, b.ends, b.lists, b.signatures, b.suffixes, b.literals, b.text, index))
	if !ok {
		panic("the builder made a group that does not open")
	}
	return c
}

// AppendValid appends s, with bytes that are not UTF-8 as %XX.
func AppendValid(dst, s []byte) []byte {
	if utf8.Valid(s) {
		return append(dst, s...)
	}
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		if r == utf8.RuneError && size == 1 {
			dst = urls.AppendEscape(dst, s[0])
		} else {
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}
