package matcher

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// A group with many wildcard rules has an index, so that the cost of a URL does
// not follow the number of rules: for each tail one literal, its window, is put
// into a trie of its own. Looking for the windows at each octet of a path finds
// the tails that may match; the others are not touched.
const (
	// indexThreshold is the number of tails from which on a group has an index;
	// below it, trying their sketches one by one is faster.
	indexThreshold = 100
	// maxWindow bounds the octets of a literal that the index looks for, and so
	// the time at each octet of a path.
	maxWindow = 16
)

// The index is the last section of a compiled group:
//
//	u32  number of windows
//	16 octets a window, from number 1 on: u32 first of its tails in the list,
//	     u32 their number, u32 the longest other window that it starts with, 0
//	     for none, u32 0
//	u32  length of the list, then the list: u32 tails, of each window the best
//	     rules first
//	a compiled group, whose rule n is window n
//
// Windows are numbered by length, so that the greatest number on a walk is the
// longest window.
const windowSize = 16

// window is a window on its way into the index.
type window struct {
	text  []byte
	tails []uint32
}

// buildIndex makes the index of tails, given by their literals in the order of
// their numbers.
func buildIndex(tails [][][]byte, rules []uint32) []byte {
	windows := chooseWindows(tails)
	slices.SortFunc(windows, func(a, b window) int {
		if c := cmp.Compare(len(a.text), len(b.text)); c != 0 {
			return c
		}
		return bytes.Compare(a.text, b.text)
	})
	records := binary.LittleEndian.AppendUint32(nil, uint32(len(windows)))
	var list []byte
	entries := make([]entry, len(windows))
	numbers := make(map[string]uint32, len(windows))
	for i, w := range windows {
		number := uint32(i + 1)
		entries[i] = entry{pattern: pattern{text: w.text, prefix: len(w.text)}, rule: number}
		numbers[string(w.text)] = number
		slices.SortFunc(w.tails, func(a, b uint32) int { return cmp.Compare(rules[b], rules[a]) })
		for _, field := range [...]uint32{uint32(len(list) / 4), uint32(len(w.tails)), longestPrefix(numbers, w.text), 0} {
			records = binary.LittleEndian.AppendUint32(records, field)
		}
		for _, tail := range w.tails {
			list = binary.LittleEndian.AppendUint32(list, tail)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.text, b.text) })
	var trie builder
	trie.reset(entries)
	records = binary.LittleEndian.AppendUint32(records, uint32(len(list)/4))
	return slices.Concat(records, list, trie.build().data)
}

// longestPrefix returns the number of the longest window that text starts with,
// other than text itself.
func longestPrefix(numbers map[string]uint32, text []byte) uint32 {
	for n := len(text) - 1; n > 0; n-- {
		if number, ok := numbers[string(text[:n])]; ok {
			return number
		}
	}
	return 0
}

// chooseWindows chooses for each tail the window that fewest tails have, of
// these the longest: a literal that thousands of rules share tells little.
func chooseWindows(tails [][][]byte) []window {
	var (
		numbers  = make(map[string]int)
		all      []window // by number
		shared   []int    // how many literals have a window, by number
		numberOf []int    // the window of each literal, one tail's after the other's
	)
	for _, literals := range tails {
		for _, literal := range literals {
			w := windowOf(literal)
			number, ok := numbers[string(w)]
			if !ok {
				number = len(all)
				numbers[string(w)] = number
				all, shared = append(all, window{text: w}), append(shared, 0)
			}
			shared[number]++
			numberOf = append(numberOf, number)
		}
	}
	for tail, literals := range tails {
		best := numberOf[0]
		for _, w := range numberOf[1:len(literals)] {
			if c := shared[w] - shared[best]; c < 0 || (c == 0 && len(all[w].text) > len(all[best].text)) {
				best = w
			}
		}
		numberOf = numberOf[len(literals):]
		all[best].tails = append(all[best].tails, uint32(tail))
	}
	return slices.DeleteFunc(all, func(w window) bool { return len(w.tails) == 0 })
}

func windowOf(literal []byte) []byte { return literal[:min(len(literal), maxWindow)] }

// index is the index of a group with its parts found.
type index struct {
	data  []byte
	list  int // where the list begins
	count int // number of windows
	trie  compiled
}

// newIndex finds the parts of an index.
func newIndex(data []byte) index {
	x := index{data: data, count: int(le32(data))}
	x.list = 4 + windowSize*x.count + 4
	length := int(le32(data[x.list-4:]))
	x.trie = newCompiled(data[x.list+4*length:])
	return x
}

// marks are what was met while an index was searched: numbers below the size
// asked for, all unmarked at the beginning, which costs nothing.
type marks struct {
	epoch uint32
	at    []uint32 // the epoch in which a number was marked
}

