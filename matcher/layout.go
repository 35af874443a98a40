package matcher

import "encoding/binary"

// A compiled group is one run of octets, little-endian, without pointers:
//
//	header    11 × u32: format, flags, then the number of elements of each
//	          section in the order below; sketches and tails share one
//	nodes     32 octets each, the root first
//	leaves    16 octets each
//	ends      12 octets each; end 0 stands for "no end" and is all zeros
//	bunches   28 octets each; bunch 0 stands for "no bunch" and is all zeros
//	sketches   8 octets each, one a tail
//	tails     20 octets each
//	literals   8 octets each: offset and length in octets
//	octets    the labels of the leaves and the literals of the tails
//	index     of the tails, when there are many; see index.go
//
// A node, at octet 32·i of its section:
//
//	 0  u64  label: up to seven octets, first one lowest; their number on top
//	 8  u64  which of the octets 0 to 63 have a child, a bit each
//	16  u64  the same for the octets 64 to 127
//	24  u32  the first child; the children lie side by side, by octet. They are
//	         all nodes, or all leaves if leafBit is set
//	28  u32  end that belongs to the node, 0 for none
//
// A leaf, where a literal prefix ends and nothing goes on:
//
//	 0  u32  offset of its label in octets
//	 4  u32  length of its label
//	 8  u32  with endBit set, its end; else its rule is a prefix rule, and this
//	         is the best prefix rule here and above
//	12  u32  without endBit, the nearest bunch above, 0 for none
//
// The octet that leads to a child is not part of the child's label. Normalised
// patterns are ASCII, so two words hold every branch. Most patterns share a
// beginning with few others: leaves keep their long rest out of the nodes.
//
// An end, where at least one rule's literal prefix ends:
//
//	0  u32  best prefix rule here and above
//	4  u32  best rule that ends exactly here ('$')
//	8  u32  nearest bunch here or above, 0 for none
//
// A bunch, the tails that hang on an end:
//
//	 0  u32  depth: the length of the end's literal prefix in octets
//	 4  u32  first tail that allows
//	 8  u32  first tail that disallows
//	12  u32  the tail after its last
//	16  u32  best allow rule among the tails here and above
//	20  u32  best disallow rule among the tails here and above
//	24  u32  nearest bunch above, 0 for none
//
// A tail is what follows the first star of a pattern, its literals separated by
// stars. The tails of a bunch lie side by side, first those that allow, then
// those that disallow, of each kind the best first. Its Sketch, that of all its
// literals, lies apart, for most tails are settled by that:
//
//	 0  u32  rule
//	 4  u32  number of literals, at least 1, times 4, plus tailAnchored and
//	         tailQuery
//	 8  u32  first literal; of a single one the offset in octets
//	12  u32  the longest literal; of a single one the length
//	16  u32  its bunch
//
// A rule's number is its rank × 2, plus 1 for allow. Ranks grow with
// specificity: the number of octets, then allow over disallow, then the earlier
// line (RFC 9309 §2.2.2). So the greatest number among the matching rules
// decides, and its lowest bit is the verdict.
//
// What only people ask for lies in a second run, so that matching need not
// have it in memory: a rule by its rank, 16 octets each, then the text.
//
//	 0  u32  line number, from 1
//	 4  u32  offset of its text, from the run's start
//	 8  u32  length of its text
//	12  u32  its group among those that were merged
const (
	trieFormat = 0x33_54_42_52 // "RBT3"

	headerSize  = 44
	nodeSize    = 32
	leafSize    = 16
	endSize     = 12
	bunchSize   = 28
	sketchSize  = 8
	tailSize    = 20
	literalSize = 8
	noteSize    = 16
)

// Header fields, in units of u32.
const (
	hFormat = iota
	hFlags
	hNodes
	hLeaves
	hEnds
	hBunches
	hTails // sketches and tails
	hLiterals
	hOctets
	hIndex
)

const (
	// leafBit in a node's first child: the children are leaves.
	leafBit = 1 << 31
	// endBit in a leaf's rule: it is an end.
	endBit = 1 << 31
)

// Flags of a trie.
const (
	// flagGroup: the chain has a group, maybe without rules.
	flagGroup = 1 << iota
	// flagGoogle: compiled for the Google profile; paths are matched as
	// written.
	flagGoogle
)

// Flags of a tail.
const (
	// tailAnchored: the last literal ends the path.
	tailAnchored = 1 << iota
	// tailQuery: matched against the query spelling of the path.
	tailQuery

	// tailCount is where the number of literals begins.
	tailCount = 2
)

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
func put64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }
