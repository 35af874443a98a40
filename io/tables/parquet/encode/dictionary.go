package encode

import (
	"math/bits"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

const (
	// dictionarySize is the most bytes that a dictionary's values and offsets may have.
	dictionarySize = 1 << 20
	// dictionaryTrial is a number of values. After each such number, a dictionary is given up if more than half of the
	// values so far were new.
	dictionaryTrial = 1024
)

// dictionary is the distinct values of a leaf.
type dictionary struct {
	known   map[string]int32 // the index of each entry
	indices []int32          // of the leaf's values, into the entries
	entries columns.Leaf     // the distinct values
	n       int              // of entries
}

// newDictionary returns the dictionary of a leaf's values. width is [columns.Node.Width]. It returns nil if values hardly
// repeat, or if the dictionary would be larger than dictionarySize.
func newDictionary(l *columns.Leaf, width int) *dictionary {
	n := l.Values(width)
	if n < 2 || width == 1 { // a boolean is no larger than an index
		return nil
	}
	d := &dictionary{known: make(map[string]int32), indices: make([]int32, 0, n)}
	if width == 0 {
		d.entries.Offsets = append(d.entries.Offsets, 0)
	}
	for i := range n {
		value := l.Value(i, width)
		if len(value) > dictionarySize { // before it is copied
			return nil
		}
		d.indices = append(d.indices, d.index(value, width))
		if size := len(d.entries.Fixed) + len(d.entries.Data) + 4*len(d.entries.Offsets); size > dictionarySize {
			return nil
		}
		if isTrial := i > 0 && i%dictionaryTrial == 0; isTrial && d.n > i/2 {
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
	entry, ok := d.known[string(v)]
	if !ok {
		entry = int32(d.n)
		d.known[string(v)] = entry
		d.addEntry(v, width)
	}
	return entry
}

// addEntry appends an entry with value v.
func (d *dictionary) addEntry(v []byte, width int) {
	d.n++
	if width > 0 {
		d.entries.Fixed = append(d.entries.Fixed, v...)
		return
	}
	d.entries.Data = append(d.entries.Data, v...)
	d.entries.Offsets = append(d.entries.Offsets, int32(len(d.entries.Data)))
}
