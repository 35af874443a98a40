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
// The bytes are not trusted. When a lookup first uses a body, it compares the checksums of its head
// and of the groups that the agents obey, and sets its bit of checked.
// Bytes that change after that may give other rules, and do no other harm; see Trie.
type Bodies struct {
	data    []byte
	profile Profile
	agents  *Agents
	checked []atomic.Uint32 // a bit set, by the body's number

	// The names of the agents that the dictionary has, sorted by their numbers in it.
	filter  uint64   // their filterBits
	numbers []uint32 // in the dictionary
	names   []int32  // their numbers in agents
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
	for _, name := range b.names {
		b.numbers = append(b.numbers, inDictionary[name])
	}
	return b, nil
}

// NoBody takes the place of a body's where there is none.
const NoBody = 1<<32 - 1

// AtOnce is the most bodies that are opened together: enough to overlap the cache misses, and few
// enough that the data stays in the L1 and L2 caches until it is used.
const AtOnce = 64

// opening is a body that is being opened.
type opening struct {
	data  []byte // from the body on
	head  bodyHead
	index uint32 // its index in OpenAll's places and origins
}

// OpenAll opens at most AtOnce bodies, given by their offsets in data in units of BodyAlignment, or
// NoBody. It sets Tries, Of and Facts.Kind of the origin with the same index, and nothing for
// NoBody. A body that is kept as its source gets no trie. The tries alias data and memory of the
// origin, which the next call for it reuses. If a body is damaged, OpenAll returns its index and an
// error that wraps ErrBadBody; those before it are open.
//
// It does each step for all bodies before the next one, and a step reads one more cache line
// of each, so that the cache misses of a step overlap.
func (b *Bodies) OpenAll(places []uint32, origins []Origin) (failed int, err error) {
	var memory [AtOnce]opening
	openings := memory[:0]
	for i, place := range places {
		if place == NoBody {
			continue
		}
		offset := uint64(place) * BodyAlignment
		if offset > uint64(len(b.data)) {
			failed, err = i, errOutside
			break // those before it are opened
		}
		openings = memory[:len(openings)+1]
		opened := &openings[len(openings)-1]
		opened.index, opened.data = uint32(i), b.data[offset:]
	}
	touchOpenings(openings)
	var ok bool
	for i := range openings {
		o := &openings[i]
		if o.head, ok = readHead(o.data); !ok {
			return int(o.index), errOutside
		}
		origin := &origins[o.index]
		origin.clearTries()
		if o.head.marks&markSource != 0 {
			continue // it has no groups
		}
		if err := b.setTries(o, origin); err != nil {
			return int(o.index), err
		}
		origin.Facts.Kind = o.head.kind
	}
	return failed, err
}

const (
	// cacheLine is the size of a cache line in bytes.
	cacheLine = 64
	// touched is the number of bytes that touchOpenings reads from the start of a body: the head and
	// the group of "*" of half of all bodies.
	touched = 512
)

// touchOpenings loads the starts of bodies into the processor's cache, so that these loads overlap,
// which saves 5 % of a job on a shuffled list of many hosts. The sum has no meaning; it keeps the
// loads from being optimised away.
//
//go:noinline
func touchOpenings(openings []opening) (sum uint64) {
	for i := range openings {
		data := openings[i].data
		for at := 0; at < min(len(data), touched); at += cacheLine {
			sum += uint64(data[at])
		}
	}
	return sum
}

var (
	errOutside = fmt.Errorf("%w: it lies outside", ErrBadBody)
	errSum     = fmt.Errorf("%w: checksum", ErrBadBody)
	errProfile = fmt.Errorf("%w: it is of another profile", ErrBadBody)
)

// isChecked reports whether setChecked was called for a body, given by its number. A number
// that is not below NewBodies' count is never checked.
func (b *Bodies) isChecked(number uint32) bool {
	word := number / 32
	return uint64(word) < uint64(len(b.checked)) && b.checked[word].Load()>>(number%32)&1 != 0
}

// setChecked records that a body was checked; see isChecked.
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
	case bodySum(o.data[low:high]) != le32(o.data[bodyHeadSize+groupSize*uint64(group)+groupSumAt:]):
		return errSum
	}
	return nil
}

// setTries sets Tries of an origin to the tries that the agents' chains obey, each once, and if they are
// several Of, which has by chain the index of its trie. At the first use of a body it checks the checksums of
// its head and of these groups.
func (b *Bodies) setTries(o *opening, origin *Origin) error {
	checked := b.isChecked(o.head.number)
	if !checked {
		if err := b.checkHead(o); err != nil {
			return err
		}
	}
	r, chains := origin.room, b.agents.tried
	r.groups, r.of = r.groups[:0], r.of[:0]
	if !b.findGroups(o, r) && len(chains) > 0 { // all obey the group of "*": a chain that tries no name stands for all
		chains = [][]int32{nil}
	}
	last, trie := uint32(noGroup), uint32(0) // the group and the trie of the chain before: most chains share them
	for _, tried := range chains {           // the names of a chain, the first of which that has a group decides
		group := uint32(0) // that of "*"
		for _, name := range tried {
			if g := r.groupOf[name]; g != noGroup {
				group = g
				break
			}
		}
		if group != last {
			var err error
			if trie, err = b.addTrie(o, origin, group, checked); err != nil {
				return err
			}
			last = group
		}
		r.of = append(r.of, trie)
	}
	if len(origin.Tries) > 1 {
		origin.Of = r.of
	}
	if !checked {
		b.setChecked(o.head.number)
	}
	return nil
}

// noGroup takes the place of a group of a body for a name that the body does not have.
const noGroup = 1<<32 - 1

// findGroups sets r.groupOf to the group that a body has for each name of the agents. ok is false if
// it has none of them.
func (b *Bodies) findGroups(o *opening, r *room) (ok bool) {
	if o.head.filter&b.filter == 0 {
		return false
	}
	r.groupOf = slices.Grow(r.groupOf[:0], len(b.agents.names))[:len(b.agents.names)]
	for i := range r.groupOf {
		r.groupOf[i] = noGroup
	}
	for i, number := range b.numbers {
		if o.head.filter&filterBit(number) == 0 {
			continue
		}
		if index, found := o.head.find(o.data, number); found {
			r.groupOf[b.names[i]], ok = o.head.groupOf(o.data, index), true
		}
	}
	return ok
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
