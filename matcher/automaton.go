package matcher

import (
	"bytes"
	"math/bits"
	"slices"
)

// automaton finds all literals of a group's wildcard suffixes in one pass over a text (A.
// V. Aho and M. J. Corasick, 1975).
//
// Each node stands for a prefix of a literal. Nodes are numbered breadth first from the
// root, 0, so the children of a node have consecutive numbers. There is at most one node
// for each byte of the literals, and a node takes 17 bytes.
//
// Several literals may end at one byte of a text. They form a chain, in which each literal
// is a suffix of the one before:
//
//	found[node] → shorter[literal] → shorter[literal] → … → 0
//
// Hostile rules make chains of a thousand literals at each byte of a path. So literals are
// numbered by heavy paths (D. D. Sleator and R. E. Tarjan, 1983): a chain then consists of
// at most log2(literals) runs of consecutive numbers. To find the longest literal of a
// chain that is in a set of numbers, longestIn searches the words of a bit set.
type automaton struct {
	nodes  []automatonNode
	labels []byte      // by node, the byte on the edge from its parent
	root   [256]uint32 // by byte, the child of the root, 0 for none

	lengths []uint32 // by literal, from number 1 on
	shorter []uint32 // by literal, the longest other literal that is a suffix of it, 0 for none
	heads   []uint32 // by literal, the shortest literal of its heavy path

	spans []literalSpan // by node; used by build alone
}

// automatonNode has the fields that one step reads, side by side.
type automatonNode struct {
	first    uint32 // its first child
	fail     uint32 // the node of the longest proper suffix of its text
	found    uint32 // the longest literal that is a suffix of its text, 0 for none
	children uint16
	label    byte // of the first child
}

// literalSpan is the range of sorted literals that start with a node's text.
type literalSpan struct{ low, high uint32 }

// build makes the automaton of literals, which are sorted, distinct and not empty. It
// returns their numbers in the same order, in time linear in their bytes.
func (a *automaton) build(literals [][]byte) (numbers []uint32) {
	a.addNodes(literals)
	byLength := a.addFails(len(literals))
	numbers = a.numberPaths(byLength)
	lengths := slices.Grow(a.lengths[:0], len(literals)+1)[:len(literals)+1]
	for i, literal := range literals {
		lengths[numbers[i]] = uint32(len(literal))
	}
	a.lengths = lengths
	return numbers
}

// addNodes sets a.nodes, a.labels and a.spans, without fail links. In the node where a literal ends,
// found is the literal's index + 1, elsewhere 0.
func (a *automaton) addNodes(literals [][]byte) {
	nodes, previous := 1, []byte(nil)
	for _, literal := range literals {
		nodes += len(literal) - commonPrefix(previous, literal)
		previous = literal
	}
	a.nodes = slices.Grow(a.nodes[:0], nodes)
	a.labels = append(slices.Grow(a.labels[:0], nodes), 0)
	a.spans = append(slices.Grow(a.spans[:0], nodes), literalSpan{0, uint32(len(literals))})
	for node, depth := 0, 0; node < len(a.spans); depth++ {
		for levelEnd := len(a.spans); node < levelEnd; node++ { // the nodes of one depth
			low, high := a.spans[node].low, a.spans[node].high
			n := automatonNode{first: uint32(len(a.spans))}
			if low < high && len(literals[low]) == depth { // the shortest one comes first
				low++
				n.found = low // its index + 1
			}
			for low < high { // a child for each byte that follows
				next, c := low+1, literals[low][depth]
				for next < high && literals[next][depth] == c {
					next++
				}
				if n.children++; n.children == 1 {
					n.label = c
				}
				a.spans = append(a.spans, literalSpan{low, next})
				a.labels = append(a.labels, c)
				low = next
			}
			a.nodes = append(a.nodes, n)
		}
	}
}

