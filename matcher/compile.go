package matcher

import (
	"bytes"
	"slices"
	"strings"

	"robotsbatch/matcher/robotstxt"
)

// Compile compiles a body with a new Compiler, with notes. It returns one Trie for each
// chain, in their order; chains that obey the same groups get equal tries.
func Compile(f *robotstxt.File, chains []Chain) []Trie {
	c := Compiler{Explain: true}
	tries, of := c.Compile(f, NewAgents(chains))
	o := Origin{Tries: tries, Of: of}
	all := make([]Trie, len(chains))
	for i := range all {
		all[i] = *o.Trie(i)
	}
	return all
}

// CompileMemory returns an upper bound of the bytes of memory in use while a body is parsed and
// compiled for agents that obey the same groups. It adds the cost of each line and each byte
// (compileBytes), which were measured with bodies that have little else.
func CompileMemory(body []byte) int64 {
	const perRule, leastRule = 432, len("allow:\n") // bytes of memory; bytes of the shortest rule
	need, lines := 0, 0
	for _, c := range body {
		need += int(compileBytes[c])
		if c == '\n' || c == '\r' {
			lines++
		}
	}
	return int64(need + perRule*min(lines, len(body)/leastRule))
}

// compileBytes has for each byte of a body the bytes of memory that it takes to compile: most
// for a wildcard, which starts a literal, and more for a byte that may become an escape.
var compileBytes = func() (cost [256]uint16) {
	for c := range cost {
		switch {
		case c == '\n' || c == '\r':
		case c == '*':
			cost[c] = 256
		case c <= ' ' || c >= 0x7F || strings.IndexByte("%\"<>\\^`{|}", byte(c)) >= 0:
			cost[c] = 32
		default:
			cost[c] = 12
		}
	}
	return cost
}()

// Compiler compiles bodies one after the other. It keeps its memory, as much as the largest
// body needed. It belongs to one goroutine. The zero value is ready for use.
type Compiler struct {
	// Explain keeps the text, line and agent of each rule. Without it Trie.Rule knows only
	// whether a rule allows.
	Explain bool
	// Asked, if not nil, has CompileBody compile only the groups that these agents obey, and
	// no notes. Other names keep their places, and their groups are those of "*".
	Asked *Agents

	selector selector
	compiled []compiledGroups // of the current body

	// What compileGroups makes of one choice of groups.
	sources []source // the rules that can match, in file order
	entries []entry  // their patterns, in the same order
	arena   []byte   // the texts of entries that are not in the body as they are
	byRank  []uint32 // by rank, the index in sources of its rule; no rule has rank 0
	sorted  []entry  // see dedupe
	keys    []uint64 // memory of rank
	sorting []textStart
	builder builder
}

// compiledGroups are merged groups of a body and the trie that they compile to.
type compiledGroups struct {
	chosen []choice
	trie   Trie
}

// Compile compiles a body for each agent. It returns the distinct tries and the index of
// each agent's trie, as the fields Tries and Of of an Origin; of is nil if there is one trie.
// The tries alias neither f nor the compiler's memory.
//
// It takes time and memory linear in the body and in the number of agents, apart from
// sorting the rules.
func (c *Compiler) Compile(f *robotstxt.File, agents *Agents) (tries []Trie, of []uint32) {
	c.selector.choose(f, agents)
	c.compiled = c.compiled[:0]
	d := newDistinct(agents)
	for i := range agents.chains {
		name := agents.obeyed(i, c.selector.has)
		d.add(name, func() Trie { return c.trieOf(f, c.selector.groupsOf(name)) })
	}
	clear(c.compiled) // so that no body is kept in memory
	return d.result()
}

// trieOf returns the trie of the chosen groups of f, with notes if c.Explain is set. It compiles
// each choice of groups once a body (c.compiled). Tries of equal choices share their rules, but not
// the user-agent lines that led to the groups.
func (c *Compiler) trieOf(f *robotstxt.File, chosen []choice) Trie {
	sameGroup := func(x, y choice) bool { return x.group == y.group }
	known := slices.IndexFunc(c.compiled, func(g compiledGroups) bool { return slices.EqualFunc(g.chosen, chosen, sameGroup) })
	if known < 0 {
		t := c.compileGroups(f, chosen)
		if c.Explain {
			t.notes = &notes{rules: c.ruleNotes()}
		}
		known = len(c.compiled)
		c.compiled = append(c.compiled, compiledGroups{chosen: chosen, trie: t})
	}
	t := c.compiled[known].trie
	if c.Explain {
		t.notes = &notes{rules: t.notes.rules, agents: agentNames(chosen)}
	}
	return t
}

// entry is a rule to be put into the trie.
type entry struct {
	pattern
	rule  uint32 // its number: rank × 2, plus 1 for allow
	order uint32 // index in Compiler.sources
}

