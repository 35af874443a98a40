// Package groupfilter writes row groups of Parquet files of which rows may be left out, a page
// at a time.
//
//	a column all of whose rows are kept,
//	and use all of its dictionary       copied
//	a page all of whose rows are kept   copied
//	a page of which no row is kept      left out
//	any other page                      its kept rows are written as a new page
//
//	readColumns   reads pages in the order of the columns, and finds the rows of each
//	workers       decompress, leave rows out, compress: see Group.Start
//	writeColumn   writes the pages in their order
//
// The goroutine that calls Filter.Write reads and writes: the two take turns by [iter.Pull]. Only
// the pages under way are in memory. The next ones use that memory again.
package groupfilter

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/store/panics"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
	"robotsbatch/io/tables/parquet/pagefilter"
	"robotsbatch/io/tables/parquet/splice"
)

// Filter writes row groups of a file, one after the other.
type Filter struct {
	limit   int64              // bytes that a page may take
	free    *budget.Buffers    // see idle; without it a job takes up to 1.8 times the memory
	filters sync.Pool          // of workers
	inOrder *pagefilter.Filter // for pages that are filtered in order, because they build on one another
	levels  map[string]int     // of columns: see chooseCompression
	refused zstdcut.Refusals
}

// page is a page that was read and is not written yet, or marks the end of a column.
type page struct {
	column    *filteredColumn
	endsChunk bool // it is no page, but comes after all of the column; err is the column's
	layout.Page
	raw, plain []byte // as it lies in the file; decompressed, if opened is set
	opened     bool
	held       int64 // bytes that it uses of filterRun.held
	part       pagefilter.Part
	kept, all  int // how many of the page's rows are kept, and how many it has
	number     int // of the data page in its chunk, from 0
	index      int // of the page in its chunk, the dictionary included
	nulls      int // -1 if nobody knows yet

	// out is written instead of raw, unless the page is copied. written describes the
	// pages in it. A page that is copied gets its description when it is written.
	out     []byte
	written []layout.Written
	err     error         // of reading or filtering
	done    chan struct{} // closed when all of the above is set
}

// isCopied reports whether the page is copied byte for byte: all its rows are kept, the next page does not
// build on it, and its dictionary keeps all entries.
func (p *page) isCopied() bool {
	if p.hasIndices() || p.Kind == layout.DictionaryPage {
		if d := p.column.Dictionary; d != nil && !d.Full() {
			return false
		}
	}
	return p.kept == p.all && p.Encoding != layout.DeltaByteArray
}

// hasIndices reports whether the values are indices into a dictionary.
func (p *page) hasIndices() bool {
	return p.isData() && (p.Encoding == layout.RLEDictionary || p.Encoding == layout.PlainDictionary)
}

// isData reports whether it is a data page, of either version.
func (p *page) isData() bool { return p.Kind == layout.DataPage || p.Kind == layout.DataPageV2 }

// filteredColumn is a column of a row group while it is filtered.
type filteredColumn struct {
	pagefilter.Column
	name  string
	chunk *layout.Chunk
	facts splice.ValueFacts
	level int // of zstd, 0 for the standard one

	dictionary []byte // decompressed
	held       int64  // bytes that it uses of filterRun.held
	whole      bool   // it is copied, and none of its pages is read: all rows are kept, and they use all of its dictionary
}

// filterRun is the filtering of one row group.
type filterRun struct {
	*Filter
	*Group
	rows  *pagefilter.Selection
	all   bool                 // all rows are kept
	next  func() (*page, bool) // runs readColumns up to its next yield, and returns what that yields
	yield func(*page) bool     // of readColumns; nil says that there is no memory for the next page yet
	pages []*page              // that were read and are not written yet, in order
	held  int64                // bytes taken from Grant
	used  int64                // bytes of held that pages use
	ahead *layout.Stream       // of pages of indices, which are also read before their turn: see readIndices
}

