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
	first   int      // the row of bit 0 of the bitmaps, a multiple of 8; 0 if rows are not decided by trie
	allowed [][]byte // bitmap i has the bits of trie i of each row's authority
	usual   []byte   // a bitmap of the trie that most agents obey, of each row's authority
	obeyed  []obeyed // by group
	of      []uint32 // memory of obeyed.of
	counts  []int32  // the number of agents that obey each trie of a group

	// The lists of a batch, which are in Verdicts.Denied.
	lists   map[string]int32 // their indices by key, a bit for each agent
	key     []byte           // of the list that is looked up
	listAll int32            // index of the list of all agents, 0 for none yet
	cache   listCache        // of a group
	memory  listMemory
}

// listMemory is the memory that the lists of a batch take. Each row may have a list of its
// own, as long as there are agents: it is granted while they grow.
type listMemory struct {
	grant *batch.Grant
	left  int64 // bytes that lists may still take
	owed  int64 // bytes taken that the grant was not asked for yet
	err   error // why there are no more lists
}

// listStep is the number of bytes that the grant is asked for at a time.
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
	tries int      // the number of tries; 0 where no rules are asked
	of    []uint32 // as matcher.Origin.Of: the trie of each agent; nil where there is one, or one an agent
	usual int      // the trie that most agents obey, once spreadBits has set it
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
		s.of = append(s.of, o.Of...) // if this moves s.of, earlier slices of it keep the old memory
		x.of = s.of[start:len(s.of):len(s.of)]
	}
	s.obeyed[group] = x
}

// reset prepares for a block of rows, and returns a bitmap of zeros for each trie, which the
// decider sets. There is one for each agent, the most tries that an authority has. The bit of a
// row is row - s.first, so that bits have the same position in their bytes as in the verdicts.
func (s *spreader) reset(firstRow, rows, groups, agents int) (allowed [][]byte) {
	s.first = firstRow &^ 7
	size := (firstRow&7 + rows + 7) / 8
	if s.allowed == nil {
		s.allowed = make([][]byte, agents)
	}
	for i := range s.allowed {
		s.allowed[i] = slices.Grow(s.allowed[i][:0], size)[:size]
		clear(s.allowed[i])
	}
	s.usual = slices.Grow(s.usual[:0], size)[:size]
	clear(s.usual)
	s.obeyed = slices.Grow(s.obeyed[:0], groups)[:groups]
	clear(s.obeyed)
	s.of = s.of[:0]
	return s.allowed
}

