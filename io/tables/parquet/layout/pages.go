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

	body, scratch []byte // of the current page, as it lies and decompressed

	// Dictionary is the chunk's dictionary, decompressed, and Entries how many
	// values it has; nil where there is none. It stays valid.
	Dictionary []byte
	Entries    int
	// Data is the current page's, valid until the next one is read.
	Data
}

// Data is a data page, decompressed.
type Data struct {
	Content
	// Values is the number of its values, and Present that of those that are not null.
	Values, Present int
	// Rows is the number of rows that begin in the page.
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
	page, body, err := p.Fetch(p.body)
	p.body = body
	if page == nil || err != nil {
		return false, err
	}
	plain, err := page.Open(p.room, p.chunk.Codec)
	if err == nil {
		p.Data, err = page.Data(plain, p.leaf)
	}
	if err != nil {
		return false, fmt.Errorf("page %d: %w", p.Index(), err)
	}
	return true, nil
}

// Fetch is Next without opening the page: it returns it as it lies, in buffer if that is
// large enough, and nil after the last.
func (p *Pages) Fetch(buffer []byte) (*Page, []byte, error) {
	for p.left > 0 {
		page, body, err := p.next(buffer)
		if err != nil {
			return nil, body, fmt.Errorf("page %d: %w", p.index, err)
		}
		p.index++
		buffer = body
		if page != nil {
			return page, body, nil
		}
	}
	return nil, buffer, nil
}

// Index returns the number of the current page in its chunk, the dictionary included.
func (p *Pages) Index() int { return p.index - 1 }

// Codec is the chunk's.
func (p *Pages) Codec() Codec { return p.chunk.Codec }

// next reads a page, and returns nil if it is none of data.
func (p *Pages) next(buffer []byte) (*Page, []byte, error) {
	if !p.stream.More() {
		return nil, buffer, fmt.Errorf("damaged: the column ends before it, %d values early", p.left)
	}
	page, err := p.stream.Next()
	if err == nil {
		buffer, err = p.stream.Body(&page, buffer)
	}
	if err != nil {
		return nil, buffer, err
	}
	switch page.Kind {
	case DictionaryPage:
		return nil, buffer, p.readDictionary(&page)
	case DataPage, DataPageV2:
		if page.Values == 0 {
			return nil, buffer, nil
		}
		if int64(page.Values) > p.left {
			return nil, buffer, fmt.Errorf("damaged: it says it has %d values, where the column has %d more", page.Values, p.left)
		}
		p.left -= int64(page.Values)
		return &page, buffer, nil
	}
	return nil, buffer, nil // others may come one day
}

// readDictionary reads a page as the dictionary.
func (p *Pages) readDictionary(page *Page) error {
	switch {
	case p.index > 0:
		return errors.New("damaged: a dictionary that is not the first page")
	case page.Encoding != Plain && page.Encoding != PlainDictionary:
		return fmt.Errorf("damaged: a dictionary in encoding %d", page.Encoding)
	}
	plain, err := page.Open(func(n int) []byte { return make([]byte, n) }, p.chunk.Codec)
	if err != nil {
		return err
	}
	if page.aliased(p.chunk.Codec) {
		plain = append([]byte{}, plain...)
	}
	p.Dictionary, p.Entries = plain, page.Values
	return nil
}

// Data returns a data page, whose body is plain, after checking it.
func (p *Page) Data(plain []byte, leaf Leaf) (Data, error) {
	d := Data{Values: p.Values, Present: p.Values, Rows: p.Values, Encoding: p.Encoding}
	var err error
	if d.Content, err = p.Split(plain, leaf); err != nil {
		return d, err
	}
	return d, d.count(p, leaf)
}

// room is memory that one page after the other uses.
func (p *Pages) room(n int) []byte {
	if cap(p.scratch) < n {
		p.scratch = make([]byte, n+n/8)
	}
	return p.scratch[:n]
}

// count counts the values and rows of a page.
func (d *Data) count(p *Page, leaf Leaf) (err error) {
	if highest := leaf.MaxDefinition; highest > 0 {
		if d.Present, err = CountLevels(d.Definition, d.Values, highest, uint32(highest)); err != nil {
			return err
		}
	}
	if highest := leaf.MaxRepetition; highest > 0 {
		if d.Rows, err = CountLevels(d.Repetition, d.Values, highest, 0); err != nil {
			return err
		}
	}
	if p.Kind != DataPageV2 || leaf.MaxRepetition > 0 { // of lists writers do not agree what to count
		return nil
	}
	// Of a page of nothing but nulls Arrow's writer for Go says that there are none.
	if p.Nulls != d.Values-d.Present && (p.Nulls > 0 || d.Present > 0) {
		return fmt.Errorf("damaged: it says that %d values are null, and its levels that %d are", p.Nulls, d.Values-d.Present)
	}
	if p.Rows != d.Rows {
		return fmt.Errorf("damaged: it says it has %d rows, and its levels %d", p.Rows, d.Rows)
	}
	return nil
}

// CountLevels returns how many of the n levels are v. There have to be just n, none higher
// than the highest.
func CountLevels(levels Hybrid, n, highest int, v uint32) (int, error) {
	equal, largest, err := levels.Count(n, v)
	if err != nil || levels.Done() != nil {
		return 0, errLevels
	}
	if largest > uint32(highest) {
		return 0, errLevel(largest, highest)
	}
	return equal, nil
}