// Group is a row group of which some rows are kept.
type Group struct {
	In     io.ReaderAt
	File   *layout.File
	Input  *splice.Input   // of File: the columns that are copied, and
	Leaves []*columns.Node // their leaves
	Number int             // in File
	// Kept calls keep for each run of rows that are kept, from low to high-1.
	Kept  func(keep func(low, high int))
	Added []splice.Added
	// Memory is taken from Grant; its owner gives it back.
	Grant *budget.Grant
	// Start has a worker call do, before anything that comes later in the job. It does not wait for it.
	Start func(do func())
}

// New returns a filter of pages that may take limit bytes each, filtering included.
func New(limit int64) *Filter {
	return &Filter{
		limit: limit, free: budget.NewBuffers(idle(limit)),
		filters: sync.Pool{New: func() any { return &pagefilter.Filter{} }}, inOrder: &pagefilter.Filter{}, levels: make(map[string]int),
	}
}

// idle returns how many bytes the buffers that are kept from one row group to the next may have. limit is the bytes
// that a page may take. Where row groups have a thousand texts of 4 KB, a job takes 1.15 to 1.26 times the processor
// time without such buffers.
func idle(limit int64) int64 { return min(limit/8, 16<<20) }

// Notes returns lines for people about pages that were recompressed because their frames could not be cut.
func (f *Filter) Notes() []string { return f.refused.Notes() }

// Write writes the kept rows of a row group to file.
func (f *Filter) Write(file *splice.Writer, g *Group) error {
	n := int(g.File.Groups[g.Number].Rows)
	r := &filterRun{Filter: f, Group: g, rows: pagefilter.NewSelection(n)}
	g.Kept(r.rows.Keep)
	kept := r.rows.Count(0, n)
	r.all = kept == n
	var stop func()
	r.next, stop = iter.Pull(r.readColumns)
	defer stop()
	defer f.free.Limit(idle(f.limit))
	return file.FilterGroup(g.Input, g.Number, int64(kept), g.Added, r.writeColumn)
}

// reserve takes n bytes for a page. While there is no memory, it yields nil, so that the writer writes pages that were
// read before, and their memory is free. If there are no such pages, it waits for memory. It returns errStopped if the
// writer wants no more pages.
func (r *filterRun) reserve(n int64) error {
	for r.used+n > r.held {
		more := r.used + n - r.held
		if len(r.pages) == 0 {
			if err := r.Grant.Take(more); err != nil {
				return err
			}
		} else if !r.Grant.Try(more) {
			if !r.yield(nil) {
				return errStopped
			}
			continue
		}
		r.held += more
	}
	r.used += n
	return nil
}

// release takes back a page's buffers for other pages, and its share of the memory. The buffers in r.free may have as
// many bytes as are held and not used, or as they may have between row groups.
func (r *filterRun) release(p *page) {
	if p.opened && (p.asItLies() || p.Kind == layout.DictionaryPage) {
		p.plain = nil // it aliases raw, which must be put back once, or is in use until the column ends
	}
	r.used -= p.held
	r.free.Limit(max(idle(r.limit), r.held-r.used))
	for _, buffer := range [][]byte{p.raw, p.plain, p.out} {
		r.free.Put(buffer)
	}
	p.raw, p.plain, p.out, p.held = nil, nil, nil, 0
}

// onWorker has a worker call do, and waits for it, so that no more goroutines compute than the job has
// workers. A panic of do is returned as an error.
func (r *filterRun) onWorker(do func() error) (err error) {
	done := make(chan struct{})
	r.Start(func() {
		defer close(done)
		defer panics.Recover(&err, panics.As(panics.Bug))
		err = do()
	})
	<-done
	return err
}

// nextPage returns the next page to be written, which workers may still filter. It first has later pages read, as many
// as there is memory for and workers need.
func (r *filterRun) nextPage() *page {
	for len(r.pages) < 2*runtime.GOMAXPROCS(0) { // one that each processor works on, and one that waits for it
		p, more := r.next()
		if !more || p == nil { // nil only if r.pages has some: see reserve
			break
		}
		r.pages = append(r.pages, p)
	}
	p := r.pages[0] // each column has at least the page of its end
	r.pages = slices.Delete(r.pages, 0, 1)
	return p
}

