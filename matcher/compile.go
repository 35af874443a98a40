package matcher

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"robotsbatch/matcher/robotstxt"
)

// Compile is Compiler.Compile for a single body, with explanations.
func Compile(f *robotstxt.File, chains []Chain) []Trie {
	c := Compiler{Explain: true}
	return c.Compile(f, chains)
}

// Compiler compiles bodies one after the other, in memory that it keeps: as much
// as the largest of them needed. It belongs to one goroutine. The zero value is
// ready for use.
type Compiler struct {
	// Explain makes rules known by their text, line and agent; without it
	// Trie.Rule knows only whether a rule allows.
	Explain bool

	entries, sorted []entry
	sources         []source
	arena           []byte // of the entries' texts
	keys            []uint64
	byRank          []uint32
	order           []sortKey
	builder         builder
}

// Compile compiles what a body means for each chain: one Trie a chain, in their
// order. Chains that obey the same groups share their compiled rules. The tries
// keep nothing of f, nor of the compiler.
//
// It takes time and memory linear in the body, but for sorting its rules.
func (c *Compiler) Compile(f *robotstxt.File, chains []Chain) []Trie {
	tries := make([]Trie, len(chains))
	chosen := make([][]choice, len(chains))
	for i, chain := range chains {
		var ok bool
		chosen[i], ok = chooseGroups(f, chain)
		if j := slices.IndexFunc(chosen[:i], func(c []choice) bool { return sameGroups(c, chosen[i]) }); j >= 0 {
			tries[i] = tries[j]
		} else {
			tries[i] = c.groups(f, chosen[i], ok)
		}
		if c.Explain {
			tries[i].agents = agentNames(chosen[i])
		}
	}
	return tries
}

func sameGroups(a, b []choice) bool {
	return slices.EqualFunc(a, b, func(x, y choice) bool { return x.group == y.group })
}

// entry is a rule on its way into the trie.
type entry struct {
	pattern
	rule   uint32 // number: rank × 2, plus 1 for allow
	order  uint32 // index of its source among all rules
	prefix int    // how many octets come before the first star
}

// literalPrefix is the text up to the first star.
func (e *entry) literalPrefix() []byte { return e.text[:e.prefix] }

// source is a rule as the file has it.
type source struct {
	*robotstxt.Rule
	group uint32
}

// groups compiles the rules of the merged groups (RFC 9309 §2.2.1).
func (c *Compiler) groups(f *robotstxt.File, chosen []choice, hasGroup bool) (t Trie) {
	c.collect(f, chosen)
	c.rank()
	c.dedupe()
	b := &c.builder
	b.reset(c.sorted)
	if hasGroup {
		b.flags |= flagGroup
	}
	if f.Profile == robotstxt.Google {
		b.flags |= flagGoogle
	}
	t.rules = b.build()
	if c.Explain {
		t.notes = c.describe()
	}
	return t
}

// collect compiles the patterns of the chosen groups' rules.
func (c *Compiler) collect(f *robotstxt.File, chosen []choice) {
	c.entries, c.sources, c.arena = c.entries[:0], c.sources[:0], c.arena[:0]
	for n, choice := range chosen {
		rules := f.Groups[choice.group].Rules
		for i := range rules {
			rule := &rules[i]
			p, ok := compilePattern(c.arena[len(c.arena):], rule.Pattern, f.Profile)
			if !ok {
				continue
			}
			c.keep(p)
			if f.Profile == robotstxt.Google && rule.Allow {
				if p, ok := indexPattern(c.arena[len(c.arena):], rule.Pattern); ok {
					c.keep(p)
				}
			}
			c.sources = append(c.sources, source{Rule: rule, group: uint32(n)})
		}
	}
}

// keep adds a pattern of the next source, whose text was appended at the end of
// the arena, and advances the arena past it; when the text outgrew the arena, a
// new one is begun.
func (c *Compiler) keep(p pattern) {
	c.entries = append(c.entries, entry{pattern: p, order: uint32(len(c.sources)), prefix: len(literalPrefix(p.text))})
	if end := len(c.arena) + len(p.text); end <= cap(c.arena) {
		c.arena = c.arena[:end]
	} else {
		c.arena = make([]byte, 0, 4096+2*cap(c.arena))
	}
}

// rank numbers the entries by specificity and collects their sources by rank;
// rank 0 is no rule.
func (c *Compiler) rank() {
	const indexBits = 32
	entries := c.entries
	c.keys = c.keys[:0]
	// Length and verdict above, the index below: entries are in file order, and
	// of equal ones the first must come last.
	for i := range entries {
		e := &entries[i]
		key := uint64(e.length) << 1
		if c.sources[e.order].Allow {
			key |= 1
		}
		c.keys = append(c.keys, key<<indexBits|uint64(len(entries)-1-i))
	}
	slices.Sort(c.keys)
	c.byRank = append(c.byRank[:0], 0)
	for r, key := range c.keys {
		e := &entries[len(entries)-1-int(key&(1<<indexBits-1))]
		e.rule = uint32(r+1)<<1 | uint32(key>>indexBits&1)
		c.byRank = append(c.byRank, e.order)
	}
}

// dedupe sorts the entries by text, without those that match what a better one
// matches, too, because their texts are equal.
func (c *Compiler) dedupe() {
	entries := c.entries
	c.order = c.order[:0]
	for i := range entries {
		c.order = append(c.order, sortKey{head: head(entries[i].text), index: uint32(i)})
	}
	slices.SortFunc(c.order, func(a, b sortKey) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return compareEntries(&entries[a.index], &entries[b.index])
	})
	sorted := c.sorted[:0]
	for _, key := range c.order {
		e := &entries[key.index]
		if n := len(sorted); n > 0 && sorted[n-1].anchored == e.anchored && bytes.Equal(sorted[n-1].text, e.text) {
			continue
		}
		sorted = append(sorted, *e)
	}
	c.sorted = sorted
}

// describe lays out the rules' lines and texts.
func (c *Compiler) describe() []byte {
	notes := make([]byte, noteSize*len(c.byRank))
	for rank := 1; rank < len(c.byRank); rank++ {
		source := c.sources[c.byRank[rank]]
		start := len(notes)
		notes = appendValid(notes, source.Text)
		note := notes[rank*noteSize:]
		put32(note, uint32(source.Line))
		put32(note[4:], uint32(start))
		put32(note[8:], uint32(len(notes)-start))
		put32(note[12:], source.group)
	}
	return notes
}

// sortKey is an entry's index with what tells most texts apart.
type sortKey struct {
	head  uint64
	index uint32
}

// head is the order of a text by its first octets: eight of them behind the
// slash that nearly all begin with, and 0 for those that begin with a star,
// which come first.
func head(text []byte) uint64 {
	if len(text) == 0 || text[0] == star {
		return 0
	}
	if len(text) > 8 {
		return binary.BigEndian.Uint64(text[1:])
	}
	var padded [8]byte
	copy(padded[:], text[1:])
	return binary.BigEndian.Uint64(padded[:])
}

// compareEntries orders entries by text, then those that are not anchored
// first, then by rank, the best first.
func compareEntries(a, b *entry) int {
	if c := bytes.Compare(a.text, b.text); c != 0 {
		return c
	}
	if a.anchored != b.anchored {
		if a.anchored {
			return 1
		}
		return -1
	}
	return cmp.Compare(b.rule, a.rule)
}