// forget drops the lists and references of a batch.
func (s *spreader) forget() {
	clear(s.obeyed)
	s.obeyed = s.obeyed[:0]
	clear(s.lists)
	s.listAll = 0
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
		w := g.walk(number)
		for w.next() {
			if o.tries == 0 {
				e.listOutcome(v, w.low, w.high)
			} else {
				e.combineRun(v, o, w.low, w.high)
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
		o.usual = s.usualTrie(o)
		e.copyBits(s.usual, s.allowed[o.usual], number)
	}
	for agent := range e.allowed {
		bits := e.allowed[agent][s.first>>3:]
		for at, usual := range s.usual {
			bits[at] |= usual // the bits of rows without rules, and of the block before, stay
		}
	}
	for number := range g.all {
		if o := &s.obeyed[number]; o.tries > 1 {
			for agent := range e.allowed {
				if trie := o.trie(agent); trie != o.usual {
					e.copyBits(e.allowed[agent][s.first>>3:], s.allowed[trie], number)
				}
			}
		}
	}
}

// usualTrie returns the index of the trie that most agents obey in a group, the first of equals.
func (s *spreader) usualTrie(o *obeyed) (trie int) {
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

// copyBits copies the bits of a group's rows from one bitmap of the block to another.
func (e *Evaluator) copyBits(to, from []byte, group int) {
	first := e.spreader.first
	w := e.groups.walk(group)
	for w.next() {
		low, high := w.low-first, w.high-first
		for at := low >> 3; at <= (high-1)>>3; at++ {
			mask := batch.BitsIn(at, low, high)
			to[at] = to[at]&^mask | from[at]&mask
		}
	}
}

// combineRun sets the combined verdicts of rows [low, high), which are a run of a group, and lists
// the agents that are denied. o is what the agents obey in the group.
func (e *Evaluator) combineRun(v *batch.Verdicts, o *obeyed, low, high int) {
	s := &e.spreader
	low, high = low-s.first, high-s.first
	verdicts := e.allowed[0][s.first>>3:]
	for at := low >> 3; at <= (high-1)>>3; at++ {
		toAll, toAny := byte(0xFF), byte(0)
		for _, allowed := range s.allowed[:o.tries] {
			toAll &= allowed[at]
			toAny |= allowed[at]
		}
		mask := batch.BitsIn(at, low, high)
		if e.options.Combine == batch.CombineAllDenied {
			verdicts[at] |= toAny & mask
		} else {
			verdicts[at] |= toAll & mask
		}
		for denied := mask &^ toAll; denied != 0; denied &= denied - 1 { // each set bit
			bit := at<<3 + bits.TrailingZeros8(denied)
			v.DeniedOf[s.first+bit] = e.listDenied(v, o, bit)
		}
	}
}

// listOutcome sets the lists of denied agents of rows [low, high), which were decided without
// rules: all agents, or none.
func (e *Evaluator) listOutcome(v *batch.Verdicts, low, high int) {
	for row := low; row < high; row++ {
		if v.Agents[0].Denied(row) {
			v.DeniedOf[row] = e.spreader.listOfAll(v, e.options.Agents)
		}
	}
}

// listCache has the lists of earlier rows of a group of at most 64 tries, by the verdicts of the
// tries. Most groups have few different lists: 166 agents and any-denied take a fifth less time. A
// new entry replaces the oldest.
type listCache struct {
	denied [8]uint64 // a bit set for each trie that denies
	list   [8]int32  // index in Verdicts.Denied
	n      int       // entries that were added
}

func (c *listCache) reset() { c.n = 0 }

// find returns the list of an earlier row with the same verdicts; ok is false if none is kept.
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

// listDenied returns the index in v.Denied of the list of the agents that are denied the row of a
// bit of the block. o is what the agents obey in its group.
func (e *Evaluator) listDenied(v *batch.Verdicts, o *obeyed, bit int) int32 {
	s := &e.spreader
	isDenied := func(trie int) bool { return s.allowed[trie][bit>>3]>>(bit&7)&1 == 0 }
	cached := o.tries <= 64
	var denied uint64 // a bit for each trie that denies, if cached
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
	list := s.listOf(v, e.options.Agents, func(agent int) bool { return isDenied(o.trie(agent)) })
	if cached {
		s.cache.add(denied, list)
	}
	return list
}

// listOverhead is the memory in bytes of a list without its agents and its key: two slice
// headers and a map entry.
const listOverhead = 96

// listOfAll returns the index in v.Denied of the list of all agents.
func (s *spreader) listOfAll(v *batch.Verdicts, agents int) int32 {
	if s.listAll == 0 {
		s.listAll = s.listOf(v, agents, func(int) bool { return true })
	}
	return s.listAll
}

// listOf returns the index in v.Denied of the list of the agents for which denied returns true. The
// same agents have one list. denied is called for each agent in order. Without memory for another
// list, s.memory.err is set, which ends the batch, and the list is the empty one.
func (s *spreader) listOf(v *batch.Verdicts, agents int, denied func(agent int) bool) int32 {
	s.key = s.key[:0]
	word, count := uint64(0), 0 // the bits of 64 agents, and the number of all that are denied
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
	for at, agentBits := range s.key { // the bits of eight agents, of which at*8 is the first
		for ; agentBits != 0; agentBits &= agentBits - 1 { // each set bit
			list = append(list, int32(at<<3+bits.TrailingZeros8(agentBits)))
		}
	}
	number := int32(len(v.Denied))
	v.Denied = append(v.Denied, list)
	s.lists[string(s.key)] = number
	return number
}