// addFails sets a.root, the nodes' fail links and a.shorter, and found of the nodes where no literal
// ends. literals is the number of literals. It returns their indices + 1, sorted by length.
func (a *automaton) addFails(literals int) (byLength []uint32) {
	a.root = [256]uint32{}
	for child := range uint32(a.nodes[0].children) {
		a.root[a.labels[1+child]] = 1 + child
	}
	a.shorter = slices.Grow(a.shorter[:0], literals+1)[:literals+1]
	a.shorter[0] = 0
	byLength = make([]uint32, 0, literals)
	for i := range a.nodes {
		node := &a.nodes[i]
		for child := node.first; child < node.first+uint32(node.children); child++ {
			n := &a.nodes[child]
			if i != 0 {
				n.fail = a.step(node.fail, a.labels[child])
			}
			shorter := a.nodes[n.fail].found // complete, because that node has less depth
			if n.found != 0 {
				a.shorter[n.found] = shorter
				byLength = append(byLength, n.found)
			} else {
				n.found = shorter
			}
		}
	}
	return byLength
}

// numberPaths gives the literals their final numbers: those of a heavy path are consecutive, the
// shortest literal first. They replace the numbers so far, index + 1, in found and a.shorter. It
// returns the final numbers in the sorted order of the literals. byLength is what addFails returned.
//
// The literals form a forest: the parent of a literal is the longest other literal that is a suffix
// of it. A heavy path leads from a literal to its child with the most descendants.
func (a *automaton) numberPaths(byLength []uint32) (numbers []uint32) {
	n := len(byLength) + 1
	size := make([]uint32, n)                           // the number of literals below this one, and itself
	heavy := make([]uint32, n)                          // the next literal of its heavy path, 0 for none
	for _, literal := range slices.Backward(byLength) { // children before their parents
		size[literal]++
		if parent := a.shorter[literal]; parent != 0 {
			size[parent] += size[literal]
			if heavy[parent] == 0 || size[literal] > size[heavy[parent]] {
				heavy[parent] = literal
			}
		}
	}
	a.heads = slices.Grow(a.heads[:0], n)[:n]
	numbers, shorter, next := make([]uint32, n), make([]uint32, n), uint32(1)
	for _, literal := range byLength {
		parent := a.shorter[literal]
		if parent != 0 && heavy[parent] == literal {
			continue // numbered with the head of its path
		}
		head := next
		for ; literal != 0; literal = heavy[literal] {
			numbers[literal], a.heads[next] = next, head
			shorter[next] = next - 1
			next++
		}
		shorter[head] = numbers[parent]
	}
	copy(a.shorter, shorter)
	for i := range a.nodes {
		a.nodes[i].found = numbers[a.nodes[i].found]
	}
	return numbers[1:]
}

// The node of a text is that of the longest of its suffixes that have one. step takes the node of a
// text and returns the node of the text followed by c. Over a whole text it takes time linear in
// the text.
func (a *automaton) step(node uint32, c byte) uint32 {
	for node != 0 {
		n := &a.nodes[node]
		if n.label == c && n.children > 0 {
			return n.first
		}
		if n.children > 1 {
			others := n.first + 1
			if i := bytes.IndexByte(a.labels[others:n.first+uint32(n.children)], c); i >= 0 {
				return others + uint32(i)
			}
		}
		node = n.fail
	}
	return a.root[c]
}

// longestIn returns the longest literal that is equal to literal or a suffix of it and whose
// bit is set in set; 0 for none. It takes a search of words for each heavy path.
func (a *automaton) longestIn(set []uint64, literal uint32) uint32 {
	for literal != 0 {
		head := a.heads[literal]
		if last := lastSet(set, head, literal); last != 0 {
			return last
		}
		literal = a.shorter[head]
	}
	return 0
}

// lastSet returns the greatest number in [low, high] whose bit is set; 0 for none. low must not
// be 0.
func lastSet(set []uint64, low, high uint32) uint32 {
	index := high / 64
	word := set[index] & (^uint64(0) >> (63 - high%64)) // without the bits after high
	for word == 0 && index > low/64 {
		index--
		word = set[index]
	}
	if last := 64*index + uint32(bits.Len64(word)) - 1; word != 0 && last >= low {
		return last
	}
	return 0
}
