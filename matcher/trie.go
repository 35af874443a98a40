package matcher

import (
	"bytes"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/robotstxt"
)

// Trie is the compiled rules of one body for one chain of agents: the merged
// groups that the chain has to obey (RFC 9309 §2.2.1). It is immutable and safe
// for concurrent use; a copy shares the rules.
//
// Literal prefixes of patterns are paths in a radix trie. A rule without wildcard
// ends at a node; of a rule with one, what follows the first star hangs, as a wildcard
// suffix, on the node where its literal prefix ends. Matching walks down once and then
// tries the wildcard suffixes on its way, the most specific first, until none can beat the
// best match; where there are many, an index finds those whose index literal, one of
// their literals, is in the path. DESIGN.md tells the whole way.
//
// Time is bounded. Below indexThreshold suffixes it is at most the path's length × their
// number. With an index it is the path's length × a constant, and a constant for
// each suffix whose index literal occurs: where more than a few occur they are looked for
// together, in one pass over the path (see sweeper). What the pass needs is made
// once for a host's rules, in time linear in their bytes, when as much time was
// spent without it.
type Trie struct {
	rules  compiled
	notes  []byte // the rules' lines and texts
	agents []byte // the user-agent values: u32 count, u32 ends, bytes
}

// compiled is the bytes that layout.go describes, with the sections found.
type compiled struct {
	data       []byte
	leaves     int
	ends       int
	lists      int
	signatures int
	suffixes   int
	literals   int
	text       int
	index      int // where the index begins
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

// hasIndex tells whether there is an index of the suffixes.
func (c *compiled) hasIndex() bool { return c.index < len(c.data) }

// Size is how many bytes of memory the compiled rules take.
func (t *Trie) Size() int { return len(t.rules.data) + len(t.notes) + len(t.agents) }

// Same tells whether two tries share their compiled rules, so that a match in
// one holds for the other.
func (t *Trie) Same(u *Trie) bool { return t.Identity() == u.Identity() }

// Equal tells whether two tries have the same compiled rules, wherever these come from, so
// that a match in one holds for the other.
func (t *Trie) Equal(u *Trie) bool { return t.Same(u) || bytes.Equal(t.rules.data, u.rules.data) }

// Identity is the same for tries that share their compiled rules, and for no
// others.
func (t *Trie) Identity() *byte { return &t.rules.data[0] }

const (
	// cacheLine is how many bytes come into a cache together.
	cacheLine = 64
	// touched is how many bytes of a trie's beginning touch reads: all of half
	// of the tries that there are, and the first nodes of the others.
	touched = 512
)

// touch reads where matching begins: the first nodes, and the first of each kind
// of record.
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

// Profile is the reading of the protocol that the rules were compiled for.
func (t *Trie) Profile() Profile {
	if t.rules.flags&flagGoogle != 0 {
		return robotstxt.Google
	}
	return robotstxt.RFC9309
}

// Rule describes a rule that Match decided by. Its slices are valid as long as
// the trie's bytes are. Of a trie without notes (see OpenBody) only Allow is
// known.
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

// Agents returns the values of the user-agent lines by which the trie's groups were chosen,
// in file order, with bytes that are not UTF-8 as %XX. There are none without a group, and
// in a trie without notes.
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
