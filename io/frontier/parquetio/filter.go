package parquetio

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/parquetio/columns"
	"robotsbatch/io/frontier/parquetio/layout"
	"robotsbatch/io/frontier/parquetio/pagefilter"
	"robotsbatch/io/frontier/parquetio/splice"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/panics"
)

// filter writes row groups of which only some rows stay, a page at a time. A page whose rows
// all stay is copied. A page of which no row stays is left out. Of any other page the rows
// that stay are written as a new page.
//
//	read      one goroutine reads pages in the order of the columns, and finds the
//	          rows of each
//	workers   decompress, leave rows out, compress
//	column    the caller writes the pages in their order
//
// Only the pages under way are in memory. The next ones use that memory again.
type filter struct {
	limit   int64 // bytes of memory
	buffers buffers
	workers []*pagefilter.Filter
	inOrder *pagefilter.Filter // for pages that build on one another
	levels  map[leveled]int    // of zstd: see chooseLevel
}

// page is a page under way.
type page struct {
	column *filtered
	layout.Page
	raw, plain []byte // as it lies in the file; decompressed, if opened is set
	opened     bool
	held       int64 // bytes taken of the filter's memory
	part       pagefilter.Part
	kept, all  int                   // how many of the page's rows stay, and how many it has
	number     int                   // of the data page in its chunk, from 0
	index      int                   // of the page in its chunk, the dictionary included
	nulls      int                   // -1 if nobody knows yet
	compare    func(a, b []byte) int // at the end of a column: its order, nil for none

	// out is written instead of raw unless the whole page is copied; it has the pages
	// written.
	out     []byte
	written []pagefilter.Page
	err     error
	done    chan struct{} // closed when all of the above is set
}

// whole reports whether the page is copied as it lies.
func (p *page) whole() bool {
	if p.indices() || p.Kind == layout.DictionaryPage {
		if d := p.column.Dictionary; d != nil && !d.Full() {
			return false
		}
	}
	return p.kept == p.all && p.Encoding != layout.DeltaByteArray
}

// indices reports whether the values are indices into a dictionary.
func (p *page) indices() bool {
	return p.isData() && (p.Encoding == layout.RLEDictionary || p.Encoding == layout.PlainDictionary)
}

func (p *page) isData() bool { return p.Kind == layout.DataPage || p.Kind == layout.DataPageV2 }

// filtered is a column of a row group while it is filtered.
type filtered struct {
	pagefilter.Column
	name   string
	chunk  *layout.Chunk
	source splice.Source
	level  int // of zstd, 0 for the standard one

	dictionary []byte // decompressed
	held       int64  // bytes taken of the filter's memory for it
}

// filterRun is the filtering of one row group.
type filterRun struct {
	*filter
	group *rowGroup
	rows  *pagefilter.Rows
	work  chan *page
	pages chan *page // in order; a page without a column ends a column
	stop  chan struct{}
	busy  sync.WaitGroup
	ahead *layout.Stream // of pages that are read before their turn
}

func newFilter(limit int64) *filter {
	f := &filter{
		limit: limit, workers: make([]*pagefilter.Filter, runtime.GOMAXPROCS(0)), inOrder: &pagefilter.Filter{},
		levels: make(map[leveled]int),
	}
	for i := range f.workers {
		f.workers[i] = &pagefilter.Filter{}
	}
	f.buffers.limit = limit - limit/4 // one page may take limit; the rest is left to what else takes memory
	f.buffers.changed = sync.NewCond(&f.buffers.mu)
	return f
}

// start begins to filter a row group; end must be called.
func (f *filter) start(g *rowGroup, rows *pagefilter.Rows) *filterRun {
	r := &filterRun{
		filter: f, group: g, rows: rows,
		work: make(chan *page), pages: make(chan *page, 2*len(f.workers)), stop: make(chan struct{}),
	}
	r.busy.Add(1 + len(f.workers))
	go r.read()
	for _, w := range f.workers {
		go r.filterPages(w)
	}
	return r
}

// end stops what is under way, and waits for it.
func (r *filterRun) end() {
	close(r.stop)
	r.buffers.interrupt()
	for p := range r.pages {
		if p.done != nil {
			<-p.done
		}
		r.release(p)
	}
	r.busy.Wait()
	r.buffers.resume()
}

