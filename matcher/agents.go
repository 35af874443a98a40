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
	numbers map[string]int32 // name in lower case → its number
	names   []string         // by number
	// tried has the numbers of each chain's names, in the chain's order. It leaves out
	// Everyone, which every chain tries last.
	tried [][]int32
}

// NewAgents prepares chains.
func NewAgents(chains []Chain) *Agents {
	a := &Agents{chains: chains, numbers: make(map[string]int32), tried: make([][]int32, len(chains))}
	for i, chain := range chains {
		for _, name := range chain {
			if name == Everyone {
				break
			}
			lower := lowerASCII([]byte(name))
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

// everyone takes the place of a name's number for the groups of "*".
const everyone = -1

// decides returns the number of the name whose groups a chain obeys: the first one that has
// a group, else everyone.
func (a *Agents) decides(chain int, has func(name int32) bool) int32 {
	for _, name := range a.tried[chain] {
		if has(name) {
			return name
		}
	}
	return everyone
}

// selector finds the groups of a body for Agents. It reuses its memory for the next body.
type selector struct {
	byName   [][]choice // by the name's number
	everyone []choice
	lower    []byte
}

// choose finds the groups of each name, in file order.
func (s *selector) choose(f *robotstxt.File, a *Agents) {
	s.byName = slices.Grow(s.byName[:0], len(a.names))[:len(a.names)]
	for i := range s.byName {
		s.byName[i] = s.byName[i][:0]
	}
	s.everyone = s.everyone[:0]
	for i := range f.Groups {
		for _, agent := range f.Groups[i].Agents {
			if agent.Everyone() {
				s.everyone = addChoice(s.everyone, i, agent)
				continue
			}
			token, word := agent.Names(f.Profile)
			for _, name := range [...][]byte{token, word} {
				s.lower = s.lower[:0]
				for _, c := range name {
					s.lower = append(s.lower, urls.ToLower(c))
				}
				if number, ok := a.numbers[string(s.lower)]; ok {
					s.byName[number] = addChoice(s.byName[number], i, agent)
				}
			}
		}
	}
}

// groupsOf returns the groups of a name, or those of "*".
func (s *selector) groupsOf(name int32) []choice {
	if name == everyone {
		return s.everyone
	}
	return s.byName[name]
}

func (s *selector) has(name int32) bool { return len(s.byName[name]) > 0 }

// distinct collects the tries that agents obey, each of them once.
type distinct struct {
	tries  []Trie
	of     []uint32
	byName []int32 // name's number → index in tries; the last element is for everyone; -1: not added yet
}

func newDistinct(a *Agents) *distinct {
	d := &distinct{of: make([]uint32, len(a.chains)), byName: make([]int32, len(a.names)+1)}
	for i := range d.byName {
		d.byName[i] = -1
	}
	return d
}

// add records that a name decides for a chain. It calls trie when it sees the name for the
// first time, and returns trie's error.
func (d *distinct) add(chain int, name int32, trie func() (Trie, error)) error {
	known := &d.byName[len(d.byName)-1]
	if name != everyone {
		known = &d.byName[name]
	}
	if *known < 0 {
		t, err := trie()
		if err != nil {
			return err
		}
		*known = int32(slices.IndexFunc(d.tries, func(u Trie) bool { return u.alike(&t) }))
		if *known < 0 {
			*known = int32(len(d.tries))
			d.tries = append(d.tries, t)
		}
	}
	d.of[chain] = uint32(*known)
	return nil
}

// result returns the fields Tries and Of of an Origin; of is nil if all agents obey one
// trie.
func (d *distinct) result() (tries []Trie, of []uint32) {
	if len(d.tries) == 1 {
		return d.tries, nil
	}
	return d.tries, d.of
}

// alike reports whether two tries share their rules and the notes on them.
func (t *Trie) alike(u *Trie) bool {
	if t.notes == nil || u.notes == nil {
		return t.Same(u) && t.notes == u.notes
	}
	return t.Same(u) && sameBytes(t.notes.rules, u.notes.rules) && sameBytes(t.notes.agents, u.notes.agents)
}

// sameBytes reports whether two slices are the same memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
