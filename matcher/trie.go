package matcher

import (
	"bytes"
	"math"
	"slices"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/robotstxt"
)

// Trie is the compiled rules of one body for one chain of agents: the merged groups that
// the chain obeys (RFC 9309 §2.2.1). It is immutable and safe for concurrent use; a copy
// shares the rules.
//
// The literal prefixes of the patterns form a radix trie. A rule without wildcard ends at a
// node. Of a rule with one, the part after the first star, its wildcard suffix, belongs to
// the node where its literal prefix ends. A match walks down the path once and then tries
// the wildcard suffixes of the nodes it passed, the most specific first, until none can
// beat the best match. If there are many, an index finds those that have one chosen
// literal, the index literal, in the path. DESIGN.md has the whole algorithm.
//
// The time for a path is bounded. With fewer than indexThreshold suffixes it is at most the
// path's length × their number. With an index it is the path's length × a constant, plus a
// constant for each suffix whose index literal occurs. If more than a few occur, a sweeper
// looks for them together in one pass over the path. The sweeper is built once per set of
// rules, in time linear in their bytes, and only after as much time was spent without it.
//
// Its bytes are not trusted: they may be those of a mapped file, which somebody forged or
// writes to. compiled says what that costs.
type Trie struct {
	rules compiled
	notes *notes // nil: rules have no text
}

// notes are what explanations need of a trie.
type notes struct {
	rules  []byte // the lines and texts of the rules
	agents []byte // user-agent values: u32 count, u32 ends, bytes
}

// compiled is a group in the layout of layout.go, with the offsets of its sections. It takes
// one cache line.
//
// The offsets are checked when a group is opened, and nothing else: opening reads the header
// alone. So a match checks each number before it follows it, once a record: one that leads
// outside means "nothing there". Loops end by themselves: a walk
// takes a byte of the path for each node, and lists lead to lists with smaller numbers, fewer
// suffixes before them and shorter literal prefixes.
type compiled struct {
	data       []byte
	leaves     uint32
	ends       uint32
	lists      uint32
	signatures uint32
	suffixes   uint32
	literals   uint32
	text       uint32
	index      uint32 // start of the index
	flags      uint32
}

// openCompiled finds the sections of a compiled group in data, which it aliases. ok is false if
// they are not as long as the bytes, or if one lacks what each group has: a root, end 0, list 0
// and, with many suffixes, an index.
func openCompiled(data []byte) (c compiled, ok bool) {
	if len(data) < headerSize {
		return c, false
	}
	header := data[:headerSize:headerSize]
	nodes, ends, lists, suffixes := le32(header[4*hNodes:]), le32(header[4*hEnds:]), le32(header[4*hLists:]), uint64(le32(header[4*hSuffixes:]))
	c.data, c.flags = data, nodes&^countMask // the number of nodes shares its field with the flags
	nodes &= countMask
	offset := headerSize + nodeSize*uint64(nodes)
	c.leaves = uint32(offset)
	offset += leafSize * uint64(le32(header[4*hLeaves:]))
	c.ends = uint32(offset)
	offset += endSize * uint64(ends)
	c.lists = uint32(offset)
	offset += listSize * uint64(lists)
	c.signatures = uint32(offset)
	offset += kernels.SignatureSize * suffixes
	c.suffixes = uint32(offset)
	offset += suffixSize * suffixes
	c.literals = uint32(offset)
	offset += literalSize * uint64(le32(header[4*hLiterals:]))
	c.text = uint32(offset)
	offset += uint64(le32(header[4*hText:]))
	c.index = uint32(offset)
	index := uint64(le32(header[4*hIndex:]))
	offset += index // the greatest of all: if it fits in 32 bits, so does each
	fits := offset == uint64(len(data)) && offset <= math.MaxUint32
	hasFirst := nodes > 0 && ends > 0 && lists > 0
	return c, fits && hasFirst && (index > 0 || suffixes < indexThreshold)
}

// end returns the offset of an end's record, of end 0 for one that does not exist.
func (c *compiled) end(number uint32) int {
	if at := uint64(c.ends) + uint64(number)*endSize; at < uint64(c.lists) {
		return int(at)
	}
	return int(c.ends)
}

// list returns the offset of a list's record, of list 0 for one that does not exist.
func (c *compiled) list(number uint32) int {
	if at := uint64(c.lists) + uint64(number)*listSize; at < uint64(c.signatures) {
		return int(at)
	}
	return int(c.lists)
}

