package matcher

import (
	"errors"
	"fmt"
	"math/bits"
)

// groupCheck checks a compiled group, and has memory for that. What it makes
// sure of is what match.go and tails.go take for granted, beside that every
// number of something is that of one that is there:
//
//   - The nodes are a tree: each but the root is the child of one node, which
//     lies before it. So are the leaves.
//   - The octets that lead to a node or leaf with an end, or with a rule of its
//     own, are a normal spelling, and no bunch there or above is deeper: where
//     tails begin is inside the path however it was spelled.
//   - No two tails have a literal in common, no two windows of the index a tail,
//     and the labels and literals have no more octets than the section: nothing
//     is gone through more often than its length lets expect.
//
// The trie in an index is checked likewise. Its rules are the windows, and it
// has no tails that would care how deep an end is.
type groupCheck struct {
	compiled
	nodeCount, leafCount, endCount, bunchCount, tailCount, literalCount, octetCount uint32

	windows  bool    // it is the trie in an index
	rules    uint32  // how many there are; ranks start with 1
	lengths  uint64  // octets of labels and literals so far
	places   []place // of the nodes
	leafSeen []bool
}

func (c *groupCheck) check(data []byte, rules, profile uint32) error {
	if len(data) < headerSize || le32(data[4*hFormat:]) != trieFormat {
		return errors.New("not the beginning of one")
	}
	count := func(field int) uint32 { return le32(data[4*field:]) }
	c.nodeCount, c.leafCount = count(hNodes), count(hLeaves)
	c.endCount, c.bunchCount = count(hEnds), count(hBunches)
	c.tailCount, c.literalCount, c.octetCount = count(hTails), count(hLiterals), count(hOctets)
	size := headerSize + nodeSize*uint64(c.nodeCount) + leafSize*uint64(c.leafCount) + endSize*uint64(c.endCount) +
		bunchSize*uint64(c.bunchCount) + (sketchSize+tailSize)*uint64(c.tailCount) + literalSize*uint64(c.literalCount) + uint64(c.octetCount) + uint64(count(hIndex))
	flags := count(hFlags)
	switch {
	case size != uint64(len(data)):
		return errors.New("not as long as its header says")
	case c.nodeCount == 0 || c.endCount == 0 || c.bunchCount == 0:
		return errors.New("no root, no end 0 or no bunch 0")
	case flags&^(flagGroup|flagGoogle) != 0 || (flags&flagGoogle != 0) != (profile != 0):
		return errors.New("flags")
	case rules >= endBit>>1:
		return errors.New("too many rules")
	case c.windows && (c.tailCount != 0 || count(hIndex) != 0):
		return errors.New("tails")
	}
	c.compiled, c.rules, c.lengths = newCompiled(data), rules, 0
	return c.checkSections()
}