// writeColumn writes the kept rows of the next column, and describes its pages. It is the callback of
// [splice.Writer.FilterGroup], which calls it for the columns in the order in which readColumns reads them.
func (r *filterRun) writeColumn(_ int, write func([]byte) error) (c splice.FilteredChunk, err error) {
	for {
		p := r.nextPage()
		if p.endsChunk {
			c.Whole = p.column.whole
			if p.column.Order != columns.NoOrder {
				c.Compare = p.column.Order.Compare
			}
			r.release(p)
			return c, p.err
		}
		<-p.done
		if err = p.err; err != nil {
			err = p.column.failed(p.index, err)
		} else {
			err = p.write(&c, write)
		}
		r.release(p)
		if err != nil {
			return c, err
		}
	}
}

// write writes the kept rows of a page that workers are done with, and adds it to its chunk.
func (p *page) write(c *splice.FilteredChunk, write func([]byte) error) error {
	if p.isCopied() {
		p.out, p.raw = p.raw, nil
		p.written = []layout.Written{{
			Size: p.StoredSize(), Uncompressed: len(p.Header) + p.Uncompressed, Values: p.Values, Rows: p.part.N, Nulls: p.nulls,
			Encoding: p.Encoding, Kind: p.Kind, Continues: p.part.Continues, Bounds: p.bounds(),
		}}
	}
	for _, w := range p.written {
		c.Add(w)
	}
	return write(p.out)
}

// bounds returns the bounds of the values of a page that is copied: those of the column index, or else of
// the page's header. They are nil if there are none, or they do not have the size of a value.
func (p *page) bounds() (b layout.Bounds) {
	c := p.column
	switch {
	case c.Order == columns.NoOrder:
		return b
	case p.number < len(c.facts.Bounds):
		b = c.facts.Bounds[p.number]
	case p.Low != nil && p.High != nil:
		b = layout.Bounds{Low: p.Low, High: p.High}
	}
	if c.Width > 0 && (len(b.Low) != c.Width || len(b.High) != c.Width) {
		return layout.Bounds{}
	}
	return b
}

// failed returns err with the column's name and a page's index.
func (c *filteredColumn) failed(page int, err error) error {
	return fmt.Errorf("column %q: page %d: %w", c.name, page, err)
}

// readColumns yields the pages of all columns in order, and after each column a page with endsChunk set, which has the
// column's error. It ends at an error.
func (r *filterRun) readColumns(yield func(*page) bool) {
	r.yield = yield
	const limit = math.MaxInt32 // none: hold refuses pages that are too large, and those that are copied need no memory
	stream := layout.NewStream(r.In, nil, limit)
	r.ahead = layout.NewStream(r.In, nil, limit)
	for i, n := range r.Leaves {
		c := r.newColumn(i, n)
		err := r.readColumn(c, stream)
		if !yield(&page{column: c, endsChunk: true, err: err, held: c.held, plain: c.dictionary}) || err != nil {
			return
		}
	}
}

// newColumn returns the column of leaf n. number is its index among the copied leaves. The column has an order,
// and so bounds in the output, only if the input has bounds.
func (r *filterRun) newColumn(number int, n *columns.Node) *filteredColumn {
	c := &filteredColumn{name: r.File.Path(n.Leaf), chunk: &r.File.Groups[r.Number].Chunks[n.Leaf], facts: r.Input.ValueFacts(r.Number, number)}
	c.Column = pagefilter.Column{Leaf: r.File.Leaves[n.Leaf], Type: c.chunk.Type, Width: n.Width(), Codec: c.chunk.Codec, Compress: c.chunk.Codec.Compressor(0), Refusals: &r.refused}
	if c.facts.HasBounds {
		c.Order = n.Order()
	}
	return c
}

var (
	errStopped   = errors.New("stopped")
	errGroupRows = errors.New("damaged: it does not have as many rows as its row group")
)

// position is where the next page of a column begins.
type position struct {
	left int64 // how many of the chunk's values were not in pages before
	row  int   // the first row that begins in the page
}

