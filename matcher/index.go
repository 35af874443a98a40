package matcher

import (
	"bytes"
	"cmp"
	"slices"

	"robotsbatch/matcher/internal/kernels"
)

// A group with many wildcard rules has an index, so that the time for a URL does not grow
// with the number of rules. For each suffix one of its literals, the index literal, is put
// into a second trie. A search walks that trie from each byte of the path and finds the
// suffixes whose index literal occurs; only these are tried.
const (
	// indexThreshold is the number of suffixes from which a group gets an index. With
	// fewer, comparing all signatures is faster.
	indexThreshold = 100
	// maxIndexLiteral bounds the length of an index literal, and so the time at each byte
	// of a path. A longer literal is cut to this length.
	maxIndexLiteral = 16
)

// The index is the last section of a compiled group:
//
//	u32  number of index literals
//	16 bytes for each index literal, from number 1 on: u32 the first of its
//	     suffixes in the list, u32 their number, u32 the longest other index
//	     literal that is a prefix of it (0 for none), u32 0
//	u32  length of the list, then the list: u32 suffixes, for each index literal
//	     the best rule first
//	a compiled group, whose rule n is index literal n
//
// Index literals are numbered by length. So the greatest number found by a walk is the
// longest index literal.
const indexLiteralSize, indexCountAt, indexPrefixAt = 16, 4, 8

// indexLiteral is an index literal with the suffixes that have it.
type indexLiteral struct {
	text     []byte
	suffixes []uint32
}

// buildIndex returns the bytes of the index of suffixes. Suffix i has the literals suffixes[i],
// at least one, and the rule rules[i].
func buildIndex(suffixes [][][]byte, rules []uint32) []byte {
	indexLiterals := chooseIndexLiterals(suffixes)
	slices.SortFunc(indexLiterals, func(a, b indexLiteral) int {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), bytes.Compare(a.text, b.text))
	})
	records := append32(nil, uint32(len(indexLiterals)))
	var postings []byte
	entries := make([]entry, len(indexLiterals))
	numbers := make(map[string]uint32, len(indexLiterals))
	for i, l := range indexLiterals {
		number := uint32(i + 1)
		entries[i] = entry{pattern: pattern{text: l.text, prefix: len(l.text)}, rule: number}
		numbers[string(l.text)] = number
		slices.SortFunc(l.suffixes, func(a, b uint32) int { return cmp.Compare(rules[b], rules[a]) }) // the best rule first
		records = append32(records, uint32(len(postings)/4), uint32(len(l.suffixes)), longestPrefix(numbers, l.text), 0)
		postings = append32(postings, l.suffixes...)
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.text, b.text) })
	var trie builder // its rule n is index literal n
	trie.reset(entries)
	records = append32(records, uint32(len(postings)/4))
	return slices.Concat(records, postings, trie.build().data)
}

// longestPrefix returns the number of the longest index literal that is a proper prefix of
// text.
func longestPrefix(numbers map[string]uint32, text []byte) uint32 {
	for n := len(text) - 1; n > 0; n-- {
		if number, ok := numbers[string(text[:n])]; ok {
			return number
		}
	}
	return 0
}

// chooseIndexLiterals returns the index literals, each with its suffixes. It chooses one literal
// of each suffix: the one that fewest suffixes have, because a literal that thousands of rules
// share excludes little; among these the longest.
func chooseIndexLiterals(suffixes [][][]byte) []indexLiteral {
	var (
		numbers  = make(map[string]int)
		all      []indexLiteral // by number
		shared   []int          // by number, the number of literals with this text
		numberOf []int          // the number of each literal, one suffix after the other
	)
	for _, literals := range suffixes {
		for _, literal := range literals {
			cut := literal[:min(len(literal), maxIndexLiteral)]
			number, ok := numbers[string(cut)]
			if !ok {
				number = len(all)
				numbers[string(cut)] = number
				all, shared = append(all, indexLiteral{text: cut}), append(shared, 0)
			}
			shared[number]++
			numberOf = append(numberOf, number)
		}
	}
	for suffix, literals := range suffixes {
		best := numberOf[0]
		for _, n := range numberOf[1:len(literals)] {
			if c := shared[n] - shared[best]; c < 0 || (c == 0 && len(all[n].text) > len(all[best].text)) {
				best = n
			}
		}
		numberOf = numberOf[len(literals):]
		all[best].suffixes = append(all[best].suffixes, uint32(suffix))
	}
	return slices.DeleteFunc(all, func(l indexLiteral) bool { return len(l.suffixes) == 0 })
}

