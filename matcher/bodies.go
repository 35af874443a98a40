package matcher

import (
	"fmt"
	"slices"
	"sync/atomic"

	"robotsbatch/matcher/robotstxt"
)

// Bodies are compiled bodies one after the other in one array of bytes, such as a section of
// a mapped file, for the agents of a job. They are matched where they lie: a lookup copies
// nothing, takes no lock and allocates nothing. They are safe for concurrent use.
//
// The bytes are not trusted. A body's checksums are compared when a lookup first uses it,
// those of its head and of the groups that the agents obey, and one bit says so. What changes
// after that may give other rules, and no more; see Trie.
type Bodies struct {
	data    []byte
	profile Profile
	agents  *Agents
	checked []atomic.Uint32 // a bit a body

	// The names of the agents that the dictionary has, sorted by their numbers in it.
	filter  uint64 // their bits
	numbers []uint32
	names   []int32   // their numbers in agents
	chains  [][]int32 // the chains that try them
	// asked has the numbers of a single chain, in its order.
	asked []uint32
}

// NewBodies returns the first count bodies of data for agents. find returns the number of a
// name in the dictionary of the bodies' names, ok false if it is not there.
func NewBodies(data []byte, count uint32, p Profile, agents *Agents, find func(name string) (number uint32, ok bool, err error)) (*Bodies, error) {
	b := &Bodies{data: data, profile: p, agents: agents, checked: make([]atomic.Uint32, (uint64(count)+31)/32)}
	type known struct {
		number uint32
		name   int32
	}
	var all []known
	byName := make([]int64, len(agents.names))
	for i, name := range agents.names {
		number, ok, err := find(name)
		if err != nil {
			return nil, err
		}
		byName[i] = -1
		if ok {
			byName[i] = int64(number)
			all = append(all, known{number, int32(i)})
			b.filter |= filterBit(number)
		}
	}
	slices.SortFunc(all, func(x, y known) int { return int(int64(x.number) - int64(y.number)) })
	places := make(map[int32]int)
	for i, k := range all {
		b.numbers, b.names = append(b.numbers, k.number), append(b.names, k.name)
		places[k.name] = i
	}
	b.chains = make([][]int32, len(all))
	for chain, tried := range agents.tried {
		for _, name := range tried {
			if i, ok := places[name]; ok {
				b.chains[i] = append(b.chains[i], int32(chain))
			}
		}
	}
	if len(agents.chains) == 1 {
		for _, name := range agents.tried[0] {
			if byName[name] >= 0 {
				b.asked = append(b.asked, uint32(byName[name]))
			}
		}
	}
	return b, nil
}

// NoBody takes the place of a body's where there is none.
const NoBody = 1<<32 - 1

// OpenAll opens bodies: for each place that is not NoBody, counted in BodyAlignment, it sets
// Tries, Of and Facts.Kind of the origin with the same index. A body that is kept as its
// source gets no trie. The origins keep what they are set to until the next call for them. If
// a body is damaged, OpenAll returns its index and an error.
//
// It does each step for all bodies before the next one, and a step reads one more cache line
// of each, so that what a step waits for comes for all at the same time.
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
	data []byte // from the body on; nil for none
	head bodyHead
	of   uint32 // the group of a single chain
	low  uint64 // bounds of the group
	high uint64
}

func (b *Bodies) openSome(places []uint32, origins []Origin) (int, error) {
	var memory [atOnce]opening
	all := memory[:len(places)]
	for i, place := range places {
		if place == NoBody {
			continue
		}
		at := uint64(place) * BodyAlignment
		if at > uint64(len(b.data)) {
			return i, errOutside
		}
		all[i].data = b.data[at:]
	}
	touchOpenings(all, 0)
	for i := range all {
		x := &all[i]
		if x.data == nil {
			continue
		}
		var ok bool
		if x.head, ok = readHead(x.data); !ok {
			return i, errOutside
		}
		x.low = uint64(x.head.start) // that of group 0
	}
	touchOpenings(all, 1)
	if len(b.agents.chains) != 1 {
		for i := range all {
			if all[i].data == nil {
				continue
			}
			if err := b.openMany(&all[i], &origins[i]); err != nil {
				return i, err
			}
		}
		Touch(origins[:len(all)])
		return 0, nil
	}
	for i := range all {
		x := &all[i]
		if x.data == nil || x.head.marks&markSource != 0 {
			continue
		}
		x.of = b.choose(x)
		var ok bool
		if x.low, x.high, ok = x.head.group(x.data, x.of); !ok {
			return i, errOutside
		}
	}
	touchOpenings(all, 2)
	for i := range all {
		x := &all[i]
		if x.data == nil {
			continue
		}
		o := &origins[i]
		if x.head.marks&markSource != 0 {
			o.own(0, 0)
			continue
		}
		if !b.has(x.head.number) {
			if err := b.check(x, x.of); err != nil {
				return i, err
			}
			b.set(x.head.number)
		}
		o.own(1, 0)
		var ok bool
		if o.Tries[0].rules, ok = openCompiled(x.data[x.low:x.high:x.high]); !ok {
			return i, errOutside
		}
		o.Facts.Kind = x.head.kind
	}
	Touch(origins[:len(all)])
	return 0, nil
}