// pass moves the position past a data page.
func (at *position) pass(p *page) {
	at.left -= int64(p.Values)
	at.row += p.part.N
}

// readColumn yields the pages of a column that are needed (see readData), each handed to a worker. It reads them
// from s.
func (r *filterRun) readColumn(c *filteredColumn, s *layout.Stream) error {
	err := c.chunk.Codec.Check()
	if c.Type == layout.FixedLenByteArray && c.Width <= 0 {
		err = errors.New("damaged: its values have no bytes")
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", c.name, err)
	}
	s.Reset(c.chunk)
	r.inOrder.Begin() // the column's first page builds on none before
	at, number := position{left: c.chunk.Values}, 0
	for index := 0; at.left > 0; index++ {
		if !s.More() {
			return fmt.Errorf("column %q: damaged: it ends %d values early", c.name, at.left)
		}
		p := &page{column: c, index: index, number: number, nulls: -1, done: make(chan struct{})}
		wanted, err := r.readPage(p, s, at)
		if err == nil && wanted {
			err = r.chooseCompression(p)
		}
		if err != nil {
			r.release(p)
			return c.failed(index, err)
		}
		if c.whole { // readPage has found out that the column is copied
			r.release(p)
			return nil
		}
		if p.isData() {
			at.pass(p)
			number++
		}
		if !wanted {
			r.release(p)
			continue
		}
		if err := r.filterAndYield(p); err != nil {
			return err // p is not released: it was yielded
		}
	}
	if at.row != r.rows.Len() {
		return fmt.Errorf("column %q: %w", c.name, errGroupRows)
	}
	return nil
}

// leastSample is the least size in bytes of a page by which a level of zstd is chosen: how well a smaller one
// compresses says little about the others.
const leastSample = 16 << 10

// rereads reports whether filtering the page may read its compressed body again, to cut it: see [pagefilter.Source].
// It may not if more than a quarter of the rows is left out. Then cutting is most likely not worth it, and to keep
// the body until then would add up to a quarter to a job's peak memory.
func (p *page) rereads() bool {
	leftOut, all := p.all-p.kept, p.all
	if !p.isData() { // of a dictionary, entries are left out
		leftOut, all = p.column.Dictionary.Unused(), p.Values
	}
	return p.column.Cuts(&p.Page) && leftOut <= all/4
}

// chooseCompression chooses how the new page is compressed, unless p is copied: if not as p.column says, p.column
// becomes a changed copy. LZ4 gets Hadoop's frames only where p has them. The first page of a column that is large enough
// chooses the column's level of zstd for the whole file ([compress.Level]). Where half of the rows are left out, the
// fastest level for all would make files of Polars 1.11 times as large, and the standard one take 1.18 times the
// processor time for those of pyarrow.
func (r *filterRun) chooseCompression(p *page) error {
	c := p.column
	if p.Stored() || p.isCopied() {
		return nil
	}
	codec, level := c.Codec.Own(&p.Page), c.level
	if p.Uncompressed >= leastSample && codec.Is(compress.Zstd) {
		var chosen bool
		if level, chosen = r.levels[c.name]; !chosen {
			if err := r.onWorker(func() error {
				err := r.decompress(p)
				if err == nil {
					level = compress.Level(p.plain, len(p.Body))
				}
				return err
			}); err != nil {
				return err
			}
			r.levels[c.name] = level
		}
	}
	if codec != c.Codec || level != c.level {
		changed := *c // a copy: workers still use c for earlier pages
		changed.Codec, changed.level, changed.Compress = codec, level, codec.Compressor(level)
		p.column = &changed
	}
	return nil
}

