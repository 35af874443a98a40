package decode

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

var errRows = errors.New("damaged: the column has fewer rows than its row group")

// Reader reads the rows of a chunk in order.
type Reader struct {
	stream     *layout.Stream
	chunk      *layout.Chunk
	left       int64 // values of the pages to come
	index      int   // of the next page in the chunk, the dictionary's included
	node       *columns.Node
	leaf       layout.Leaf
	limit      int64
	current    *page            // a page of which some entries are in no part yet; nil for none
	at         int              // the first of these
	dictionary *encoding.Values // nil if the chunk has none, or before it is read
	previous   encoding.Decoder // of the page in DELTA_BYTE_ARRAY that was begun last, nil before
	block      []byte           // of a list: repetition levels of some entries of current, from at on
	levels     []byte           // the memory of block
	started    bool             // the first block was read
	free       *budget.Buffers  // memory of pages that are done: this saves 5 % of a job, and 12 % of its memory
}

// mostFree is the most bytes of memory of pages that are kept for the next ones.
const mostFree = 4 << 20

// blockSize is the most entries of a list of which levels are read at once.
const blockSize = 4096

// mostShared is the most entries of a page of which parts are decoded side by side: a worker that begins
// in its middle may have to skip all that come before.
const mostShared = 1 << 20

// page is a page whose entries are in one part or several.
type page struct {
	layout.Page
	index int          // in the chunk, for errors
	raw   []byte       // the memory of Page
	users atomic.Int32 // the number of its spans that are not decoded yet, and one for the reader while it is current

	mu       sync.Mutex // for the fields below
	opened   bool       // data or err is set: see Reader.open
	plain    []byte     // the memory of data; nil if that is raw's
	data     layout.Data
	err      error   // of decompressing the page, or of its levels
	furthest *cursor // of the cursors that spans have left, the furthest; nil for none
}

// NewReader returns a reader of a chunk of a file, which has the values of leaf n. A page may have limit bytes
// decompressed, and so may the rows of a part decoded.
func NewReader(in io.ReaderAt, chunk *layout.Chunk, n *columns.Node, limit int64) (*Reader, error) {
	return &Reader{
		stream: layout.NewStream(in, chunk, limit), chunk: chunk, left: chunk.Values, node: n, limit: limit, free: budget.NewBuffers(mostFree),
		leaf: layout.Leaf{MaxDefinition: int(n.MaxDefinition), MaxRepetition: int(n.MaxRepetition)},
	}, chunk.Codec.Check()
}

// Part is some rows that were read.
type Part struct {
	reader *Reader
	rows   int
	spans  []span        // their entries
	leaf   *columns.Leaf // these decoded; nil if Decode is to do it
}

// span is n entries of a page, from one on.
type span struct {
	page    *page
	from, n int
}

// Next reads the pages with the next rows rows, and returns the part of these rows. One goroutine at a time may
// call it. Rows are decoded here if others could not do it alone: in lists, in DELTA_BYTE_ARRAY, and in pages
// of more than mostShared entries.
func (r *Reader) Next(rows int) (_ *Part, err error) {
	p := &Part{reader: r, rows: rows}
	if r.leaf.MaxRepetition > 0 {
		p.leaf, err = r.decodeLists(rows)
		return p, err
	}
	decodeNow := false
	for left := rows; left > 0; {
		if err := r.fetchPage(); err != nil {
			return nil, err
		}
		if r.current == nil {
			return nil, errRows
		}
		s := r.takeSpan(min(left, r.current.Values-r.at))
		p.spans = append(p.spans, s)
		decodeNow = decodeNow || s.page.Encoding == layout.DeltaByteArray || s.page.Values > mostShared
		left -= s.n
	}
	if decodeNow {
		p.leaf, err = p.decodeSpans()
	}
	return p, err
}

// decodeLists decodes the next rows rows of a column of lists. A row ends only where another begins, or the
// chunk ends.
func (r *Reader) decodeLists(rows int) (*columns.Leaf, error) {
	o := r.newOutput(rows)
	for begun, ended := 0, false; !ended; {
		if err := r.fetchPage(); err != nil {
			return nil, err
		}
		if r.current == nil { // the chunk ends
			if begun < rows {
				return nil, errRows
			}
			break
		}
		n := 0 // entries of the block that belong to these rows
		for ; n < len(r.block); n++ {
			if r.block[n] > 0 { // it goes on in a list, and so in the row
				continue
			}
			if ended = begun == rows; ended { // a row begins that is not asked for
				break
			}
			begun++
		}
		o.Repetitions, r.block = append(o.Repetitions, r.block[:n]...), r.block[n:]
		if err := r.decodeSpan(r.takeSpan(n), o); err != nil {
			return nil, err
		}
	}
	return o.finish(), nil
}

