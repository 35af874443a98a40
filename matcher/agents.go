package matcher

import (
	"slices"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Agents are the chains that a job asks verdicts for, prepared so that one pass over the
// user-agent lines of a robots.txt finds the groups of all of them. That pass takes time
// linear in the lines plus the chains, not in their product. Agents are immutable and safe
// for concurrent use.
type Agents struct {
	chains  []Chain
	numbers map[string]int32 // name in lower case → its number; Everyone → everyone
	names   []string         // by number, as the first chain that has the name spells it
	// tried has the numbers of each chain's names, in the chain's order. It leaves out
	// Everyone, which every chain tries last.
	tried [][]int32
}

// everyone takes the place of a name's number for the groups of "*". Slices that have an
// element for each name and one for "*" are indexed by the number + 1.
const everyone = -1

// NewAgents prepares chains, which must not change afterwards. Names that differ only in the
// case of ASCII letters are one name.
func NewAgents(chains []Chain) *Agents {
	a := &Agents{chains: chains, numbers: map[string]int32{Everyone: everyone}, tried: make([][]int32, len(chains))}
	for i, chain := range chains {
		for _, name := range chain {
			if name == Everyone {
				break
			}
			lower := string(urls.AppendLower(nil, []byte(name)))
			number, ok := a.numbers[lower]
			if !ok {
				number = int32(len(a.names))
				a.numbers[lower] = number
				a.names = append(a.names, name)
			}
			a.tried[i] = append(a.tried[i], number)
		}
	}
	return a
}

// Chains returns the chains in the order given to NewAgents.
func (a *Agents) Chains() []Chain { return a.chains }

// obeyed returns the number of the name whose groups a chain, given by its index, obeys: the first
// name of the chain for which has returns true, else everyone.
func (a *Agents) obeyed(chain int, has func(name int32) bool) int32 {
	for _, name := range a.tried[chain] {
		if has(name) {
			return name
		}
	}
	return everyone
}

// selector finds the groups of a body for Agents. It reuses its memory for the next body.
type selector struct {
	groups [][]choice // by the name's number + 1
	lower  []byte     // memory for eachName
}

// choose sets s.groups to the groups of f that are for each name of a, and for "*", in file
// order.
func (s *selector) choose(f *robotstxt.File, a *Agents) {
	s.groups = slices.Grow(s.groups[:0], len(a.names)+1)[:len(a.names)+1]
	for i := range s.groups {
		s.groups[i] = s.groups[i][:0]
	}
	s.lower = eachName(f, s.lower, func(group int, agent robotstxt.Agent, name []byte) {
		if number, ok := a.numbers[string(name)]; ok {
			s.groups[number+1] = addChoice(s.groups[number+1], group, agent)
		}
	})
}

// groupsOf returns the groups of a name, given by its number, or those of "*" for everyone.
// The next call of choose overwrites them.
func (s *selector) groupsOf(name int32) []choice { return s.groups[name+1] }

func (s *selector) has(name int32) bool { return len(s.groupsOf(name)) > 0 }

// eachName calls use for each name of each user-agent line of f, in file order, with the index
// of the line's group. The name is in lower case, and Everyone for a line that is for everyone.
// It is written to memory and valid during the call. eachName returns the memory for reuse.
func eachName(f *robotstxt.File, memory []byte, use func(group int, agent robotstxt.Agent, name []byte)) []byte {
	for i := range f.Groups {
		for _, agent := range f.Groups[i].Agents {
			if agent.Everyone() {
				memory = append(memory[:0], Everyone...)
				use(i, agent, memory)
				continue
			}
			token, word := agent.Names(f.Profile) // either of which names the agent
			for _, name := range [...][]byte{token, word} {
				if len(name) > 0 {
					memory = urls.AppendLower(memory[:0], name)
					use(i, agent, memory)
				}
			}
		}
	}
	return memory
}

// distinct collects the tries that chains obey, each trie once. Names that share a trie without
// notes share its element; with notes each name has one, because its user-agent lines are its own.
type distinct struct {
	tries  []Trie
	of     []uint32 // by chain, its trie's index
	byName []int32  // by the name's number + 1, its trie's index; -1: not added yet
}

// newDistinct returns a distinct of no tries yet, for all chains of a.
func newDistinct(a *Agents) distinct {
	return distinct{of: make([]uint32, 0, len(a.chains)), byName: slices.Repeat([]int32{-1}, len(a.names)+1)}
}

// add records that the next chain obeys the groups of a name, given by its number, -1 for "*". It
// calls trie for the trie of these groups when it sees the name for the first time.
func (d *distinct) add(name int32, trie func() Trie) {
	index := &d.byName[name+1]
	if *index < 0 {
		t := trie()
		*index = int32(slices.IndexFunc(d.tries, func(u Trie) bool { return u.same(&t) && u.notes == t.notes }))
		if *index < 0 {
			*index = int32(len(d.tries))
			d.tries = append(d.tries, t)
		}
	}
	d.of = append(d.of, uint32(*index))
}

// result returns the fields Tries and Of of an Origin; of is nil if all agents obey one
// trie.
func (d *distinct) result() (tries []Trie, of []uint32) {
	if len(d.tries) == 1 {
		return d.tries, nil
	}
	return d.tries, d.of
}
