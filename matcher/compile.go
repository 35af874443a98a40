package matcher

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"robotsbatch/matcher/robotstxt"
)

// Compile compiles what a body means for each chain: one Trie a chain, in their
// order. Chains that obey the same groups share their compiled rules. The tries
// keep nothing of f.
//
// It takes time and memory linear in the body, but for sorting its rules.
func Compile(f *robotstxt.File, chains []Chain) []Trie {
	tries := make([]Trie, len(chains))
	chosen := make([][]choice, len(chains))
	for i, chain := range chains {
		var ok bool
		chosen[i], ok = chooseGroups(f, chain)
		if j := slices.IndexFunc(chosen[:i], func(c []choice) bool { return sameGroups(c, chosen[i]) }); j >= 0 {
			tries[i] = tries[j]
		} else {
			tries[i] = compileGroups(f, chosen[i], ok)
		}
		tries[i].agents = agentNames(chosen[i])
	}
	return tries
}

func sameGroups(a, b []choice) bool {
	return slices.EqualFunc(a, b, func(x, y choice) bool { return x.group == y.group })
}

// entry is a rule on its way into the trie.
type entry struct {
	pattern
	rule  uint32 // number: rank × 2, plus 1 for allow
	order uint32 // index of its source among all rules
}

// source is a rule as the file has it.
type source struct {
	*robotstxt.Rule
	group uint32
}

// compileGroups compiles the rules of the merged groups (RFC 9309 §2.2.1).
func compileGroups(f *robotstxt.File, chosen []choice, hasGroup bool) Trie {
	entries, sources := collect(f, chosen)
	ranked := rank(entries, sources)
	b := builder{rules: ranked, sources: sources, entries: dedupe(entries)}
	if hasGroup {
		b.flags |= flagGroup
	}
	if f.Profile == robotstxt.Google {
		b.flags |= flagGoogle
	}
	return Trie{rules: b.build(), notes: b.describe()}
}

// collect compiles the patterns of the chosen groups' rules.
func collect(f *robotstxt.File, chosen []choice) ([]entry, []source) {
	rules, size := 0, 0
	for _, c := range chosen {
		rules += len(f.Groups[c.group].Rules)
		for i := range f.Groups[c.group].Rules {
			size += len(f.Groups[c.group].Rules[i].Pattern)
		}
	}
	entries := make([]entry, 0, rules)
	sources := make([]source, 0, rules)
	arena := make([]byte, 0, size+size/8)
	for n, c := range chosen {
		for i := range f.Groups[c.group].Rules {
			rule := &f.Groups[c.group].Rules[i]
			p, ok := compilePattern(arena[len(arena):], rule.Pattern, f.Profile)
			if !ok {
				continue
			}
			entries, arena = keep(entries, arena, p, len(sources))
			if f.Profile == robotstxt.Google && rule.Allow {
				if p, ok := indexPattern(arena[len(arena):], rule.Pattern); ok {
					entries, arena = keep(entries, arena, p, len(sources))
				}
			}
			sources = append(sources, source{Rule: rule, group: uint32(n)})
		}
	}
	return entries, sources
}

// keep adds a pattern whose text was appended at the end of arena, and advances
// arena past it; when the text outgrew the arena, a new one is begun.
func keep(entries []entry, arena []byte, p pattern, order int) ([]entry, []byte) {
	entries = append(entries, entry{pattern: p, order: uint32(order)})
	if end := len(arena) + len(p.text); end <= cap(arena) {
		return entries, arena[:end]
	}
	return entries, make([]byte, 0, 4096+cap(arena)/2)
}

// rank numbers the entries by specificity and returns the entries' sources by
// rank; rank 0 is no rule.
func rank(entries []entry, sources []source) []uint32 {
	const indexBits = 32
	keys := make([]uint64, len(entries))
	// Length and verdict above, the index below: entries are in file order, and
	// of equal ones the first must come last.
	for i := range entries {
		e := &entries[i]
		key := uint64(e.length) << 1
		if sources[e.order].Allow {
			key |= 1
		}
		keys[i] = key<<indexBits | uint64(len(entries)-1-i)
	}
	slices.Sort(keys)
	byRank := make([]uint32, len(entries)+1)
	for r, key := range keys {
		e := &entries[len(entries)-1-int(key&(1<<indexBits-1))]
		e.rule = uint32(r+1)<<1 | uint32(key>>indexBits&1)
		byRank[r+1] = e.order
	}
	return byRank
}

// dedupe returns the entries sorted by text, without those that match what a
// better one matches, too, because their texts are equal.
func dedupe(entries []entry) []entry {
	order := make([]sortKey, len(entries))
	for i := range entries {
		order[i] = sortKey{head: head(entries[i].text), index: uint32(i)}
	}
	slices.SortFunc(order, func(a, b sortKey) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return compareEntries(&entries[a.index], &entries[b.index])
	})
	sorted := make([]entry, 0, len(entries))
	for _, key := range order {
		e := &entries[key.index]
		if n := len(sorted); n > 0 && sorted[n-1].anchored == e.anchored && bytes.Equal(sorted[n-1].text, e.text) {
			continue
		}
		sorted = append(sorted, *e)
	}
	return sorted
}

// sortKey is an entry's index with what tells most texts apart.
type sortKey struct {
	head  uint64
	index uint32
}

// head is the order of a text by its first octets: eight of them behind the
// slash that nearly all begin with, and 0 for those that begin with a star,
// which come first.
func head(text []byte) uint64 {
	if len(text) == 0 || text[0] == star {
		return 0
	}
	if len(text) > 8 {
		return binary.BigEndian.Uint64(text[1:])
	}
	var padded [8]byte
	copy(padded[:], text[1:])
	return binary.BigEndian.Uint64(padded[:])
}

// compareEntries orders entries by text, then those that are not anchored
// first, then by rank, the best first.
func compareEntries(a, b *entry) int {
	if c := bytes.Compare(a.text, b.text); c != 0 {
		return c
	}
	if a.anchored != b.anchored {
		if a.anchored {
			return 1
		}
		return -1
	}
	return cmp.Compare(b.rule, a.rule)
}