// touchOpenings loads what the next step reads into the processor's cache: heads, then the
// first groups, then the groups that are obeyed. The sum has no meaning; it keeps the loads
// from being optimised away.
//
//go:noinline
func touchOpenings(all []opening, step int) (sum uint64) {
	for i := range all {
		if x := &all[i]; x.low < uint64(len(x.data)) {
			sum += uint64(x.data[x.low])
		}
	}
	return sum
}

var (
	errOutside = fmt.Errorf("%w: it lies outside", ErrBadBody)
	errSum     = fmt.Errorf("%w: checksum", ErrBadBody)
)

// choose returns the group that a single chain obeys.
func (b *Bodies) choose(x *opening) uint32 {
	if x.head.filter&b.filter == 0 {
		return 0
	}
	for _, number := range b.asked {
		if x.head.filter&filterBit(number) == 0 {
			continue
		}
		if place, ok := x.head.find(x.data, number); ok {
			return x.head.groupOf(x.data, place)
		}
	}
	return 0
}

// has reports whether a body was checked.
func (b *Bodies) has(number uint32) bool {
	i := number / 32
	return uint64(i) < uint64(len(b.checked)) && b.checked[i].Load()>>(number%32)&1 != 0
}

func (b *Bodies) set(number uint32) {
	if i := number / 32; uint64(i) < uint64(len(b.checked)) {
		b.checked[i].Or(1 << (number % 32))
	}
}

// check compares the checksums of a body's head and of a group.
func (b *Bodies) check(x *opening, group uint32) error {
	if err := b.checkHead(x); err != nil {
		return err
	}
	return b.checkGroup(x, group)
}

func (b *Bodies) checkHead(x *opening) error {
	if x.head.headSum(x.data) != le32(x.data) {
		return errSum
	}
	if x.head.profile != b.profile {
		return errProfile
	}
	return nil
}

var errProfile = fmt.Errorf("%w: it is of another profile", ErrBadBody)

func (b *Bodies) checkGroup(x *opening, group uint32) error {
	low, high, ok := x.head.group(x.data, group)
	switch {
	case !ok:
		return errOutside
	case bodySum(x.data[low:high]) != le32(x.data[bodyHeadSize+groupSize*uint64(group)+4:]):
		return errSum
	}
	return nil
}

// openMany opens a body for several chains, or for none.
func (b *Bodies) openMany(x *opening, o *Origin) error {
	if x.head.marks&markSource != 0 {
		o.own(0, 0)
		return nil
	}
	checked := b.has(x.head.number)
	if !checked {
		if err := b.checkHead(x); err != nil {
			return err
		}
	}
	o.Facts.Kind = x.head.kind
	o.own(0, 0)
	o.room.groups = o.room.groups[:0]
	found := 0
	if x.head.filter&b.filter != 0 {
		found = b.findNames(x, o)
	}
	if err := b.spread(x, o, found, checked); err != nil {
		return err
	}
	if !checked {
		b.set(x.head.number)
	}
	return nil
}

