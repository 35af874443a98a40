package evaluate

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/matcher"
)

// spreader has the verdicts of a block by trie, for a job with several agents. A row is
// decided once for each distinct trie of its authority, however many agents obey that;
// then the bits are spread to the agents, or combined.
type spreader struct {
	first   int      // the row of the first bit, a multiple of 8; 0 if rows are not decided by trie
	allowed [][]byte // bits of trie i of each row's authority
	dirty   int      // how many of them may have bits that are set
	usual   []byte   // bits of the trie that most agents obey, of each row's authority
	obeyed  []obeyed // by group
	of      []uint32 // memory of those
	counts  []int32  // agents by trie

	lists map[string]int32 // what a list of Verdicts.Denied is for a set of agents
	key   []byte
	all   int32 // the list of all agents, 0 for none yet
	cache listCache
	// memory is what the batch's lists may take.
	memory listMemory
}

// listMemory is the memory that the lists of a batch take. Each row may have a list of its
// own, as long as there are agents: it is granted while they grow.
type listMemory struct {
	grant *batch.Grant
	left  int64 // bytes that lists may still take
	owed  int64 // bytes taken that the grant was not asked for yet
	err   error // why there are no more lists
}

// listStep is how much memory is granted at a time.
const listStep = 1 << 20

// take takes bytes for a list, and reports whether that succeeded; else m.err says why. The
// grant is asked only once for each listStep.
func (m *listMemory) take(bytes int64) bool {
	if m.err != nil {
		return false
	}
	m.left -= bytes
	m.owed += bytes
	switch {
	case m.left < 0:
		m.err = errLists
	case m.owed >= listStep:
		m.err = m.settle()
	}
	return m.err == nil
}

// settle takes what is owed from the grant.
func (m *listMemory) settle() error {
	owed := m.owed
	m.owed = 0
	return m.grant.Take(owed)
}

var errLists = option.Errorf("the lists of denied agents take more memory than a batch may have: lower %s, or raise %s", option.BatchRows, option.Memory)

// obeyed is what the agents obey in a group.
type obeyed struct {
	tries int // 0 where no rules are asked
	of    []uint32
	// usual is the trie that most agents obey.
	usual int
}

// trie is the index of the trie that an agent obeys, as matcher.Origin.TrieOf is.
func (o *obeyed) trie(agent int) int {
	switch {
	case o.of != nil:
		return int(o.of[agent])
	case o.tries == 1:
		return 0
	}
	return agent
}

// obey remembers which tries the agents obey in a group. The origin may be another one when
// the block ends.
func (s *spreader) obey(group int, o *matcher.Origin) {
	x := obeyed{tries: len(o.Tries)}
	if o.Of != nil {
		start := len(s.of)
		s.of = append(s.of, o.Of...) // what was appended before may stay in older memory
		x.of = s.of[start:len(s.of):len(s.of)]
	}
	s.obeyed[group] = x
}

// reset prepares for a block of rows, and returns the bits. They lie in their bytes as they do
// in the verdicts: that of a row is row - s.first.
func (s *spreader) reset(firstRow, rows, groups, agents int) (allowed [][]byte) {
	s.first = firstRow &^ 7
	size := (firstRow&7 + rows + 7) / 8
	if s.allowed == nil {
		s.allowed = make([][]byte, agents)
	}
	for _, o := range s.obeyed {
		s.dirty = max(s.dirty, o.tries)
	}
	for i := range s.allowed {
		if i >= s.dirty && len(s.allowed[i]) >= size {
			continue
		}
		s.allowed[i] = slices.Grow(s.allowed[i][:0], size)[:size]
		clear(s.allowed[i])
	}
	s.dirty = 0
	s.usual = slices.Grow(s.usual[:0], size)[:size]
	clear(s.usual)
	s.obeyed = slices.Grow(s.obeyed[:0], groups)[:groups]
	clear(s.obeyed)
	s.of = s.of[:0]
	return s.allowed
}

// forget lets go of a batch.
func (s *spreader) forget() {
	for _, o := range s.obeyed {
		s.dirty = max(s.dirty, o.tries)
	}
	clear(s.obeyed)
	s.obeyed = s.obeyed[:0]
	clear(s.lists)
	s.all = 0
	s.memory = listMemory{}
}

// spread gives the verdicts of a block to the agents.
func (e *Evaluator) spread(v *batch.Verdicts) {
	if e.options.Combine == batch.CombineNone {
		e.spreadBits()
		return
	}
	g, s := &e.groups, &e.spreader
	for number := range g.all {
		o := &s.obeyed[number]
		s.cache.reset()
		for w := g.walk(number); w.next(); {
			if o.tries == 0 {
				e.listOutcome(v, w.low, w.high)
			} else {
				e.combineRun(v, o, w.low-s.first, w.high-s.first)
			}
		}
	}
}

// spreadBits gives the bits of a block to the agents: first those of the trie that most agents
// of a row's authority obey to all agents, then those of other tries to the agents that obey
// them. Most agents are named by few authorities.
func (e *Evaluator) spreadBits() {
	g, s := &e.groups, &e.spreader
	for number := range g.all {
		o := &s.obeyed[number]
		if o.tries == 0 {
			continue // the verdicts are set
		}
		o.usual = s.most(o)
		bits := s.allowed[o.usual]
		for w := g.walk(number); w.next(); {
			low, high := w.low-s.first, w.high-s.first
			for at := low >> 3; at <= (high-1)>>3; at++ {
				s.usual[at] |= bits[at] & part(low, high, at)
			}
		}
	}
	for agent := range e.allowed {
		into := e.allowed[agent][s.first>>3:]
		for at, bits := range s.usual {
			into[at] |= bits
		}
	}
	for number := range g.all {
		if o := &s.obeyed[number]; o.tries > 1 {
			for agent := range e.allowed {
				if trie := o.trie(agent); trie != o.usual {
					e.correct(number, s.allowed[trie], e.allowed[agent][s.first>>3:])
				}
			}
		}
	}
}

