package matcher

import (
	"bytes"

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
type Trie struct {
	rules  compiled
	notes  []byte // the lines and texts of the rules
	agents []byte // user-agent values: u32 count, u32 ends, bytes
}

// compiled is a group in the layout of layout.go, with the offsets of its sections.
type compiled struct {
	data       []byte
	leaves     int
	ends       int
	lists      int
	signatures int
	suffixes   int
	literals   int
	text       int
	index      int // start of the index
	flags      uint32
}

// newCompiled finds the sections of bytes that the builder made.
func newCompiled(data []byte) compiled {
	count := func(field int) int { return int(le32(data[4*field:])) }
	c := compiled{data: data, flags: le32(data[4*hFlags:])}
	c.leaves = headerSize + nodeSize*count(hNodes)
	c.ends = c.leaves + leafSize*count(hLeaves)
	c.lists = c.ends + endSize*count(hEnds)
	c.signatures = c.lists + listSize*count(hLists)
	c.suffixes = c.signatures + kernels.SignatureSize*count(hSuffixes)
	c.literals = c.suffixes + suffixSize*count(hSuffixes)
	c.text = c.literals + literalSize*count(hLiterals)
	c.index = c.text + count(hText)
	return c
}

// hasIndex reports whether the suffixes have an index.
func (c *compiled) hasIndex() bool { return c.index < len(c.data) }

// Size returns the memory of the compiled rules in bytes.
func (t *Trie) Size() int { return len(t.rules.data) + len(t.notes) + len(t.agents) }

// Same reports whether two tries share their compiled rules: then they decide alike.
func (t *Trie) Same(u *Trie) bool { return t.Identity() == u.Identity() }

// Equal reports whether two tries have equal compiled rules, shared or not: then they
// decide alike.
func (t *Trie) Equal(u *Trie) bool { return t.Same(u) || bytes.Equal(t.rules.data, u.rules.data) }

// Identity returns the same pointer for tries that share their compiled rules, and
// different ones for others.
func (t *Trie) Identity() *byte { return &t.rules.data[0] }

const (
	// cacheLine is the size of a cache line in bytes.
	cacheLine = 64
	// touched is how many bytes touch reads from the start of a trie: all of it for half of
	// all tries, the first nodes of the others.
	touched = 512
)

// touch reads what a match needs first: the first nodes, and the first record of each
// section.
func (t *Trie) touch() (sum uint64) {
	c := &t.rules
	for at := 0; at < min(len(c.data), touched); at += cacheLine {
		sum += uint64(c.data[at])
	}
	if len(c.data) > touched {
		sum += uint64(c.data[c.leaves-1]) + uint64(c.data[c.ends]) + uint64(c.data[c.lists]) +
			uint64(c.data[c.signatures-1]) + uint64(c.data[c.suffixes-1])
	}
	return sum
}

// Profile returns the profile that the rules were compiled under.
func (t *Trie) Profile() Profile {
	if t.rules.flags&flagGoogle != 0 {
		return robotstxt.Google
	}
	return robotstxt.RFC9309
}

// Rule describes a rule that Match decided by. Its slices are valid as long as the trie's
// bytes are. If the trie has no notes (see OpenBody), only Allow is set.
func (t *Trie) Rule(rule uint32) RuleInfo {
	if len(t.notes) == 0 {
		return RuleInfo{Allow: rule&1 != 0}
	}
	note := t.notes[int(rule>>1)*noteSize:]
	start, length := int(le32(note[4:])), int(le32(note[8:]))
	return RuleInfo{
		Allow: rule&1 != 0,
		Text:  t.notes[start : start+length],
		Agent: t.agent(int(le32(note[12:]))),
		Line:  int(le32(note)),
	}
}

// agentNames lays out the user-agent values of the chosen groups.
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
	if len(t.agents) == 0 {
		return nil
	}
	values := make([][]byte, le32(t.agents))
	for i := range values {
		values[i] = t.agent(i)
	}
	return values
}

func (t *Trie) agent(group int) []byte {
	start := 4*int(le32(t.agents)) + 4
	if group > 0 {
		start = int(le32(t.agents[4*group:]))
	}
	return t.agents[start:le32(t.agents[4*group+4:])]
}