// index is the index of a group with its sections found.
type index struct {
	data     []byte
	postings int      // offset of the list of suffixes
	count    int      // number of index literals
	length   uint32   // number of suffixes in the list
	left     uint32   // of these, the number that the search has not seen
	trie     compiled // of the index literals
}

// openIndex finds the sections of an index in data, which it aliases. ok is false if data is too short
// for them.
func openIndex(data []byte) (found index, ok bool) {
	const counts = 8 // bytes of the two numbers before the list: of index literals, and its length
	if len(data) < counts {
		return found, false
	}
	literals := uint64(le32(data))
	postings := counts + indexLiteralSize*literals
	if postings > uint64(len(data)) {
		return found, false
	}
	length := uint64(le32(data[postings-4:])) // the number before the list
	if postings+4*length > uint64(len(data)) {
		return found, false
	}
	found = index{data: data, count: int(literals), postings: int(postings), length: uint32(length), left: uint32(length)}
	found.trie, ok = openCompiled(data[postings+4*length:])
	return found, ok
}

// numberSet is a set of small numbers that is emptied in constant time: a number is in it if it was
// added in the current epoch.
type numberSet struct {
	epoch  uint32   // from 1 on
	epochs []uint32 // by number, the epoch in which it was added last; 0 for never
}

// reset empties the set and makes room for numbers below n.
func (s *numberSet) reset(n int) {
	if len(s.epochs) < n {
		s.epochs = slices.Grow(s.epochs, n-len(s.epochs))[:n]
	}
	if s.epoch++; s.epoch == 0 { // once in four billion times
		clear(s.epochs[:cap(s.epochs)])
		s.epoch = 1
	}
}

// add adds a number. It ignores one that reset made no room for: only forged rules have such.
func (s *numberSet) add(n uint32) {
	if int64(n) < int64(len(s.epochs)) {
		s.epochs[n] = s.epoch
	}
}

func (s *numberSet) has(n uint32) bool {
	return int64(n) < int64(len(s.epochs)) && s.epochs[n] == s.epoch
}

// indexedSuffix does what bestSuffix does, by a search of the index. The group must have one.
func (c *compiled) indexedSuffix(target *Target, list uint32, kind suffixKind, floor uint32) uint32 {
	target.prepare()
	found, ok := openIndex(c.data[c.index:])
	if !ok || int64(found.length) > int64(c.suffixCount()) {
		return 0 // of a forged group: each suffix has one index literal
	}
	c.collectLists(target, list)
	s := search{rules: c, index: found, target: target, kind: kind, best: floor}
	target.foundLiterals.reset(s.index.count + 1) // numbers start at 1
	target.untried = [2][]uint32{target.untried[0][:0], target.untried[1][:0]}
	s.scan(target.query)
	if len(target.plain) != len(target.query) {
		s.scan(target.plain)
	}
	s.tryUntried()
	if s.best == floor {
		return 0
	}
	return s.best
}

// collectLists sets target.lists to a list and the lists above it, as far as their literal prefixes are
// not longer than the path and become shorter, as those of a sound group do.
func (c *compiled) collectLists(target *Target, list uint32) {
	target.lists.reset(int(c.signatures-c.lists) / listSize)
	for limit := uint32(len(target.plain)) + 1; list != 0; { // no spelling is longer
		record := c.list(list)
		depth := kernels.Load32(c.data, record+listDepthAt)
		if depth >= limit {
			return // of a forged group
		}
		limit = depth
		target.lists.add(list)
		list = c.above(record, list)
	}
}

// search is one search of an index.
type search struct {
	rules  *compiled
	index  index
	target *Target
	kind   suffixKind // of the suffixes that are tried
	best   uint32     // the best rule so far, at first the floor
	tries  int        // suffixes that were tried or put off
}

// maxTries is the number of suffixes that a search tries one by one as it finds them. It puts off the
// rest to its end, where a sweeper may try them together.
const maxTries = 16

