package matcher

import (
	"cmp"
	"errors"
	"fmt"

	"robotsbatch/matcher/robotstxt"
)

// ErrBadBody means that bytes are not a compiled robots.txt: they were cut or changed,
// or another version of the program made them.
var ErrBadBody = errors.New("these bytes are not a compiled robots.txt")

// OpenBody returns the Body whose bytes AppendRules and AppendNotes gave. Without notes
// (nil) its rules decide but have no text. The Body aliases data and notes. They must not
// change while it or any of its tries is in use: matching checks nothing again.
//
// The bytes are not trusted. A Body that opens can be matched against any path: no offset
// leads outside, no link leads in a circle, and the bound on time given at Trie holds.
// OpenBody cannot know whether the rules are those of the original file. Its errors are
// ErrBadBody.
//
// It takes time linear in the bytes and memory linear in the nodes.
func OpenBody(data, notes []byte) (*Body, error) {
	b, err := openShape(data, notes)
	if err == nil {
		err = b.checkAll()
	}
	if err != nil {
		return nil, fmt.Errorf("matcher: %w: %w", ErrBadBody, err)
	}
	return b, nil
}

// OpenFor calls OpenBody and Body.For, but checks only the groups that the agents obey: few
// of a body that names many agents. Use the Body only for Profile, Names and Chosen, and
// for tries of these agents.
func OpenFor(data, notes []byte, agents *Agents) (b *Body, tries []Trie, of []uint32, err error) {
	b, err = openShape(data, notes)
	if err == nil {
		tries, of, err = b.decide(agents, b.checkName)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("matcher: %w: %w", ErrBadBody, err)
	}
	return b, tries, of, nil
}

// ReopenBody opens bytes that OpenBody, or OpenFor for the same agents, has accepted
// before. It checks nothing.
func ReopenBody(data, notes []byte) *Body {
	b := view(data, notes)
	return &b
}

// openShape checks everything except the contents of groups, of tries' notes and of lists.
func openShape(data, notes []byte) (*Body, error) {
	if err := checkShape(data); err != nil {
		return nil, err
	}
	b := view(data, nil)
	if notes == nil {
		return &b, nil
	}
	if err := b.checkNotesShape(notes); err != nil {
		return nil, fmt.Errorf("notes: %w", err)
	}
	b = view(data, notes)
	return &b, nil
}

// checkShape checks the rules of a body, except the contents of groups and the number of
// groups merged into each trie, which only the notes have.
func checkShape(data []byte) error {
	if len(data) < bodyHeaderSize || le32(data) != bodyFormat {
		return errors.New("not the rules of a robots.txt of this version")
	}
	profile, names, tries, groups := le32(data[4:]), le32(data[8:]), le32(data[12:]), le32(data[16:])
	if profile > uint32(robotstxt.Google) || tries == 0 || groups == 0 {
		return errors.New("its header is wrong")
	}
	fixed := bodyHeaderSize + nameSize*uint64(names) + trieSize*uint64(tries) + groupSize*uint64(groups)
	if fixed+uint64(le32(data[20:])) > uint64(len(data)) {
		return errors.New("cut off")
	}
	b := view(data, nil)
	if err := checkEnds(data, bodyHeaderSize, nameSize, b.names, b.compiledAt-b.textsAt); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	for i := range b.names {
		if i > 0 && string(b.name(i-1)) >= string(b.name(i)) {
			return fmt.Errorf("name %d: out of order", i)
		}
		if b.trieOf(i) >= b.tries {
			return fmt.Errorf("name %d: no such trie", i)
		}
	}
	for i := range b.tries {
		if le32(data[b.triesAt+trieSize*i:]) >= groups {
			return fmt.Errorf("trie %d: no such group", i)
		}
	}
	if err := checkEnds(data, b.groupsAt, groupSize, b.groups, len(data)-b.compiledAt); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	return nil
}

// checkAll checks what openShape leaves out.
func (b *Body) checkAll() error {
	var c groupCheck
	for i := range b.groups {
		if err := b.checkGroup(&c, i); err != nil {
			return err
		}
	}
	if b.notes == nil {
		return nil
	}
	for i := range b.tries {
		if err := b.checkTrieNotes(i); err != nil {
			return err
		}
	}
	for i := range b.names + 1 {
		if err := b.checkList(i); err != nil {
			return err
		}
	}
	return nil
}