// filterAndYield hands a page to a worker and yields it. A page in DELTA_BYTE_ARRAY builds on the one before, so
// filterAndYield waits until it is filtered. A page that is copied needs no worker if its nulls are known.
func (r *filterRun) filterAndYield(p *page) error {
	switch {
	case p.isData() && p.Encoding == layout.DeltaByteArray:
		p.err = r.onWorker(func() error { return r.filterPage(r.inOrder, p) })
		close(p.done)
	case p.isCopied() && (p.nulls >= 0 || !p.isData()): // to count nulls would add up to a quarter to a job
		close(p.done)
	default:
		r.Start(func() {
			defer close(p.done)
			f := r.filters.Get().(*pagefilter.Filter)
			p.err = r.filterPage(f, p)
			r.filters.Put(f)
		})
	}
	if !r.yield(p) {
		return errStopped
	}
	return nil
}

// readPage reads the next page, which begins at a position, into p. wanted is as in readData; a dictionary
// is always wanted. If all rows are kept, the first page says whether the column is copied: it is not if that is a
// dictionary with unused entries. Writers of Arrow store such dictionaries, and the entries may be of rows that are left
// out of other row groups.
func (r *filterRun) readPage(p *page, s *layout.Stream, at position) (wanted bool, err error) {
	if p.Page, err = s.Next(); err != nil {
		return false, err
	}
	if p.Kind == layout.DictionaryPage {
		if p.index > 0 {
			return false, errors.New("damaged: a dictionary that is not the first page")
		}
		return true, r.loadDictionary(p, s)
	}
	if r.all && p.index == 0 && p.isData() { // there is no dictionary
		p.column.whole = true
		return false, nil
	}
	return r.readData(p, s, at)
}

// readData reads the body of page p, whose header was read, and finds its rows. at is where it begins. wanted is false if
// the page can be left out: it is an index page, or none of its rows is kept. A page in DELTA_BYTE_ARRAY is always
// wanted, because the next one may build on it. The body of a page that is not wanted is read only in a list, because
// only the levels in it say which rows the page has.
func (r *filterRun) readData(p *page, s *layout.Stream, at position) (wanted bool, err error) {
	c := p.column
	switch {
	case !p.isData() || p.Values == 0:
		s.Skip(&p.Page)
		return false, nil
	case int64(p.Values) > at.left:
		return false, fmt.Errorf("damaged: it says it has %d values, where the column has %d more", p.Values, at.left)
	}
	if c.Leaf.MaxRepetition == 0 {
		const continues = false // without lists each value is a row
		if err := r.setRows(p, at.row, p.Values, continues); err != nil {
			return false, err
		}
		if p.kept == 0 && p.Encoding != layout.DeltaByteArray {
			s.Skip(&p.Page)
			return false, nil
		}
	}
	if err := r.load(p, s); err != nil {
		return false, err
	}
	if c.Leaf.MaxRepetition > 0 {
		if err := r.onWorker(func() error { return r.findRows(p, at.row) }); err != nil {
			return false, err
		}
	}
	p.findNulls()
	return p.kept > 0 || p.Encoding == layout.DeltaByteArray, nil
}

// setRows sets which rows a page has, and how many of them are kept: the n rows from row on begin in it.
// continues says that it begins in the middle of row-1.
func (r *filterRun) setRows(p *page, row, n int, continues bool) error {
	if row+n > r.rows.Len() || continues && row == 0 {
		return errGroupRows
	}
	p.part = pagefilter.Part{Selection: r.rows, First: row, N: n, Continues: continues}
	p.kept, p.all = p.part.Count()
	return nil
}

// load waits until there is memory for all that filtering a page takes, and reads its body from s.
func (r *filterRun) load(p *page, s *layout.Stream) error {
	if err := r.hold(p, p.memory()); err != nil {
		return err
	}
	p.raw = r.buffer(p.StoredSize())
	if p.kept < p.all && !p.asItLies() {
		// Before reading, so that garbage is collected meanwhile: decompressing a page is a
		// single call, for the end of which the collector would wait and use a processor. Peak memory
		// would be up to a fifth larger.
		p.plain = r.buffer(p.Uncompressed)
	}
	return s.Body(&p.Page, p.raw)
}

// hold waits until there are n bytes for a page, and takes them. It is an error if a page may not take so many.
func (r *filterRun) hold(p *page, n int64) error {
	if need := n + p.column.held; need > r.limit {
		return &budget.MemoryError{What: "a page", Need: need, Limit: r.limit}
	}
	err := r.reserve(n)
	if err == nil {
		p.held = n
	}
	return err
}

