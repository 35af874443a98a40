package pagefilter

import (
	"errors"
	"math/bits"

	"robotsbatch/io/frontier/parquetio/layout"
)

// Used is which entries of a dictionary the rows that stay use. They are numbered anew
// in their order: readers expect that no two entries are equal, so that what is not used
// cannot just be emptied.
type Used struct {
	numbers []int32 // of each entry: 1 if it is used; after number its new one, -1 for none
	n       int     // how many are
}

// NewUsed returns the entries of a dictionary, of which none is used yet; nil where its
// page has none, is not in PLAIN, or is too small for what its header says.
func (c *Column) NewUsed(p *layout.Page) *Used {
	least := int64(c.Width)
	if c.Type == layout.ByteArray {
		least = 4
	}
	if p.Values == 0 || least*int64(p.Values) > int64(p.Uncompressed) || c.Type == layout.Boolean ||
		p.Encoding != layout.Plain && p.Encoding != layout.PlainDictionary {
		return nil
	}
	return &Used{numbers: make([]int32, p.Values)}
}

// Add adds what the rows of a page of indices use that stay.
func (u *Used) Add(f *Filter, c *Column, p *layout.Page, plain []byte, part Part) error {
	_, v, err := f.find(c, p, plain, part)
	if err != nil {
		return err
	}
	indices, ok := v.(*indices)
	if !ok {
		return errors.New("it has no indices")
	}
	for _, r := range f.values {
		for _, index := range indices.indices[r.low:r.high] {
			u.numbers[index] = 1
		}
	}
	return nil
}

// Number numbers the entries that are used after all pages were added, and returns how
// many there are. The first entry stays where none is used.
func (u *Used) Number() int {
	for i, used := range u.numbers {
		u.numbers[i] = -1
		if used > 0 {
			u.numbers[i] = int32(u.n)
			u.n++
		}
	}
	if u.n == 0 {
		u.numbers[0], u.n = 0, 1
	}
	return u.n
}

// width is how many bits the new numbers have.
func (u *Used) width() int { return max(1, bits.Len(uint(u.n-1))) }

var errChanged = errors.New("damaged: its indices are not those that they were when it was read before")

// renumber replaces indices of entries that are used by their new numbers.
func (u *Used) renumber(indices []int32) error {
	for i, index := range indices {
		number := u.numbers[index]
		if number < 0 {
			return errChanged
		}
		indices[i] = number
	}
	return nil
}

// runs appends the runs of entries that are used.
func (u *Used) runs(dst []run) []run {
	for i, number := range u.numbers {
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

// Dictionary appends the page of a dictionary with the entries of c.Used. plain and dst
// are as in [Filter.Page].
func (f *Filter) Dictionary(dst []byte, c *Column, p *layout.Page, plain []byte) ([]byte, Page, error) {
	f.pages = f.pages[:0]
	of := *c
	of.Leaf = layout.Leaf{} // entries have no levels
	f.repetition, f.definition = f.repetition[:0], f.definition[:0]
	var values values
	var err error
	if c.Type == layout.ByteArray { // what lies behind the entries is left out
		values, err = &f.decoder.texts, f.decoder.texts.find(plain, p.Values)
	} else if size := p.Values * c.Width; size <= len(plain) {
		f.decoder.fixed = fixed{plain[:size], c.Width}
		values = &f.decoder.fixed
	} else {
		err = errShort
	}
	if err != nil {
		return dst, Page{}, err
	}
	f.entries = c.Used.runs(f.entries[:0])
	f.values = append(f.values[:0], f.entries...)
	dst, ok := f.cutFrame(dst, &of, p, plain, &layout.Content{Values: plain}, values)
	if !ok {
		if dst, err = f.write(dst, &of, p, &selection{f.entries, f.values}, values); err != nil {
			return dst, Page{}, err
		}
	}
	return dst, f.pages[0], nil
}
