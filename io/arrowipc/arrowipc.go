// Package arrowipc reads and writes Arrow IPC files and streams.
package arrowipc

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
)

// Options of a source.
type Options struct {
	// Name of the input for errors.
	Name string
	// URLColumn names the column; empty: "url", else the only string column.
	URLColumn string
	// BatchRows is the most rows a batch has; 0 means 65,536. Larger record
	// batches are cut.
	BatchRows int
	// Memory is the most octets one record batch may take decoded; 0: 512 MiB.
	Memory int64
}

// Source reads record batches.
type Source struct{}

// OpenFile reads the file format.
func OpenFile(r io.ReaderAt, size int64, o Options) (*Source, error) { panic("todo") }

// OpenStream reads the stream format, and the file format from a pipe.
func OpenStream(r io.Reader, o Options) (*Source, error) { panic("todo") }

func (s *Source) Schema() *arrow.Schema                         { panic("todo") }
func (s *Source) URLColumn() string                             { panic("todo") }
func (s *Source) Next(ctx context.Context) (batch.Piece, error) { panic("todo") }
func (s *Source) Close() error                                  { panic("todo") }

// Compression of record batch bodies.
type Compression uint8

const (
	Zstd Compression = iota
	LZ4
	Uncompressed
)

// SinkOptions say what is written. Schema is the input's, nil for lists of URLs.
type SinkOptions struct {
	Layout      batch.Layout
	Schema      *arrow.Schema
	Compression Compression
	// Stream writes the stream format instead of the file format.
	Stream bool
}

// NewSink writes to w.
func NewSink(w blob.Writer, o SinkOptions) (batch.Sink, error) { panic("todo") }
