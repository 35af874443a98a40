package rulepack

import (
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"sort"
	"sync"

	"robotsbatch/batch/option"
	"robotsbatch/matcher"
)

// The section names is the dictionary of the agents that bodies name, in lower case and
// sorted. A name's number is its place in it.
//
//	0  u32  number of names
//	4  u32  for each name: where its text ends
//	   u32  for each name: how many bodies name it
//	        the texts
const namesHeaderSize = 4

// names is the section names. In a damaged pack its offsets may be wrong: a name that would lie outside
// is nil.
type names []byte

// count returns the number of names, or fewer if the section is too short for them.
func (n names) count() uint32 {
	if len(n) < namesHeaderSize {
		return 0
	}
	return uint32(min(uint64(le32(n)), uint64(len(n)-namesHeaderSize)/8))
}

// rangeAt returns the start and the end of item i. ends has a u32 for each item, its end, which
// is the start of the next; the first starts at 0.
func rangeAt(ends []byte, i uint64) (start, end uint64) {
	if i > 0 {
		start = uint64(le32(ends[4*(i-1):]))
	}
	return start, uint64(le32(ends[4*i:]))
}

// name returns the text of the name with a number, or nil if there is none. It points into the
// section.
func (n names) name(number uint32) []byte {
	count := n.count()
	if number >= count {
		return nil
	}
	start, end := rangeAt(n[namesHeaderSize:], uint64(number))
	texts := n[namesHeaderSize+8*uint64(count):]
	if start > end || end > uint64(len(texts)) {
		return nil
	}
	return texts[start:end]
}

// bodies returns how many bodies name a name that exists.
func (n names) bodies(number uint32) uint32 {
	return le32(n[namesHeaderSize+4*(uint64(n.count())+uint64(number)):])
}

// find returns the number of a name. It ignores the case of ASCII letters.
func (n names) find(name string) (number uint32, ok bool) {
	at, ok := sort.Find(int(n.count()), func(i int) int { return -matcher.CompareName(n.name(uint32(i)), name) })
	return uint32(at), ok
}

// dictionary numbers the names of agents, from 0 in the order in which they are added. It is
// safe for concurrent use.
type dictionary struct {
	mu      sync.Mutex
	limit   int64 // of size, in bytes
	size    int64
	numbers map[string]uint32 // by name
	bodies  []uint32          // by number: how many bodies have the name
}

// nameSize is what a name takes in a dictionary beside its text.
const nameSize = 64

// add adds the names of a body, which must be distinct, and returns their numbers. If there is no
// memory for a new one, ok is false, and the body is not counted in d.bodies.
func (d *dictionary) add(body [][]byte) (numbers []uint32, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range body {
		if _, known := d.numbers[string(name)]; known {
			continue
		}
		if d.size += int64(len(name)) + nameSize; d.size > d.limit {
			return nil, false
		}
		d.numbers[string(name)] = uint32(len(d.bodies))
		d.bodies = append(d.bodies, 0)
	}
	for _, name := range body {
		number := d.numbers[string(name)]
		d.bodies[number]++
		numbers = append(numbers, number)
	}
	return numbers, true
}

// addCompiled adds the names of a compiled body of another pack, and replaces their numbers in rules, which
// are those of from, the other pack's dictionary, by those in d. known[n] is 1 + the number in d of name n
// of from, or 0 if it was not added yet: addCompiled sets it.
func (d *dictionary) addCompiled(rules []byte, from names, known []uint32) error {
	full, unknown := false, false // errors of the function below, which cannot return them
	ok := matcher.RenumberBody(rules, 0, func(name uint32) uint32 {
		if uint64(name) < uint64(len(known)) && known[name] != 0 {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.bodies[known[name]-1]++
			return known[name] - 1
		}
		text := from.name(name)
		if len(text) == 0 || lower(text) != string(text) {
			unknown = true
			return 0
		}
		numbers, ok := d.add([][]byte{text})
		if full = full || !ok; full {
			return 0
		}
		known[name] = numbers[0] + 1
		return numbers[0]
	})
	switch {
	case !ok || unknown:
		return fmt.Errorf("%w: its rules", ErrDamaged)
	case full:
		return option.Errorf("the names of agents must fit into memory: raise %s", option.Memory)
	}
	return nil
}

// sorted returns the names in ascending order. numbers[n] is the index there of the name that
// was added as number n. It includes names that no body of the pack has any more.
func (d *dictionary) sorted() (names []string, numbers []uint32) {
	names = slices.Sorted(maps.Keys(d.numbers))
	numbers = make([]uint32, len(names))
	for i, name := range names {
		numbers[d.numbers[name]] = uint32(i)
	}
	return names, numbers
}

// write writes the section names. names are those of sorted.
func (d *dictionary) write(w io.Writer, names []string) error {
	b := append32(nil, uint32(len(names)))
	end := uint64(0)
	for _, name := range names {
		if end += uint64(len(name)); end >= 1<<32 {
			return fmt.Errorf("the names of agents have more than %d bytes", end)
		}
		b = append32(b, uint32(end))
	}
	for _, name := range names {
		b = append32(b, d.bodies[d.numbers[name]])
	}
	for _, name := range names {
		b = append(b, name...)
	}
	_, err := w.Write(b)
	return err
}

// Names calls visit for each agent name in the pack, in ascending order, until visit returns
// false. bodies is the number of bodies that have the name. The name is valid until visit
// returns.
func (p *Pack) Names(visit func(name []byte, bodies int64) bool) (err error) {
	defer p.guard(debug.SetPanicOnFault(true), &err)
	for number := range p.names.count() {
		if !visit(p.names.name(number), int64(p.names.bodies(number))) {
			break
		}
	}
	return nil
}

// HasName reports whether a body of the pack names an agent, in any case. It returns false if
// the pack cannot be read.
func (p *Pack) HasName(name string) (has bool) {
	var err error // of guard; has is false then
	defer p.guard(debug.SetPanicOnFault(true), &err)
	_, has = p.names.find(name)
	return has
}
