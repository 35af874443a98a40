package matcher

import (
	"bytes"
	"slices"

	"robotsbatch/matcher/internal/kernels"
)

// sweeper tries many wildcard suffixes in one pass over a path. A hostile group has
// thousands of suffixes whose index literals all occur in a path; trying each of them takes
// time in the product of path and suffixes, a sweeper in their sum.
//
// Each suffix waits for its next literal. When the literal occurs, the suffix waits for the
// one after it. The earliest occurrence of a literal is as good as any other, so a suffix
// never goes back. It starts to wait at the first byte where the next literal can end; from
// there on any occurrence will do, so each suffix is looked at once for each of its
// literals.
type sweeper struct {
	rules *byte // Trie.Identity of the group that it is for
	spent int   // bytes that were scanned without it, while it was not built

	// What build sets.
	built     bool
	automaton automaton
	sequences []uint32 // the literals of all suffixes, by their numbers in automaton
	starts    []uint32 // by suffix, its first literal in sequences; one element more at the end

	// The state of a pass.
	waiters []waiter // number 0 is none
	due     []uint32 // by byte of the path, the first waiter that starts to wait there
	waiting []uint32 // by literal, the first waiter for it
	waited  []uint64 // a bit set of the literals that have waiters
}

// waiter is the state of a suffix during a pass. Lists of waiters are linked by number,
// from 1 on.
type waiter struct {
	suffix uint32
	rule   uint32
	next   uint32 // its next literal, as index in sequences
	link   uint32
}

const (
	// sweepers is the number of sweepers that a Target keeps, because the agents of a job may obey
	// several groups of one body.
	sweepers = 4
	// buildCost is the cost of building a sweeper, for each byte of the group, in bytes
	// scanned for a literal.
	buildCost = 4
)

// sweeperOf returns the sweeper for a group, or nil as long as building it costs more than
// all scanning without it. cost is the number of bytes to be scanned now without it. If the
// group has no sweeper, that of another group is replaced.
func (p *Target) sweeperOf(c *compiled, cost int) *sweeper {
	i := slices.IndexFunc(p.sweepers[:], func(s *sweeper) bool { return s != nil && s.rules == &c.data[0] })
	if i < 0 {
		i = p.nextSweeper
		p.nextSweeper = (p.nextSweeper + 1) % sweepers
		if p.sweepers[i] == nil {
			p.sweepers[i] = new(sweeper)
		}
		s := p.sweepers[i]
		s.rules, s.spent, s.built = &c.data[0], 0, false
	}
	s := p.sweepers[i]
	if !s.built {
		if s.spent += cost; s.spent < buildCost*int(c.index-c.suffixes) { // the bytes of suffixes, literals and text
			return nil
		}
		s.build(c)
	}
	return s
}

// build prepares s for passes over paths: it makes the automaton of the literals that the group's suffixes
// have, and each suffix's sequence of them. Literals that share bytes with others, or that do not exist, are
// those of a forged group: there it leaves out the suffixes after them. It takes time linear in the
// group's text, apart from sorting the literals.
func (s *sweeper) build(c *compiled) {
	s.sequences, s.starts = s.sequences[:0], s.starts[:0]
	indices := make(map[string]uint32) // by literal, its index in distinct + 1
	var distinct [][]byte
	left := int(c.index - c.text) // bytes of the text that no literal has taken
	for suffix := range c.suffixCount() {
		s.starts = append(s.starts, uint32(len(s.sequences)))
		for i := range c.literalCount(suffix) {
			literal, ok := c.literalOf(suffix, i)
			if left -= len(literal); !ok || left < 0 || len(literal) == 0 {
				left = 0 // no other literal fits
				break
			}
			index := indices[string(literal)]
			if index == 0 {
				distinct = append(distinct, bytes.Clone(literal)) // a mapped file can change under it
				index = uint32(len(distinct))
				indices[string(distinct[index-1])] = index
			}
			s.sequences = append(s.sequences, index)
		}
	}
	s.starts = append(s.starts, uint32(len(s.sequences)))
	slices.SortFunc(distinct, bytes.Compare)
	numbers := make([]uint32, len(distinct)+1) // by index + 1, the automaton's number
	for i, number := range s.automaton.build(distinct) {
		numbers[indices[string(distinct[i])]] = number
	}
	for i, index := range s.sequences {
		s.sequences[i] = numbers[index]
	}
	s.waiting = cleared(s.waiting, len(distinct)+1)
	s.waited = cleared(s.waited, len(distinct)/64+1)
	s.built = true
}

// literalCount returns the number of literals of a suffix.
func (c *compiled) literalCount(suffix int) int {
	return int(kernels.Load32(c.data, c.suffix(suffix)+suffixFlagsAt) >> suffixCount)
}