// suffixCount returns the number of suffixes.
func (c *compiled) suffixCount() int { return int(c.suffixes-c.signatures) / kernels.SignatureSize }

// textAt returns length bytes of the text from an offset on; ok is false if they lie outside.
func (c *compiled) textAt(offset, length uint32) (text []byte, ok bool) {
	low := uint64(c.text) + uint64(offset)
	high := low + uint64(length)
	if high > uint64(c.index) {
		return nil, false
	}
	return c.data[low:high], true
}

// hasIndex reports whether the suffixes have an index.
func (c *compiled) hasIndex() bool { return int(c.index) < len(c.data) }

// SizeOf returns the memory of the compiled rules of tries in bytes. Rules that tries share count
// once.
func SizeOf(tries []Trie) (size int64) {
	for i := range tries {
		if t := &tries[i]; !slices.ContainsFunc(tries[:i], func(earlier Trie) bool { return earlier.same(t) }) {
			size += int64(t.size())
		}
	}
	return size
}

// size returns the bytes of the trie, those of its notes included.
func (t *Trie) size() int {
	if t.notes == nil {
		return len(t.rules.data)
	}
	return len(t.rules.data) + len(t.notes.rules) + len(t.notes.agents)
}

// same reports whether two tries share their compiled rules: then they decide alike.
func (t *Trie) same(u *Trie) bool { return t.Identity() == u.Identity() }

// Equal reports whether two tries have equal compiled rules, shared or not: then they
// decide alike.
func (t *Trie) Equal(u *Trie) bool { return t.same(u) || bytes.Equal(t.rules.data, u.rules.data) }

// Identity returns the same pointer for tries that share their compiled rules, and
// different ones for others.
func (t *Trie) Identity() *byte { return &t.rules.data[0] }

// Profile returns the profile that the rules were compiled under.
func (t *Trie) Profile() Profile {
	if t.rules.flags&flagGoogle != 0 {
		return robotstxt.Google
	}
	return robotstxt.RFC9309
}

// Rule describes a rule that Match decided by. Its slices are valid as long as the trie's
// bytes are. If the trie has no notes (see OpenBody), only Allow is set: it counts no rules then.
func (t *Trie) Rule(rule uint32) RuleInfo {
	// Ranks count from 1: no rule has rank 0, and the note of rank 0 is zeros.
	if rank := int64(rule >> 1); rank == 0 || rank > int64(t.ruleCount()) {
		return RuleInfo{Allow: rule&1 != 0}
	}
	notes := t.notes.rules
	note := notes[int(rule>>1)*noteSize:]
	start, length := int(le32(note[noteTextAt:])), int(le32(note[noteLengthAt:]))
	return RuleInfo{
		Allow: rule&1 != 0,
		Text:  notes[start : start+length],
		Agent: t.agent(int(le32(note[noteGroupAt:]))),
		Line:  int(le32(note)),
	}
}

// agentNames returns the user-agent values of the chosen groups as notes.agents has them: their
// number, the offset at which each ends, and their texts, with bytes that are not UTF-8 as %XX.
func agentNames(chosen []choice) []byte {
	size := 4*len(chosen) + 4
	for i := range chosen {
		size += len(chosen[i].agent.Value)
	}
	names := make([]byte, 4*len(chosen)+4, size)
	put32(names, uint32(len(chosen)))
	for i, c := range chosen {
		names = AppendValid(names, c.agent.Value)
		put32(names[4*i+4:], uint32(len(names)))
	}
	return names
}

// Agents returns the values of the user-agent lines that chose the trie's groups, in file
// order, with bytes that are not UTF-8 as %XX. It returns none if no group was chosen or
// the trie has no notes.
func (t *Trie) Agents() [][]byte {
	if t.notes == nil || len(t.notes.agents) == 0 {
		return nil
	}
	values := make([][]byte, le32(t.notes.agents))
	for i := range values {
		values[i] = t.agent(i)
	}
	return values
}

// agent returns the user-agent value of a group, by its index among those that were chosen. The
// trie must have notes.
func (t *Trie) agent(group int) []byte {
	agents := t.notes.agents
	start := 4*int(le32(agents)) + 4 // after the count and the ends
	if group > 0 {
		start = int(le32(agents[4*group:]))
	}
	return agents[start:le32(agents[4*group+4:])]
}