// clear unmarks all numbers below n.
func (m *marks) clear(n int) {
	if len(m.at) < n {
		m.at = slices.Grow(m.at, n-len(m.at))[:n]
	}
	if m.epoch++; m.epoch == 0 { // once in four billion times
		clear(m.at[:cap(m.at)])
		m.epoch = 1
	}
}

func (m *marks) mark(n uint32)        { m.at[n] = m.epoch }
func (m *marks) marked(n uint32) bool { return m.at[n] == m.epoch }

// indexedTail is bestTail by way of the index.
func (c *compiled) indexedTail(p *Target, bunch uint32, kind tailKind, floor uint32) uint32 {
	p.prepare()
	p.bunches.clear((c.sketches - c.bunches) / bunchSize)
	for b := bunch; b != 0; b = load32(c.data, c.bunch(b)+24) {
		p.bunches.mark(b)
	}
	s := search{rules: c, index: newIndex(c.data[c.index:]), target: p, kind: kind, best: floor}
	p.windows.clear(s.index.count + 1)
	p.untried = [2][]uint32{p.untried[0][:0], p.untried[1][:0]}
	s.scan(p.query)
	if len(p.plain) != len(p.query) {
		s.scan(p.plain)
	}
	s.tryUntried()
	if s.best == floor {
		return 0
	}
	return s.best
}

// search is one search of an index.
type search struct {
	rules  *compiled
	index  index
	target *Target
	kind   tailKind
	best   uint32
	tries  int
}

// maxTries is how many suffixes a search tries one by one when it comes upon them.
// More are tried together at its end, where there may be a sweeper for them.
const maxTries = 16

// scan looks for windows at each octet of a path.
func (s *search) scan(path []byte) {
	trie := &s.index.trie
	low, high := trie.firstOctets()
	for i, octet := range path {
		if !hasChild(low, high, octet) {
			continue
		}
		number := uint32(0)
		if w := trie.walk(path[i:]); w.leaf != 0 {
			number = trie.leafRule(w.leaf).best
		} else {
			number = load32(trie.data, trie.end(w.end))
		}
		for number != 0 && !s.target.windows.marked(number) {
			s.target.windows.mark(number)
			record := 4 + int(number-1)*windowSize
			s.try(record)
			number = load32(s.index.data, record+8)
		}
	}
}

// firstOctets returns the octets that the texts of a trie begin with, a bit
// each. No text is empty.
func (c *compiled) firstOctets() (low, high uint64) {
	if label := load64(c.data, headerSize); label>>56 > 0 {
		bit := uint64(1) << (label & 63)
		if byte(label) < 64 {
			return bit, 0
		}
		return 0, bit
	}
	return load64(c.data, headerSize+8), load64(c.data, headerSize+16)
}

// try tries the tails of a window, the best first, while they beat what was
// found.
func (s *search) try(record int) {
	c, x := s.rules, &s.index
	missing := ^s.target.sketch
	at := x.list + 4*int(load32(x.data, record))
	for last := at + 4*int(load32(x.data, record+4)); at < last; at += 4 {
		tail := int(load32(x.data, at))
		fields := c.tails + tail*tailSize
		rule := load32(c.data, fields)
		if rule <= s.best {
			return
		}
		if tailKind(rule&1) == s.kind || Sketch(load64(c.data, c.sketches+tail*sketchSize))&missing != 0 {
			continue
		}
		bunch := load32(c.data, fields+16)
		if !s.target.bunches.marked(bunch) {
			continue
		}
		if s.tries++; s.tries > maxTries {
			spelling := c.spellingOf(tail)
			s.target.untried[spelling] = append(s.target.untried[spelling], uint32(tail))
			continue
		}
		if c.matchTail(tail, s.target.plain, s.target.query, int(load32(c.data, c.bunch(bunch)))) {
			s.best = rule
			return
		}
	}
}

// tryUntried tries the suffixes that were put off, whose best is one of these or
// what was found before.
func (s *search) tryUntried() {
	p, c := s.target, s.rules
	// What a call costs, whatever it looks at, is that of so many bytes.
	const call = 64
	cost := len(p.untried[0])*(len(p.plain)+call) + len(p.untried[1])*(len(p.query)+call)
	if cost == 0 {
		return
	}
	sweeper := p.sweeperOf(c, cost)
	for spelling, text := range [...][]byte{p.plain, p.query} {
		if sweeper != nil && len(p.untried[spelling]) > 0 {
			s.best = sweeper.sweep(c, text, p.untried[spelling], s.best)
			continue
		}
		for _, tail := range p.untried[spelling] {
			fields := c.tails + int(tail)*tailSize
			if rule := load32(c.data, fields); rule > s.best && c.matchTail(int(tail), p.plain, p.query, int(load32(c.data, c.bunch(load32(c.data, fields+16))))) {
				s.best = rule
			}
		}
	}
}

// spellingOf is 1 for a suffix that is matched against the query spelling, else 0.
func (c *compiled) spellingOf(tail int) int {
	return int(load32(c.data, c.tails+tail*tailSize+4)&tailQuery) / tailQuery
}
