package matcher

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"iter"
	"math"
	"slices"
	"sort"

	"robotsbatch/matcher/robotstxt"
	"robotsbatch/matcher/urls"
)

// Body is a whole robots.txt, compiled for every agent that it names and for "*". It is
// immutable and safe for concurrent use.
//
// It consists of two little-endian byte arrays without pointers: the rules, and the notes,
// which only explanations need. Names are numbers of a dictionary of names, in the order of
// their texts; whoever keeps bodies keeps that. The rules are
//
//	head    0  u32  checksum of the rest of the head and of the tables
//	        4  u32  length of all
//	        8  u32  the body's number, for whoever keeps bodies
//	       12  u8   robotstxt.BodyKind
//	       13  u8   profile
//	       14  u16  marks
//	       16  u64  for each name, the bit of its number modulo 64
//	       24  u32  number of names
//	       28  u32  number of groups
//	groups  8 bytes each: end of its bytes, counted from the first group's start;
//	        their checksum; the first group is that of "*"
//	names   4 bytes each: its number; sorted
//	of      4 bytes for each name: its group
//	more    only with markMore: u32 length of what follows, u32 kind, and what the kind
//	        has: moreStatements the key of the statements, see StatementsKey
//	bytes   those of each group, from a multiple of 32 on, as layout.go describes
//
// A group holds the part that decides; names with equal rules share a group, though their
// notes differ. A body with markSource has no groups: after its head is its source.
//
// A lookup for "*" reads the head and the first group, which in most bodies starts in the
// next cache line. For most names that a body does not have, the 64 bits of its head tell so.
//
// The notes are
//
//	header  4 × u32: format, number of tries, number of lists, 0
//	tries   8 bytes each: end of its notes, number of groups of the file that
//	        were merged into it; the first trie is that of "*"
//	lists   8 bytes each: its end, its trie; the first is for "*", then one for
//	        each name
//	notes   for each trie, the notes that layout.go describes
//	lists   for each name, the values of the user-agent lines that name it, one
//	        for each group, as in Trie
//
// All ends are counted from the start of the first element of their kind.
type Body struct {
	data   []byte
	head   bodyHead
	nameOf func(number uint32) []byte

	notes                  []byte // nil: rules have no text
	tries                  int    // in the notes
	listsAt                int    // offset in notes of the ends of the lists
	notesTextAt, listsText int    // offsets in notes of the first note and the first list
}

const (
	notesFormat = 0x32_4E_42_52 // "RBN2"

	bodyHeadSize    = 32
	groupSize       = 8
	groupSumAt      = 4 // where its checksum is in the 8 bytes of a group
	nameSize        = 4 // in each of two tables
	notesHeaderSize = 16
	trieNotesSize   = 8
	agentListSize   = 8

	// BodyAlignment is what offsets of bodies in a larger array should be multiples of: a
	// cache line, so that a head is in one.
	BodyAlignment = 64
	// groupAlignment keeps the nodes of a group from crossing the ends of cache lines.
	groupAlignment = 32
)

// Marks of a body.
const (
	// markSource: it is kept as its source.
	markSource = 1 << iota
	// markMore: another table follows. A body without it takes no byte more.
	markMore
	// markStatements: the robots.txt has lines about the use of what is fetched. They are not
	// part of the body.
	markStatements
)

// moreStatements is the kind of the table after those of the names that has a
// StatementsKey. Others may come.
const moreStatements = 1

// bodyHead is the decoded head of a body.
type bodyHead struct {
	length  uint32 // of the body, in bytes
	groups  uint32 // their number
	names   uint32 // their number
	start   uint32 // offset of the groups' bytes
	filter  uint64 // filterBits of the names
	number  uint32 // of the body
	kind    robotstxt.BodyKind
	profile Profile
	marks   uint16
}

// readHead decodes the head of the body that data starts with, at the offsets that Body's comment has. ok is
// false if its tables are longer than the body, or the body longer than data. So the methods that read the
// tables need no more checks.
func readHead(data []byte) (h bodyHead, ok bool) {
	if len(data) < bodyHeadSize {
		return h, false
	}
	b := data[:bodyHeadSize:bodyHeadSize]
	h = bodyHead{
		length: le32(b[4:]), number: le32(b[8:]), kind: robotstxt.BodyKind(b[12]), profile: Profile(b[13]), marks: binary.LittleEndian.Uint16(b[14:]),
		filter: le64(b[16:]), names: le32(b[24:]), groups: le32(b[28:]),
	}
	start := bodyHeadSize + groupSize*uint64(h.groups) + 2*nameSize*uint64(h.names)
	if start > uint64(h.length) || uint64(h.length) > uint64(len(data)) {
		return h, false
	}
	if h.marks&markMore != 0 {
		if start+4 > uint64(h.length) { // 4 bytes say how many follow
			return h, false
		}
		if start += 4 + uint64(le32(data[start:])); start > uint64(h.length) {
			return h, false
		}
	}
	start = align(start, groupAlignment)
	h.start = uint32(start)
	return h, start <= uint64(h.length)
}

