package matcher

import (
	"errors"
	"fmt"
	"math/bits"

	"robotsbatch/matcher/internal/kernels"
	"robotsbatch/matcher/urls"
)

// groupCheck checks a compiled group that comes from a file. It reuses its memory. match.go
// and suffixes.go rely on these properties, beside that every number refers to an existing
// element:
//
//   - The nodes are a tree: each but the root is the child of one node, which has a smaller number. So are the leaves.
//   - The bytes that lead to a node or leaf with an end, or with a rule of its own, are a normal spelling, and no list there or above is deeper. So a suffix starts inside the path, however the path was spelled.
//   - No literal belongs to two suffixes, no suffix to two index literals, and labels and literals together are not longer than the text section. So a scan of all of them takes time linear in the section.
//
// The trie in an index is checked in the same way. Its rules are index literals, and it has
// no suffixes.
type groupCheck struct {
	compiled
	nodeCount, leafCount, endCount, listCount, suffixCount, literalCount, textLength uint32

	indexLiterals bool    // this is the trie in an index
	rules         uint32  // their number; ranks start at 1
	lengths       uint64  // total length of labels and literals so far
	places        []place // by node
	leafSeen      []bool
}

func (c *groupCheck) check(data []byte, rules, profile uint32) error {
	if len(data) < headerSize || le32(data[4*hFormat:]) != trieFormat {
		return errors.New("not a compiled group of this version")
	}
	count := func(field int) uint32 { return le32(data[4*field:]) }
	c.nodeCount, c.leafCount = count(hNodes), count(hLeaves)
	c.endCount, c.listCount = count(hEnds), count(hLists)
	c.suffixCount, c.literalCount, c.textLength = count(hSuffixes), count(hLiterals), count(hText)
	size := headerSize + nodeSize*uint64(c.nodeCount) + leafSize*uint64(c.leafCount) + endSize*uint64(c.endCount) +
		listSize*uint64(c.listCount) + (kernels.SignatureSize+suffixSize)*uint64(c.suffixCount) + literalSize*uint64(c.literalCount) + uint64(c.textLength) + uint64(count(hIndex))
	flags := count(hFlags)
	switch {
	case size != uint64(len(data)):
		return errors.New("its length differs from its header's")
	case c.nodeCount == 0 || c.endCount == 0 || c.listCount == 0:
		return errors.New("no root, no end 0 or no suffix list 0")
	case flags&^(flagGroup|flagGoogle) != 0 || (flags&flagGoogle != 0) != (profile != 0):
		return errors.New("unknown flags, or those of another profile")
	case rules >= endBit>>1:
		return errors.New("too many rules")
	case c.indexLiterals && (c.suffixCount != 0 || count(hIndex) != 0):
		return errors.New("the trie in an index has wildcard suffixes")
	}
	c.compiled, c.rules, c.lengths = newCompiled(data), rules, 0
	return c.checkSections()
}

func (c *groupCheck) checkSections() error {
	if err := c.checkLiterals(); err != nil {
		return err
	}
	if err := c.checkSuffixes(); err != nil {
		return err
	}
	if err := c.checkLists(); err != nil {
		return err
	}
	if err := c.checkEnds(); err != nil {
		return err
	}
	if err := c.checkNodes(); err != nil {
		return err
	}
	return c.checkIndex()
}

// hasRule reports whether a number is that of a rule, or 0 where a rule is optional.
func (c *groupCheck) hasRule(rule uint32) bool {
	if c.indexLiterals {
		return rule <= c.rules
	}
	return rule == 0 || rule >= 2 && rule>>1 <= c.rules
}

// hasText reports whether these bytes are in the text section, and adds them to the total
// length.
func (c *groupCheck) hasText(offset, length uint32) bool {
	c.lengths += uint64(length)
	return uint64(offset)+uint64(length) <= uint64(c.textLength) && c.lengths <= uint64(c.textLength)
}

func (c *groupCheck) checkLiterals() error {
	for i := range int(c.literalCount) {
		record := c.data[c.literals+i*literalSize:]
		if !c.hasText(le32(record), le32(record[4:])) {
			return fmt.Errorf("literal %d lies outside the text", i)
		}
	}
	return nil
}

