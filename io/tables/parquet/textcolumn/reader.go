// Package textcolumn reads a flat column of text or bytes of a Parquet file
// straight into offsets and bytes.
//
//	chunk ─ layout.Pages: pages as they lie ─ Part: those of some rows
//	Part, on a worker: page decompressed, levels counted ─ encoding.Strings:
//	page's values → the run's Data and Offsets32
//
// The caller asks for rows, whatever pages they lie in. Pages are read in order, and
// decompressed and decoded by whoever has their rows: nobody waits for a neighbour. Two
// parts may share a page, which the first of them decompresses; the second skips the
// values of the first. Only pages of DELTA_BYTE_ARRAY are decoded as they are read, because
// one may build on the one before.
package textcolumn

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

// fits reports whether a column can be read here: flat, of byte arrays.
func fits(e *layout.Element, leaf layout.Leaf) bool {
	return leaf.MaxRepetition == 0 && leaf.MaxDefinition <= 1 && e.Type == layout.ByteArray
}

// Reader reads the rows of a chunk in order.
type Reader struct {
	pages      *layout.Pages
	leaf       layout.Leaf
	limit      int64
	current    *page // rows of it are in no part yet, from
	at         int   // this one on
	dictionary *encoding.Values
	delta      *cursor // in the page of DELTA_BYTE_ARRAY that was read last
	lastSize   atomic.Int64

	mu   sync.Mutex
	free [][]byte // memory of pages that are done
}

// page is a page that one part or several have rows of.
type page struct {
	layout.Page
	index int
	raw   []byte
	users atomic.Int32

	once  sync.Once
	plain []byte // the memory of data; nil if that is raw's
	data  layout.Data
	err   error
}

// NewReader reads a chunk of a file, of a column that fits. A page
// may have limit bytes decompressed, and so may the strings of a run.
func NewReader(in io.ReaderAt, chunk *layout.Chunk, element *layout.Element, leaf layout.Leaf, limit int64) (*Reader, error) {
	if !fits(element, leaf) {
		return nil, errors.New("it is not a flat column of text")
	}
	pages, err := layout.NewPages(in, chunk, leaf, limit)
	return &Reader{pages: pages, leaf: leaf, limit: limit}, err
}

// Run is the rows of a run.
type Run struct {
	Strings tables.Strings
	// Nulls is the number of rows that are null.
	Nulls int
}

// Part is some rows that were read, and are not decoded.
type Part struct {
	reader *Reader
	rows   int
	spans  []span
	run    *Run // if it is decoded already
}

// span is n rows of a page, from one on.
type span struct {
	page    *page
	from, n int
}

