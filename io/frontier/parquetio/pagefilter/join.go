package pagefilter

import (
	"bytes"

	"robotsbatch/io/frontier/parquetio/layout"
)

// Joins reports whether what stays of a page may be written with what stays of the next
// ones. A page of which so little is left out that its frame can be cut is not joined.
func (c *Column) Joins(p *layout.Page, part *Part) bool {
	kept, all := part.Kept()
	return c.Leaf.MaxRepetition == 0 && c.Rereads(p) && !p.Stored() && (all-kept)*leastCut > all
}

// joined are values in PLAIN that were gathered already.
type joined []byte

func (v joined) size(int) int { return len(v) }

func (v joined) append(dst []byte, _ []run) ([]byte, error) { return append(dst, v...), nil }

// joining is what was gathered of pages that are joined.
type joining struct {
	levels           []byte
	values           joined
	entries, present int
}

// Join adds the rows of a page that stay to those of the pages before, for [Filter.Joined].
// All must be of one kind, and [Column.Joins] true of them.
func (f *Filter) Join(c *Column, p *layout.Page, plain []byte, part Part) error {
	_, values, err := f.find(c, p, plain, part)
	if err != nil {
		return err
	}
	j := &f.joining
	if j.values, err = values.append(j.values, f.values); err != nil {
		return err
	}
	kept := length(f.entries)
	if most := byte(c.Leaf.MaxDefinition); len(f.definition) > 0 {
		j.levels = append(j.levels, f.gather(f.definition, f.entries)...)
	} else if most > 0 {
		j.levels = append(j.levels, bytes.Repeat([]byte{most}, kept)...)
	}
	j.entries += kept
	j.present += length(f.values)
	return nil
}

// Joined appends to dst the page that was joined, of the kind of p.
func (f *Filter) Joined(dst []byte, c *Column, p *layout.Page) ([]byte, []Page, error) {
	j := &f.joining
	f.pages, f.definition = f.pages[:0], append(f.definition[:0], j.levels...)
	f.entries = append(f.entries[:0], run{0, j.entries})
	f.values = append(f.values[:0], run{0, j.present})
	dst, err := f.write(dst, c, p, &selection{f.entries, f.values}, j.values)
	*j = joining{levels: j.levels[:0], values: j.values[:0]}
	return dst, f.pages, err
}
