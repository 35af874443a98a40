package matcher

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
)

// A forgedGroup is a compiled group that no builder makes. All paths end at its root, whose
// list is the last one.
type forgedGroup struct {
	lists    [][7]uint32 // from number 1 on
	suffixes [][5]uint32
	literals [][2]uint32
	text     string
	postings [][]uint32 // for each index literal; nil for no index
}

// words appends numbers.
func words(dst []byte, numbers ...uint32) []byte {
	for _, n := range numbers {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	return dst
}

func (f *forgedGroup) open(t *testing.T) *Trie {
	t.Helper()
	index := f.index()
	data := words(nil, 1|flagGroup, 0, 2, uint32(len(f.lists)+1), uint32(len(f.suffixes)), uint32(len(f.literals)), uint32(len(f.text)), uint32(len(index)))
	root := make([]byte, nodeSize)
	put32(root[28:], 1)
	data = append(data, root...)
	data = words(data, 0, 0, 0, 0, 0, uint32(len(f.lists)))
	data = append(data, make([]byte, listSize)...)
	for _, l := range f.lists {
		data = words(data, l[:]...)
	}
	data = append(data, make([]byte, 8*len(f.suffixes))...) // signatures that fit any path
	for _, s := range f.suffixes {
		data = words(data, s[:]...)
	}
	for _, l := range f.literals {
		data = words(data, l[:]...)
	}
	data = slices.Concat(data, []byte(f.text), index)
	c, ok := openCompiled(data)
	must.Need(t, ok, "the forged group does not open")
	return &Trie{rules: c}
}

// index makes an index whose literals are those of a group of rules "a", "b", and so on.
func (f *forgedGroup) index() []byte {
	if f.postings == nil {
		return nil
	}
	records, all := words(nil, uint32(len(f.postings))), []byte(nil)
	var b builder
	var entries []entry
	for i, list := range f.postings {
		records = words(records, uint32(len(all)/4), uint32(len(list)), 0, 0)
		all = words(all, list...)
		text := []byte{'a' + byte(i)}
		entries = append(entries, entry{pattern: pattern{text: text, prefix: 1}, rule: uint32(i + 1)})
	}
	records = words(records, uint32(len(all)/4))
	b.reset(entries)
	return slices.Concat(records, all, b.build().data)
}

// emptyLists are lists without suffixes that lead to one with a suffix, "x", of rule 2.
func emptyLists(n int) *forgedGroup {
	f := &forgedGroup{text: "x", suffixes: [][5]uint32{{2, 1 << suffixCount, 0, 1, 1}}}
	f.lists = append(f.lists, [7]uint32{1, 0, 0, 1, 0, 2, 0})
	for i := range uint32(n) {
		f.lists = append(f.lists, [7]uint32{1, 1, 1, 1, 0, 2, i + 1})
	}
	return f
}

// A list without suffixes is one of a forged group, and a search does not follow a chain of
// these: it would take as long as somebody likes.
func TestEmptyListsEndASearch(t *testing.T) {
	for n, want := range map[int]Decision{0: {Reason: DisallowRule, Rule: 2}, 1: {Allowed: true, Reason: NoRuleMatched}, 20_000: {Allowed: true, Reason: NoRuleMatched}} {
		trie := emptyLists(n).open(t)
		var p Target
		p.Set([]byte("/x"), trie.Profile())
		must.Equal(t, trie.Match(&p), want, n, "empty lists")
	}
}

// A search of an index marks no more lists than the path has bytes, each with a shorter
// literal prefix than the one before.
func TestIndexMarksNoMoreListsThanBytes(t *testing.T) {
	const path, lists = "/aaaa", 1000
	for name, depth := range map[string]func(uint32) uint32{
		"equal":      func(uint32) uint32 { return 1 },
		"descending": func(n uint32) uint32 { return n },
	} {
		f := &forgedGroup{text: "a", suffixes: [][5]uint32{{2, 1 << suffixCount, 0, 1, 1}}, postings: [][]uint32{{0}}}
		for n := range uint32(lists) {
			f.lists = append(f.lists, [7]uint32{depth(n), 0, 0, 1, 0, 2, n})
		}
		trie := f.open(t)
		var p Target
		p.Set([]byte(path), trie.Profile())
		trie.Match(&p)
		found := 0
		for n := range uint32(lists + 1) {
			if p.lists.has(n) {
				found++
			}
		}
		must.Be(t, found <= len(path)+1, "%s: %d lists", name, found)
	}
}

// A search tries each suffix once that it puts off, and none if the index names more than
// there are.
func TestIndexNamesASuffixOften(t *testing.T) {
	const suffixes = 200
	f := &forgedGroup{text: "q", lists: [][7]uint32{{1, 0, 0, suffixes, 0, 400, 0}}}
	for n := range uint32(suffixes) {
		f.suffixes = append(f.suffixes, [5]uint32{2 * (suffixes - n), 1 << suffixCount, 0, 1, 1})
	}
	for _, names := range []int{40, 300} {
		f.postings = nil
		for range 2 {
			f.postings = append(f.postings, slices.Repeat([]uint32{7}, names))
		}
		trie := f.open(t)
		var p Target
		p.Set([]byte("/ab"+strings.Repeat("x", 50)), trie.Profile())
		d := trie.Match(&p)
		must.Be(t, d.Reason == NoRuleMatched, "%d names: %+v", names, d)
		must.Equal(t, len(p.untried[0]), max(0, 1-names/suffixes), names, "names", "suffixes were put off")
	}
}
