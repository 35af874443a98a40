package matcher

import (
	"cmp"
	"encoding/binary"
	"slices"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// These bound how much the rules may grow when groups are merged for every agent. A hostile
// body can name an agent in each subset of its groups. The cost of a rule is the length of
// its text + ruleCost.
const (
	// maxMerging bounds the cost of all merged rules, as a multiple of the body's own
	// rules.
	maxMerging = 8
	// maxMerged bounds it absolutely, so that 32 bits can count the compiled bytes.
	maxMerged = 64 << 20
	ruleCost  = 64
)

// selection is a name and the groups that it obeys.
type selection struct {
	name   string
	chosen []choice
	trie   int // index in the distinct selections
}

// selectAll returns the names of all agents, in lower case and sorted, and the distinct
// selections of groups; the first of these is that of "*". ok is false if merging them
// would cost too much.
func selectAll(f *robotstxt.File) (names []selection, distinct [][]choice, ok bool) {
	byName := make(map[string][]choice)
	var everyone []choice
	for i := range f.Groups {
		for _, a := range f.Groups[i].Agents {
			if a.Everyone() {
				everyone = addChoice(everyone, i, a)
				continue
			}
			token, word := a.Names(f.Profile)
			for _, name := range [][]byte{token, word} {
				if len(name) > 0 {
					lower := lowerASCII(name)
					byName[lower] = addChoice(byName[lower], i, a)
				}
			}
		}
	}
	for name, chosen := range byName {
		names = append(names, selection{name: name, chosen: chosen})
	}
	slices.SortFunc(names, func(a, b selection) int { return cmp.Compare(a.name, b.name) })
	distinct, ok = distinctSelections(f, everyone, names)
	return names, distinct, ok
}

// addChoice adds group i for one of its agents, unless the group was just added.
func addChoice(chosen []choice, i int, a robotstxt.Agent) []choice {
	if n := len(chosen); n > 0 && chosen[n-1].group == i {
		return chosen
	}
	return append(chosen, choice{group: i, agent: a})
}

func lowerASCII(name []byte) string {
	lower := make([]byte, len(name))
	for i, c := range name {
		lower[i] = urls.ToLower(c)
	}
	return string(lower)
}

// distinctSelections numbers the selections of names by their groups. ok is false if the
// distinct ones cost too much.
func distinctSelections(f *robotstxt.File, everyone []choice, names []selection) (distinct [][]choice, ok bool) {
	cost, whole := groupCosts(f)
	budget := min(maxMerging*whole, maxMerged)
	seen := make(map[string]int)
	var key []byte
	number := func(chosen []choice) int {
		key = key[:0]
		for _, c := range chosen {
			key = binary.LittleEndian.AppendUint32(key, uint32(c.group))
		}
		if n, ok := seen[string(key)]; ok {
			return n
		}
		for _, c := range chosen {
			budget -= cost[c.group]
		}
		seen[string(key)] = len(distinct)
		distinct = append(distinct, chosen)
		return len(distinct) - 1
	}
	number(everyone)
	for i := range names {
		names[i].trie = number(names[i].chosen)
	}
	return distinct, budget >= 0
}

// groupCosts returns the cost of the rules of each group, and of all groups.
func groupCosts(f *robotstxt.File) (costs []int, whole int) {
	costs = make([]int, len(f.Groups))
	for i := range f.Groups {
		for r := range f.Groups[i].Rules {
			costs[i] += len(f.Groups[i].Rules[r].Text) + ruleCost
		}
		whole += costs[i]
	}
	return costs, whole
}
