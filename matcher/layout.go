package matcher

import "encoding/binary"

// A compiled group is one little-endian byte array without pointers:
//
//	header    8 × u32: the number of elements of each section in the order below;
//	          signatures and suffixes share a number. The two highest bits of the
//	          first are flags
//	nodes     32 bytes each, the root first
//	leaves    16 bytes each
//	ends      12 bytes each; end 0 means "no end" and is all zeros
//	lists     28 bytes each, of wildcard suffixes; list 0 means "no list" and is
//	          all zeros
//	signatures
//	          8 bytes each, one for each suffix
//	suffixes  20 bytes each
//	literals  8 bytes each: offset and length in text
//	text      the labels of the leaves and the literals of the suffixes
//	index     of the suffixes, if there are many; see index.go
//
// A node, at byte 32·i of its section:
//
//	 0  u64  label: up to seven bytes, the first one lowest; the top byte is
//	         their number
//	 8  u64  which of the bytes 0 to 63 have a child, a bit each
//	16  u64  the same for the bytes 64 to 127
//	24  u32  the first child. Children have consecutive numbers in the order of
//	         their bytes. They are leaves if leafBit is set, else nodes
//	28  u32  the node's end, 0 for none
//
// A leaf, where a literal prefix ends and nothing follows:
//
//	 0  u32  offset of its label in text
//	 4  u32  length of its label
//	 8  u32  with endBit, its end; without, the best prefix rule here and above
//	12  u32  without endBit, the nearest list above, 0 for none
//
// The byte that leads to a child is not part of the child's label. Normalised patterns are
// ASCII, so two words have a bit for every possible child. Most patterns share only a short
// prefix with few others: leaves keep the long rest out of the nodes.
//
// An end, where at least one rule's literal prefix ends:
//
//	0  u32  best prefix rule here and above
//	4  u32  best rule that ends exactly here ('$')
//	8  u32  nearest list here or above, 0 for none
//
// A suffix list, the wildcard suffixes of one end:
//
//	 0  u32  depth: the length of the end's literal prefix in bytes
//	 4  u32  first suffix that allows
//	 8  u32  first suffix that disallows
//	12  u32  the suffix after its last
//	16  u32  best allow rule among the suffixes here and above
//	20  u32  best disallow rule among the suffixes here and above
//	24  u32  nearest list above, 0 for none
//
// A wildcard suffix is what follows the first star of a pattern: literals separated by
// stars. The suffixes of a list lie side by side, first those that allow, then those that
// disallow, the best rule of each kind first. The signatures lie apart, because they reject
// most suffixes without a look at the rest:
//
//	 0  u32  rule
//	 4  u32  number of literals, at least 1, << suffixCount, plus suffixAnchored
//	         and suffixQuery
//	 8  u32  first literal; if it is the only one, its offset in text
//	12  u32  the longest literal; if it is the only one, its length
//	16  u32  its list
//
// A rule's number is its rank × 2, plus 1 for allow. Ranks grow with specificity: the
// number of bytes, then allow over disallow, then the earlier line (RFC 9309 §2.2.2). So
// the greatest number among the matching rules decides, and its lowest bit is the verdict.
//
// The notes, which only explanations need, lie in an array of their own, so that matching
// need not have them in memory: 16 bytes for each rank, then the texts.
//
//	 0  u32  line number, from 1
//	 4  u32  offset of its text, from the start of the notes
//	 8  u32  length of its text
//	12  u32  its group among the merged ones
const (
	headerSize  = 32
	nodeSize    = 32
	leafSize    = 16
	endSize     = 12
	listSize    = 28
	suffixSize  = 20
	literalSize = 8
	noteSize    = 16

	// Where the fields of each are, except a node's label, a suffix's rule and a note's line, at 0. A list has
	// its first allowing and disallowing suffix side by side, and so the best rules of both.
	nodeLowAt, nodeHighAt, nodeChildAt, nodeEndAt               = 8, 16, 24, 28
	leafTextAt, leafLengthAt, leafBestAt, leafListAt            = 0, 4, 8, 12
	endBestAt, endWholeAt, endListAt                            = 0, 4, 8
	listDepthAt, listAllowAt, listBestAt, listAboveAt           = 0, 4, 16, 24
	suffixFlagsAt, suffixFirstAt, suffixLongestAt, suffixListAt = 4, 8, 12, 16
	noteTextAt, noteLengthAt, noteGroupAt                       = 4, 8, 12
)

// Header fields, in units of u32.
const (
	hNodes = iota
	hLeaves
	hEnds
	hLists
	hSuffixes // signatures and suffixes
	hLiterals
	hText
	hIndex
)

const (
	// leafBit in a node's first child: the children are leaves.
	leafBit = 1 << 31
	// endBit in field 8 of a leaf: the field is the leaf's end.
	endBit = 1 << 31
)

// Flags of a trie, in the first field of its header.
const (
	// flagGroup: the chain has a group, which may be without rules.
	flagGroup = 1 << (30 + iota)
	// flagGoogle: compiled for the Google profile; paths are matched as written.
	flagGoogle

	// countMask has the bits of that field that are the number of nodes.
	countMask = 1<<30 - 1
)

// Flags of a suffix.
const (
	// suffixAnchored: the last literal must end the path.
	suffixAnchored = 1 << iota
	// suffixQuery: matched against the query spelling of the path.
	suffixQuery

	// suffixCount is the bit position of the number of literals.
	suffixCount = 2
)

// append32 appends numbers.
func append32(dst []byte, numbers ...uint32) []byte {
	for _, n := range numbers {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return dst
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
func put64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }
