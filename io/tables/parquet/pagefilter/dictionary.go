package pagefilter

import (
	"cmp"
	"fmt"
	"math/bits"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// Dictionary is the dictionary of a chunk. It records which entries the kept rows use, and
// renumbers these in their order. Unused entries are removed, not emptied, because readers
// expect entries to be distinct.
type Dictionary struct {
	entries *encoding.Values
	numbers []int32 // of each entry: 1 if it is used; after Number its new one, -1 for none
	used    int     // how many entries are used
}

// NewDictionary reads the page of a dictionary, of which no entry is used yet. plain is the
// page's body decompressed, and must not change as long as the dictionary is used.
func NewDictionary(c *Column, p *layout.Page, plain []byte) (*Dictionary, error) {
	if p.Encoding != layout.Plain && p.Encoding != layout.PlainDictionary || c.Type == layout.Boolean {
		return nil, fmt.Errorf("damaged: a dictionary in encoding %d", p.Encoding)
	}
	entries, err := encoding.NewDictionary(plain, p.Values, c.Width)
	if err != nil {
		return nil, err
	}
	return &Dictionary{entries: entries, numbers: make([]int32, p.Values)}, nil
}

// Add records what the kept rows of a page of indices use.
func (d *Dictionary) Add(f *Filter, c *Column, p *layout.Page, plain []byte, part Part) error {
	defer f.shrink()
	_, present, err := f.open(c, p, plain, part)
	if err != nil {
		return err
	}
	return f.pieces(c, p, part, present, true, func() error {
		for _, r := range f.values {
			for _, index := range f.page.Indices[r.Low:r.High] {
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

// width returns the number of bits that the new numbers have.
func (d *Dictionary) width() int { return max(1, bits.Len(uint(max(1, d.used)-1))) }

// runs appends the runs of entries that are used.
func (d *Dictionary) runs(dst []run) []run {
	for i, number := range d.numbers {
		if number >= 0 {
			dst = appendRun(dst, i, i+1)
		}
	}
	return dst
}

// Dictionary appends the page of the column's dictionary with the entries that are used.
// plain and dst are as in [Filter.Page].
func (f *Filter) Dictionary(dst []byte, c *Column, p *layout.Page, plain []byte) ([]byte, []layout.Written, error) {
	f.pages = f.pages[:0]
	of := *c
	of.Leaf, of.Order = layout.Leaf{}, columns.NoOrder // entries have no levels, and no statistics
	f.repetition, f.definition = f.repetition[:0], f.definition[:0]
	f.entries = c.Dictionary.runs(f.entries[:0])
	f.values = append(f.values[:0], f.entries...)
	values, ok := &encoding.Page{Values: *c.Dictionary.entries}, false
	if c.Dictionary.used == 0 { // some readers want an entry
		zero, err := encoding.NewDictionary(make([]byte, cmp.Or(c.Width, 4)), 1, c.Width)
		if err != nil {
			return dst, nil, err
		}
		values.Values = *zero
		f.entries, f.values = append(f.entries, run{High: 1}), append(f.values, run{High: 1})
	} else {
		dst, ok = f.cutFrame(dst, &of, p, plain, plain, values)
	}
	if !ok {
		var err error
		if dst, err = f.write(dst, &of, p, values); err != nil {
			return dst, nil, err
		}
	}
	return dst, f.pages, nil
}
