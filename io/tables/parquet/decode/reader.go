package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encoding"
	"robotsbatch/io/tables/parquet/layout"
)

var (
	errRows  = errors.New("damaged: the column has fewer rows than its row group")
	errMore  = errors.New("damaged: the column has more rows than its row group")
	errFirst = errors.New("damaged: the column begins in the middle of a list")
)

// Reader reads the rows of a chunk in order.
type Reader struct {
	pages *layout.Pages
	node  *columns.Node
	limit int64

	left    int // entries of the current page that are in no block
	block   block
	started bool

	strings    encoding.Strings // the current page's values, or
	fixed      encoding.Fixed
	dictionary *encoding.Values
}

// blockSize is the most entries of which levels are read at once.
const blockSize = 4096

// block are the levels of some entries of a page.
type block struct {
	at, n                  int // entries at to n-1 are to come
	repetition, definition []byte
}

// NewReader reads a chunk of a file, of a leaf. A page may have limit
// bytes decompressed, and so may what a run of rows has.
func NewReader(in io.ReaderAt, chunk *layout.Chunk, n *columns.Node, limit int64) (*Reader, error) {
	leaf := layout.Leaf{MaxDefinition: int(n.MaxDefinition), MaxRepetition: int(n.MaxRepetition)}
	pages, err := layout.NewPages(in, chunk, leaf, limit)
	return &Reader{pages: pages, node: n, limit: limit}, err
}

// Read returns the entries of the next rows, in memory of their own.
func (r *Reader) Read(rows int) (l columns.Leaf, err error) {
	if r.node.Type == layout.ByteArray {
		l.Offsets = append(make([]int32, 0, rows+1), 0)
	}
	for begun := 0; ; {
		if r.block.at == r.block.n {
			more, err := r.fill(&l)
			if err != nil {
				return l, err
			}
			if !more {
				if begun < rows {
					return l, errRows
				}
				return l, nil
			}
		}
		n, more := r.take(&begun, rows)
		if err := r.append(&l, n); err != nil {
			return l, fmt.Errorf("page %d: %w", r.pages.Index(), err)
		}
		if !more {
			return l, nil
		}
	}
}

// fill reads the levels of the next block, and returns false after the last.
func (r *Reader) fill(l *columns.Leaf) (bool, error) {
	for r.left == 0 {
		if err := r.valuesDone(); err != nil {
			return false, fmt.Errorf("page %d: %w", r.pages.Index(), err)
		}
		more, err := r.pages.Next()
		if !more || err != nil {
			r.strings, r.fixed = nil, nil
			return false, err
		}
		if err := r.begin(); err != nil {
			return false, fmt.Errorf("page %d: %w", r.pages.Index(), err)
		}
	}
	b := &r.block
	b.at, b.n = 0, min(r.left, blockSize)
	r.left -= b.n
	var err error
	if most := r.node.MaxRepetition; most > 0 {
		if b.repetition, err = r.pages.Repetition.AppendBytes(b.repetition[:0], b.n, most); err != nil {
			return false, err
		}
	}
	if !r.started && r.node.MaxRepetition > 0 && b.repetition[0] > 0 {
		return false, errFirst
	}
	r.started = true
	if l.Size() > r.limit {
		return false, tooLong(r.limit)
	}
	if most := r.node.MaxDefinition; most > 0 {
		b.definition, err = r.pages.Definition.AppendBytes(b.definition[:0], b.n, most)
	}
	return true, err
}

func tooLong(limit int64) error {
	return &tables.LimitError{What: fmt.Sprintf("its rows take more than %d bytes decoded", limit), Help: tables.MoreMemory | tables.FewerRows}
}

// begin begins to read the current page's values.
func (r *Reader) begin() (err error) {
	p, n := r.pages, r.node
	r.left = p.Values
	if p.Dictionary != nil && r.dictionary == nil {
		if r.dictionary, err = encoding.NewDictionary(p.Dictionary, p.Entries, n.Width()); err != nil {
			return err
		}
	}
	if n.Type == layout.ByteArray {
		r.strings, err = encoding.NewStrings(p.Encoding, p.Content.Values, p.Present, r.dictionary, r.strings)
	} else {
		r.fixed, err = encoding.NewFixed(n.Type, n.Width(), p.Encoding, p.Content.Values, p.Present, r.dictionary, r.fixed)
	}
	return err
}

// values appends the next n values.
func (r *Reader) values(l *columns.Leaf, n int) (err error) {
	if r.fixed != nil {
		l.Fixed, err = r.fixed.Append(l.Fixed, n)
		return err
	}
	begin := len(l.Offsets)
	l.Offsets = slices.Grow(l.Offsets, n)[:begin+n]
	l.Data, err = r.strings.Append(l.Data, l.Offsets[begin:], r.limit)
	return err
}

// valuesDone returns an error when the page has more than the values that were read.
func (r *Reader) valuesDone() error {
	switch {
	case r.fixed != nil:
		return r.fixed.Done()
	case r.strings != nil:
		return r.strings.Done()
	}
	return nil
}

// take returns how many of the block's entries belong to the rows, of which some
// have begun, and whether more may follow.
func (r *Reader) take(begun *int, rows int) (n int, more bool) {
	b := &r.block
	if r.node.MaxRepetition == 0 {
		n = min(b.n-b.at, rows-*begun)
		*begun += n
		return n, *begun < rows
	}
	for i := b.at; i < b.n; i++ {
		if b.repetition[i] == 0 {
			if *begun == rows {
				return i - b.at, false
			}
			*begun++
		}
	}
	return b.n - b.at, true
}

// append appends the next n entries of the block.
func (r *Reader) append(l *columns.Leaf, n int) error {
	b, before := &r.block, l.N
	present := n
	if most := r.node.MaxDefinition; most > 0 {
		levels := b.definition[b.at : b.at+n]
		present = 0
		for _, level := range levels {
			if level == most {
				present++
			}
		}
		if l.Definitions != nil || present < n {
			if l.Definitions == nil {
				l.Definitions = bytes.Repeat([]byte{most}, before)
			}
			l.Definitions = append(l.Definitions, levels...)
		}
	}
	if r.node.MaxRepetition > 0 {
		l.Repetitions = append(l.Repetitions, b.repetition[b.at:b.at+n]...)
	}
	l.N += n
	b.at += n
	if l.Size()+int64(present)*int64(r.node.Width()) > r.limit { // a dictionary may have long values
		return tooLong(r.limit)
	}
	return r.values(l, present)
}

// Done returns an error when the chunk has more than the rows that were read.
func (r *Reader) Done() error {
	if r.block.at == r.block.n {
		more, err := r.fill(&columns.Leaf{})
		if err != nil || !more {
			return err
		}
	}
	return errMore
}
