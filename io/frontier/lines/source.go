package lines

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
)

// Options are those of the sources that read lines. The zero value is the default. A
// format ignores what it does not have.
type Options struct {
	// Name of the input for errors.
	Name string
	// Separator stands between the fields of a row: a tab, or a printable ASCII character
	// that is no letter, digit or quote. 0 takes the one of comma, semicolon, tab and
	// vertical bar that occurs most often in the header.
	Separator byte
	// URLColumn is the column, or the key of objects, with the URLs. Empty means "url", or
	// one that differs from "url" only in case, or the only column.
	URLColumn string
	// Extra names columns or keys that are read besides the URLs.
	Extra batch.ExtraColumns
	// Blanks, if not nil, counts the lines of a list of URLs that have a blank within.
	Blanks *Blanks
	// Columns asks for whole rows as batch.Batch.Table. It is a record of all columns. Where rows are
	// objects, it is the original lines instead, and the sink of the same package copies them. For a
	// crawl index with objects, it is both.
	Columns bool
	// Named, if not nil, asks for a record of these keys where rows are objects, in place of the
	// original lines.
	Named []Named
	// Verdicts are the columns that will be added. The sink of objects fails at an object
	// with one of their names as a key.
	Verdicts []batch.VerdictColumn
	// BatchRows is the most rows of a batch; 0 or less means batch.DefaultRows. A table of very many
	// columns has fewer.
	BatchRows int
	// BatchSize is the most bytes of input in a batch before its last row; 0 or less means
	// MaxBlockSize, which is also the limit.
	BatchSize int
	// MaxLine is the most bytes a row may have, without its line end; 0 or less means
	// defaultMaxLine, and 1 GiB is the limit. A longer row is an error: no row is ever cut
	// or dropped.
	MaxLine int
}

// Named is a column that has the values of a key of objects. A row without the key has a null. A row
// with a value that does not fit its column has nulls in all columns, as a line without an object
// has. An object or an array fits no column.
type Named struct {
	Name string
	// Text says that only strings and null fit.
	Text bool
	// Loose says that an object or an array counts as null, and all values fit.
	Loose bool
	// Kept says that a value of this column that fits stays in a row of nulls.
	Kept bool
	// Missing says what it means that no row has the key; empty where that is fine.
	Missing option.Message
}

// Blocks returns the blocks of r, which must be decompressed. hint says in an error what to do about
// a row that is too long. cutter finds the ends of rows; it is nil if a row is a line.
func (o *Options) Blocks(r io.Reader, hint option.Message, cutter Cutter) *Blocks {
	const mostMaxLine = 1 << 30 // offsets have 32 bits
	return &Blocks{
		r: r, name: o.Name, hint: hint, cutter: cmp.Or[Cutter](cutter, lineCutter{}), rows: cmp.Or(max(o.BatchRows, 0), batch.DefaultRows),
		size: min(cmp.Or(max(o.BatchSize, 0), MaxBlockSize), MaxBlockSize), maxLine: min(cmp.Or(max(o.MaxLine, 0), defaultMaxLine), mostMaxLine),
	}
}

// Decoder makes batches of blocks. It keeps the memory of one batch, and serves one
// goroutine at a time.
type Decoder interface {
	// Decode sets the columns of b, in the memory of the block or of the decoder, which
	// both belong to b until its Release. It may set Release to what has to be released
	// before them.
	Decode(block *Block, b *batch.Batch) error
	// Size returns the number of bytes of memory that a block and its batch take.
	Size(block *Block) int64
	// Held returns the number of bytes of values that the decoder holds from batch to batch, which
	// Size does not bound.
	Held() int
}

// Table is what a format found out about an input before its first batch.
type Table struct {
	// Schema of the record in batch.Batch.Table; nil for lists of URLs or of objects.
	Schema *arrow.Schema
	// URLColumn is the column or key with the URLs.
	URLColumn string
	// NewDecoder is called for each batch that is decoded at the same time.
	NewDecoder func() Decoder
	// Complete returns errors that only all batches together show; it may be nil. It
	// must not keep a decoder in memory.
	Complete func() error
}

// Source reads an input made of lines. It is a batch.Source.
type Source struct {
	name   string
	blocks *Blocks
	table  Table
	pool   sync.Pool // of *scratch
}

// scratch is what a batch needs. It passes from Source.Next to Piece.Decode, and
// Batch.Release gives it back.
type scratch struct {
	data    []byte
	decoder Decoder
}

// mostHeld is the most bytes that a decoder may hold to be used for another batch. One batch
// needs fewer. But a decoder keeps the memory of each column, and columns grow in different batches.
const mostHeld = 4 * MaxBlockSize

// NewSource returns a source of the rows in blocks. name is the input's, for errors.
func NewSource(name string, blocks *Blocks, t Table) *Source {
	s := &Source{name: name, blocks: blocks, table: t}
	s.pool.New = func() any { return &scratch{decoder: t.NewDecoder()} }
	return s
}

// Schema returns the columns of the tables in batches; nil for lists of URLs or objects.
func (s *Source) Schema() *arrow.Schema { return s.table.Schema }

// URLColumn returns the name of the column, or the key, that has the URLs.
func (s *Source) URLColumn() string { return s.table.URLColumn }

// Next implements batch.Source. It only looks for the ends of rows. After a failed read it returns
// the whole rows that were read before, and then the error on every call.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	m := s.pool.Get().(*scratch)
	block, err := s.blocks.Next(ctx, m.data)
	m.data = block.Data
	if err != nil {
		s.pool.Put(m)
		return nil, err
	}
	return &piece{source: s, scratch: m, block: block}, nil
}

// Complete returns a function to call after all pieces were decoded. It returns an error that only
// the whole input shows, and does not keep the source in memory.
func (s *Source) Complete() func() error {
	if s.table.Complete == nil {
		return func() error { return nil }
	}
	return s.table.Complete
}

// Close does nothing: the input belongs to who opened it.
func (s *Source) Close() error { return nil }

// piece is a block that is not decoded.
type piece struct {
	source  *Source
	scratch *scratch
	block   Block
}

// Name implements batch.Piece. Lines are counted from 1.
func (p *piece) Name() string {
	return fmt.Sprintf("%s: batch %d (%s)", p.source.blocks.name, p.block.Index, p.block.lineRange())
}

// Size implements batch.Piece.
func (p *piece) Size() int64 { return p.scratch.decoder.Size(&p.block) }

// Decode implements batch.Piece. Batch.Release gives its memory back for another batch.
func (p *piece) Decode() (*batch.Batch, error) {
	s, m := p.source, p.scratch
	b := &batch.Batch{Input: s.name, Index: p.block.Index, FirstRow: p.block.FirstLine}
	if err := m.decoder.Decode(&p.block, b); err != nil {
		return nil, err
	}
	release := b.Release
	b.Release = func() {
		if release != nil {
			release()
		}
		if m.decoder.Held() <= mostHeld {
			s.pool.Put(m)
		}
	}
	return b, nil
}