// Next reads the pages that have the next rows. One goroutine at a time may call it.
func (r *Reader) Next(rows int) (*Part, error) {
	p := &Part{reader: r, rows: rows}
	ordered := false
	for left := rows; left > 0; {
		if r.current == nil {
			if err := r.fetch(); err != nil {
				return nil, err
			}
		}
		n := min(left, r.current.Values-r.at)
		p.spans = append(p.spans, span{r.current, r.at, n})
		ordered = ordered || r.current.Encoding == layout.DeltaByteArray
		r.current.users.Add(1)
		left -= n
		if r.at += n; r.at == r.current.Values {
			r.release(r.current)
			r.current = nil
		}
	}
	if ordered {
		var err error
		if p.run, err = p.decode(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// fetch reads the next page.
func (r *Reader) fetch() error {
	raw, body, err := r.pages.Fetch(r.room(0))
	if err != nil {
		return err
	}
	if raw == nil {
		return errors.New("damaged: a column has fewer rows than its row group")
	}
	if r.pages.Dictionary != nil && r.dictionary == nil {
		if r.dictionary, err = encoding.NewDictionary(r.pages.Dictionary, r.pages.Entries, 0); err != nil {
			return fmt.Errorf("page 0: %w", err)
		}
	}
	r.current, r.at = &page{Page: *raw, raw: body, index: r.pages.Index()}, 0
	r.current.users.Store(1) // until all of it is in parts
	return nil
}

// room returns memory of n bytes, of a page that is done if there is one.
func (r *Reader) room(n int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.free) - 1; i >= 0; i-- {
		if buffer := r.free[i]; cap(buffer) >= n {
			r.free = append(r.free[:i], r.free[i+1:]...)
			return buffer[:n]
		}
	}
	if n == 0 {
		return nil
	}
	return make([]byte, n, n+n/8)
}

// release gives a page back.
func (r *Reader) release(p *page) {
	if p.users.Add(-1) > 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, buffer := range [][]byte{p.raw, p.plain} {
		if len(r.free) < mostFree && cap(buffer) > 0 && cap(buffer) <= largestFree {
			r.free = append(r.free, buffer)
		}
	}
	p.raw, p.plain, p.data = nil, nil, layout.Data{}
}

// mostFree is how many pieces of memory are kept for the next pages: of one page as it lies
// and decompressed, for some workers. Larger ones than most pages have are not kept.
const mostFree, largestFree = 8, 2 << 20

// open decompresses a page, once.
func (r *Reader) open(p *page) error {
	p.once.Do(func() {
		room := func(n int) []byte {
			p.plain = r.room(n)
			return p.plain
		}
		var plain []byte
		if plain, p.err = p.Open(room, r.pages.Codec()); p.err == nil {
			p.data, p.err = p.Data(plain, r.leaf)
		}
	})
	return p.err
}

// Decode returns the rows, in memory of their own. It is called once; parts may be decoded
// side by side.
func (p *Part) Decode() (*Run, error) {
	if p.run != nil {
		return p.run, nil
	}
	return p.decode()
}

func (p *Part) decode() (*Run, error) {
	r, run, at := p.reader, &Run{}, 0
	run.Strings.Offsets32 = make([]int32, p.rows+1)
	for _, s := range p.spans {
		err := r.open(s.page)
		if err == nil {
			err = r.decode(s, run, p.rows, at)
		}
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", s.page.index, err)
		}
		r.release(s.page)
		at += s.n
	}
	r.lastSize.Store(int64(len(run.Strings.Data)))
	if run.Nulls == 0 {
		run.Strings.Validity = nil
	}
	return run, nil
}

// cursor is a place in a page.
type cursor struct {
	strings    encoding.Strings
	definition layout.Hybrid
}

// cursor returns the place where a span begins.
func (r *Reader) cursor(s span) (*cursor, error) {
	p := s.page
	ordered := p.Encoding == layout.DeltaByteArray
	if ordered && s.from > 0 {
		return r.delta, nil
	}
	var before encoding.Strings
	if ordered && r.delta != nil {
		before = r.delta.strings
	}
	c := &cursor{definition: p.data.Definition}
	var err error
	if c.strings, err = encoding.NewStrings(p.Encoding, p.data.Content.Values, p.data.Present, r.dictionary, before); err != nil {
		return nil, err
	}
	if ordered {
		r.delta = c
	}
	if s.from == 0 {
		return c, nil
	}
	present := s.from
	if r.leaf.Nullable() {
		if present, _, err = c.definition.Count(s.from, 1); err != nil {
			return nil, err
		}
	}
	return c, c.strings.Skip(present)
}

// decode decodes a span into the rows of a run from at on.
func (r *Reader) decode(s span, run *Run, rows, at int) error {
	c, err := r.cursor(s)
	if err != nil {
		return err
	}
	present := s.n
	if r.leaf.Nullable() {
		if run.Strings.Validity == nil {
			run.Strings.Validity = make([]byte, (rows+7)/8)
		}
		if present, err = c.definition.Bits(run.Strings.Validity, at, s.n); err != nil {
			return err
		}
		run.Nulls += s.n - present
	}
	before := len(run.Strings.Data)
	ends := run.Strings.Offsets32[at+1 : at+1+s.n]
	if run.Strings.Data == nil {
		run.Strings.Data = make([]byte, 0, r.expect(s.page, rows))
	}
	if run.Strings.Data, err = c.strings.Append(run.Strings.Data, ends[:present], r.limit); err == nil && s.from+s.n == s.page.Values {
		err = c.strings.Done()
	}
	if err == nil {
		spreadEnds(ends, present, run.Strings.Validity, at, int32(before))
	}
	return err
}

// expect returns the number of bytes that a run may have, as far as its first page and another run
// tell; what it has in the end may be more.
func (r *Reader) expect(p *page, rows int) int {
	const most = 16 << 20 // what is taken for nothing but a guess
	mean := len(p.data.Content.Values) / p.Values
	if r.dictionary != nil && r.dictionary.Len() > 0 {
		mean = max(mean, r.dictionary.Size()/r.dictionary.Len())
	}
	size := max(int64(mean)*int64(rows), r.lastSize.Load())
	return int(min(size+size/32, most, r.limit, math.MaxInt32))
}

// spreadEnds moves the ends of the present values, which are the first ones, to
// the rows that have them. A null row ends where the one before it does, the
// first at before. valid has the bit of the first at at.
func spreadEnds(ends []int32, present int, valid []byte, at int, before int32) {
	for row := len(ends) - 1; row >= 0 && present <= row; row-- {
		end := before
		if present > 0 {
			end = ends[present-1]
		}
		if ends[row] = end; valid == nil || valid[(at+row)>>3]>>((at+row)&7)&1 == 1 {
			present--
		}
	}
}