// most is the trie that most agents obey.
func (s *spreader) most(o *obeyed) (trie int) {
	if o.of == nil {
		return 0
	}
	s.counts = slices.Grow(s.counts[:0], o.tries)[:o.tries]
	clear(s.counts)
	for _, trie := range o.of {
		s.counts[trie]++
	}
	for i, count := range s.counts {
		if count > s.counts[trie] {
			trie = i
		}
	}
	return trie
}

// correct gives the bits of a group's rows to an agent in place of those that it has.
func (e *Evaluator) correct(group int, bits, into []byte) {
	first := e.spreader.first
	for w := e.groups.walk(group); w.next(); {
		low, high := w.low-first, w.high-first
		for at := low >> 3; at <= (high-1)>>3; at++ {
			mask := part(low, high, at)
			into[at] = into[at]&^mask | bits[at]&mask
		}
	}
}

// part is the bits low to high-1 that lie in byte at.
func part(low, high, at int) byte {
	mask := byte(0xFF)
	if at == low>>3 {
		mask <<= low & 7
	}
	if at == (high-1)>>3 {
		mask &= 0xFF >> (7 - (high-1)&7)
	}
	return mask
}

// combineRun combines the verdicts of bits low to high-1 of a block, and lists who is
// denied.
func (e *Evaluator) combineRun(v *batch.Verdicts, o *obeyed, low, high int) {
	s := &e.spreader
	into := e.allowed[0][s.first>>3:]
	for at := low >> 3; at <= (high-1)>>3; at++ {
		mask := part(low, high, at)
		all, any := byte(0xFF), byte(0)
		for _, bits := range s.allowed[:o.tries] {
			all &= bits[at]
			any |= bits[at]
		}
		if e.options.Combine == batch.CombineAllDenied {
			into[at] |= any & mask
		} else {
			into[at] |= all & mask
		}
		for denied := mask &^ all; denied != 0; denied &= denied - 1 {
			bit := at<<3 + bits.TrailingZeros8(denied)
			v.DeniedOf[s.first+bit] = e.listOf(v, o, bit)
		}
	}
}

// listOutcome lists who is denied in rows that no rules were asked about: all agents, or
// none.
func (e *Evaluator) listOutcome(v *batch.Verdicts, low, high int) {
	a := &v.Agents[0]
	for row := low; row < high; row++ {
		if at, bit := row>>3, byte(1)<<(row&7); a.Valid[at]&^a.Allowed[at]&bit != 0 {
			v.DeniedOf[row] = e.spreader.listAll(v, e.options.Agents)
		}
	}
}

// listCache has the lists of the rows of a group that came before, by the verdicts of the
// group's first 64 tries, when it has no more. Most groups have few.
type listCache struct {
	denied [8]uint64
	list   [8]int32
	n      int // how many came
}

func (c *listCache) reset() { c.n = 0 }

func (c *listCache) find(denied uint64) (list int32, ok bool) {
	for i := range min(c.n, len(c.denied)) {
		if c.denied[i] == denied {
			return c.list[i], true
		}
	}
	return 0, false
}

func (c *listCache) add(denied uint64, list int32) {
	c.denied[c.n%len(c.denied)], c.list[c.n%len(c.denied)] = denied, list
	c.n++
}

// listOf is the list of the agents that are denied the row of a bit of the block.
func (e *Evaluator) listOf(v *batch.Verdicts, o *obeyed, bit int) int32 {
	s := &e.spreader
	isDenied := func(trie int) bool { return s.allowed[trie][bit>>3]>>(bit&7)&1 == 0 }
	cached := o.tries <= 64
	var denied uint64
	if cached {
		for i := range o.tries {
			if isDenied(i) {
				denied |= 1 << i
			}
		}
		if list, ok := s.cache.find(denied); ok {
			return list
		}
	}
	list := s.list(v, e.options.Agents, func(agent int) bool { return isDenied(o.trie(agent)) })
	if cached {
		s.cache.add(denied, list)
	}
	return list
}

// listOverhead is what a list takes beside its agents and its key: two slices' headers and
// a place in the map.
const listOverhead = 96

// listAll is the list of all agents.
func (s *spreader) listAll(v *batch.Verdicts, agents int) int32 {
	if s.all == 0 {
		s.all = s.list(v, agents, func(int) bool { return true })
	}
	return s.all
}

// list returns the list of the agents that are denied, the same one for the same agents;
// the empty one when there is no memory for it, which ends the batch with an error.
func (s *spreader) list(v *batch.Verdicts, agents int, denied func(agent int) bool) int32 {
	s.key = s.key[:0]
	word, count := uint64(0), 0
	for agent := range agents {
		if denied(agent) {
			word |= 1 << (agent & 63)
			count++
		}
		if agent&63 == 63 || agent == agents-1 {
			s.key = binary.LittleEndian.AppendUint64(s.key, word)
			word = 0
		}
	}
	if known, ok := s.lists[string(s.key)]; ok {
		return known
	}
	if !s.memory.take(int64(4*count + len(s.key) + listOverhead)) {
		return 0
	}
	list := make([]int32, 0, count)
	for at := range s.key {
		for bits8 := s.key[at]; bits8 != 0; bits8 &= bits8 - 1 {
			list = append(list, int32(at<<3+bits.TrailingZeros8(bits8)))
		}
	}
	if s.lists == nil {
		s.lists = make(map[string]int32)
	}
	number := int32(len(v.Denied))
	v.Denied = append(v.Denied, list)
	s.lists[string(s.key)] = number
	return number
}
