package matcher

import (
	"bytes"
	"encoding/binary"
	"iter"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Body is a whole robots.txt, compiled for every agent that it names and for "*". It is
// immutable and safe for concurrent use.
//
// It consists of two little-endian byte arrays without pointers: the rules, and the notes,
// which only explanations need. The rules are
//
//	header  6 × u32: format, profile, number of names, of tries and of groups,
//	        bytes of all names
//	names   8 bytes each: end of its text, its trie; sorted by text
//	tries   4 bytes each: its group; the first trie is that of "*"
//	groups  8 bytes each: end of its bytes, number of its rules
//	texts   the names in lower case
//	bytes   those of each group, as layout.go describes
//
// A trie is what the merged groups of one or more names compile to. A group holds the part
// that decides; tries with equal rules share a group, though their notes differ. The notes
// are
//
//	header  4 × u32: format, number of tries, number of lists, 0
//	tries   8 bytes each: end of its notes, number of groups of the file that
//	        were merged into it
//	lists   4 bytes each: its end; the first is for "*", then one for each name
//	notes   for each trie, the notes that layout.go describes
//	lists   for each name, the values of the user-agent lines that name it, one
//	        for each group, as in Trie
//
// All ends are counted from the start of the first element of their kind.
type Body struct {
	data  []byte
	notes []byte // nil: rules have no text

	names, tries, groups   int // how many there are
	triesAt, groupsAt      int // offsets in data
	textsAt, compiledAt    int
	listsAt                int // offset in notes of the ends of the lists
	notesTextAt, listsText int // offsets in notes of the first note and the first list
}

const (
	bodyFormat  = 0x31_42_42_52 // "RBB1"
	notesFormat = 0x31_4E_42_52 // "RBN1"

	bodyHeaderSize  = 24
	nameSize        = 8
	trieSize        = 4
	groupSize       = 8
	notesHeaderSize = 16
	trieNotesSize   = 8
	agentListSize   = 4
)

// view finds the sections of bytes that a bodyBuilder made. notes may be nil.
func view(data, notes []byte) Body {
	count := func(field int) int { return int(le32(data[4*field:])) }
	b := Body{data: data, notes: notes, names: count(2), tries: count(3), groups: count(4)}
	b.triesAt = bodyHeaderSize + nameSize*b.names
	b.groupsAt = b.triesAt + trieSize*b.tries
	b.textsAt = b.groupsAt + groupSize*b.groups
	b.compiledAt = b.textsAt + count(5)
	if notes == nil {
		return b
	}
	b.listsAt = notesHeaderSize + trieNotesSize*b.tries
	b.notesTextAt = b.listsAt + agentListSize*(b.names+1)
	b.listsText = b.notesTextAt + int(le32(notes[b.listsAt-trieNotesSize:]))
	return b
}

// AppendRules appends the bytes that decide. OpenBody reads them.
func (b *Body) AppendRules(dst []byte) []byte { return append(dst, b.data...) }

// AppendNotes appends the bytes that only explanations need. OpenBody reads them.
func (b *Body) AppendNotes(dst []byte) []byte { return append(dst, b.notes...) }

// Profile returns the profile that the body was compiled under.
func (b *Body) Profile() Profile { return Profile(le32(b.data[4:])) }

// Tries appends one trie for each chain, in their order: that of the first name that has a
// group, else that of "*" (RFC 9309 §2.2.1). Tries with equal rules share them, even if
// they come from different groups of the file.
//
// If the body has no notes, Trie.Rule knows only whether a rule allows.
func (b *Body) Tries(dst []Trie, chains []Chain) []Trie {
	for _, chain := range chains {
		dst = append(dst, b.trie(b.choose(chain)))
	}
	return dst
}

// For returns the distinct tries of agents and the index of each agent's trie, as the
// fields Tries and Of of an Origin.
func (b *Body) For(agents *Agents) (tries []Trie, of []uint32) {
	tries, of, _ = b.decide(agents, func(*groupCheck, int) error { return nil }) // this check never fails
	return tries, of
}

// scannedNames is how many names of a body can be looked up in Agents in the time of one
// lookup in the body, a binary search.
const scannedNames = 8

// decide does what For does. Before it uses the trie of a name, it calls check with the
// number of that name.
func (b *Body) decide(a *Agents, check func(c *groupCheck, name int) error) (tries []Trie, of []uint32, err error) {
	numbers := b.numbersOf(a)
	d := newDistinct(a)
	var c groupCheck
	for i := range a.chains {
		decides := a.decides(i, func(name int32) bool { return numbers[name] >= 0 })
		number := -1
		if decides != everyone {
			number = int(numbers[decides])
		}
		err := d.add(i, decides, func() (Trie, error) {
			if err := check(&c, number); err != nil {
				return Trie{}, err
			}
			return b.trie(number), nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	tries, of = d.result()
	return tries, of, nil
}

// numbersOf returns the number in the body of each name in a, -1 for a name that the body
// does not have.
func (b *Body) numbersOf(a *Agents) []int32 {
	numbers := make([]int32, len(a.names))
	if b.names > scannedNames*len(a.names) {
		for i, name := range a.names {
			numbers[i] = -1
			if n, ok := b.find(name); ok {
				numbers[i] = int32(n)
			}
		}
		return numbers
	}
	for i := range numbers {
		numbers[i] = -1
	}
	for n := range b.names {
		if i, ok := a.numbers[string(b.name(n))]; ok {
			numbers[i] = int32(n)
		}
	}
	return numbers
}

// Chosen returns the name whose groups a chain obeys, in lower case: the first one that has
// a group, or Everyone.
func (b *Body) Chosen(chain Chain) string {
	if i := b.choose(chain); i >= 0 {
		return string(b.name(i))
	}
	return Everyone
}

// choose returns the number of the name that decides for a chain, -1 for "*".
func (b *Body) choose(chain Chain) int {
	for _, name := range chain {
		if name == Everyone {
			break
		}
		if i, ok := b.find(name); ok {
			return i
		}
	}
	return -1
}

// find looks up a name, ignoring the case of ASCII letters.
func (b *Body) find(name string) (i int, ok bool) {
	low, high := 0, b.names
	for low < high {
		middle := int(uint(low+high) >> 1)
		switch order := compareFolded(b.name(middle), name); {
		case order == 0:
			return middle, true
		case order < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false
}

// compareFolded compares a name in lower case with one in any case.
func compareFolded(lower []byte, name string) int {
	for i := 0; i < len(lower) && i < len(name); i++ {
		if c := urls.ToLower(name[i]); lower[i] != c {
			return int(lower[i]) - int(c)
		}
	}
	return len(lower) - len(name)
}

// name returns the text of name i.
func (b *Body) name(i int) []byte {
	return b.data[b.textsAt+b.end(bodyHeaderSize, nameSize, i-1) : b.textsAt+b.end(bodyHeaderSize, nameSize, i)]
}

// end returns the end of element i of a section of the rules, which starts at at and has
// elements of size bytes; 0 for i = -1.
func (b *Body) end(at, size, i int) int { return endOf(b.data, at, size, i) }

func endOf(data []byte, at, size, i int) int {
	if i < 0 {
		return 0
	}
	return int(le32(data[at+size*i:]))
}

// group returns the bytes of group i.
func (b *Body) group(i int) []byte {
	return b.data[b.compiledAt+b.end(b.groupsAt, groupSize, i-1) : b.compiledAt+b.end(b.groupsAt, groupSize, i)]
}

// trieOf returns the number of a name's trie.
func (b *Body) trieOf(name int) int {
	if name < 0 {
		return 0
	}
	return int(le32(b.data[bodyHeaderSize+nameSize*name+4:]))
}

// trie returns the trie of a name, that of "*" for -1.
func (b *Body) trie(name int) Trie {
	number := b.trieOf(name)
	t := Trie{rules: newCompiled(b.group(b.groupOf(number)))}
	if b.notes != nil {
		t.notes = b.trieNotes(number)
		t.agents = b.list(name + 1)
	}
	return t
}

// groupOf returns the number of a trie's group.
func (b *Body) groupOf(trie int) int { return int(le32(b.data[b.triesAt+trieSize*trie:])) }

func (b *Body) trieNotes(i int) []byte {
	start, stop := endOf(b.notes, notesHeaderSize, trieNotesSize, i-1), endOf(b.notes, notesHeaderSize, trieNotesSize, i)
	return b.notes[b.notesTextAt+start : b.notesTextAt+stop]
}

func (b *Body) list(i int) []byte {
	start, stop := endOf(b.notes, b.listsAt, agentListSize, i-1), endOf(b.notes, b.listsAt, agentListSize, i)
	return b.notes[b.listsText+start : b.listsText+stop]
}

// Names yields the names of the agents that the body has groups for, in lower case and
// sorted. They are valid as long as the body's bytes are.
func (b *Body) Names() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range b.names {
			if !yield(b.name(i)) {
				return
			}
		}
	}
}

// Groups yields each distinct trie with the names that obey it, in the order in which the
// tries were compiled. The trie of "*" comes first, if a group is for "*"; its name is
// Everyone.
func (b *Body) Groups() iter.Seq2[[]string, Trie] {
	return func(yield func([]string, Trie) bool) {
		names := make([][]string, b.tries)
		if b.HasEveryone() {
			names[0] = []string{Everyone}
		}
		for i := range b.names {
			trie := b.trieOf(i)
			names[trie] = append(names[trie], string(b.name(i)))
		}
		for number := range names {
			if len(names[number]) > 0 && !yield(names[number], b.Tries(nil, []Chain{{names[number][0]}})[0]) {
				return
			}
		}
	}
}

// HasEveryone reports whether the body has a group for "*".
func (b *Body) HasEveryone() bool {
	everyone := b.trie(-1)
	return everyone.rules.flags&flagGroup != 0
}

// Lines yields the line number and the text of each rule, the least specific first. A trie
// without notes yields nothing.
func (t *Trie) Lines() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for rank := 1; rank <= ruleCount(t.notes); rank++ {
			if info := t.Rule(uint32(rank) << 1); !yield(info.Line, info.Text) {
				return
			}
		}
	}
}

// bodyBuilder collects the sections of a Body.
type bodyBuilder struct {
	names, tries, groups, texts, compiled []byte
	trieNotes, lists, notes, listTexts    []byte
	seen                                  map[string]uint32 // group of some bytes and number of rules
}

// addTrie adds a trie. A trie with the rules of an earlier one shares its group.
func (b *bodyBuilder) addTrie(t Trie, merged int) {
	rules := uint32(ruleCount(t.notes))
	key := string(binary.LittleEndian.AppendUint32(t.rules.data, rules))
	group, ok := b.seen[key]
	if !ok {
		group = uint32(len(b.seen))
		b.seen[key] = group
		b.compiled = append(b.compiled, t.rules.data...)
		b.groups = appendPair(b.groups, len(b.compiled), int(rules))
	}
	b.tries = binary.LittleEndian.AppendUint32(b.tries, group)
	b.notes = append(b.notes, t.notes...)
	b.trieNotes = appendPair(b.trieNotes, len(b.notes), merged)
}

// ruleCount returns the number of rules in a trie's notes. The first rule's text follows
// the last fixed-size note, so its offset tells.
func ruleCount(notes []byte) int {
	if len(notes) < 2*noteSize {
		return 0
	}
	return int(le32(notes[noteSize+4:])/noteSize) - 1
}

func (b *bodyBuilder) addName(n selection) {
	b.texts = append(b.texts, n.name...)
	b.names = appendPair(b.names, len(b.texts), n.trie)
	b.addList(n.chosen)
}

func (b *bodyBuilder) addList(chosen []choice) {
	b.listTexts = append(b.listTexts, agentNames(chosen)...)
	b.lists = binary.LittleEndian.AppendUint32(b.lists, uint32(len(b.listTexts)))
}

func (b *bodyBuilder) finish(p Profile) *Body {
	header := make([]byte, bodyHeaderSize)
	for i, field := range [...]int{
		bodyFormat, int(p), len(b.names) / nameSize,
		len(b.tries) / trieSize, len(b.groups) / groupSize, len(b.texts),
	} {
		put32(header[4*i:], uint32(field))
	}
	notesHeader := make([]byte, notesHeaderSize)
	for i, field := range [...]int{notesFormat, len(b.tries) / trieSize, len(b.lists) / agentListSize} {
		put32(notesHeader[4*i:], uint32(field))
	}
	body := view(
		bytes.Join([][]byte{header, b.names, b.tries, b.groups, b.texts, b.compiled}, nil),
		bytes.Join([][]byte{notesHeader, b.trieNotes, b.lists, b.notes, b.listTexts}, nil),
	)
	return &body
}

func appendPair(dst []byte, x, y int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(dst, uint32(x)), uint32(y))
}

// CompileBody calls Compiler.CompileBody of a new Compiler.
func CompileBody(f *robotstxt.File) (body *Body, ok bool) {
	return new(Compiler).CompileBody(f)
}

// CompileBody compiles a body for all agents at once, with notes. The Body does not alias f
// or the compiler. ok is false for a body that is so large, or whose groups overlap so
// much, that the result would be out of proportion; Compile can still compile it for the
// agents asked for.
//
// It takes time and memory linear in the body, apart from sorting the rules.
func (c *Compiler) CompileBody(f *robotstxt.File) (body *Body, ok bool) {
	names, distinct, ok := selectAll(f)
	if !ok {
		return nil, false
	}
	b := bodyBuilder{seen: make(map[string]uint32, len(distinct))}
	for _, chosen := range distinct {
		t := c.groups(f, chosen)
		t.notes = c.describe()
		b.addTrie(t, len(chosen))
	}
	b.addList(distinct[0])
	for _, n := range names {
		b.addName(n)
	}
	return b.finish(f.Profile), true
}
