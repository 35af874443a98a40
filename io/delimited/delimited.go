// Package delimited writes a header and comma- or tab-separated values.
package delimited

import (
	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/compress"
)

// SinkOptions say what is written. Schema is the input's, nil for lists of URLs.
type SinkOptions struct {
	Layout batch.Layout
	Schema *arrow.Schema
	Codec  compress.Codec
	Tab    bool // delimited only
}

// NewSink writes to w.
func NewSink(w blob.Writer, o SinkOptions) (batch.Sink, error) { panic("todo") }
