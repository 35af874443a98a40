package matcher

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"robotsbatch/matcher/robotstxt"
)

// Bodies are compiled bodies one after the other in one array of bytes, such as a section of
// a mapped file, for the agents of a job. They are matched where they lie: a lookup copies
// nothing, takes no lock and allocates nothing. They are safe for concurrent use.
//
// The bytes are not trusted. A body's checksums, those of its head and of the groups that the
// agents obey, are compared when a lookup first uses it, and a bit of checked records that.
// Bytes that change after that may give other rules, and do no other harm; see Trie.
type Bodies struct {
	data    []byte
	profile Profile
	agents  *Agents
	checked []atomic.Uint32 // a bit set, by the body's number

	// The names of the agents that the dictionary has, sorted by their numbers in it.
	filter  uint64    // their filterBits
	numbers []uint32  // in the dictionary
	names   []int32   // their numbers in agents
	chains  [][]int32 // for each, the indices of the chains that try it
	// asked has the names of a single chain, by their numbers in the dictionary, in its order.
	asked []uint32
}

// NewBodies returns the bodies in data, which it aliases, for agents. The bodies' numbers are
// below count. find returns the number of a name in the dictionary of the bodies' names; ok is
// false if it is not there. NewBodies returns the errors of find and no others.
func NewBodies(data []byte, count uint32, p Profile, agents *Agents, find func(name string) (number uint32, ok bool, err error)) (*Bodies, error) {
	b := &Bodies{data: data, profile: p, agents: agents, checked: make([]atomic.Uint32, (uint64(count)+31)/32)}
	inDictionary := make(map[int32]uint32)
	for name, text := range agents.names {
		number, ok, err := find(text)
		if err != nil {
			return nil, err
		}
		if ok {
			inDictionary[int32(name)] = number
			b.names = append(b.names, int32(name))
			b.filter |= filterBit(number)
		}
	}
	slices.SortFunc(b.names, func(x, y int32) int { return cmp.Compare(inDictionary[x], inDictionary[y]) })
	indices := make(map[int32]int) // by name, its index in b.names
	for i, name := range b.names {
		b.numbers = append(b.numbers, inDictionary[name])
		indices[name] = i
	}
	b.chains = make([][]int32, len(b.names))
	for chain, tried := range agents.tried {
		for _, name := range tried {
			if i, ok := indices[name]; ok {
				b.chains[i] = append(b.chains[i], int32(chain))
				b.asked = append(b.asked, b.numbers[i])
			}
		}
	}
	return b, nil
}

// NoBody takes the place of a body's where there is none.
const NoBody = 1<<32 - 1

// OpenAll opens bodies, given by their offsets in data in units of BodyAlignment, or NoBody. It
// sets Tries, Of and Facts.Kind of the origin with the same index, and nothing for NoBody. A
// body that is kept as its source gets no trie. The tries alias data and memory of the origin,
// which the next call for it reuses. If a body is damaged, OpenAll returns its index and an
// error that wraps ErrBadBody.
//
// It does each step for all bodies before the next one, and a step reads one more cache line
// of each, so that the cache misses of a step overlap.
func (b *Bodies) OpenAll(places []uint32, origins []Origin) (i int, err error) {
	for len(places) > 0 {
		n := min(len(places), atOnce)
		if failed, err := b.openSome(places[:n], origins[:n]); err != nil {
			return i + failed, err
		}
		places, origins, i = places[n:], origins[n:], i+n
	}
	return 0, nil
}

// opening is a body that is being opened.
type opening struct {
	data  []byte // from the body on
	head  bodyHead
	index uint32 // its index in openSome's places and origins
	group uint32 // that a single chain obeys
	// [low, high) are the bytes of that group; before it is known, the next byte to read is low.
	low, high uint64
}

// isSource reports whether the body is kept as its source, and has no groups.
func (o *opening) isSource() bool { return o.head.marks&markSource != 0 }

// atOnce is the number of bodies that are opened together: enough to overlap the cache misses, and
// few enough that the data stays in the L1 and L2 caches until it is used.
const atOnce = 64