func (c *groupCheck) checkSections() error {
	if err := c.checkLiterals(); err != nil {
		return err
	}
	if err := c.checkTails(); err != nil {
		return err
	}
	if err := c.checkBunches(); err != nil {
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

// hasRule tells whether a number is that of a rule, or 0 where none is needed.
func (c *groupCheck) hasRule(rule uint32) bool {
	if c.windows {
		return rule <= c.rules
	}
	return rule == 0 || rule >= 2 && rule>>1 <= c.rules
}

// hasOctets tells whether the octets are there, and counts them.
func (c *groupCheck) hasOctets(offset, length uint32) bool {
	c.lengths += uint64(length)
	return uint64(offset)+uint64(length) <= uint64(c.octetCount) && c.lengths <= uint64(c.octetCount)
}

func (c *groupCheck) checkLiterals() error {
	for i := range int(c.literalCount) {
		record := c.data[c.literals+i*literalSize:]
		if !c.hasOctets(le32(record), le32(record[4:])) {
			return fmt.Errorf("literal %d outside", i)
		}
	}
	return nil
}

func (c *groupCheck) checkTails() error {
	literals := uint64(0) // of the tails before
	for i := range int(c.tailCount) {
		record := c.data[c.tails+i*tailSize:]
		count, first, longest := uint64(le32(record[4:])>>tailCount), le32(record[8:]), le32(record[12:])
		rule, bunch := le32(record), le32(record[16:])
		if rule == 0 || !c.hasRule(rule) || count == 0 || bunch >= c.bunchCount {
			return fmt.Errorf("tail %d", i)
		}
		if count == 1 {
			if !c.hasOctets(first, longest) {
				return fmt.Errorf("tail %d: literal outside", i)
			}
			continue
		}
		if uint64(first) != literals || literals+count > uint64(c.literalCount) ||
			longest < first || uint64(longest) >= literals+count {
			return fmt.Errorf("tail %d: literals outside", i)
		}
		literals += count
	}
	return nil
}

func (c *groupCheck) checkBunches() error {
	if [bunchSize]byte(c.data[c.bunches:]) != [bunchSize]byte{} {
		return errors.New("bunch 0")
	}
	tails := uint32(0) // of the bunches before
	for i := uint32(1); i < c.bunchCount; i++ {
		record := c.data[c.bunch(i):]
		allow, disallow, last := le32(record[4:]), le32(record[8:]), le32(record[12:])
		if allow != tails || disallow < allow || last < disallow || last > c.tailCount {
			return fmt.Errorf("bunch %d: tails of another", i)
		}
		tails = last
		if !c.hasRule(le32(record[16:])) || !c.hasRule(le32(record[20:])) {
			return fmt.Errorf("bunch %d: no such rule", i)
		}
		up := le32(record[24:])
		if up >= i || up > 0 && le32(record) <= c.depth(up) {
			return fmt.Errorf("bunch %d: not below bunch %d", i, up)
		}
	}
	return nil
}

// depth is how far into a path the tails of a bunch begin.
func (c *groupCheck) depth(bunch uint32) uint32 { return le32(c.data[c.bunch(bunch):]) }

func (c *groupCheck) checkEnds() error {
	if [endSize]byte(c.data[c.ends:]) != [endSize]byte{} {
		return errors.New("end 0")
	}
	for i := 1; i < int(c.endCount); i++ {
		record := c.data[c.end(uint32(i)):]
		if !c.hasRule(le32(record)) || !c.hasRule(le32(record[4:])) || le32(record[8:]) >= c.bunchCount {
			return fmt.Errorf("end %d", i)
		}
	}
	return nil
}

// checkNodes goes from parents to children, which lie behind them.
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

// cleared returns a slice of n zeros, in s's memory if that is large enough.
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
		return errors.New("not the child of any before it")
	}
	record := c.data[headerSize+i*nodeSize:]
	label := le64(record)
	if label>>56 > 7 {
		return errors.New("label")
	}
	for n := label >> 56; n > 0; n, label = n-1, label>>8 {
		if octet := byte(label); isStep[octet] && here.escape == 0 {
			here.depth++ // as step does
		} else if !c.step(&here, octet) {
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

// checkLeaf checks a leaf that certain octets lead to.
func (c *groupCheck) checkLeaf(i int, here place) bool {
	record := c.data[c.leaves+i*leafSize:]
	offset, length := le32(record), le32(record[4:])
	if !c.hasOctets(offset, length) {
		return false
	}
	for _, octet := range c.data[c.octets+int(offset):][:length] {
		if isStep[octet] && here.escape == 0 {
			here.depth++ // as step does
		} else if !c.step(&here, octet) {
			return false
		}
	}
	rule, above := le32(record[8:]), le32(record[12:])
	if rule&endBit != 0 {
		return rule != endBit && c.isEnd(rule&^endBit, here)
	}
	return rule != 0 && c.hasRule(rule) && here.escape == 0 && above < c.bunchCount && c.depth(above) <= here.depth
}

// isEnd tells whether an end may be where certain octets lead to.
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
		return errors.New("index: cut off")
	}
	windows := le32(data)
	list := 8 + windowSize*uint64(windows)
	trie := list + 4*uint64(c.tailCount)
	if windows == 0 || trie > uint64(len(data)) || le32(data[list-4:]) != c.tailCount {
		return errors.New("index: not as long as its header says")
	}
	tails := uint64(0) // of the windows before
	for i := range windows {
		record := data[4+windowSize*int(i):]
		if uint64(le32(record)) != tails {
			return fmt.Errorf("window %d: tails of another", i+1)
		}
		if tails += uint64(le32(record[4:])); tails > uint64(c.tailCount) {
			return fmt.Errorf("window %d: tails outside", i+1)
		}
		if le32(record[8:]) > i {
			return fmt.Errorf("window %d: starts with a longer one", i+1)
		}
	}
	for i := range int(c.tailCount) {
		if le32(data[int(list)+4*i:]) >= c.tailCount {
			return fmt.Errorf("window's tail %d: no such tail", i)
		}
	}
	inner := groupCheck{windows: true}
	if err := inner.check(data[trie:], windows, 0); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// place is what is known of the octets that lead to a node.
type place struct {
	depth   uint32 // how many they are
	reached bool
	query   bool  // there is a '?'
	escape  uint8 // how many octets of an escape they end in, of three
	high    byte  // the first digit of that escape
}

// step adds an octet. It is false where paths that have it can be spelled in
// another way, so that more or fewer octets than the depth may be the same, and
// for '#', where paths end.
func (c *groupCheck) step(p *place, octet byte) bool {
	p.reached = true
	p.depth++
	if c.windows {
		return true
	}
	if octet == '#' || octet == star {
		return false
	}
	if c.flags&flagGoogle != 0 {
		return true
	}
	switch p.escape {
	case 0:
		if octet == '%' {
			p.escape = 1
		} else if needsWork[octet] {
			return false
		}
		p.query = p.query || octet == '?'
		return true
	case 1:
		p.escape, p.high = 2, octet
		return isUpperHex(octet)
	}
	p.escape = 0
	if !isUpperHex(octet) {
		return false
	}
	var memory [3]byte
	whole := [...]byte{'%', p.high, octet}
	return string(appendNormal(memory[:0], whole[:])) == string(whole[:]) && !(p.query && isQueryEscape(whole[:], 0))
}

// isStep are the octets that can be spelled in but one way, and mean nothing but
// themselves.
var isStep = func() (table [256]bool) {
	for c := range table {
		table[c] = !needsWork[c] && c != '#' && c != star && c != '?'
	}
	return table
}()

func isUpperHex(c byte) bool { return hexValue[c] != 0xFF && c <= 'F' }
