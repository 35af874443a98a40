// Package text reads and writes lists of URLs, one a line.
package text

import (
	"context"
	"io"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/compress"
)

// Options of a source.
type Options struct {
	// Name of the input for errors.
	Name string
	// BatchRows is the most rows a batch has; 0 means 65,536.
	BatchRows int
}

// Source reads a list of URLs.
type Source struct{}

// NewSource reads r, which must be decompressed already.
func NewSource(r io.Reader, o Options) *Source { panic("todo") }

func (s *Source) Next(ctx context.Context) (batch.Piece, error) { panic("todo") }
func (s *Source) Close() error                                  { panic("todo") }

// NewSink writes the selected rows' URLs, a line each.
func NewSink(w blob.Writer, c compress.Codec) (batch.Sink, error) { panic("todo") }