// source is a rule as the file has it.
type source struct {
	*robotstxt.Rule
	group uint32 // its index among the chosen groups
}

// compileGroups compiles the rules of the chosen groups of f, merged in file order (RFC 9309
// §2.2.1), to a trie without notes. Until its next call ruleNotes returns the notes, and c.byRank
// has the rules by rank.
func (c *Compiler) compileGroups(f *robotstxt.File, chosen []choice) (t Trie) {
	c.collect(f, chosen)
	c.rank()
	c.dedupe()
	b := &c.builder
	b.reset(c.sorted)
	if len(chosen) > 0 {
		b.flags |= flagGroup
	}
	if f.Profile == robotstxt.Google {
		b.flags |= flagGoogle
	}
	t.rules = b.build()
	return t
}

// collect sets c.entries and c.sources to the rules of the chosen groups of f that can match,
// in file order. Ranks are not set yet. Under Google an allow rule may have two entries; see
// indexPattern.
func (c *Compiler) collect(f *robotstxt.File, chosen []choice) {
	c.entries, c.sources, c.arena = c.entries[:0], c.sources[:0], c.arena[:0]
	for n, choice := range chosen {
		rules := f.Groups[choice.group].Rules
		for i := range rules {
			rule := &rules[i]
			if !c.addEntry(rule.Pattern, rule.Allow, f.Profile) {
				continue
			}
			if f.Profile == robotstxt.Google && rule.Allow {
				if directory, ok := indexPattern(rule.Pattern); ok {
					c.addEntry(directory, rule.Allow, f.Profile)
				}
			}
			c.sources = append(c.sources, source{Rule: rule, group: uint32(n)})
		}
	}
}

// addEntry appends an entry for a pattern of the rule that collect appends to c.sources next. The
// entry's number has its verdict and no rank. For a pattern that cannot match anything it returns
// false and appends nothing.
func (c *Compiler) addEntry(pattern []byte, allow bool, p Profile) (ok bool) {
	n := len(c.entries)
	c.entries = append(c.entries, entry{order: uint32(len(c.sources))})
	e := &c.entries[n]
	if c.arena, ok = e.compile(c.arena, pattern, p); !ok {
		c.entries = c.entries[:n]
		return false
	}
	if allow {
		e.rule = 1
	}
	return true
}

// rank completes the numbers of c.entries with their ranks: from 1 on by specificity (RFC 9309
// §2.2.2). It sets c.byRank to the index in c.sources of the rule of each rank, 0 for rank 0.
func (c *Compiler) rank() {
	const indexBits = 32
	entries := c.entries
	c.keys = c.keys[:0]
	// The high bits of a key are length and verdict, the low bits the index counted from
	// the end: among equal rules the first line gets the highest rank.
	for i := range entries {
		key := uint64(entries[i].length)<<1 | uint64(entries[i].rule)
		c.keys = append(c.keys, key<<indexBits|uint64(len(entries)-1-i))
	}
	slices.Sort(c.keys)
	c.byRank = append(c.byRank[:0], 0)
	for r, key := range c.keys {
		e := &entries[len(entries)-1-int(key&(1<<indexBits-1))]
		e.rule |= uint32(r+1) << 1
		c.byRank = append(c.byRank, e.order)
	}
}

// dedupe sets c.sorted to the entries sorted by text, the unanchored before the anchored. Of
// entries that are equal in both it keeps the one with the highest rank.
func (c *Compiler) dedupe() {
	c.sortByText()
	sorted := c.sorted[:0]
	for _, t := range c.sorting {
		e := &c.entries[t.entry]
		if n := len(sorted); n > 0 && sorted[n-1].anchored == e.anchored && bytes.Equal(sorted[n-1].text, e.text) {
			continue
		}
		sorted = append(sorted, *e)
	}
	c.sorted = sorted
}

// ruleNotes returns the notes on the rules that compileGroups compiled last, in the layout of
// layout.go: a note of fixed size for each rank, then the texts to which the notes point. The
// note of rank 0, which no rule has, is zeros.
func (c *Compiler) ruleNotes() []byte {
	size := noteSize * len(c.byRank)
	for _, order := range c.byRank[1:] {
		size += len(c.sources[order].Text)
	}
	notes := make([]byte, noteSize*len(c.byRank), size)
	for rank := 1; rank < len(c.byRank); rank++ {
		source := c.sources[c.byRank[rank]]
		start := len(notes)
		notes = AppendValid(notes, source.Text)
		note := notes[rank*noteSize:]
		put32(note, uint32(source.Line))
		put32(note[noteTextAt:], uint32(start))
		put32(note[noteLengthAt:], uint32(len(notes)-start))
		put32(note[noteGroupAt:], source.group)
	}
	return notes
}