// checkName checks what openShape leaves out for the trie of a name, or of "*" for -1.
func (b *Body) checkName(c *groupCheck, name int) error {
	trie := b.trieOf(name)
	if err := b.checkGroup(c, b.groupOf(trie)); err != nil || b.notes == nil {
		return err
	}
	return cmp.Or(b.checkTrieNotes(trie), b.checkList(name+1))
}

func (b *Body) checkGroup(c *groupCheck, i int) error {
	if err := c.check(b.group(i), b.rulesOf(i), le32(b.data[4:])); err != nil {
		return fmt.Errorf("group %d: %w", i, err)
	}
	return nil
}

// rulesOf returns the number of rules of a group.
func (b *Body) rulesOf(group int) uint32 { return le32(b.data[b.groupsAt+groupSize*group+4:]) }

// checkEnds checks that n ends, from an offset on and size bytes apart, are in order and
// that the last one is limit.
func checkEnds(data []byte, at, size, n, limit int) error {
	before := 0
	for i := range n {
		next := endOf(data, at, size, i)
		if next < before {
			return fmt.Errorf("%d ends before it starts", i)
		}
		before = next
	}
	if before != limit {
		return errors.New("their length differs from the header's")
	}
	return nil
}

// checkNotesShape checks notes, except the contents of each trie's notes and of the lists.
// The shape of the body must have been checked.
func (b *Body) checkNotesShape(notes []byte) error {
	if len(notes) < notesHeaderSize || le32(notes) != notesFormat {
		return errors.New("not the notes of a robots.txt of this version")
	}
	if int64(le32(notes[4:])) != int64(b.tries) || int64(le32(notes[8:])) != int64(b.names)+1 {
		return errors.New("they belong to another body")
	}
	fixed := notesHeaderSize + trieNotesSize*uint64(b.tries) + agentListSize*uint64(b.names+1)
	if fixed > uint64(len(notes)) {
		return errors.New("cut off")
	}
	with := view(b.data, notes)
	if with.listsText > len(notes) {
		return errors.New("cut off")
	}
	if err := checkEnds(notes, notesHeaderSize, trieNotesSize, b.tries, with.listsText-with.notesTextAt); err != nil {
		return fmt.Errorf("tries: %w", err)
	}
	if err := checkEnds(notes, with.listsAt, agentListSize, b.names+1, len(notes)-with.listsText); err != nil {
		return fmt.Errorf("lists: %w", err)
	}
	return nil
}

func (b *Body) checkTrieNotes(trie int) error {
	if err := checkTrieNotes(b.trieNotes(trie), b.rulesOf(b.groupOf(trie)), b.merged(trie)); err != nil {
		return fmt.Errorf("notes: trie %d: %w", trie, err)
	}
	return nil
}

// checkList checks the list of a name, of "*" for 0.
func (b *Body) checkList(i int) error {
	if err := checkList(b.list(i), b.merged(b.trieOf(i-1))); err != nil {
		return fmt.Errorf("notes: list %d: %w", i, err)
	}
	return nil
}

// merged returns the number of groups of the file in a trie.
func (b *Body) merged(trie int) uint32 {
	return le32(b.notes[notesHeaderSize+trieNotesSize*trie+4:])
}

// checkTrieNotes checks the notes of a trie with so many rules and merged groups.
func checkTrieNotes(notes []byte, rules, merged uint32) error {
	start := noteSize * (uint64(rules) + 1)
	if start > uint64(len(notes)) {
		return errors.New("fewer notes than rules")
	}
	if uint64(ruleCount(notes)) != uint64(rules) {
		return errors.New("the numbers of notes and rules differ")
	}
	for rank := 1; rank <= int(rules); rank++ {
		note := notes[noteSize*rank:]
		text, length := uint64(le32(note[4:])), uint64(le32(note[8:]))
		if text < start || text+length > uint64(len(notes)) {
			return fmt.Errorf("rule %d: its text lies outside the notes", rank)
		}
		if le32(note[12:]) >= merged {
			return fmt.Errorf("rule %d: no such group", rank)
		}
	}
	return nil
}

// checkList checks a list of so many user-agent values; see agentNames.
func checkList(list []byte, values uint32) error {
	if len(list) < 4 || le32(list) != values {
		return errors.New("the numbers of values and groups differ")
	}
	start := 4*uint64(values) + 4
	if start > uint64(len(list)) {
		return errors.New("cut off")
	}
	before := start
	for i := range int(values) {
		next := uint64(le32(list[4*i+4:]))
		if next < before || next > uint64(len(list)) {
			return fmt.Errorf("value %d lies outside the list", i)
		}
		before = next
	}
	return nil
}