// openSome is OpenAll for at most atOnce bodies.
func (b *Bodies) openSome(places []uint32, origins []Origin) (failed int, err error) {
	var memory [atOnce]opening
	openings := memory[:0]
	for i, place := range places {
		if place == NoBody {
			continue
		}
		offset := uint64(place) * BodyAlignment
		if offset > uint64(len(b.data)) {
			return i, errOutside
		}
		openings = memory[:len(openings)+1]
		opened := &openings[len(openings)-1]
		opened.index, opened.data = uint32(i), b.data[offset:]
	}
	touchOpenings(openings) // heads
	var ok bool
	for i := range openings {
		o := &openings[i]
		if o.head, ok = readHead(o.data); !ok {
			return int(o.index), errOutside
		}
		o.low = uint64(o.head.start)
	}
	touchOpenings(openings) // the groups of "*"
	single := len(b.agents.chains) == 1
	if single { // the one group that is obeyed can be found ahead
		for i := range openings {
			o := &openings[i]
			if o.isSource() {
				continue
			}
			o.group = b.obeyed(o)
			if o.low, o.high, ok = o.head.group(o.data, o.group); !ok {
				return int(o.index), errOutside
			}
		}
		touchOpenings(openings) // the groups that are obeyed
	}
	for i := range openings {
		origin := &origins[openings[i].index]
		origin.clearTries()
		if openings[i].isSource() {
			continue
		}
		if single { // no method value: it would move the openings to the heap
			err = b.openOne(&openings[i], origin)
		} else {
			err = b.openMany(&openings[i], origin)
		}
		if err != nil {
			return int(openings[i].index), err
		}
		origin.Facts.Kind = openings[i].head.kind
	}
	Touch(origins)
	return 0, nil
}

// touchOpenings loads the bytes at low, which the next step reads, into the processor's cache.
// The sum has no meaning; it keeps the loads from being optimised away.
//
//go:noinline
func touchOpenings(openings []opening) (sum uint64) {
	for i := range openings {
		if o := &openings[i]; o.low < uint64(len(o.data)) {
			sum += uint64(o.data[o.low])
		}
	}
	return sum
}

// Touch loads the start of the rules of origins into the cache: what most paths need. It is
// for implementations of BulkOrigins. The sum has no meaning.
//
//go:noinline
func Touch(origins []Origin) (sum uint64) {
	// First the tries themselves, so that the addresses of all their bytes are there at once.
	for i := range origins {
		for j := range origins[i].Tries {
			sum += uint64(origins[i].Tries[j].rules.suffixes)
		}
	}
	for i := range origins {
		for j := range origins[i].Tries {
			sum += origins[i].Tries[j].touch()
		}
	}
	return sum
}

const (
	// cacheLine is the size of a cache line in bytes.
	cacheLine = 64
	// touched is the number of bytes touch reads from the start of a trie: all of it for half of
	// all tries, the first nodes of the others.
	touched = 512
)

// touch loads what a match needs first into the cache: the first nodes and, of a group that is
// longer, a byte at the start of each section. The sum has no meaning.
func (t *Trie) touch() (sum uint64) {
	c := &t.rules
	for i := 0; i < min(len(c.data), touched); i += cacheLine {
		sum += uint64(c.data[i])
	}
	if len(c.data) > touched {
		sum += uint64(c.data[c.leaves-1]) + uint64(c.data[c.ends]) + uint64(c.data[c.lists]) +
			uint64(c.data[c.signatures-1]) + uint64(c.data[c.suffixes-1])
	}
	return sum
}

var (
	errOutside = fmt.Errorf("%w: it lies outside", ErrBadBody)
	errSum     = fmt.Errorf("%w: checksum", ErrBadBody)
	errProfile = fmt.Errorf("%w: it is of another profile", ErrBadBody)
)

// obeyed returns the group of a body that the single chain of b obeys; 0, that of "*", if the body
// has none of its names.
func (b *Bodies) obeyed(o *opening) uint32 {
	if o.head.filter&b.filter == 0 {
		return 0
	}
	for _, number := range b.asked {
		if o.head.filter&filterBit(number) == 0 {
			continue
		}
		if index, ok := o.head.find(o.data, number); ok {
			return o.head.groupOf(o.data, index)
		}
	}
	return 0
}

