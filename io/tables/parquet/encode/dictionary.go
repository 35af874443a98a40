package encode

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

const (
	// dictionarySize is the most bytes that a dictionary's values and offsets may have.
	dictionarySize = 1 << 20
	// dictionaryTrial is the number of values after each of which a dictionary is given up if more than
	// half of the values so far differ.
	dictionaryTrial = 1024
)

// dictionary is the distinct values of a leaf, found by a hash table with open addressing.
type dictionary struct {
	slots   []int32      // 1 + the index of an entry, 0 for none; a power of two, at least half of them free
	indices []int32      // of the leaf's values, into the entries
	entries columns.Leaf // the distinct values
	n       int          // of entries
}

// newDictionary returns the dictionary of a leaf's values. Their width is that of [columns.Node.Width]. It
// is nil if values hardly repeat, or would take too many bytes.
func newDictionary(l *columns.Leaf, width int) *dictionary {
	n := l.Values(width)
	if n < 2 || width == 1 { // a boolean is no larger than an index
		return nil
	}
	d := &dictionary{slots: make([]int32, 1<<bits.Len(uint(min(n, dictionaryTrial)))), indices: make([]int32, 0, n)}
	if width == 0 {
		d.entries.Offsets = append(d.entries.Offsets, 0)
	}
	for i := range n {
		d.indices = append(d.indices, d.index(l.Value(i, width), width))
		if size := len(d.entries.Fixed) + len(d.entries.Data) + 4*len(d.entries.Offsets); size > dictionarySize {
			return nil
		}
		if i >= dictionaryTrial && i&(dictionaryTrial-1) == 0 && d.n > i/2 {
			return nil
		}
	}
	if d.n > n/2 {
		return nil
	}
	return d
}

// appendIndices appends the values of a data page: the number of bits of an index, then indices in the hybrid.
func (d *dictionary) appendIndices(dst []byte, indices []int32) []byte {
	width := max(1, bits.Len(uint(d.n-1)))
	return layout.AppendHybrid(append(dst, byte(width)), indices, width)
}

// index returns the index of the entry with value v, which it appends if there is none. width is 0 for byte
// arrays.
func (d *dictionary) index(v []byte, width int) int32 {
	slot := d.firstSlot(v, width)
	for ; d.slots[slot] != 0; slot = d.nextSlot(slot) {
		if entry := d.slots[slot] - 1; string(d.entries.Value(int(entry), width)) == string(v) {
			return entry
		}
	}
	d.addEntry(v, width)
	d.slots[slot] = int32(d.n)
	if 2*d.n > len(d.slots) {
		d.grow(width)
	}
	return int32(d.n - 1)
}

// addEntry appends an entry with value v, which no slot refers to yet.
func (d *dictionary) addEntry(v []byte, width int) {
	d.n++
	if width > 0 {
		d.entries.Fixed = append(d.entries.Fixed, v...)
		return
	}
	d.entries.Data = append(d.entries.Data, v...)
	d.entries.Offsets = append(d.entries.Offsets, int32(len(d.entries.Data)))
}

// firstSlot returns the slot in which a value is looked for first, by its hash.
func (d *dictionary) firstSlot(v []byte, width int) int {
	const multiplier = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio: Fibonacci hashing
	var hash uint64
	switch width {
	case 4:
		hash = uint64(binary.LittleEndian.Uint32(v)) * multiplier
	case 8:
		hash = binary.LittleEndian.Uint64(v) * multiplier
	default:
		hash = xxh3.Hash(v)
	}
	return int(hash>>32) & (len(d.slots) - 1)
}

// nextSlot returns the slot in which a value is looked for after another.
func (d *dictionary) nextSlot(slot int) int { return (slot + 1) & (len(d.slots) - 1) }

// grow doubles the number of slots.
func (d *dictionary) grow(width int) {
	d.slots = make([]int32, 2*len(d.slots))
	for i := range d.n {
		slot := d.firstSlot(d.entries.Value(i, width), width)
		for d.slots[slot] != 0 {
			slot = d.nextSlot(slot)
		}
		d.slots[slot] = int32(i + 1)
	}
}
