package matcher

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"robotsbatch/io/store/must"
	"robotsbatch/matcher/robotstxt"
)

// TestIndexFindsWhatTryingAllFinds compares a search of the index with trying every suffix.
// Other tests hold the latter opposite the reference.
func TestIndexFindsWhatTryingAllFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	word := func(alphabet string, most int) string { return randomText(rng, rng.IntN(most+1), alphabet) }
	found, indexed, rounds := 0, 0, must.Short(4, 40)
	for _, alphabet := range []string{"/a*", "/ab*$?", "/abc%2F*?=", "aaaaaaaab/*"} {
		for _, profile := range []Profile{robotstxt.RFC9309, robotstxt.Google} {
			for range rounds {
				var body strings.Builder
				body.WriteString("User-agent: *\n")
				for range 20 + rng.IntN(300) {
					kind := [...]string{"Allow", "Disallow"}[rng.IntN(2)]
					fmt.Fprintf(&body, "%s: /%s*%s\n", kind, word(alphabet, 3), word(alphabet, 25))
				}
				file := robotstxt.Parse([]byte(body.String()), robotstxt.Options{Profile: profile})
				trie := Compile(file, []Chain{{Everyone}})[0]
				plain := trie
				plain.rules.index = uint32(len(plain.rules.data)) // no index
				if trie.rules.hasIndex() {
					indexed++
				}
				for range 200 {
					path := "/" + word(strings.ReplaceAll(alphabet, "*", "a"), 60)
					var p Target
					p.Set([]byte(path), profile)
					got, want := trie.Match(&p), plain.Match(&p)
					if got != want {
						t.Fatalf("%s\n%s: the index finds %+v, trying all %+v", body.String(), path, got, want)
					}
					allowed := trie.Allowed(&p)
					if allowed != want.Allowed {
						t.Fatalf("%s\n%s: Allowed %v, want %v", body.String(), path, allowed, want.Allowed)
					}
					if want.Reason.HasRule() {
						found++
					}
				}
			}
		}
	}
	must.Be(t, found >= 25*rounds && indexed >= 5*rounds/2, "only %d paths had a rule, and %d groups an index: the test says little", found, indexed)
}

// TestNumberSet: reset empties the set, also when the epoch wraps around.
func TestNumberSet(t *testing.T) {
	s := numberSet{epoch: 1<<32 - 3}
	for range 5 {
		s.reset(3)
		must.Need(t, !s.has(0) && !s.has(1) && !s.has(2), "not empty after reset")
		s.add(1)
		must.Need(t, !s.has(0) && s.has(1) && !s.has(2), "not the number that was added")
	}
}

// FuzzFindLiteral compares findLiteral with bytes.Index, for all parts of a literal in all
// suffixes of a text.
func FuzzFindLiteral(f *testing.F) {
	f.Add([]byte("/owner/repository/pulls/12/commits/0123456789abcdef"), []byte("/pulse"))
	f.Add(bytes.Repeat([]byte("ab"), 40), []byte("aab"))
	f.Add(bytes.Repeat([]byte("a"), 100), []byte("aaaaaaaaaaaaaaaaba"))
	f.Fuzz(func(t *testing.T, s, literal []byte) {
		s, literal = s[:min(len(s), 200)], literal[:min(len(literal), 70)]
		for len(literal) > 0 {
			for low := range s {
				if got, want := findLiteral(s[low:], literal), bytes.Index(s[low:], literal); got != want {
					t.Fatalf("%q in %q: %d, not %d", literal, s[low:], got, want)
				}
			}
			literal = literal[1:]
		}
	})
}

// TestManyStars compares rules of many stars with a simple search for one literal after the
// other. The paths have the literals near, far away, or not at all.
func TestManyStars(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		pattern := "/*" + randomText(random, 1+random.IntN(20), "aab*") + "c" // the last byte is not a star
		path := "/" + randomText(random, random.IntN(60), "aaaab") + randomText(random, random.IntN(3), "cb")
		rest, want := []byte(path[1:]), true
		for literal := range strings.SplitSeq(pattern[2:], "*") {
			at := bytes.Index(rest, []byte(literal))
			if want = want && at >= 0; want {
				rest = rest[at+len(literal):]
			}
		}
		file := robotstxt.Parse([]byte("User-agent: *\nDisallow: "+pattern), robotstxt.Options{})
		var p Target
		p.Set([]byte(path), robotstxt.RFC9309)
		trie := Compile(file, []Chain{{Everyone}})[0]
		must.Need(t, trie.Match(&p).Allowed != want, "%s in %s: matches: %v", pattern, path, !want)
	}
}

// randomText returns n random bytes of an alphabet.
func randomText(random *rand.Rand, n int, alphabet string) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(text)
}

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

// TestSortByText compares the order of entries with that of their texts. Many share long
// prefixes or are equal.
func TestSortByText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c Compiler
	compare := func(x, y int) int {
		a, b := &c.entries[x], &c.entries[y]
		return cmp.Or(bytes.Compare(a.text, b.text), compareBool(a.anchored, b.anchored), cmp.Compare(b.rule, a.rule))
	}
	for range 2000 {
		c.entries = c.entries[:0]
		for range random.IntN(60) {
			text := []byte("/same/beginning"[:random.IntN(16)])
			for range random.IntN(8) {
				text = append(text, "\x00ab~"[random.IntN(4)])
			}
			e := entry{rule: random.Uint32N(100)}
			e.text, e.anchored = text, random.IntN(3) == 0
			c.entries = append(c.entries, e)
		}
		want := make([]int, len(c.entries))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, compare)
		c.sortByText()
		var got []int
		for _, t := range c.sorting {
			got = append(got, t.entry)
		}
		for i := range got {
			if compare(got[i], want[i]) != 0 {
				t.Fatalf("position %d: %+v, want %+v", i, c.entries[got[i]], c.entries[want[i]])
			}
		}
		if slices.Sort(got); len(slices.Compact(got)) != len(want) {
			t.Fatal("an entry occurs twice")
		}
	}
}