// literalOf returns literal i of a suffix, from 0 and below literalCount; ok is false if it lies
// outside the text, as in a damaged pack.
func (c *compiled) literalOf(suffix, i int) (literal []byte, ok bool) {
	record := c.suffix(suffix)
	at, length := kernels.Load32(c.data, record+suffixFirstAt), kernels.Load32(c.data, record+suffixLongestAt)
	if c.literalCount(suffix) == 1 {
		return c.textAt(at, length)
	}
	return c.literal(at + uint32(i)) // of several, at is the number of the first
}

// sweep returns the best rule above floor among the given suffixes of the group that match;
// floor if there is none. text is the path in the spelling that these suffixes ask for. It takes
// at most len(text) × log2(literals of the group) steps, and one for each literal of the
// suffixes. The sweeper's comment says how suffixes wait for their literals.
func (s *sweeper) sweep(c *compiled, text []byte, suffixes []uint32, floor uint32) (best uint32) {
	best = floor
	s.waiters = append(s.waiters[:0], waiter{}) // number 0 means none
	s.due = cleared(s.due, len(text)+1)
	for _, suffix := range suffixes {
		depth := c.depthOf(c.listOf(int(suffix)))
		if s.starts[suffix] == s.starts[suffix+1] || uint64(depth) > uint64(len(text)) {
			continue // of a forged group
		}
		rule := c.ruleOf(int(suffix))
		s.waiters = append(s.waiters, waiter{suffix: suffix, rule: rule, next: s.starts[suffix]})
		if s.await(c, text, uint32(len(s.waiters)-1), int(depth)) {
			best = max(best, rule)
		}
	}
	a, node := &s.automaton, uint32(0) // the root
	for i, char := range text {
		node = a.step(node, char)
		if due := s.due[i+1]; due != 0 {
			s.startWaiting(due)
		}
		// Each literal that ends here and that a suffix waits for, the longest first.
		for literal := a.longestIn(s.waited, a.nodes[node].found); literal != 0; literal = a.longestIn(s.waited, a.shorter[literal]) {
			best = s.advance(c, text, literal, i+1, best)
		}
	}
	s.stopWaiting()
	return best
}

// advance has all waiters for a literal, which ends at byte end of the text, wait for their next
// one, and empties the literal's list. It drops waiters whose rule cannot beat best. It returns the
// best rule: best or that of a suffix that matches now.
func (s *sweeper) advance(c *compiled, text []byte, literal uint32, end int, best uint32) uint32 {
	number := s.waiting[literal]
	s.waiting[literal] = 0
	s.waited[literal/64] &^= 1 << (literal % 64)
	for number != 0 {
		w := &s.waiters[number]
		link := w.link
		if w.rule > best {
			w.next++
			if s.await(c, text, number, end) {
				best = w.rule
			}
		}
		number = link
	}
	return best
}

// await registers the waiter with that number for the next literal of its wildcard suffix,
// which must begin at text[start] or later. It returns true if the suffix needs no more
// literals, and so matches. It registers nothing if the suffix cannot match any more.
func (s *sweeper) await(c *compiled, text []byte, number uint32, start int) (matches bool) {
	w := &s.waiters[number]
	last := s.starts[w.suffix+1] - 1
	if w.next > last {
		return true
	}
	if w.next == last && c.isAnchored(int(w.suffix)) { // an earlier occurrence would not help
		final, ok := c.literalOf(int(w.suffix), c.literalCount(int(w.suffix))-1)
		return ok && bytes.HasSuffix(text[start:], final)
	}
	if end := start + int(s.automaton.lengths[s.sequences[w.next]]); end <= len(text) {
		w.link = s.due[end]
		s.due[end] = number
	}
	return false
}

// isAnchored reports whether the last literal of a suffix must end the path.
func (c *compiled) isAnchored(suffix int) bool {
	return kernels.Load32(c.data, c.suffix(suffix)+suffixFlagsAt)&suffixAnchored != 0
}

// startWaiting moves each waiter of a list of s.due, given by its first waiter, to the list of
// its next literal.
func (s *sweeper) startWaiting(number uint32) {
	for number != 0 {
		w := &s.waiters[number]
		link, literal := w.link, s.sequences[w.next]
		w.link = s.waiting[literal]
		s.waiting[literal] = number
		s.waited[literal/64] |= 1 << (literal % 64)
		number = link
	}
}

// stopWaiting empties the lists of all literals after a pass. A suffix waits for one literal at most, the
// next of its sequence, because advance empties the lists that it passes. So there is a step for each waiter,
// fewer than there are literals.
func (s *sweeper) stopWaiting() {
	for i := range s.waiters[1:] {
		w := &s.waiters[i+1]
		if next := int(w.next); next < len(s.sequences) {
			literal := s.sequences[next]
			s.waiting[literal] = 0
			s.waited[literal/64] &^= 1 << (literal % 64)
		}
	}
}

// cleared returns a slice of n zeros, in the memory of s if that is large enough.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}