func (c *groupCheck) checkSuffixes() error {
	literals := uint64(0) // of the suffixes before this one
	for i := range int(c.suffixCount) {
		record := c.data[c.suffixes+i*suffixSize:]
		count, first, longest := uint64(le32(record[4:])>>suffixCount), le32(record[8:]), le32(record[12:])
		rule, list := le32(record), le32(record[16:])
		if rule == 0 || !c.hasRule(rule) || count == 0 || list >= c.listCount {
			return fmt.Errorf("wildcard suffix %d", i)
		}
		if count == 1 {
			if !c.hasText(first, longest) {
				return fmt.Errorf("wildcard suffix %d: its literal lies outside the text", i)
			}
			continue
		}
		if uint64(first) != literals || literals+count > uint64(c.literalCount) ||
			longest < first || uint64(longest) >= literals+count {
			return fmt.Errorf("wildcard suffix %d: its literals do not exist", i)
		}
		literals += count
	}
	return nil
}

func (c *groupCheck) checkLists() error {
	if [listSize]byte(c.data[c.lists:]) != [listSize]byte{} {
		return errors.New("suffix list 0")
	}
	suffixes := uint32(0) // of the lists before this one
	for i := uint32(1); i < c.listCount; i++ {
		record := c.data[c.list(i):]
		allow, disallow, last := le32(record[4:]), le32(record[8:]), le32(record[12:])
		if allow != suffixes || disallow < allow || last < disallow || last > c.suffixCount {
			return fmt.Errorf("suffix list %d: its wildcard suffixes do not follow those of the list before", i)
		}
		suffixes = last
		if !c.hasRule(le32(record[16:])) || !c.hasRule(le32(record[20:])) {
			return fmt.Errorf("suffix list %d: no such rule", i)
		}
		up := le32(record[24:])
		if up >= i || up > 0 && le32(record) <= c.depth(up) {
			return fmt.Errorf("suffix list %d: not below list %d", i, up)
		}
	}
	return nil
}

// depth returns the length of the literal prefix that a list hangs on.
func (c *groupCheck) depth(list uint32) uint32 { return le32(c.data[c.list(list):]) }

func (c *groupCheck) checkEnds() error {
	if [endSize]byte(c.data[c.ends:]) != [endSize]byte{} {
		return errors.New("end 0")
	}
	for i := 1; i < int(c.endCount); i++ {
		record := c.data[c.end(uint32(i)):]
		if !c.hasRule(le32(record)) || !c.hasRule(le32(record[4:])) || le32(record[8:]) >= c.listCount {
			return fmt.Errorf("end %d", i)
		}
	}
	return nil
}

// checkNodes checks parents before their children, which have greater numbers.
func (c *groupCheck) checkNodes() error {
	c.places = cleared(c.places, int(c.nodeCount))
	c.leafSeen = cleared(c.leafSeen, int(c.leafCount))
	c.places[0].reached = true
	for i := range int(c.nodeCount) {
		if err := c.checkNode(i); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
	}
	return nil
}

