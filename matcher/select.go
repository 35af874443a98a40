package matcher

import (
	"cmp"
	"slices"

	"robotsbatch/matcher/robotstxt"
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

// selectAll returns the names of all agents of f, in lower case and sorted, without "*", and
// the distinct selections of groups; the first of these is that of "*". ok is false if merging
// the groups of each selection would cost too much.
func selectAll(f *robotstxt.File) (names []selection, distinct [][]choice, ok bool) {
	byName := make(map[string][]choice)
	eachName(f, nil, func(group int, agent robotstxt.Agent, name []byte) {
		byName[string(name)] = addChoice(byName[string(name)], group, agent)
	})
	everyone := byName[Everyone]
	delete(byName, Everyone)
	for name, chosen := range byName {
		names = append(names, selection{name: name, chosen: chosen})
	}
	slices.SortFunc(names, func(a, b selection) int { return cmp.Compare(a.name, b.name) })
	distinct, ok = distinctSelections(f, everyone, names)
	return names, distinct, ok
}

// addChoice appends a group, given by its index, with the user-agent line that names the
// agent. Of several such lines of a group it keeps the first.
func addChoice(chosen []choice, group int, agent robotstxt.Agent) []choice {
	if n := len(chosen); n > 0 && chosen[n-1].group == group {
		return chosen
	}
	return append(chosen, choice{group: group, agent: agent})
}

// distinctSelections returns the selections of groups that differ, that of everyone first, and
// sets each name's trie to the index of its selection. ok is false if their rules together
// exceed the budget of maxMerging and maxMerged.
func distinctSelections(f *robotstxt.File, everyone []choice, names []selection) (distinct [][]choice, ok bool) {
	costs, total := groupCosts(f)
	budget := min(maxMerging*total, maxMerged)
	seen := make(map[string]int)
	var key []byte
	// numberOf returns the index of a selection in distinct. It adds the selection if it is new, and
	// takes its cost from the budget.
	numberOf := func(chosen []choice) int {
		key = appendGroups(key[:0], chosen)
		if n, ok := seen[string(key)]; ok {
			return n
		}
		for _, c := range chosen {
			budget -= costs[c.group]
		}
		seen[string(key)] = len(distinct)
		distinct = append(distinct, chosen)
		return len(distinct) - 1
	}
	numberOf(everyone)
	for i := range names {
		names[i].trie = numberOf(names[i].chosen)
	}
	return distinct, budget >= 0
}

// appendGroups appends bytes that are equal for the same groups and for no others.
func appendGroups(dst []byte, chosen []choice) []byte {
	for _, c := range chosen {
		dst = append32(dst, uint32(c.group))
	}
	return dst
}

// groupCosts returns the cost of the rules of each group, and the sum of all; see ruleCost.
func groupCosts(f *robotstxt.File) (costs []int, total int) {
	costs = make([]int, len(f.Groups))
	for i := range f.Groups {
		for r := range f.Groups[i].Rules {
			costs[i] += len(f.Groups[i].Rules[r].Text) + ruleCost
		}
		total += costs[i]
	}
	return costs, total
}