// scan tries the suffixes of each index literal that occurs in a path, a spelling of the
// target. It walks the trie from each byte of the path.
func (s *search) scan(path []byte) {
	trie := &s.index.trie
	low, high := trie.firstBytes()
	for i, char := range path {
		if !hasChild(low, high, char) {
			continue
		}
		literal := uint32(0) // the longest one that begins at byte i, then those that are prefixes of it
		if w := trie.walk(path[i:min(i+maxIndexLiteral, len(path))]); w.leaf != 0 {
			literal = trie.leafRule(w.leaf).best
		} else {
			literal = kernels.Load32(trie.data, trie.end(w.end)+endBestAt)
		}
		// If one was found before, its prefixes were found with it.
		for literal != 0 && uint64(literal) <= uint64(s.index.count) && !s.target.foundLiterals.has(literal) {
			s.target.foundLiterals.add(literal)
			record := 4 + int(literal-1)*indexLiteralSize // after the number of literals
			s.tryLiteral(record)
			literal = kernels.Load32(s.index.data, record+indexPrefixAt)
		}
	}
}

// firstBytes returns the set of bytes that the texts of a trie start with, in the two words of
// hasChild: the first byte of the root's label, or the bytes of its children. No text is empty, so
// none ends at the root itself.
func (c *compiled) firstBytes() (low, high uint64) {
	if label := kernels.Load64(c.data, headerSize); label>>56 > 0 { // the top byte is the label's length, the lowest its first byte
		bit := uint64(1) << (label & 63)
		if byte(label) < 64 {
			return bit, 0
		}
		return 0, bit
	}
	return kernels.Load64(c.data, headerSize+nodeLowAt), kernels.Load64(c.data, headerSize+nodeHighAt)
}

// tryLiteral tries the suffixes of an index literal, the best rule first, while their rule beats
// s.best, which it raises to the rule of one that matches. After maxTries it puts suffixes off.
// record is the offset of the index literal in the index.
func (s *search) tryLiteral(record int) {
	c, x := s.rules, &s.index
	missing := ^s.target.signature
	first, count := kernels.Load32(x.data, record), kernels.Load32(x.data, record+indexCountAt)
	if count > x.left || uint64(first)+uint64(count) > uint64(x.length) {
		return // of a forged group: no suffix belongs to two index literals
	}
	x.left -= count
	posting := x.postings + 4*int(first)
	for end := posting + 4*int(count); posting < end; posting += 4 {
		number := kernels.Load32(x.data, posting)
		if uint64(number) >= uint64(c.suffixCount()) {
			return // of a forged group
		}
		suffix := int(number)
		rule := c.ruleOf(suffix)
		if rule <= s.best {
			return
		}
		if kindOf(rule) != s.kind || c.signatureOf(suffix)&missing != 0 {
			continue
		}
		list := c.listOf(suffix)
		if !s.target.lists.has(list) {
			continue
		}
		if s.tries++; s.tries > maxTries {
			s.putOff(number)
			continue
		}
		if c.matchSuffix(suffix, s.target.plain, s.target.query, c.depthOf(list)) {
			s.best = rule
			return
		}
	}
}

// putOff keeps a suffix for tryUntried, once, though the index of a forged group may name it
// more than once.
func (s *search) putOff(suffix uint32) {
	target := s.target
	if s.tries == maxTries+1 { // the first one that this search puts off
		target.putOff.reset(s.rules.suffixCount())
	}
	if target.putOff.has(suffix) {
		return
	}
	target.putOff.add(suffix)
	spelling := s.rules.spellingOf(int(suffix))
	target.untried[spelling] = append(target.untried[spelling], suffix)
}

// tryUntried tries the suffixes that were put off, and raises s.best to the best rule of those
// that match: one by one, or together by a sweeper where that pays.
func (s *search) tryUntried() {
	target, c := s.target, s.rules
	const call = 64 // the fixed cost of trying one suffix, in bytes of text scanned
	cost := len(target.untried[0])*(len(target.plain)+call) + len(target.untried[1])*(len(target.query)+call)
	if cost == 0 {
		return
	}
	sweeper := target.sweeperOf(c, cost)
	for spelling, text := range [...][]byte{target.plain, target.query} {
		if sweeper != nil && len(target.untried[spelling]) > 0 {
			s.best = sweeper.sweep(c, text, target.untried[spelling], s.best)
			continue
		}
		for _, number := range target.untried[spelling] {
			suffix := int(number)
			rule := c.ruleOf(suffix)
			if rule > s.best && c.matchSuffix(suffix, target.plain, target.query, c.depthOf(c.listOf(suffix))) {
				s.best = rule
			}
		}
	}
}

// spellingOf returns 1 for a suffix that is matched against the query spelling, else 0.
func (c *compiled) spellingOf(suffix int) int {
	return int(kernels.Load32(c.data, c.suffix(suffix)+suffixFlagsAt)&suffixQuery) / suffixQuery
}
