package matcher

import (
	"slices"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Agents are chains that verdicts are asked for, one each, prepared so that what a
// robots.txt means for all of them is found in one pass over its user-agent lines:
// it takes time in proportion to the lines and to the number of chains, not to their
// product. It is immutable and safe for concurrent use.
type Agents struct {
	chains  []Chain
	numbers map[string]int32 // of the chains' names in lower case
	names   []string         // by number
	// tried has for each chain the numbers of its names, but that of everyone, which
	// comes last in any chain.
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

// Chains are the chains, in their order.
func (a *Agents) Chains() []Chain { return a.chains }

// everyone stands for the groups for everyone in place of a name's number.
const everyone = -1

// decides returns the number of the name whose groups a chain obeys: its first that
// has any; else everyone.
func (a *Agents) decides(chain int, has func(name int32) bool) int32 {
	for _, name := range a.tried[chain] {
		if has(name) {
			return name
		}
	}
	return everyone
}

// selector finds the groups of a body for Agents. Its memory is used again.
type selector struct {
	byName   [][]choice // by the name's number
	everyone []choice
	lower    []byte
}

// choose finds the groups that each name has, in file order.
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

// groupsOf are the groups of a name, or those for everyone.
func (s *selector) groupsOf(name int32) []choice {
	if name == everyone {
		return s.everyone
	}
	return s.byName[name]
}

func (s *selector) has(name int32) bool { return len(s.byName[name]) > 0 }

// distinct collects the tries that agents obey, each once.
type distinct struct {
	tries  []Trie
	of     []uint32
	byName []int32 // index in tries of the name of a number, then that of everyone; -1 for none yet
}

func newDistinct(a *Agents) *distinct {
	d := &distinct{of: make([]uint32, len(a.chains)), byName: make([]int32, len(a.names)+1)}
	for i := range d.byName {
		d.byName[i] = -1
	}
	return d
}

// add says which name decides for a chain. trie is called for a name that comes for
// the first time; its error is returned.
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

// result returns what Origin has: of is nil where all agents obey one trie.
func (d *distinct) result() (tries []Trie, of []uint32) {
	if len(d.tries) == 1 {
		return d.tries, nil
	}
	return d.tries, d.of
}

// alike tells whether two tries share both rules and what describes them.
func (t *Trie) alike(u *Trie) bool {
	return t.Same(u) && sameBytes(t.notes, u.notes) && sameBytes(t.agents, u.agents)
}

// sameBytes tells whether two slices are the same memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