// findNames sets the room's names to the names of agents that a body has, each with its
// group, and returns how many these are.
func (b *Bodies) findNames(x *opening, o *Origin) int {
	named := o.room.named[:0]
	if int(x.head.names) > scannedNames*len(b.numbers) {
		for i, number := range b.numbers {
			if place, ok := x.head.find(x.data, number); ok {
				named = append(named, namedGroup{int32(i), x.head.groupOf(x.data, place)})
			}
		}
	} else {
		numbers, next := x.head.numbersAt(), 0
		for place := range x.head.names {
			number := le32(x.data[numbers+nameSize*uint64(place):])
			for next < len(b.numbers) && b.numbers[next] < number {
				next++
			}
			if next < len(b.numbers) && b.numbers[next] == number {
				named = append(named, namedGroup{int32(next), x.head.groupOf(x.data, place)})
			}
		}
	}
	o.room.named = named
	return len(named)
}

// namedGroup is a name of an agent, by its place in Bodies.numbers, and the group of a body
// that is for it.
type namedGroup struct {
	name  int32
	group uint32
}

// spread sets the tries of an origin, each once, and which chain obeys which.
func (b *Bodies) spread(x *opening, o *Origin, found int, checked bool) error {
	r := o.room
	if found == 0 {
		if len(b.agents.chains) == 0 {
			return nil
		}
		_, err := b.addTrie(x, o, 0, checked)
		return err
	}
	// A chain that none of the names is of obeys "*".
	r.of = slices.Grow(r.of[:0], len(b.agents.chains))[:len(b.agents.chains)]
	for i := range r.of {
		r.of[i] = undecidedChain
	}
	left := len(r.of)
	for _, n := range r.named[:found] {
		for _, chain := range b.chains[n.name] {
			if r.of[chain] == undecidedChain {
				left--
			}
			if r.of[chain] != undecidedChain || len(b.agents.tried[chain]) > 1 {
				r.of[chain] = decideLater
				continue
			}
			trie, err := b.addTrie(x, o, n.group, checked)
			if err != nil {
				return err
			}
			r.of[chain] = trie
		}
	}
	rest := uint32(0)
	if left > 0 {
		var err error
		if rest, err = b.addTrie(x, o, 0, checked); err != nil {
			return err
		}
	}
	for chain := range r.of {
		switch r.of[chain] {
		case undecidedChain:
			r.of[chain] = rest
		case decideLater:
			trie, err := b.addTrie(x, o, b.firstOf(chain, r.named[:found]), checked)
			if err != nil {
				return err
			}
			r.of[chain] = trie
		}
	}
	if len(o.Tries) > 1 {
		o.Of = r.of
	}
	return nil
}

const (
	// undecidedChain and decideLater take the place of a chain's trie.
	undecidedChain = 1<<32 - 1
	decideLater    = 1<<32 - 2
)

// firstOf returns the group of the first name that a chain tries, of those that were found.
func (b *Bodies) firstOf(chain int, named []namedGroup) uint32 {
	for _, name := range b.agents.tried[chain] {
		for _, n := range named {
			if b.names[n.name] == name {
				return n.group
			}
		}
	}
	return 0 // one of them was found
}

// addTrie adds the trie of a group to those of an origin, unless it is there, and returns its
// index.
func (b *Bodies) addTrie(x *opening, o *Origin, group uint32, checked bool) (uint32, error) {
	r := o.room
	for i := len(r.groups) - 1; i >= 0; i-- { // most chains of a name follow each other
		if r.groups[i] == group {
			return uint32(i), nil
		}
	}
	if !checked {
		if err := b.checkGroup(x, group); err != nil {
			return 0, err
		}
	}
	low, high, ok := x.head.group(x.data, group)
	if !ok {
		return 0, errOutside
	}
	var t Trie
	if t.rules, ok = openCompiled(x.data[low:high:high]); !ok {
		return 0, errOutside
	}
	r.groups = append(r.groups, group)
	r.tries = append(r.tries, t)
	o.Tries = r.tries
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

// Info returns what the head of the body at a place says.
func (b *Bodies) Info(place uint32) (info BodyInfo, err error) {
	at := uint64(place) * BodyAlignment
	if at > uint64(len(b.data)) {
		return info, errOutside
	}
	h, ok := readHead(b.data[at:])
	if !ok {
		return info, errOutside
	}
	data := b.data[at : at+uint64(h.length) : at+uint64(h.length)]
	info = BodyInfo{Number: h.number, Kind: h.kind, Source: h.marks&markSource != 0, Statements: h.marks&markStatements != 0, Data: data}
	info.Said, info.HasSaid = h.statements(data)
	if info.Source {
		info.Text = data[bodyHeadSize:]
	}
	return info, nil
}
