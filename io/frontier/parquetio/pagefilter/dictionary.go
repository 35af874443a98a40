package pagefilter

import (
	"errors"
	"fmt"
	"math/bits"

	"robotsbatch/io/frontier/parquetio/layout"
)

// Dictionary is the dictionary of a chunk. It records which entries the kept rows use, and
// renumbers these in their order. Unused entries are removed, not emptied, because readers
// expect entries to be distinct.
type Dictionary struct {
	entries values
	numbers []int32 // of each entry: 1 if it is used; after Number its new one, -1 for none
	used    int     // how many entries are used
}

// NewDictionary reads the page of a dictionary, of which no entry is used yet. plain is the
// page's body decompressed, and must not change as long as the dictionary is used.
func NewDictionary(c *Column, p *layout.Page, plain []byte) (*Dictionary, error) {
	least := max(1, int64(c.Width))
	if c.Type == layout.ByteArray {
		least = 4
	}
	switch {
	case p.Encoding != layout.Plain && p.Encoding != layout.PlainDictionary || c.Type == layout.Boolean:
		return nil, fmt.Errorf("damaged: a dictionary in encoding %d", p.Encoding)
	case least*int64(p.Values) > int64(len(plain)):
		return nil, errShort
	}
	d := &Dictionary{numbers: make([]int32, p.Values)}
	if c.Type != layout.ByteArray {
		d.entries = &fixed{plain[:p.Values*c.Width], c.Width}
		return d, nil
	}
	t := &texts{}
	d.entries = t
	return d, t.find(plain, p.Values) // what follows the entries is left out
}

// Add records what the kept rows of a page of indices use.
func (d *Dictionary) Add(f *Filter, c *Column, p *layout.Page, plain []byte, part Part) error {
	defer f.shrink()
	_, v, present, err := f.open(c, p, plain, part)
	if err != nil {
		return err
	}
	indices, ok := v.(*indices)
	if !ok {
		return errors.New("it has no indices")
	}
	return f.pieces(c, p, part, v, present, true, func() error {
		for _, r := range f.values {
			for _, index := range indices.indices[r.low:r.high] {
				if d.numbers[index] == 0 {
					d.numbers[index] = 1
					d.used++
				}
			}
		}
		return nil
	})
}

// Unused returns the number of entries that are not used.
func (d *Dictionary) Unused() int { return len(d.numbers) - d.used }

// Full reports whether all entries are used: then the page is copied, and the indices stay.
func (d *Dictionary) Full() bool { return d.Unused() == 0 }

// Number numbers the entries that are used, after all pages were added.
func (d *Dictionary) Number() {
	if d.Full() {
		return
	}
	n := int32(0)
	for i, used := range d.numbers {
		d.numbers[i] = -1
		if used > 0 {
			d.numbers[i] = n
			n++
		}
	}
}

// width is how many bits the new numbers have.
func (d *Dictionary) width() int { return max(1, bits.Len(uint(max(1, d.used)-1))) }

var errChanged = errors.New("damaged: its indices are not those that they were when it was read before")

// renumber replaces indices of entries that are used by their new numbers.
func (d *Dictionary) renumber(indices []int32) error {
	for i, index := range indices {
		number := d.numbers[index]
		if number < 0 {
			return errChanged
		}
		indices[i] = number
	}
	return nil
}

// runs appends the runs of entries that are used.
func (d *Dictionary) runs(dst []run) []run {
	for i, number := range d.numbers {
		if number < 0 {
			continue
		}
		if n := len(dst); n > 0 && dst[n-1].high == i {
			dst[n-1].high++
		} else {
			dst = append(dst, run{i, i + 1})
		}
	}
	return dst
}

// Dictionary appends the page of the column's dictionary with the entries that are used.
// plain and dst are as in [Filter.Page].
func (f *Filter) Dictionary(dst []byte, c *Column, p *layout.Page, plain []byte) ([]byte, Page, error) {
	f.pages = f.pages[:0]
	of := *c
	of.Leaf, of.Order = layout.Leaf{}, NoOrder // entries have no levels, and no statistics
	f.repetition, f.definition = f.repetition[:0], f.definition[:0]
	f.entries = c.Dictionary.runs(f.entries[:0])
	f.values = append(f.values[:0], f.entries...)
	values, ok := c.Dictionary.entries, false
	if c.Dictionary.used == 0 { // some readers want an entry
		zero := make([]byte, zeroWidth(c))
		values = &fixed{zero, len(zero)}
		f.entries, f.values = append(f.entries, run{0, 1}), append(f.values, run{0, 1})
	} else {
		dst, ok = f.cutFrame(dst, &of, p, plain, &layout.Content{Values: plain}, values)
	}
	if !ok {
		var err error
		if dst, err = f.write(dst, &of, p, values); err != nil {
			return dst, Page{}, err
		}
	}
	return dst, f.pages[0], nil
}

// zeroWidth returns the size of a value of zeros in PLAIN, which is an empty byte array.
func zeroWidth(c *Column) int {
	if c.Type == layout.ByteArray {
		return 4
	}
	return c.Width
}
