package groupfilter

import (
	"bytes"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/pagefilter"
)

// loadDictionary finds which entries of a column's dictionary the kept rows use, by reading the pages of indices before
// their turn. p is the dictionary's page. Then it reads the dictionary from s, and keeps it in memory until the column
// ends, because the bounds of pages need it. It does not read the dictionary of a column that is copied: where pyarrow
// puts most texts into dictionaries, a job would take 1.6 times the processor time.
func (r *filterRun) loadDictionary(p *page, s *layout.Stream) (err error) {
	c := p.column
	if err := r.hold(p, pagefilter.DictionaryMemory(&p.Page)); err != nil {
		return err
	}
	c.held, p.held = p.held, 0 // given back at the column's end
	if c.Dictionary, err = pagefilter.NewDictionary(&c.Column, &p.Page); err != nil {
		return err
	}
	if err := r.readIndices(c); err != nil {
		return err
	}
	if c.whole = r.all && c.Dictionary.Full(); c.whole {
		return nil
	}
	if err := r.load(p, s); err != nil {
		return err
	}
	c.held, p.held = c.held+p.held, 0
	return r.onWorker(func() error {
		if err := r.decompress(p); err != nil {
			return err
		}
		c.dictionary = p.plain
		if p.asItLies() {
			c.dictionary = bytes.Clone(p.plain) // raw is used for other pages
		}
		return c.Dictionary.Read(&c.Column, &p.Page, c.dictionary)
	})
}

// readIndices marks the dictionary's entries that the kept rows use. It reads pages of indices until all
// entries are used or the column ends, and skips pages in other encodings. Writers that give up a dictionary, because it
// grows too large, never return to it. So readIndices refuses a page of indices after a skipped page: it would not know
// at which row the page begins.
func (r *filterRun) readIndices(c *filteredColumn) error {
	pages := r.ahead
	pages.Reset(c.chunk)
	at := position{left: c.chunk.Values}
	fellBack := false // the writer gave up the dictionary
	for at.left > 0 && pages.More() && !c.Dictionary.Full() {
		p := &page{column: c, index: 1} // not 0, which is the dictionary's
		var err error
		if p.Page, err = pages.Next(); err != nil {
			return err
		}
		switch {
		case !p.isData():
			pages.Skip(&p.Page)
			continue
		case !p.hasIndices():
			fellBack = true
			at.left -= int64(p.Values) // at.row is not right from here on, and not used
			pages.Skip(&p.Page)
			continue
		case fellBack:
			return &tables.LimitError{What: "its pages of indices come after others", Help: tables.Recode}
		}
		wanted, err := r.readData(p, pages, at)
		if err == nil && wanted {
			err = r.onWorker(func() error {
				if err := r.decompress(p); err != nil {
					return err
				}
				return c.Dictionary.Add(r.inOrder, p.source())
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
