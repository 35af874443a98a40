package groupfilter

import (
	"bytes"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/pagefilter"
)

// loadDictionary reads the dictionary of a column, whose page is p, and finds which entries
// the kept rows use: for that, it reads pages of indices once more, before their turn. The dictionary
// stays in memory until the column ends, because the bounds of pages need it.
func (r *filterRun) loadDictionary(p *page, s *layout.Stream) error {
	c := p.column
	if err := r.load(p, s); err != nil {
		return err
	}
	err := r.work(func() error {
		if err := r.decompress(p); err != nil {
			return err
		}
		c.dictionary = p.plain
		if p.asItLies() {
			c.dictionary = bytes.Clone(p.plain) // raw is used for other pages
		} else {
			p.plain = nil // so that no other page gets it
		}
		d, err := pagefilter.NewDictionary(&c.Column, &p.Page, c.dictionary)
		c.Dictionary = d
		return err
	})
	if err != nil {
		return err
	}
	c.held, p.held = p.held, 0
	if err := r.readIndices(c); err != nil {
		return err
	}
	c.Dictionary.Number()
	return nil
}

var errLateIndices = &tables.LimitError{What: "its pages of indices come after others", Help: tables.Recode}

// readIndices records which entries the pages of indices use, until all are used. These pages are the
// first ones: writers end a dictionary that grows too large, and do not come back to it.
func (r *filterRun) readIndices(c *filtered) error {
	s := r.ahead
	s.Reset(c.chunk)
	at, others := position{left: c.chunk.Values}, false
	for at.left > 0 && s.More() && !c.Dictionary.Full() {
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
			at.left -= int64(p.Values)
			s.Skip(&p.Page)
			continue
		case others:
			return errLateIndices
		}
		wanted, err := r.readData(p, s, at)
		if err == nil && wanted {
			err = r.work(func() error {
				if err := r.decompress(p); err != nil {
					return err
				}
				return c.Dictionary.Add(r.inOrder, p.source(p.plain))
			})
		}
		r.release(p)
		if err != nil {
			return err
		}
		at.pass(p)
	}
	return nil
}