// cleared returns a slice of n zeros, in the memory of s if that is large enough.
func cleared[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (c *groupCheck) checkNode(i int) error {
	here := c.places[i]
	if !here.reached {
		return errors.New("it is no child of a node before it")
	}
	record := c.data[headerSize+i*nodeSize:]
	label := le64(record)
	if label>>56 > 7 {
		return errors.New("label")
	}
	for n := label >> 56; n > 0; n, label = n-1, label>>8 {
		if char := byte(label); isStep[char] && here.escape == 0 {
			here.depth++ // as step does
		} else if !c.step(&here, char) {
			return errors.New("label")
		}
	}
	if end := le32(record[28:]); end != 0 && !c.isEnd(end, here) {
		return errors.New("end")
	}
	first := le32(record[24:])
	child := uint64(first &^ leafBit)
	for w, word := range [...]uint64{le64(record[8:]), le64(record[16:])} {
		for ; word != 0; word &= word - 1 {
			below := here
			if !c.step(&below, byte(64*w+bits.TrailingZeros64(word))) {
				return errors.New("branch")
			}
			if first&leafBit != 0 {
				if child >= uint64(c.leafCount) || c.leafSeen[child] {
					return errors.New("no leaf for each branch")
				}
				c.leafSeen[child] = true
				if !c.checkLeaf(int(child), below) {
					return fmt.Errorf("leaf %d", child)
				}
			} else {
				if child <= uint64(i) || child >= uint64(c.nodeCount) || c.places[child].reached {
					return errors.New("no child for each branch")
				}
				c.places[child] = below
			}
			child++
		}
	}
	return nil
}

// checkLeaf checks a leaf, given the bytes that lead to it.
func (c *groupCheck) checkLeaf(i int, here place) bool {
	record := c.data[c.leaves+i*leafSize:]
	offset, length := le32(record), le32(record[4:])
	if !c.hasText(offset, length) {
		return false
	}
	for _, char := range c.data[c.text+int(offset):][:length] {
		if isStep[char] && here.escape == 0 {
			here.depth++ // as step does
		} else if !c.step(&here, char) {
			return false
		}
	}
	rule, above := le32(record[8:]), le32(record[12:])
	if rule&endBit != 0 {
		return rule != endBit && c.isEnd(rule&^endBit, here)
	}
	return rule != 0 && c.hasRule(rule) && here.escape == 0 && above < c.listCount && c.depth(above) <= here.depth
}

// isEnd reports whether an end is valid after the bytes that lead to it.
func (c *groupCheck) isEnd(end uint32, here place) bool {
	return end < c.endCount && c.depth(le32(c.data[c.end(end)+8:])) <= here.depth && here.escape == 0
}

// checkIndex checks the index, if there is one; see index.go.
func (c *groupCheck) checkIndex() error {
	data := c.data[c.index:]
	if len(data) == 0 {
		return nil
	}
	if len(data) < 8 {
		return errors.New("index: it is cut off")
	}
	indexLiterals := le32(data)
	postings := 8 + indexLiteralSize*uint64(indexLiterals)
	trie := postings + 4*uint64(c.suffixCount)
	if indexLiterals == 0 || trie > uint64(len(data)) || le32(data[postings-4:]) != c.suffixCount {
		return errors.New("index: its length differs from its header's")
	}
	suffixes := uint64(0) // of the index literals before this one
	for i := range indexLiterals {
		record := data[4+indexLiteralSize*int(i):]
		if uint64(le32(record)) != suffixes {
			return fmt.Errorf("index literal %d: its suffixes do not follow those of the literal before", i+1)
		}
		if suffixes += uint64(le32(record[4:])); suffixes > uint64(c.suffixCount) {
			return fmt.Errorf("index literal %d: its suffixes lie outside the list", i+1)
		}
		if le32(record[8:]) > i {
			return fmt.Errorf("index literal %d: starts with a longer one", i+1)
		}
	}
	for i := range int(c.suffixCount) {
		if le32(data[int(postings)+4*i:]) >= c.suffixCount {
			return fmt.Errorf("list of the index: element %d: no such suffix", i)
		}
	}
	inner := groupCheck{indexLiterals: true}
	if err := inner.check(data[trie:], indexLiterals, 0); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// place describes the bytes that lead to a node.
type place struct {
	depth   uint32 // their number
	reached bool
	query   bool  // they have a '?'
	escape  uint8 // they end inside an escape, of which they have so many bytes; else 0
	high    byte  // the first digit of that escape
}

// step adds a byte to the place. It returns false for a byte that paths may spell in
// another way, because then depth could be wrong, and for '#', where paths end.
func (c *groupCheck) step(p *place, char byte) bool {
	p.reached = true
	p.depth++
	if c.indexLiterals {
		return true
	}
	if char == '#' || char == star {
		return false
	}
	if c.flags&flagGoogle != 0 {
		return true
	}
	switch p.escape {
	case 0:
		if char == '%' {
			p.escape = 1
		} else if urls.NeedsWork(char) {
			return false
		}
		p.query = p.query || char == '?'
		return true
	case 1:
		p.escape, p.high = 2, char
		return isUpperHex(char)
	}
	p.escape = 0
	if !isUpperHex(char) {
		return false
	}
	var memory [3]byte
	whole := [...]byte{'%', p.high, char}
	return string(urls.AppendNormal(memory[:0], whole[:])) == string(whole[:]) && !(p.query && urls.IsQueryEscape(whole[:], 0))
}

// isStep has the bytes with a single spelling and no special meaning.
var isStep = func() (table [256]bool) {
	for c := range table {
		table[c] = !urls.NeedsWork(byte(c)) && c != '#' && c != star && c != '?'
	}
	return table
}()

func isUpperHex(c byte) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' }
