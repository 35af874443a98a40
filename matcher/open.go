package matcher

import (
	"bytes"
	"errors"
	"fmt"

	"robotsbatch/matcher/robotstxt"
)

// ErrBadBody means that bytes are not a compiled robots.txt: they were cut or changed,
// or another version of the program made them.
var ErrBadBody = errors.New("these bytes are not a compiled robots.txt")

// OpenBody returns the Body whose bytes AppendRules and AppendNotes gave. Without notes
// (nil) its rules decide but have no text. nameOf returns the text of a name by its number;
// for a number that does not exist it may return anything. The Body aliases data and notes.
//
// The bytes are not trusted. A Body that opens can be matched against any path: no offset
// leads outside, no link leads in a circle, and the bound on time given at Trie holds, even
// if data changes after that; notes must not change. OpenBody cannot know whether the rules
// are those of the original file. Its errors are ErrBadBody.
func OpenBody(data, notes []byte, nameOf func(number uint32) []byte) (*Body, error) {
	b := &Body{data: data, nameOf: nameOf, notes: notes}
	err := b.check()
	if err == nil && notes != nil {
		if err = b.checkNotes(); err != nil {
			err = fmt.Errorf("notes: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadBody, err)
	}
	return b, nil
}

// check sets b.head and checks the rules: checksums, bounds, padding and the order of the
// names. It does not follow offsets within groups; see compiled.
func (b *Body) check() error {
	var ok bool
	if b.head, ok = readHead(b.data); !ok || int(b.head.length) != len(b.data) {
		return errors.New("cut off")
	}
	h := &b.head
	switch {
	case h.headSum(b.data) != le32(b.data):
		return errors.New("checksum")
	case h.marks&^(markSource|markMore|markStatements) != 0 || h.profile > robotstxt.Google:
		return errors.New("not the rules of a robots.txt of this version")
	case h.marks&markSource != 0:
		return errors.New("it is not compiled")
	case h.groups == 0:
		return errors.New("no group")
	}
	end := uint64(h.start)
	for i := range h.groups {
		low, high, err := b.checkGroup(i)
		if err == nil && !zeros(b.data[end:low]) {
			err = errors.New("padding")
		}
		if err != nil {
			return fmt.Errorf("group %d: %w", i, err)
		}
		end = high
	}
	if rest := b.data[end:]; len(rest) >= groupAlignment || !zeros(rest) {
		return errors.New("padding")
	}
	last := int64(-1)
	for i := range h.names {
		number := int64(le32(b.data[h.numbersAt()+nameSize*uint64(i):]))
		if number <= last {
			return fmt.Errorf("name %d: out of order", i)
		}
		if h.groupOf(b.data, i) >= h.groups {
			return fmt.Errorf("name %d: no such group", i)
		}
		last = number
	}
	return nil
}

// zeros reports whether all bytes are zero.
func zeros(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// checkGroup checks a group's checksum, sections and profile, and returns its bounds in data.
func (b *Body) checkGroup(number uint32) (low, high uint64, err error) {
	low, high, ok := b.head.group(b.data, number)
	if !ok {
		return 0, 0, errors.New("it lies outside")
	}
	if bodySum(b.data[low:high]) != le32(b.data[bodyHeadSize+groupSize*int(number)+groupSumAt:]) {
		return 0, 0, errors.New("checksum")
	}
	if c, ok := openCompiled(b.data[low:high:high]); !ok {
		return 0, 0, errors.New("its length differs from its header's")
	} else if (c.flags&flagGoogle != 0) != (b.head.profile == robotstxt.Google) {
		return 0, 0, errors.New("it is of another profile")
	}
	return low, high, nil
}

// findNotes sets the number of tries and the offsets of the sections of b.notes, which must
// have its header and the ends of its tries and lists.
func (b *Body) findNotes() {
	b.tries = int(le32(b.notes[4:])) // as of the header
	b.listsAt = notesHeaderSize + trieNotesSize*b.tries
	b.notesTextAt = b.listsAt + agentListSize*(int(b.head.names)+1)
	b.listsText = b.notesTextAt + int(le32(b.notes[b.listsAt-trieNotesSize:])) // the end of the last trie's notes
}

// checkNotes sets the offsets of the notes (findNotes) and checks them: all that Rule and
// Agents read lies inside. The rules must have been checked.
func (b *Body) checkNotes() error {
	data, names := b.notes, uint64(b.head.names)
	if len(data) < notesHeaderSize || le32(data) != notesFormat {
		return errors.New("not the notes of a robots.txt of this version")
	}
	tries := uint64(le32(data[4:]))
	if tries == 0 || uint64(le32(data[8:])) != names+1 {
		return errors.New("they belong to another body")
	}
	if notesHeaderSize+trieNotesSize*tries+agentListSize*(names+1) > uint64(len(data)) {
		return errors.New("cut off")
	}
	b.findNotes()
	if uint(b.listsText) > uint(len(data)) {
		return errors.New("cut off")
	}
	if err := checkEnds(data, notesHeaderSize, trieNotesSize, b.tries, b.listsText-b.notesTextAt); err != nil {
		return fmt.Errorf("tries: %w", err)
	}
	if err := checkEnds(data, b.listsAt, agentListSize, int(names)+1, len(data)-b.listsText); err != nil {
		return fmt.Errorf("lists: %w", err)
	}
	for i := range b.tries {
		if err := checkTrieNotes(b.trieNotes(i), b.merged(i)); err != nil {
			return fmt.Errorf("trie %d: %w", i, err)
		}
	}
	for i := range int(names) + 1 { // list 0 is that of "*", whose trie must be trie 0; list i is that of name i-1
		trie := b.trieOf(i - 1)
		if uint(trie) >= uint(b.tries) || i == 0 && trie != 0 {
			return fmt.Errorf("list %d: no such trie", i)
		}
		if err := checkList(b.list(i), b.merged(trie)); err != nil {
			return fmt.Errorf("list %d: %w", i, err)
		}
	}
	return nil
}

// checkEnds checks that the ends of the n elements of a table (see endOf) are in order and that
// the last one is limit.
func checkEnds(data []byte, table, size, n, limit int) error {
	for i := range n {
		if endOf(data, table, size, i) < endOf(data, table, size, i-1) {
			return fmt.Errorf("%d ends before it starts", i)
		}
	}
	if endOf(data, table, size, n-1) != limit {
		return errors.New("their length differs from the header's")
	}
	return nil
}

// merged returns the number of groups of the file that were merged into a trie.
func (b *Body) merged(trie int) uint32 {
	return le32(b.notes[notesHeaderSize+trieNotesSize*trie+4:])
}

// checkTrieNotes checks the notes on the rules of a trie: their texts lie inside and their groups
// exist. merged is the number of groups of the trie.
func checkTrieNotes(notes []byte, merged uint32) error {
	rules := ruleCount(notes)
	start := noteSize * (uint64(max(rules, 0)) + 1)
	if rules < 0 || start > uint64(len(notes)) {
		return errors.New("fewer notes than rules")
	}
	for rank := 1; rank <= rules; rank++ {
		note := notes[noteSize*rank:]
		text, length := uint64(le32(note[noteTextAt:])), uint64(le32(note[noteLengthAt:]))
		if text < start || text+length > uint64(len(notes)) {
			return fmt.Errorf("rule %d: its text lies outside the notes", rank)
		}
		if le32(note[noteGroupAt:]) >= merged {
			return fmt.Errorf("rule %d: no such group", rank)
		}
	}
	return nil
}

// checkList checks a list of user-agent values in the layout of agentNames: that their number is
// values, and that they lie inside.
func checkList(list []byte, values uint32) error {
	if len(list) < 4 || le32(list) != values {
		return errors.New("the numbers of values and groups differ")
	}
	end := 4*uint64(values) + 4 // of the value before
	if end > uint64(len(list)) {
		return errors.New("cut off")
	}
	for i := range int(values) {
		next := uint64(le32(list[4*i+4:]))
		if next < end || next > uint64(len(list)) {
			return fmt.Errorf("value %d lies outside the list", i)
		}
		end = next
	}
	return nil
}