// takeSpan returns a span of the next n entries of the current page. After the page's last entry, there is no current page.
func (r *Reader) takeSpan(n int) span {
	s := span{r.current, r.at, n}
	s.page.users.Add(1)
	if r.at += n; r.at == s.page.Values {
		r.release(s.page)
		r.current = nil
	}
	return s
}

// fetchPage reads the next page with entries and makes it r.current, unless there is one already or no entries are left in
// the chunk. In a list it also reads levels into r.block if that is empty.
func (r *Reader) fetchPage() error {
	for r.current == nil && r.left > 0 {
		if err := r.readPage(); err != nil {
			return fmt.Errorf("page %d: %w", r.index, err)
		}
		r.index++
	}
	if r.current == nil || r.leaf.MaxRepetition == 0 || len(r.block) > 0 {
		return nil
	}
	p := r.current
	err := r.open(p)
	if err == nil {
		r.levels, err = p.data.Repetition.AppendBytes(r.levels[:0], min(p.Values-r.at, blockSize), r.node.MaxRepetition)
	}
	if err == nil && !r.started && r.levels[0] > 0 {
		err = errors.New("damaged: the column begins in the middle of a list")
	}
	r.block, r.started = r.levels, true
	return p.withIndex(err)
}

// readPage reads the next page. A data page with entries becomes the current one.
func (r *Reader) readPage() error {
	if !r.stream.More() {
		return fmt.Errorf("damaged: the column ends before it, %d values early", r.left)
	}
	p, err := r.stream.Next()
	if err != nil {
		return err
	}
	raw := r.room(p.StoredSize())
	if err := r.stream.Body(&p, raw); err != nil {
		return err
	}
	switch p.Kind {
	case layout.DictionaryPage:
		return r.readDictionary(&p)
	case layout.DataPage, layout.DataPageV2:
		if int64(p.Values) > r.left {
			return fmt.Errorf("damaged: it says it has %d values, where the column has %d more", p.Values, r.left)
		}
		if p.Values > 0 {
			r.left -= int64(p.Values)
			p.Low, p.High = nil, nil // nobody here asks for bounds
			r.current, r.at = &page{Page: p, raw: raw, index: r.index}, 0
			r.current.users.Store(1) // the reader, until all of it is in parts
		}
	}
	return nil // pages of other kinds are ignored
}

// readDictionary sets r.dictionary to the entries of page p. They alias its memory if it is not compressed.
func (r *Reader) readDictionary(p *layout.Page) error {
	if r.index > 0 {
		return errors.New("damaged: a dictionary that is not the first page")
	}
	plain, err := p.Open(func(n int) []byte { return make([]byte, n) }, r.chunk.Codec)
	if err == nil {
		r.dictionary, err = encoding.NewDictionary(p, plain, r.node.Width())
	}
	return err
}

// withIndex returns err with the page's index; nil for nil.
func (p *page) withIndex(err error) error {
	if err != nil {
		err = fmt.Errorf("page %d: %w", p.index, err)
	}
	return err
}

// room returns n bytes, which may not be zero. Their capacity is larger, so that later a page that is a little
// larger can reuse them.
func (r *Reader) room(n int) []byte { return r.free.Get(n + n/8)[:n] }

// release is called by each user of a page when it is done. The last one puts the page's memory back into r.free.
func (r *Reader) release(p *page) {
	if p.users.Add(-1) > 0 {
		return
	}
	r.free.Put(p.raw)
	r.free.Put(p.plain)
	p.raw, p.plain, p.data, p.furthest = nil, nil, layout.Data{}, nil
}

// open sets p.data: it decompresses the page and divides it into levels and values, once. Later calls return the first
// one's error. It is safe for concurrent use.
func (r *Reader) open(p *page) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened {
		return p.err
	}
	p.opened = true
	room := func(n int) []byte { // called only if the body must be decompressed
		p.plain = r.room(n) // for release
		return p.plain
	}
	var body []byte
	if body, p.err = p.Open(room, r.chunk.Codec); p.err == nil {
		p.data, p.err = p.Data(body, r.leaf)
	}
	return p.err
}

// Done returns an error if the chunk has rows after those that were read.
func (r *Reader) Done() error {
	if err := r.fetchPage(); err != nil || r.current == nil {
		return err
	}
	return errors.New("damaged: the column has more rows than its row group")
}
