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

// take takes a number of bytes for a list, and reports whether that succeeded; else m.err says
// why, and all later calls fail. The grant is asked only once for each listStep.
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

// trie returns the index of the trie that an agent obeys, as matcher.Origin.TrieOf does.
func (o *obeyed) trie(agent int) int {
	switch {
	case o.of != nil:
		return int(o.of[agent])
	case o.tries == 1:
		return 0
	}
	return agent
}

// obey copies from the origin of a group which tries the agents obey: at the end of the block,
// the origin may be that of another group.
func (s *spreader) obey(group int, o *matcher.Origin) {
	x := obeyed{tries: len(o.Tries)}
	if o.Of != nil {
		start := len(s.of)
		s.of = append(s.of, o.Of...) // what was appended before may stay in older memory
		x.of = s.of[start:len(s.of):len(s.of)]
	}
	s.obeyed[group] = x
}

// reset prepares for a block of rows, and returns a bitmap of zeros for each trie, for the
// decider to set. The bit of a row is row - s.first, so that bits have the same position in
// their bytes as in the verdicts.
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

// forget drops the lists and references of a batch.
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

// spread sets the agents' bits, or the combined verdicts and lists, of a block from the bits of
// the tries. Finish must have been called for the decider.
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

// spreadBits sets the agents' bits of a block: first those of all agents to the bits of the trie
// that most agents of a row's authority obey (s.usual), then those of the agents that obey other
// tries. Most agents are named by few authorities.
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

// most returns the index of the trie that most agents obey, the first one of equals.
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

// correct replaces an agent's bits, into, of the rows of a group by those of a trie, bits.
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

// part returns a mask of the bits [low, high) that lie in byte at of a bitmap.
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

// combineRun sets the combined verdicts of bits [low, high) of a block, and their lists of denied
// agents. o is what the agents obey in their group.
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

// listOutcome sets the lists of denied agents of rows [low, high), which were decided without
// rules: all agents, or none.
func (e *Evaluator) listOutcome(v *batch.Verdicts, low, high int) {
	a := &v.Agents[0]
	for row := low; row < high; row++ {
		if at, bit := row>>3, byte(1)<<(row&7); a.Valid[at]&^a.Allowed[at]&bit != 0 {
			v.DeniedOf[row] = e.spreader.listAll(v, e.options.Agents)
		}
	}
}

// listCache has the lists of earlier rows of a group of at most 64 tries, by the verdicts of the
// tries. Most groups have few different lists. A new entry replaces the oldest.
type listCache struct {
	denied [8]uint64 // a bit set for each trie that denies
	list   [8]int32
	n      int // entries that were added
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

// listOf returns the number of the list of the agents that are denied the row of a bit of the
// block. o is what the agents obey in its group.
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

// listOverhead is the memory in bytes of a list without its agents and its key: two slice
// headers and a map entry.
const listOverhead = 96

// listAll returns the number of the list of all agents.
func (s *spreader) listAll(v *batch.Verdicts, agents int) int32 {
	if s.all == 0 {
		s.all = s.list(v, agents, func(int) bool { return true })
	}
	return s.all
}

// list returns the number in v.Denied of the list of the agents for which denied returns true,
// the same one for the same agents; denied is called for each agent in order. It returns that of
// the empty list when there is no memory for another one, which ends the batch with an error.
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