// isChecked reports whether setChecked was called for a body, given by its number. A number
// that is not below NewBodies' count is never checked.
func (b *Bodies) isChecked(number uint32) bool {
	word := number / 32
	return uint64(word) < uint64(len(b.checked)) && b.checked[word].Load()>>(number%32)&1 != 0
}

func (b *Bodies) setChecked(number uint32) {
	if word := number / 32; uint64(word) < uint64(len(b.checked)) {
		b.checked[word].Or(1 << (number % 32))
	}
}

// checkHead compares the checksum and the profile of a body's head.
func (b *Bodies) checkHead(o *opening) error {
	if o.head.headSum(o.data) != le32(o.data) {
		return errSum
	}
	if o.head.profile != b.profile {
		return errProfile
	}
	return nil
}

// checkGroup compares the checksum of a group of a body.
func (b *Bodies) checkGroup(o *opening, group uint32) error {
	low, high, ok := o.head.group(o.data, group)
	switch {
	case !ok:
		return errOutside
	case bodySum(o.data[low:high]) != le32(o.data[bodyHeadSize+groupSize*uint64(group)+4:]):
		return errSum
	}
	return nil
}

// openOne sets the tries of an origin to the single trie in o.group. At the first use of a
// body it checks the checksums of its head and of that group.
func (b *Bodies) openOne(o *opening, origin *Origin) (err error) {
	if !b.isChecked(o.head.number) {
		if err := b.checkHead(o); err != nil {
			return err
		}
		if err := b.checkGroup(o, o.group); err != nil {
			return err
		}
		b.setChecked(o.head.number)
	}
	rules, ok := openCompiled(o.data[o.low:o.high:o.high])
	if !ok {
		return errOutside
	}
	origin.addTrie(rules)
	return nil
}

// openMany sets the tries of an origin and the trie of each chain, for several chains or none.
// It checks the checksums of a body that was not checked.
func (b *Bodies) openMany(o *opening, origin *Origin) error {
	checked := b.isChecked(o.head.number)
	if !checked {
		if err := b.checkHead(o); err != nil {
			return err
		}
	}
	origin.room.groups = origin.room.groups[:0]
	b.findNames(o, origin.room)
	if err := b.setTries(o, origin, checked); err != nil {
		return err
	}
	if !checked {
		b.setChecked(o.head.number)
	}
	return nil
}

// findNames sets r.named to the names of b that a body has, each with its group, in the order
// of their numbers.
func (b *Bodies) findNames(o *opening, r *room) {
	r.named = r.named[:0]
	if o.head.filter&b.filter == 0 {
		return
	}
	if int(o.head.names) > scannedNames*len(b.numbers) {
		for i, number := range b.numbers {
			if index, ok := o.head.find(o.data, number); ok {
				r.named = append(r.named, namedGroup{int32(i), o.head.groupOf(o.data, index)})
			}
		}
		return
	}
	numbers, next := o.head.numbersAt(), 0
	for index := range o.head.names {
		number := le32(o.data[numbers+nameSize*uint64(index):])
		for next < len(b.numbers) && b.numbers[next] < number {
			next++
		}
		if next < len(b.numbers) && b.numbers[next] == number {
			r.named = append(r.named, namedGroup{int32(next), o.head.groupOf(o.data, index)})
		}
	}
}

// namedGroup is a name of an agent, by its index in Bodies.numbers, and the group of a body
// that is for it.
type namedGroup struct {
	name  int32
	group uint32
}

