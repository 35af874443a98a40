package parquetio

import (
	"errors"

	"robotsbatch/io/frontier/parquetio/pagefilter"
)

// mostWaste is a part of a chunk: where entries of a dictionary that no row uses any more
// make it larger by more than that, they are left out. A chunk of less than leastPart of
// its row group counts as that much: it is not worth the time.
const mostWaste, leastPart = 50, 16

// used returns which entries of a column's dictionary stay, nil for all: pages of indices
// are read once more for that, before their turn. p is the dictionary's page, of which
// only the header was read.
func (r *filterRun) used(p *page) *pagefilter.Used {
	rows, group := int64(r.rows.Len()), int64(0)
	kept := int64(r.rows.Count(0, r.rows.Len()))
	for _, n := range r.group.source.leaves {
		group += r.group.source.chunk(r.group.index, n).Pages.Length
	}
	base := float64(max(p.column.chunk.Pages.Length, group/leastPart)) * float64(kept) / float64(rows)
	// wasted reports whether it is too much that some entries of all stay without use.
	wasted := func(some, all int64) bool {
		return float64(p.StoredSize())*float64(some)/float64(all)*mostWaste > base
	}
	// Hardly a larger part of the entries is without use than of the rows.
	if !wasted(rows-kept, rows) || p.memory() > r.limit/4 {
		return nil
	}
	used := p.column.NewUsed(&p.Page)
	if used == nil || r.readIndices(p.column, used) != nil {
		return nil // pages are copied as they lie, or give the error in their turn
	}
	if n := used.Number(); !wasted(int64(p.Values-n), int64(p.Values)) {
		return nil
	}
	return used
}

var errLateIndices = errors.New("pages of indices behind others")

// readIndices adds what the pages of indices use. They are the first ones: writers end
// a dictionary that grows too large, and do not come back to it.
func (r *filterRun) readIndices(c *filtered, used *pagefilter.Used) error {
	s := r.ahead
	s.Reset(c.chunk)
	left, row, others := c.chunk.Values, 0, false
	for left > 0 && s.More() {
		p := &page{column: c, index: 1}
		var err error
		if p.Page, err = s.Next(); err != nil {
			return err
		}
		switch {
		case !p.isData():
			s.Skip(&p.Page)
			continue
		case !p.indices():
			others = true
			left -= int64(p.Values)
			s.Skip(&p.Page)
			continue
		case others:
			return errLateIndices
		}
		wanted, err := r.readData(p, s, left, row)
		if err == nil && wanted {
			err = r.decompress(p)
		}
		if err == nil && wanted {
			err = used.Add(r.inOrder, &c.Column, &p.Page, p.plain, p.part)
		}
		r.release(p)
		if err != nil {
			return err
		}
		left -= int64(p.Values)
		row += p.part.N
	}
	return nil
}