// align rounds n up to a multiple of to, which is a power of two.
func align(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// group returns the bounds in data, the body, of a group's bytes; ok is false if there is no
// group with this number, or if it lies outside.
func (h *bodyHead) group(data []byte, number uint32) (low, high uint64, ok bool) {
	if number >= h.groups {
		return 0, 0, false
	}
	record := bodyHeadSize + groupSize*uint64(number)
	if number > 0 {
		low = align(uint64(le32(data[record-groupSize:])), groupAlignment)
	}
	low, high = low+uint64(h.start), uint64(le32(data[record:]))+uint64(h.start)
	return low, high, low <= high && high <= uint64(h.length)
}

// find returns the index of a name, given by its number in the dictionary, among the names of
// data, the body; ok is false if the body does not have it.
func (h *bodyHead) find(data []byte, number uint32) (index uint32, ok bool) {
	low, high := uint32(0), h.names
	numbers := h.numbersAt()
	for low < high {
		middle := (low + high) / 2
		switch n := le32(data[numbers+nameSize*uint64(middle):]); {
		case n == number:
			return middle, true
		case n < number:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false
}

// numbersAt returns the offset of the names' numbers in the body.
func (h *bodyHead) numbersAt() uint64 { return bodyHeadSize + groupSize*uint64(h.groups) }

// groupOf returns the group of a name, given by its index in the body, which must exist.
func (h *bodyHead) groupOf(data []byte, index uint32) uint32 {
	return le32(data[h.numbersAt()+nameSize*(uint64(h.names)+uint64(index)):])
}

// statements returns the key of the statements of data, the body; ok is false if it has none.
func (h *bodyHead) statements(data []byte) (key StatementsKey, ok bool) {
	if h.marks&markMore == 0 {
		return key, false
	}
	// The table: its length, its kind, the key. readHead has compared the length.
	table := data[h.numbersAt()+2*nameSize*uint64(h.names) : h.start]
	if len(table) < 8+len(key) || le32(table) < uint32(4+len(key)) || le32(table[4:]) != moreStatements {
		return key, false
	}
	return StatementsKey(table[8:][:len(key)]), true
}

// headSum returns the checksum of a body's head and tables.
func (h *bodyHead) headSum(data []byte) uint32 { return bodySum(data[4:h.start]) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func bodySum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// AppendRules appends the bytes that decide, with the names' numbers in a dictionary of
// their own: the index of a name in Names. OpenBody reads them.
func (b *Body) AppendRules(dst []byte) []byte { return append(dst, b.data...) }

// AppendNotes appends the bytes that only explanations need. OpenBody reads them.
func (b *Body) AppendNotes(dst []byte) []byte { return append(dst, b.notes...) }

// Profile returns the profile that the body was compiled under.
func (b *Body) Profile() Profile { return b.head.profile }

// Tries appends one trie for each chain, in their order: that of the first name that has a
// group, else that of "*" (RFC 9309 §2.2.1). Tries with equal rules share them, even if
// they come from different groups of the file.
//
// If the body has no notes, Trie.Rule knows only whether a rule allows.
func (b *Body) Tries(dst []Trie, chains []Chain) []Trie {
	for _, chain := range chains {
		dst = append(dst, b.trie(b.obeyed(chain)))
	}
	return dst
}

// For returns the distinct tries of agents and the index of each agent's trie, as the
// fields Tries and Of of an Origin.
func (b *Body) For(a *Agents) (tries []Trie, of []uint32) {
	indices := b.indicesOf(a)
	d := newDistinct(a)
	for chain := range a.chains {
		name := a.obeyed(chain, func(name int32) bool { return indices[name+1] >= 0 })
		d.add(name, func() Trie { return b.trie(int(indices[name+1])) })
	}
	return d.result()
}

// indicesOf returns the index in the body of each name in a, by the name's number + 1. It is -1 for
// "*" and for a name that the body does not have. With many agents this is faster than a search of
// the body for each.
func (b *Body) indicesOf(a *Agents) []int32 {
	indices := slices.Repeat([]int32{-1}, len(a.names)+1)
	for n := range int(b.head.names) {
		if number, ok := a.numbers[string(b.name(n))]; ok {
			indices[number+1] = int32(n)
		}
	}
	return indices
}

// Chosen returns the name whose groups a chain obeys, in lower case: the first one that has
// a group, or Everyone.
func (b *Body) Chosen(chain Chain) string {
	if i := b.obeyed(chain); i >= 0 {
		return string(b.name(i))
	}
	return Everyone
}

// obeyed returns the index in the body of the name whose groups a chain obeys, -1 for "*".
func (b *Body) obeyed(chain Chain) int {
	for _, name := range chain {
		if name == Everyone {
			break
		}
		if index := b.find(name); index >= 0 {
			return index
		}
	}
	return -1
}

// find returns the index in the body of a name, ignoring the case of ASCII letters; -1 if the
// body does not have it.
func (b *Body) find(name string) (index int) {
	index, ok := sort.Find(int(b.head.names), func(i int) int { return -CompareName(b.name(i), name) })
	if !ok {
		return -1
	}
	return index
}

// CompareName compares a name in lower case with one in any case, byte by byte. Like
// bytes.Compare it returns a negative number, 0, or a positive number.
func CompareName(lower []byte, name string) int {
	for i := 0; i < len(lower) && i < len(name); i++ {
		if c := urls.ToLower(name[i]); lower[i] != c {
			return int(lower[i]) - int(c)
		}
	}
	return len(lower) - len(name)
}

// name returns the text of a name, given by its index in the body.
func (b *Body) name(index int) []byte {
	return b.nameOf(le32(b.data[b.head.numbersAt()+nameSize*uint64(index):]))
}

// endOf returns the end that record i of a table says. The table starts at an offset of data; a record
// has size bytes and starts with the end. For i = -1 it returns 0, the start of what record 0 ends.
func endOf(data []byte, table, size, i int) int {
	if i < 0 {
		return 0
	}
	return int(le32(data[table+size*i:]))
}

// trie returns the trie of a name, given by its index in the body; that of "*" for -1. It has
// notes if the body has them.
func (b *Body) trie(index int) Trie {
	t := Trie{rules: noRules}
	group := uint32(0) // that of "*"
	if index >= 0 {
		group = b.head.groupOf(b.data, uint32(index))
	}
	// OpenBody reports groups that are damaged: these two fail only if data has changed since.
	if low, high, ok := b.head.group(b.data, group); ok {
		if rules, ok := openCompiled(b.data[low:high:high]); ok {
			t.rules = rules
		}
	}
	if b.notes != nil {
		t.notes = &notes{rules: b.trieNotes(b.trieOf(index)), agents: b.list(index + 1)}
	}
	return t
}

// noRules takes the place of a group that is damaged.
var noRules = func() compiled {
	var b builder
	b.reset(nil)
	return b.build()
}()

// trieOf returns the number in the notes of the trie of a name, given by its index in the body;
// that of "*" for -1.
func (b *Body) trieOf(index int) int {
	return int(le32(b.notes[b.listsAt+agentListSize*(index+1)+4:]))
}

// trieNotes returns the notes on the rules of trie i, counted as in the notes.
func (b *Body) trieNotes(i int) []byte {
	return b.element(notesHeaderSize, trieNotesSize, i, b.notesTextAt)
}

// list returns list i of user-agent values: 0 for "*", then one for each name.
func (b *Body) list(i int) []byte { return b.element(b.listsAt, agentListSize, i, b.listsText) }

// element returns the bytes that record i of a table of the notes says the end of; see endOf. They
// start where those of record i-1 end. texts is the offset in the notes that ends are counted from.
func (b *Body) element(table, size, i, texts int) []byte {
	return b.notes[texts+endOf(b.notes, table, size, i-1) : texts+endOf(b.notes, table, size, i)]
}

// Names yields the names of the agents that the body has groups for, in lower case and
// sorted. They are valid as long as the body's bytes are.
func (b *Body) Names() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range int(b.head.names) {
			if !yield(b.name(i)) {
				return
			}
		}
	}
}

// Groups yields each distinct trie with the names that obey it, in the order in which the
// tries were compiled. The trie of "*" comes first, if a group is for "*"; its name is
// Everyone. The body must have notes.
func (b *Body) Groups() iter.Seq2[[]string, Trie] {
	return func(yield func([]string, Trie) bool) {
		names := make([][]string, b.tries)
		if b.HasEveryone() {
			names[0] = []string{Everyone}
		}
		for i := range int(b.head.names) {
			trie := b.trieOf(i)
			names[trie] = append(names[trie], string(b.name(i)))
		}
		for number := range names { // a trie is opened by a name that obeys it: its rules are found by the name alone
			if len(names[number]) > 0 && !yield(names[number], b.trie(b.obeyed(Chain{names[number][0]}))) {
				return
			}
		}
	}
}

// HasEveryone reports whether the body has a group for "*".
func (b *Body) HasEveryone() bool {
	return b.trie(-1).rules.flags&flagGroup != 0
}

// Written returns all rules in the order of their lines, each once, even if it stands for two patterns.
// Their Allow is not set. A trie without notes has none.
func (t *Trie) Written() []RuleInfo {
	rules := make([]RuleInfo, 0, t.ruleCount())
	for rank := 1; rank <= t.ruleCount(); rank++ {
		rules = append(rules, t.Rule(uint32(rank)<<1)) // its number as if it denied: see entry.rule
	}
	slices.SortFunc(rules, func(x, y RuleInfo) int { return cmp.Compare(x.Line, y.Line) })
	return slices.CompactFunc(rules, func(x, y RuleInfo) bool { return x.Line == y.Line })
}

// ruleCount returns the number of ranks with notes, 0 for a trie without notes.
func (t *Trie) ruleCount() int {
	if t.notes == nil {
		return 0
	}
	return ruleCount(t.notes.rules)
}

// bodyBuilder collects the sections of a Body, which have the names here of Body's comment.
type bodyBuilder struct {
	groups, of, compiled               []byte
	trieNotes, lists, notes, listTexts []byte
	groupOf                            []uint32          // by trie; 0 for one that is not asked for
	seen                               map[string]uint32 // by the bytes of a group, its number
	names                              [][]byte          // in the order of their texts
	withoutNotes                       bool
}

// addTrie adds the next trie. merged is the number of groups of the file that were merged into
// it. A trie with the rules of an earlier one shares its group.
func (b *bodyBuilder) addTrie(t Trie, merged int) {
	group, ok := b.seen[string(t.rules.data)]
	if !ok {
		group = uint32(len(b.seen))
		b.seen[string(t.rules.data)] = group
		b.compiled = padded(b.compiled)
		b.compiled = append(b.compiled, t.rules.data...)
		b.groups = append32(b.groups, uint32(len(b.compiled)), bodySum(t.rules.data))
	}
	b.groupOf = append(b.groupOf, group)
	if b.withoutNotes {
		return
	}
	b.notes = append(b.notes, t.notes.rules...)
	b.trieNotes = append32(b.trieNotes, uint32(len(b.notes)), uint32(merged))
}

// padded appends zeros up to a multiple of groupAlignment.
func padded(b []byte) []byte {
	return append(b, make([]byte, align(uint64(len(b)), groupAlignment)-uint64(len(b)))...)
}

// ruleCount returns the number of rules in a trie's notes. The first rule's text follows
// the last fixed-size note, so its offset divided by noteSize is the number of notes. The first
// note is that of rank 0. The result may be anything for notes that were not checked.
func ruleCount(notes []byte) int {
	if len(notes) < 2*noteSize {
		return 0
	}
	return int(le32(notes[noteSize+noteTextAt:])/noteSize) - 1
}

// addList adds to the notes, if there are any, the user-agent values of the groups that were
// chosen for a name or for "*", and the number of their trie.
func (b *bodyBuilder) addList(chosen []choice, trie int) {
	if b.withoutNotes {
		return
	}
	b.listTexts = append(b.listTexts, agentNames(chosen)...)
	b.lists = append32(b.lists, uint32(len(b.listTexts)), uint32(trie))
}

// finish returns the body of f, whose tries and names were added, with number 0: the sections one after the
// other as in Body's comment. The names' numbers are their indices in b.names.
func (b *bodyBuilder) finish(f *robotstxt.File) *Body {
	data := make([]byte, bodyHeadSize, bodyHeadSize+len(b.groups)+2*len(b.of)+len(b.compiled)+2*groupAlignment)
	data = append(data, b.groups...)
	for number := range b.names {
		data = append32(data, uint32(number))
	}
	data = append(data, b.of...)
	marks := uint16(0)
	if len(f.Statements) > 0 {
		marks = markMore
		key := KeyOfStatements(f.AppendStatements(nil))
		data = append(append32(data, uint32(4+len(key)), moreStatements), key[:]...)
	}
	data = padded(data)
	data = padded(append(data, b.compiled...))
	putHead(data, f, marks, len(b.names), len(b.groups)/groupSize)
	RenumberBody(data, 0, nil)
	names := b.names
	body := &Body{data: data, nameOf: func(number uint32) []byte { return names[number] }}
	body.head, _ = readHead(data)
	if b.withoutNotes {
		return body
	}
	notesHeader := append32(nil, notesFormat, uint32(len(b.trieNotes)/trieNotesSize), uint32(len(b.lists)/agentListSize), 0)
	body.notes = slices.Concat(notesHeader, b.trieNotes, b.lists, b.notes, b.listTexts)
	body.findNotes()
	return body
}

// putHead writes the head of the body data, but for what RenumberBody writes: the checksum, the
// body's number and the names' bits. It adds the marks for the statements of f.
func putHead(data []byte, f *robotstxt.File, marks uint16, names, groups int) {
	put32(data[4:], uint32(len(data)))
	if len(f.Statements) > 0 {
		marks |= markStatements
	}
	data[12], data[13] = byte(f.Kind), byte(f.Profile)
	binary.LittleEndian.PutUint16(data[14:], marks)
	put32(data[24:], uint32(names))
	put32(data[28:], uint32(groups))
}

// RenumberBody writes a body's number into data, which AppendRules or AppendSource made. It also
// replaces the number of each name by what numbers returns for it: the name's number in another
// dictionary, which has the names in the same order. If numbers is nil, the names keep their numbers.
// ok is false, and data unchanged, if data is not such a body.
func RenumberBody(data []byte, number uint32, numbers func(name uint32) uint32) (ok bool) {
	h, ok := readHead(data)
	if !ok {
		return false
	}
	filter := uint64(0)
	for i := range uint64(h.names) {
		field := data[h.numbersAt()+nameSize*i:]
		if numbers != nil {
			put32(field, numbers(le32(field)))
		}
		filter |= filterBit(le32(field))
	}
	put32(data[8:], number) // Body's comment has the offsets
	put64(data[16:], filter)
	put32(data, h.headSum(data))
	return true
}

// filterBit returns the bit of a name's number in the head of a body.
func filterBit(number uint32) uint64 { return 1 << (number & 63) }

// AppendSource appends a body that is kept as its source: the robots.txt that f was parsed
// from. Its number is 0 (see RenumberBody).
func AppendSource(dst []byte, f *robotstxt.File, source []byte) []byte {
	start := len(dst)
	dst = append(append(dst, make([]byte, bodyHeadSize)...), source...)
	putHead(dst[start:], f, markSource, 0, 0) // no names, no groups
	RenumberBody(dst[start:], 0, nil)
	return dst
}

// CompileBody calls Compiler.CompileBody of a new Compiler.
func CompileBody(f *robotstxt.File) (body *Body, ok bool) {
	return new(Compiler).CompileBody(f)
}

// askedOf returns for each of the distinct selections whether an agent of c.Asked, or of all
// names if that is nil, obeys it. The first one, that of "*", is always asked for.
func (c *Compiler) askedOf(names []selection, distinct int) []bool {
	asked := make([]bool, distinct)
	asked[0] = true
	for _, n := range names {
		if c.Asked == nil {
			asked[n.trie] = true
		} else if _, ok := c.Asked.numbers[n.name]; ok {
			asked[n.trie] = true
		}
	}
	return asked
}

// CompileBody compiles a body for all agents at once, with notes; Asked restricts that. The
// Body does not alias f or the compiler. Agents that obey different sets of groups have rules of their
// own, even if the sets overlap. ok is false if all these rules together would be out of proportion to
// the body (see maxMerging), or too large for 32-bit offsets. Compile can still compile such a body for
// single agents.
//
// It takes time and memory linear in the body, apart from sorting the rules.
func (c *Compiler) CompileBody(f *robotstxt.File) (body *Body, ok bool) {
	names, distinct, ok := selectAll(f)
	if !ok {
		return nil, false
	}
	b := bodyBuilder{seen: make(map[string]uint32, len(distinct)), withoutNotes: c.Asked != nil}
	asked := c.askedOf(names, len(distinct))
	for i, chosen := range distinct {
		if !asked[i] {
			b.groupOf = append(b.groupOf, 0)
			continue
		}
		t := c.compileGroups(f, chosen)
		if !b.withoutNotes {
			t.notes = &notes{rules: c.ruleNotes()}
		}
		b.addTrie(t, len(chosen))
	}
	if uint64(len(b.compiled)) > math.MaxUint32/2 {
		return nil, false
	}
	b.addList(distinct[0], 0) // of "*", which has trie 0
	for _, n := range names {
		b.names = append(b.names, []byte(n.name))
		b.of = append32(b.of, b.groupOf[n.trie])
		b.addList(n.chosen, n.trie)
	}
	return b.finish(f), true
}
