package layout

import (
	"errors"
	"fmt"
	"io"
)

// Pages reads the data pages of a chunk one after the other, as they lie.
type Pages struct {
	stream *Stream // of the pages to come
	chunk  *Chunk
	left   int64 // values to come
	index  int   // of the next page

	// Dictionary is the chunk's dictionary, decompressed, and Entries the number of its values; nil
	// where there is none, and before the first page was fetched. It stays valid.
	Dictionary []byte
	Entries    int
}

// NewPages reads the pages of a chunk of a file, one at a time. As it lies and
// decompressed a page may have twice limit bytes.
func NewPages(in io.ReaderAt, chunk *Chunk, limit int64) (*Pages, error) {
	if err := chunk.Codec.Check(); err != nil {
		return nil, err
	}
	return &Pages{stream: NewStream(in, chunk, limit), chunk: chunk, left: chunk.Values}, nil
}

// Fetch returns the next data page that has values, and its bytes as they lie, in buffer if that is
// large enough. The page is nil after the last one. An error names the page.
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

// next reads a page, and returns nil if it has no values of rows.
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

// Data is the levels and values of a data page, and the number of the values: nulls are not counted.
type Data struct {
	Content
	Present int
}

// Data returns the levels and values of a data page, whose body is plain. It checks that there are as
// many levels as the header says, that none is too high, and that as many as it says mean null.
func (p *Page) Data(plain []byte, leaf Leaf) (d Data, err error) {
	d.Present = p.Values
	if d.Content, err = p.Split(plain, leaf); err != nil {
		return d, err
	}
	if highest := leaf.MaxDefinition; highest > 0 {
		if d.Present, err = CountLevels(d.Definition, p.Values, highest, uint32(highest)); err != nil {
			return d, err
		}
	}
	if highest := leaf.MaxRepetition; highest > 0 { // writers do not agree what to count of lists
		_, err := CountLevels(d.Repetition, p.Values, highest, 0)
		return d, err
	}
	if p.Kind != DataPageV2 {
		return d, nil
	}
	// Of a page of nothing but nulls Arrow's writer for Go says that there are none.
	if nulls := p.Values - d.Present; p.Nulls != nulls && (p.Nulls > 0 || d.Present > 0) {
		return d, fmt.Errorf("damaged: it says that %d values are null, and its levels that %d are", p.Nulls, nulls)
	}
	if p.Rows != p.Values {
		return d, fmt.Errorf("damaged: it says it has %d rows, and its levels %d", p.Rows, p.Values)
	}
	return d, nil
}

// CountLevels returns how many of n levels are v. It is an error if there are not just n, or one is
// higher than the highest.
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