// setTries sets Tries of an origin to the tries that the chains obey, each once, and Of if they
// are several. findNames must have set the names. checked says that the groups need no check.
//
// It first gives each chain of a single name the trie of that name, and looks at the other chains
// with a name in the body afterwards, because for these the order of their names counts.
func (b *Bodies) setTries(o *opening, origin *Origin, checked bool) error {
	r := origin.room
	if len(r.named) == 0 {
		if len(b.agents.chains) == 0 {
			return nil
		}
		_, err := b.addTrie(o, origin, 0, checked) // group 0 is that of "*"
		return err
	}
	r.of = slices.Grow(r.of[:0], len(b.agents.chains))[:len(b.agents.chains)]
	for chain := range r.of {
		r.of[chain] = noName
	}
	unnamed := len(r.of) // the number of chains with noName
	for _, n := range r.named {
		for _, chain := range b.chains[n.name] {
			if r.of[chain] == noName {
				unnamed--
			}
			if r.of[chain] != noName || len(b.agents.tried[chain]) > 1 {
				r.of[chain] = decideLater
				continue
			}
			trie, err := b.addTrie(o, origin, n.group, checked)
			if err != nil {
				return err
			}
			r.of[chain] = trie
		}
	}
	everyones := uint32(0) // the trie of the chains without a name in the body
	if unnamed > 0 {
		var err error
		if everyones, err = b.addTrie(o, origin, 0, checked); err != nil {
			return err
		}
	}
	for chain := range r.of {
		switch r.of[chain] {
		case noName:
			r.of[chain] = everyones
		case decideLater:
			trie, err := b.addTrie(o, origin, b.firstOf(chain, r.named), checked)
			if err != nil {
				return err
			}
			r.of[chain] = trie
		}
	}
	if len(origin.Tries) > 1 {
		origin.Of = r.of
	}
	return nil
}

const (
	// noName takes the place of a chain's trie: none of its names was found so far.
	noName = 1<<32 - 1
	// decideLater does so for a chain of several names, of which one was found.
	decideLater = 1<<32 - 2
)

// firstOf returns the group of the first name of a chain, given by its index, that is among named;
// one must be.
func (b *Bodies) firstOf(chain int, named []namedGroup) uint32 {
	for _, name := range b.agents.tried[chain] {
		for _, n := range named {
			if b.names[n.name] == name {
				return n.group
			}
		}
	}
	return 0
}

// addTrie adds the trie of a group of a body to those of an origin, unless it is there, and
// returns its index. It checks the group's checksum unless checked is set.
func (b *Bodies) addTrie(o *opening, origin *Origin, group uint32, checked bool) (uint32, error) {
	r := origin.room
	for i, known := range slices.Backward(r.groups) { // backward, because most chains of a name follow each other
		if known == group {
			return uint32(i), nil
		}
	}
	if !checked {
		if err := b.checkGroup(o, group); err != nil {
			return 0, err
		}
	}
	low, high, ok := o.head.group(o.data, group)
	if !ok {
		return 0, errOutside
	}
	rules, ok := openCompiled(o.data[low:high:high])
	if !ok {
		return 0, errOutside
	}
	r.groups = append(r.groups, group)
	origin.addTrie(rules)
	return uint32(len(r.groups) - 1), nil
}

// BodyInfo is what the head of a body says.
type BodyInfo struct {
	// Number is what RenumberBody gave it.
	Number uint32
	Kind   robotstxt.BodyKind
	// Source is set for a body that is kept as its source, Statements for one whose
	// robots.txt has lines about the use of what is fetched.
	Source, Statements bool
	// Said is the key of these statements, if HasSaid is set.
	Said    StatementsKey
	HasSaid bool
	// Data are its bytes; Text, of a body that is kept as its source, the source.
	Data, Text []byte
}

// Info returns what the head of a body says, given the body's offset in units of BodyAlignment.
// Its bytes alias those of b. It compares no checksum; an error means that the body lies outside.
func (b *Bodies) Info(place uint32) (info BodyInfo, err error) {
	offset := uint64(place) * BodyAlignment
	if offset > uint64(len(b.data)) {
		return info, errOutside
	}
	h, ok := readHead(b.data[offset:])
	if !ok {
		return info, errOutside
	}
	data := b.data[offset : offset+uint64(h.length) : offset+uint64(h.length)]
	info = BodyInfo{Number: h.number, Kind: h.kind, Source: h.marks&markSource != 0, Statements: h.marks&markStatements != 0, Data: data}
	info.Said, info.HasSaid = h.statements(data)
	if info.Source {
		info.Text = data[bodyHeadSize:]
	}
	return info, nil
}
