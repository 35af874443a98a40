package encode

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

const (
	// dictionarySize is the most bytes a dictionary has.
	dictionarySize = 1 << 20
	// dictionaryTrial is the number of values that are looked at before a dictionary is
	// given up because more than half of them differ.
	dictionaryTrial = 1024
)

// dictionary is the distinct values of a leaf, found by an open-addressed table.
type dictionary struct {
	slots   []int32      // 1 + the index of an entry, 0 for none
	indices []int32      // of the leaf's values, into the entries
	entries columns.Leaf // the distinct values
	n       int          // of entries
}

// newDictionary returns the dictionary of a leaf's values. Their width is that of [columns.Node.Width]. It
// is nil for booleans, and when values hardly repeat.
func newDictionary(l *columns.Leaf, width int) *dictionary {
	n := l.Values(width)
	if n < 2 || width == 1 {
		return nil
	}
	d := &dictionary{slots: make([]int32, 1<<bits.Len(uint(min(n, dictionaryTrial)))), indices: make([]int32, 0, n)}
	if width == 0 {
		d.entries.Offsets = append(d.entries.Offsets, 0)
	}
	for i := range n {
		d.indices = append(d.indices, d.add(l.Value(i, width), width))
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

// appendIndices appends the indices of a data page, after the number of bits of each.
func (d *dictionary) appendIndices(dst []byte, indices []int32) []byte {
	width := max(1, bits.Len(uint(d.n-1)))
	return layout.AppendHybrid(append(dst, byte(width)), indices, width)
}

// add returns the index of the entry of value v, which it adds if there is none.
func (d *dictionary) add(v []byte, width int) int32 {
	for slot := d.slot(v, width); ; slot = (slot + 1) & (len(d.slots) - 1) {
		entry := d.slots[slot]
		if entry == 0 {
			d.slots[slot] = int32(d.n + 1)
			break
		}
		if string(d.entries.Value(int(entry-1), width)) == string(v) {
			return entry - 1
		}
	}
	if width > 0 {
		d.entries.Fixed = append(d.entries.Fixed, v...)
	} else {
		d.entries.Data = append(d.entries.Data, v...)
		d.entries.Offsets = append(d.entries.Offsets, int32(len(d.entries.Data)))
	}
	if d.n++; 2*d.n > len(d.slots) {
		d.grow(width)
	}
	return int32(d.n - 1)
}

// slot returns the slot at which looking for a value begins.
func (d *dictionary) slot(v []byte, width int) int {
	var hash uint64
	switch width {
	case 4:
		hash = uint64(binary.LittleEndian.Uint32(v)) * 0x9e3779b97f4a7c15
	case 8:
		hash = binary.LittleEndian.Uint64(v) * 0x9e3779b97f4a7c15
	default:
		hash = xxh3.Hash(v)
	}
	return int(hash>>32) & (len(d.slots) - 1)
}

// grow doubles the table.
func (d *dictionary) grow(width int) {
	d.slots = make([]int32, 2*len(d.slots))
	for i := range d.n {
		slot := d.slot(d.entries.Value(i, width), width)
		for d.slots[slot] != 0 {
			slot = (slot + 1) & (len(d.slots) - 1)
		}
		d.slots[slot] = int32(i + 1)
	}
}
