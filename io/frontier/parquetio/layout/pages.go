package layout

import (
	"errors"
	"fmt"
	"io"
)

// Pages reads the pages of a chunk one after the other. A page is checked before
// it is returned: its levels are as many as its values, none is too high, and as
// many say null as its header does.
type Pages struct {
	stream *Stream // of the pages to come
	chunk  *Chunk
	leaf   Leaf
	left   int64 // values to come
	index  int   // of the next page

	page          Page
	body, scratch []byte // of the current page, as it lies and decompressed

	// Dictionary is the chunk's dictionary, decompressed, and Entries how many
	// values it has; nil where there is none. It stays valid.
	Dictionary []byte
	Entries    int
	// Content is the current page's, valid until the next one is read. Values
	// and Present are how many it has, and how many of these are not null.
	Content
	Values, Present int
	// Rows is how many rows begin in the page.
	Rows int
	// Encoding is that of its values.
	Encoding Encoding
}

// NewPages reads the pages of a chunk of a file, one at a time. As it lies and
// decompressed a page may have twice limit bytes.
func NewPages(in io.ReaderAt, chunk *Chunk, leaf Leaf, limit int64) (*Pages, error) {
	if err := chunk.Codec.Check(); err != nil {
		return nil, err
	}
	return &Pages{stream: NewStream(in, chunk, limit), chunk: chunk, leaf: leaf, left: chunk.Values}, nil
}

// Next reads the next data page that has values, and returns false when all
// values were read. The dictionary comes with the first. An error names the page.
func (p *Pages) Next() (bool, error) {
	for p.left > 0 {
		ok, err := p.next()
		if err != nil {
			return false, fmt.Errorf("page %d: %w", p.index, err)
		}
		p.index++
		if ok {
			return true, nil
		}
	}
	return false, nil
}

// Index is the number of the current page in its chunk, the dictionary included.
func (p *Pages) Index() int { return p.index - 1 }

func (p *Pages) next() (ok bool, err error) {
	if !p.stream.More() {
		return false, fmt.Errorf("damaged: the column ends before it, %d values early", p.left)
	}
	if p.page, err = p.stream.Next(); err == nil {
		p.body, err = p.stream.Body(&p.page, p.body)
	}
	if err != nil {
		return false, err
	}
	switch p.page.Kind {
	case DictionaryPage:
		return false, p.readDictionary()
	case DataPage, DataPageV2:
		if p.page.Values == 0 {
			return false, nil
		}
		return true, p.readData()
	}
	return false, nil // others may come one day
}

// readDictionary reads the current page as the dictionary.
func (p *Pages) readDictionary() error {
	switch {
	case p.index > 0:
		return errors.New("damaged: a dictionary that is not the first page")
	case p.page.Encoding != Plain && p.page.Encoding != PlainDictionary:
		return fmt.Errorf("damaged: a dictionary in encoding %d", p.page.Encoding)
	}
	plain, err := p.page.Open(func(n int) []byte { return make([]byte, n) }, p.chunk.Codec)
	if err != nil {
		return err
	}
	if p.page.aliased(p.chunk.Codec) {
		plain = append([]byte{}, plain...)
	}
	p.Dictionary, p.Entries = plain, p.page.Values
	return nil
}

// readData reads the current page as one of data.
func (p *Pages) readData() error {
	if int64(p.page.Values) > p.left {
		return fmt.Errorf("damaged: it says it has %d values, where the column has %d more", p.page.Values, p.left)
	}
	plain, err := p.page.Open(p.room, p.chunk.Codec)
	if err != nil {
		return err
	}
	if p.Content, err = p.page.Split(plain, p.leaf); err != nil {
		return err
	}
	p.Values, p.Present, p.Rows, p.Encoding = p.page.Values, p.page.Values, p.page.Values, p.page.Encoding
	p.left -= int64(p.Values)
	return p.checkLevels()
}

// room is memory that one page after the other uses.
func (p *Pages) room(n int) []byte {
	if cap(p.scratch) < n {
		p.scratch = make([]byte, n+n/8)
	}
	return p.scratch[:n]
}

// checkLevels counts the values and rows of the current page.
func (p *Pages) checkLevels() (err error) {
	if highest := p.leaf.MaxDefinition; highest > 0 {
		if p.Present, err = countLevels(p.Definition, p.Values, highest, uint32(highest)); err != nil {
			return err
		}
	}
	if highest := p.leaf.MaxRepetition; highest > 0 {
		if p.Rows, err = countLevels(p.Repetition, p.Values, highest, 0); err != nil {
			return err
		}
	}
	if p.page.Kind != DataPageV2 || p.leaf.MaxRepetition > 0 { // of lists writers do not agree what to count
		return nil
	}
	// Of a page of nothing but nulls Arrow's writer for Go says that there are none.
	if p.page.Nulls != p.Values-p.Present && (p.page.Nulls > 0 || p.Present > 0) {
		return fmt.Errorf("damaged: it says that %d values are null, and its levels that %d are", p.page.Nulls, p.Values-p.Present)
	}
	if p.page.Rows != p.Rows {
		return fmt.Errorf("damaged: it says it has %d rows, and its levels %d", p.page.Rows, p.Rows)
	}
	return nil
}

// countLevels returns how many of the n levels are v. There have to be just n,
// none higher than the highest.
func countLevels(levels Hybrid, n, highest int, v uint32) (int, error) {
	equal, largest, err := levels.Count(n, v)
	if err != nil || levels.Done() != nil {
		return 0, errLevels
	}
	if largest > uint32(highest) {
		return 0, fmt.Errorf("damaged: a level of %d, where the highest is %d", largest, highest)
	}
	return equal, nil
}
