// Package textcolumn reads a flat column of text or bytes of a Parquet file
// straight into the columns of the job: offsets and bytes.
//
//	chunk ─ layout.Pages: levels counted, page decompressed ─ encoding.Strings:
//	page's values → the run's Data and Offsets32
//
// The caller asks for rows, whatever pages they lie in. A value is copied once,
// out of its page, which is in the processor's cache then: pages are decompressed
// one at a time into the same memory.
package textcolumn

import (
	"errors"
	"fmt"
	"io"
	"math"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/parquetio/encoding"
	"robotsbatch/io/frontier/parquetio/layout"
)

// Fits reports whether a column can be read here: flat, of byte arrays.
func Fits(e *layout.Element, leaf layout.Leaf) bool {
	return leaf.MaxRepetition == 0 && leaf.MaxDefinition <= 1 && e.Type == layout.ByteArray
}

// Reader reads the rows of a chunk in order.
type Reader struct {
	pages      *layout.Pages
	leaf       layout.Leaf
	limit      int64
	left       int              // rows of the current page to come
	strings    encoding.Strings // of the current page
	dictionary *encoding.Dictionary
	lastSize   int // bytes of the last run
}

// NewReader reads a chunk of a file, of a column that fits. A page
// may have limit bytes decompressed, and so may the strings of a run.
func NewReader(in io.ReaderAt, chunk *layout.Chunk, element *layout.Element, leaf layout.Leaf, limit int64) (*Reader, error) {
	if !Fits(element, leaf) {
		return nil, errors.New("it is not a flat column of text")
	}
	pages, err := layout.NewPages(in, chunk, leaf, limit)
	return &Reader{pages: pages, leaf: leaf, limit: limit}, err
}

// Run is the rows of a run.
type Run struct {
	Strings batch.Column
	// Nulls is how many rows are null.
	Nulls int
}

// Read returns the next rows, in memory of their own.
func (r *Reader) Read(rows int) (*Run, error) {
	run := &Run{}
	run.Strings.Offsets32 = make([]int32, rows+1)
	for at := 0; at < rows; {
		if r.left == 0 {
			if err := r.nextPage(); err != nil {
				return nil, err
			}
		}
		n := min(r.left, rows-at)
		if err := r.part(run, rows, at, n); err != nil {
			return nil, fmt.Errorf("page %d: %w", r.pages.Index(), err)
		}
		at += n
	}
	r.lastSize = len(run.Strings.Data)
	if run.Nulls == 0 {
		run.Strings.Validity = nil
	}
	return run, nil
}

// nextPage begins the next page.
func (r *Reader) nextPage() error {
	ok, err := r.pages.Next()
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("damaged: a column has fewer rows than its row group")
	}
	p := r.pages
	if p.Dictionary != nil && r.dictionary == nil {
		if r.dictionary, err = encoding.NewDictionary(p.Dictionary, p.Entries); err != nil {
			return fmt.Errorf("page 0: %w", err)
		}
	}
	if r.strings, err = encoding.NewStrings(p.Encoding, p.Content.Values, p.Present, r.dictionary, r.strings); err != nil {
		return fmt.Errorf("page %d: %w", p.Index(), err)
	}
	r.left = p.Values
	return nil
}

// part reads n rows of the current page into those of the run from at on.
func (r *Reader) part(run *Run, rows, at, n int) (err error) {
	present := n
	if r.leaf.Nullable() {
		if run.Strings.Validity == nil {
			run.Strings.Validity = make([]byte, (rows+7)/8)
		}
		if present, err = r.pages.Definition.Bits(run.Strings.Validity, at, n); err != nil {
			return err
		}
		run.Nulls += n - present
	}
	r.left -= n
	before := len(run.Strings.Data)
	ends := run.Strings.Offsets32[at+1 : at+1+n]
	if run.Strings.Data == nil {
		run.Strings.Data = make([]byte, 0, r.expect(rows))
	}
	if run.Strings.Data, err = r.strings.Append(run.Strings.Data, ends[:present], r.limit); err == nil && r.left == 0 {
		err = r.strings.Done()
	}
	if err == nil {
		spreadEnds(ends, present, &run.Strings, at, int32(before))
	}
	return err
}

// expect is how many bytes a run may have, as far as the page and the run before
// tell; what it has in the end may be more.
func (r *Reader) expect(rows int) int {
	const most = 16 << 20 // what is taken for nothing but a guess
	mean := len(r.pages.Content.Values) / r.pages.Values
	if r.dictionary != nil && r.dictionary.Len() > 0 {
		mean = max(mean, len(r.pages.Dictionary)/r.dictionary.Len())
	}
	size := max(int64(mean)*int64(rows), int64(r.lastSize))
	return int(min(size+size/32, most, r.limit, math.MaxInt32))
}