// release gives back a page's memory.
func (r *filterRun) release(p *page) {
	if p.opened && p.asItLies() {
		p.plain = nil // it is raw's
	}
	r.buffers.put(p.held, p.raw, p.plain, p.out)
	p.raw, p.plain, p.out, p.held = nil, nil, nil, 0
}

// column writes what is left of a column, the next in order.
func (r *filterRun) column(_ int, write func([]byte) error) (c splice.Chunk, err error) {
	for p := range r.pages {
		if p.column == nil {
			c.Compare = p.compare
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
	return c, errors.New("stopped")
}

// write writes what is left of a page, and counts it in its chunk.
func (p *page) write(c *splice.Chunk, write func([]byte) error) error {
	switch {
	case !p.isData() && p.whole():
		c.Dictionary = int64(p.StoredSize())
		c.Uncompressed += int64(len(p.Header) + p.Uncompressed)
		return write(p.raw)
	case !p.isData():
		c.Dictionary = int64(p.written[0].Size)
		c.Uncompressed += int64(p.written[0].Uncompressed)
		return write(p.out)
	case p.whole():
		c.Uncompressed += int64(len(p.Header) + p.Uncompressed)
		c.Add(splice.Page{
			Size: int64(p.StoredSize()), Rows: int64(p.part.N), Values: int64(p.Values), Nulls: int64(p.nulls),
			Kind: p.Kind, Encoding: p.Encoding, Continues: p.part.Continues,
			Bounds: p.bounds(),
		})
		return write(p.raw)
	}
	for _, w := range p.written {
		c.Uncompressed += int64(w.Uncompressed)
		c.Add(splice.Page{
			Size: int64(w.Size), Rows: int64(w.Rows), Values: int64(w.Values), Nulls: int64(w.Nulls),
			Kind: p.Kind, Encoding: p.Encoding, Continues: w.Continues,
			Bounds: splice.Bounds(w.Bounds),
		})
	}
	return write(p.out)
}

// bounds returns the bounds of the values of a page that is copied, as the column index has
// them or else its header; nil if neither does.
func (p *page) bounds() (b splice.Bounds) {
	c := p.column
	switch {
	case c.Order == pagefilter.NoOrder:
		return b
	case p.number < len(c.source.Bounds):
		b = c.source.Bounds[p.number]
	case p.Low != nil && p.High != nil:
		b = splice.Bounds{Low: bytes.Clone(p.Low), High: bytes.Clone(p.High)}
	}
	if c.Width > 0 && (len(b.Low) != c.Width || len(b.High) != c.Width) {
		return splice.Bounds{}
	}
	return b
}

// orderOf returns the order of a column's values in statistics.
func orderOf(n *columns.Node) pagefilter.Order {
	kind := n.Meaning.Kind
	if kind == columns.Other {
		return pagefilter.NoOrder
	}
	switch n.Type {
	case columns.Boolean:
		return pagefilter.Unsigned
	case columns.Int32, columns.Int64:
		if kind == columns.Integer && !n.Meaning.Signed {
			return pagefilter.Unsigned
		}
		return pagefilter.Signed
	case columns.Float, columns.Double:
		return pagefilter.Floating
	case columns.ByteArray:
		if kind != columns.Decimal {
			return pagefilter.ByBytes
		}
	case columns.FixedLenByteArray:
		switch kind {
		case columns.Decimal:
			return pagefilter.SignedBytes
		case columns.NoKind, columns.UUID:
			return pagefilter.ByBytes
		}
	}
	return pagefilter.NoOrder
}

// failed returns err with the column's name and the page's index.
func (c *filtered) failed(page int, err error) error {
	return fmt.Errorf("column %q: page %d: %w", c.name, page, err)
}

// read reads the pages of all columns.
func (r *filterRun) read() {
	defer r.busy.Done()
	defer close(r.pages)
	defer close(r.work)
	stream := layout.NewStream(r.group.source.in, nil, r.limit)
	r.ahead = layout.NewStream(r.group.source.in, nil, r.limit)
	for i, n := range r.group.source.leaves {
		c := r.open(i, n)
		err := r.readColumn(c, stream)
		end := &page{err: err, held: c.held}
		if c.Order != pagefilter.NoOrder {
			end.compare = c.Order.Compare
		}
		select {
		case r.pages <- end:
		case <-r.stop:
			r.release(end)
			return
		}
		if err != nil {
			return
		}
	}
}

// open returns a column.
func (r *filterRun) open(number int, n *columns.Node) *filtered {
	s := r.group.source
	c := &filtered{name: s.file.Path(n.Leaf), chunk: s.chunk(r.group.index, n), source: s.passed.Source(r.group.index, number)}
	c.Column = pagefilter.Column{Leaf: s.file.Leaves[n.Leaf], Type: c.chunk.Type, Width: n.Width(), Codec: c.chunk.Codec, Compress: c.chunk.Codec.Compressor(0)}
	if c.source.HasBounds {
		c.Order = orderOf(n)
	}
	return c
}

var (
	errStopped        = errors.New("stopped")
	errGroupRows      = errors.New("damaged: it does not have as many rows as its row group")
	errLateDictionary = errors.New("damaged: a dictionary that is not the first page")
	errNoBytes        = errors.New("damaged: its values have no bytes")
)

// readColumn reads the pages of a column.
func (r *filterRun) readColumn(c *filtered, s *layout.Stream) error {
	err := c.chunk.Codec.Check()
	if c.Type == layout.FixedLenByteArray && c.Width <= 0 {
		err = errNoBytes
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", c.name, err)
	}
	s.Reset(c.chunk)
	r.inOrder.Begin()
	left, row, number := c.chunk.Values, 0, 0
	for index := 0; left > 0; index++ {
		if !s.More() {
			return fmt.Errorf("column %q: damaged: it ends %d values early", c.name, left)
		}
		p := &page{column: c, index: index, number: number, nulls: -1, done: make(chan struct{})}
		wanted, err := r.readPage(p, s, left, row)
		if err != nil {
			r.release(p)
			return c.failed(index, err)
		}
		if p.isData() {
			left -= int64(p.Values)
			row += p.part.N
			number++
		}
		if !wanted {
			r.release(p)
			continue
		}
		if err = r.chooseLevel(p); err != nil {
			r.release(p)
			return c.failed(index, err)
		}
		if err := r.hand(p); err != nil {
			return err
		}
	}
	if row != r.rows.Len() {
		return fmt.Errorf("column %q: %w", c.name, errGroupRows)
	}
	return nil
}

// leastSample is the least size in bytes of a page by which a level is chosen: a smaller one
// may not be like the others.
const leastSample = 16 << 10

// chooseLevel chooses the level of zstd for a column, by the first of its pages that is not
// copied ([compress.Level]). Indices into a dictionary have a level of their own. The page
// gets a column with the level.
func (r *filterRun) chooseLevel(p *page) error {
	c := p.column
	out, all := p.all-p.kept, p.all
	if !p.isData() {
		out, all = c.Dictionary.Unused(), p.Values
	}
	if !c.Codec.Is(compress.Zstd) || p.whole() || p.Stored() || p.Uncompressed < leastSample || c.MayCut(&p.Page, out, all) {
		return nil
	}
	of := leveled{c.name, p.indices()}
	level, chosen := r.levels[of]
	if !chosen {
		if err := r.decompress(p); err != nil {
			return err
		}
		level = compress.Level(p.plain, len(p.Body))
		r.levels[of] = level
	}
	if level != c.level {
		with := *c // pages before this one are with workers
		with.level, with.Compress = level, c.Codec.Compressor(level)
		p.column = &with
	}
	return nil
}

// leveled names the pages that have one level: those of a column, indices and values apart.
type leveled struct {
	column  string
	indices bool
}

// hand passes a page on to the writer, and to the workers unless nothing is left to do.
func (r *filterRun) hand(p *page) error {
	ready := p.whole() && (p.nulls >= 0 || !p.isData())
	if p.isData() && p.Encoding == layout.DeltaByteArray {
		p.err = r.filterPage(r.inOrder, p)
		ready = true
	}
	if ready {
		close(p.done)
	}
	select {
	case r.pages <- p:
	case <-r.stop:
		r.release(p)
		return errStopped
	}
	if ready {
		return nil
	}
	select {
	case r.work <- p:
		return nil
	case <-r.stop:
		close(p.done)
		return errStopped
	}
}

// readPage reads the next page. Its parameters and result are those of readData.
func (r *filterRun) readPage(p *page, s *layout.Stream, left int64, row int) (wanted bool, err error) {
	if p.Page, err = s.Next(); err != nil {
		return false, err
	}
	if p.Kind == layout.DictionaryPage {
		if p.index > 0 {
			return false, errLateDictionary
		}
		return true, r.loadDictionary(p, s)
	}
	return r.readData(p, s, left, row)
}

// readData reads the body of a data page, of which only the header was read. It skips the
// body if no row of the page stays; an index page is skipped as well. left is how many values
// of the column are to come, and row the index of the first row that begins in the page.
// wanted reports whether the page is needed: pages in DELTA_BYTE_ARRAY always are, because
// the next one builds on them.
func (r *filterRun) readData(p *page, s *layout.Stream, left int64, row int) (wanted bool, err error) {
	c := p.column
	switch {
	case !p.isData() || p.Values == 0:
		s.Skip(&p.Page)
		return false, nil
	case int64(p.Values) > left:
		return false, fmt.Errorf("damaged: it says it has %d values, where the column has %d more", p.Values, left)
	}
	if c.Leaf.MaxRepetition == 0 {
		if err := r.place(p, row, p.Values, false); err != nil {
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
		if err := r.findRows(p, row); err != nil {
			return false, err
		}
	}
	p.findNulls()
	return p.kept > 0 || p.Encoding == layout.DeltaByteArray, nil
}

// place sets which rows a page has: n of them begin in it, from row on. continues says that
// it begins in the middle of the row before.
func (r *filterRun) place(p *page, row, n int, continues bool) error {
	if row+n > r.rows.Len() || continues && row == 0 {
		return errGroupRows
	}
	p.part = pagefilter.Part{Rows: r.rows, First: row, N: n, Continues: continues}
	p.kept, p.all = p.part.Kept()
	return nil
}

// load reads a page's body, and waits before until there is memory for all that filtering
// the page takes.
func (r *filterRun) load(p *page, s *layout.Stream) (err error) {
	held := p.memory()
	if need := held + p.column.held; need > r.limit {
		return &batch.MemoryError{What: "a page", Need: need, Limit: r.limit}
	}
	if !r.buffers.take(held, p.column.held) {
		return errStopped
	}
	p.held = held
	raw := r.buffers.get(p.StoredSize())
	if p.kept < p.all && !p.asItLies() {
		// Before reading, so that garbage is collected meanwhile: decompressing a page is a
		// single call, for the end of which the collector would wait and use a processor.
		p.plain = r.buffers.get(p.Uncompressed)
	}
	p.raw, err = s.Body(&p.Page, raw)
	return err
}

// memory is how many bytes it takes to filter the page.
func (p *page) memory() int64 {
	held := int64(p.StoredSize()) + int64(p.Uncompressed) + p.column.Memory(&p.Page)
	if p.column.Rereads(&p.Page) {
		held += int64(p.StoredSize())
	}
	return held
}

// asItLies reports whether the page is not compressed.
func (p *page) asItLies() bool { return p.Stored() || p.column.Codec == layout.Uncompressed }

// decompress sets the plain bytes of a page, unless they are set already.
func (r *filterRun) decompress(p *page) error {
	if p.opened {
		return nil
	}
	plain, err := p.Open(func(n int) []byte {
		if p.plain == nil {
			p.plain = r.buffers.get(n)
		}
		return p.plain
	}, p.column.chunk.Codec)
	if err != nil {
		return err
	}
	p.opened, p.plain = true, plain
	return nil
}

// findRows finds which rows a page of a list has.
func (r *filterRun) findRows(p *page, row int) error {
	plain := p.Body // of version 2 the levels lie there as they are
	if p.Kind == layout.DataPage {
		if err := r.decompress(p); err != nil {
			return err
		}
		plain = p.plain
	}
	rows, continues, err := p.CountRows(plain, p.column.Leaf)
	if err != nil {
		return err
	}
	return r.place(p, row, rows, continues)
}

// findNulls sets how many nulls a page has, if the schema, the column index or the page's
// header says it.
func (p *page) findNulls() {
	c := p.column
	switch {
	case c.Leaf.MaxDefinition == 0 || c.source.NoNulls:
		p.nulls = 0
	case p.number < len(c.source.Nulls) && 0 <= c.source.Nulls[p.number] && c.source.Nulls[p.number] <= int64(p.Values):
		p.nulls = int(c.source.Nulls[p.number])
	case c.Leaf.MaxRepetition == 0: // of lists writers do not agree what to count
		p.nulls = p.Nulls
	}
}

// filterPages filters pages.
func (r *filterRun) filterPages(f *pagefilter.Filter) {
	defer r.busy.Done()
	for p := range r.work {
		p.err = r.filterPage(f, p)
		close(p.done)
	}
}

// filterPage leaves rows out of a page, or counts the nulls of one that is copied.
func (r *filterRun) filterPage(f *pagefilter.Filter, p *page) (err error) {
	defer panics.Recover(&err, panics.As(panics.Bug))
	if p.whole() && p.Kind == layout.DataPageV2 {
		p.nulls, err = p.CountNulls(p.Body, p.column.Leaf)
		return err
	}
	if err := r.decompress(p); err != nil {
		return err
	}
	if p.whole() {
		p.nulls, err = p.CountNulls(p.plain, p.column.Leaf)
		return err
	}
	out := p.raw[:0] // it is not read any more
	if p.column.Rereads(&p.Page) || p.asItLies() {
		out = r.buffers.get(p.StoredSize())[:0]
	} else {
		p.raw = nil
	}
	if !p.isData() {
		var page pagefilter.Page
		p.out, page, err = f.Dictionary(out, &p.column.Column, &p.Page, p.column.dictionary)
		p.written = []pagefilter.Page{page}
		return err
	}
	var pages []pagefilter.Page
	p.out, pages, err = f.Page(out, &p.column.Column, &p.Page, p.plain, p.part)
	p.written = slices.Clone(pages)
	return err
}

// buffers are memory that pages use one after the other.
type buffers struct {
	mu      sync.Mutex
	changed *sync.Cond
	limit   int64
	used    int64 // of pages under way
	free    [][]byte
	idle    int64 // of free
	stopped bool
}

// take waits until n bytes more may be used. It returns false if it was interrupted. If
// no more than kept is used it does not wait, so that one page may exceed the limit.
func (b *buffers) take(n, kept int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.used > kept && b.used+n > b.limit && !b.stopped {
		b.changed.Wait()
	}
	if b.stopped {
		return false
	}
	b.used += n
	return true
}

// get returns n bytes, which are not zero.
func (b *buffers) get(n int) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	best := -1
	for i := range b.free {
		if c := cap(b.free[i]); c >= n && (best < 0 || c < cap(b.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return make([]byte, n, n+n/8)
	}
	return b.remove(best)[:n]
}

func (b *buffers) remove(i int) []byte {
	buffer := b.free[i]
	last := len(b.free) - 1
	b.free[i], b.free[last] = b.free[last], nil
	b.free = b.free[:last]
	b.idle -= int64(cap(buffer))
	return buffer
}

// put gives back held bytes of the limit, and the pieces of memory for the next pages. The
// smallest free pieces are dropped if there are more bytes than the limit allows.
func (b *buffers) put(held int64, memory ...[]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= held
	for _, buffer := range memory {
		if cap(buffer) > 0 {
			b.free = append(b.free, buffer)
			b.idle += int64(cap(buffer))
		}
	}
	for len(b.free) > 0 && (b.used+b.idle > b.limit || len(b.free) > maxFree) {
		least := 0
		for i := range b.free {
			if cap(b.free[i]) < cap(b.free[least]) {
				least = i
			}
		}
		b.remove(least)
	}
	b.changed.Broadcast()
}

// maxFree is the most free pieces of memory. Pages under way have some dozens.
const maxFree = 64

// interrupt ends the waiting in take, and lets no take succeed until resume.
func (b *buffers) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.changed.Broadcast()
}

func (b *buffers) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = false
}
