package text

import (
	"context"
	"io"
	"sync"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines"
)

// Options of a source. The zero value is the default.
type Options struct {
	// Name of the input for errors.
	Name string
	// BatchRows is the most lines a batch has; 0 means lines.DefaultRows.
	BatchRows int
	// BatchSize is how many bytes a batch's part of the input may have before its
	// last row; 0 means lines.MaxBlockSize, which is also the limit.
	BatchSize int
	// MaxLine is the most bytes a line may have, without its line end; 0 means
	// lines.DefaultMaxLine, and 1 GiB is the limit. A longer line is an error: no
	// row is ever cut or dropped.
	MaxLine int
}

// Source reads a list of URLs. It is a batch.Source.
type Source struct {
	name   string
	blocks *lines.Blocks
	pool   sync.Pool
}

// NewSource reads r, which must be decompressed already, and does not close it.
func NewSource(r io.Reader, o Options) *Source {
	s := &Source{name: o.Name, blocks: lines.NewBlocks(r, lines.BlockOptions{
		Prefix: "text: " + o.Name, Rows: o.BatchRows, MaxLine: o.MaxLine, Size: o.BatchSize,
		Hint: option.Messagef("if this is a list of URLs take the line out, if it is not say what it is with %s", option.InFormat),
	})}
	s.pool.New = func() any { return new(memory) }
	return s
}

// Next returns the next batch of lines. Blank lines are left out, and MaxLine is
// checked, when the piece is decoded. After a failed read it
// returns the whole lines that were read, and then the error on every call.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	m := s.pool.Get().(*memory)
	block, err := s.blocks.Next(ctx, m.data)
	m.data = block.Data
	if err != nil {
		s.pool.Put(m)
		return nil, err
	}
	return &piece{source: s, memory: m, block: block}, nil
}

// Close does nothing: the input belongs to who opened it.
func (s *Source) Close() error { return nil }
