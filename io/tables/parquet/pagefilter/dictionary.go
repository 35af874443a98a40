package pagefilter

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// Dictionary is the dictionary of a chunk, and which of its entries the kept rows use: Add is called for
// all pages of indices, then Read numbers the used entries in their order. The others are removed, not
// emptied, because readers expect entries to be distinct.
type Dictionary struct {
	entries *encoding.Values // before Read only their number is right: they are zeros of a byte
	numbers []int32          // by entry: 1 if it is used, else 0; after Read its new index, -1 if it is not used
	used    int              // how many entries are used
}

// DictionaryMemory returns the bytes that NewDictionary takes for page p: a byte and a number for each entry.
func DictionaryMemory(p *layout.Page) int64 { return 5 * int64(p.Values) }

// NewDictionary returns the dictionary of page p, of which only the header is read. No entry is used yet.
func NewDictionary(c *Column, p *layout.Page) (*Dictionary, error) {
	switch {
	case c.Type == layout.Boolean:
		return nil, errors.New("damaged: a dictionary of booleans")
	case p.Values > p.Uncompressed:
		return nil, fmt.Errorf("damaged: a dictionary of %d values in %d bytes", p.Values, p.Uncompressed)
	}
	return &Dictionary{entries: &encoding.Values{Data: make([]byte, p.Values), Width: 1}, numbers: make([]int32, p.Values)}, nil
}

// Read reads the entries, and gives each used one its new index. plain is the page's decompressed body, and
// must not change while the dictionary is used. Call it once, after all pages were added.
func (d *Dictionary) Read(c *Column, p *layout.Page, plain []byte) (err error) {
	if d.entries, err = encoding.NewDictionary(p, plain, c.Width); err != nil || d.Full() {
		return err
	}
	n := int32(0)
	for i, used := range d.numbers {
		d.numbers[i] = -1
		if used > 0 {
			d.numbers[i] = n
			n++
		}
	}
	return nil
}

// Add marks the entries that the kept rows of s, a page of indices, use. f decodes the page.
func (d *Dictionary) Add(f *Filter, s Source) error {
	defer f.shrink()
	_, present, err := f.open(&s)
	if err != nil {
		return err
	}
	const split = true // so that not all runs are in memory at once
	return f.eachPiece(&s, present, split, func() error {
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

// Unused returns the number of entries that no kept row uses.
func (d *Dictionary) Unused() int { return len(d.numbers) - d.used }

// Full reports whether all entries are used: then the dictionary and the indices stay as they are.
func (d *Dictionary) Full() bool { return d.Unused() == 0 }

// renumbering returns the new index of each entry, -1 if it is removed, and the number of bits that a new index takes,
// at least 1. If indices do not change, or d is nil, it returns nil and 0.
func (d *Dictionary) renumbering() (newIndex []int32, bitWidth int) {
	if d == nil || d.Full() {
		return nil, 0
	}
	return d.numbers, max(1, bits.Len(uint(max(1, d.used)-1)))
}

// appendUsed appends the runs of used entries to dst. Read must have been called.
func (d *Dictionary) appendUsed(dst tables.Rows) tables.Rows {
	for i, number := range d.numbers {
		if number >= 0 {
			dst = dst.Add(i, i+1)
		}
	}
	return dst
}

// Dictionary appends the page of the column's dictionary with only the used entries. dst and the results
// are as in [Filter.Page]. s is that page, and needs no Part.
func (f *Filter) Dictionary(dst []byte, s Source) ([]byte, []layout.Written, error) {
	f.pages = f.pages[:0]
	d, c := s.Column.Dictionary, *s.Column
	c.Leaf, c.Order = layout.Leaf{}, columns.NoOrder // entries have no levels, and no statistics
	s.Column = &c
	f.repetition, f.definition = f.repetition[:0], f.definition[:0]
	f.entries = d.appendUsed(f.entries[:0])
	f.values = append(f.values[:0], f.entries...) // an entry is its value: none is null
	values := &encoding.Page{Values: *d.entries}
	if d.used == 0 { // some readers refuse an empty dictionary: write a zero, or an empty text, which is 4 bytes of length
		zero, err := encoding.NewDictionary(&layout.Page{Values: 1}, make([]byte, cmp.Or(c.Width, 4)), c.Width)
		if err != nil {
			return dst, nil, err
		}
		values.Values = *zero
		f.entries, f.values = f.entries.Add(0, 1), f.values.Add(0, 1)
	} else if out, ok := f.cutBody(dst, &s, 0, values); ok { // values begin at 0: no levels precede them
		// Compressing again takes 1.17 times the processor time of a job, and 1.4 times its memory, where
		// pyarrow puts some texts of 2 KB into a dictionary.
		return out, f.pages, nil
	}
	dst, err := f.write(dst, &s, values)
	return dst, f.pages, err
}