// memory returns the bytes that filtering the page takes: its body compressed and decompressed, and what
// pagefilter takes.
func (p *page) memory() int64 {
	held := int64(p.StoredSize()) + int64(p.Uncompressed) + p.column.Memory(&p.Page)
	if p.column.Cuts(&p.Page) { // the new page cannot be written over the body
		held += int64(p.StoredSize())
	}
	return held
}

// asItLies reports whether the page is not compressed.
func (p *page) asItLies() bool { return p.AsItLies(p.column.Codec) }

// decompress sets p.plain to the page's decompressed body, once. It aliases p.raw if that is not compressed.
func (r *filterRun) decompress(p *page) error {
	if p.opened {
		return nil
	}
	plain, err := p.Open(func(n int) []byte {
		if p.plain == nil {
			p.plain = r.buffer(n)
		}
		return p.plain
	}, p.column.chunk.Codec)
	if err != nil {
		return err
	}
	p.opened, p.plain = true, plain
	return nil
}

// levelBytes returns bytes that begin with the page's levels: the body as it lies in version 2, whose levels are not
// compressed, and else the decompressed body.
func (r *filterRun) levelBytes(p *page) ([]byte, error) {
	if p.Kind == layout.DataPageV2 {
		return p.Body, nil
	}
	err := r.decompress(p)
	return p.plain, err
}

// findRows sets which rows a page of a list has, by its levels. row is the first that begins in it.
func (r *filterRun) findRows(p *page, row int) error {
	plain, err := r.levelBytes(p)
	if err != nil {
		return err
	}
	rows, continues, err := p.CountRows(plain, p.column.Leaf)
	if err != nil {
		return err
	}
	return r.setRows(p, row, rows, continues)
}

// findNulls sets p.nulls if the schema, the column index or the page's header says it. Otherwise it stays -1.
func (p *page) findNulls() {
	c, nulls := p.column, int64(-1) // by the column index
	if p.number < len(c.facts.Nulls) {
		nulls = c.facts.Nulls[p.number]
	}
	switch {
	case c.Leaf.MaxDefinition == 0 || c.facts.NoNulls:
		p.nulls = 0
	case 0 <= nulls && nulls <= int64(p.Values):
		p.nulls = int(nulls)
	case c.Leaf.MaxRepetition == 0: // in lists, writers do not agree what a null is
		p.nulls = p.Nulls
	}
}

// source returns a page, which is decompressed, as pagefilter reads it.
func (p *page) source() pagefilter.Source {
	return pagefilter.Source{Column: &p.column.Column, Page: &p.Page, Plain: p.plain, Rereads: p.rereads(), Part: p.part}
}

// filterPage has f filter a page, and sets p.out and p.written to the kept rows. Of a page that is copied, it only
// counts the nulls.
func (r *filterRun) filterPage(f *pagefilter.Filter, p *page) (err error) {
	defer panics.Recover(&err, panics.As(panics.Bug))
	if p.isCopied() {
		plain, err := r.levelBytes(p)
		if err == nil {
			p.nulls, err = p.CountNulls(plain, p.column.Leaf)
		}
		return err
	}
	if err := r.decompress(p); err != nil {
		return err
	}
	out := p.raw[:0] // overwritten: it was decompressed, and is not read again
	if p.rereads() || p.asItLies() {
		out = r.buffer(p.StoredSize())[:0]
	} else {
		p.raw = nil
	}
	var pages []layout.Written
	if p.isData() {
		p.out, pages, err = f.Page(out, p.source())
	} else {
		p.out, pages, err = f.Dictionary(out, p.source())
	}
	p.written = slices.Clone(pages)
	return err
}

// buffer returns n bytes, which are not zero, with room for an eighth more, because the next page of about
// this size gets the same memory.
func (f *Filter) buffer(n int) []byte { return f.free.Get(n + n/8)[:n] }
