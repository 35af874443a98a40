package jsonl

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/compress"
	"robotsbatch/io/lines"
)

// SinkOptions say what is written. The zero value writes URLs, not compressed.
type SinkOptions struct {
	// Layout says which columns there are.
	Layout batch.Layout
	// Schema is the input's, nil for lists of URLs.
	Schema *arrow.Schema
	// Codec compresses the output as a whole.
	Codec compress.Codec
}

// NewSink writes to w. It is an error when two columns have the same name.
func NewSink(w blob.Writer, o SinkOptions) (batch.Sink, error) {
	s := &sink{}
	var err error
	if s.columns, err = lines.Columns(o.Layout, o.Schema); err != nil {
		return nil, fmt.Errorf("jsonl: %w", err)
	}
	if s.keys, err = keys(s.columns); err != nil {
		return nil, err
	}
	if s.Output, err = lines.NewOutput(w, o.Codec, nil); err != nil {
		return nil, fmt.Errorf("jsonl: %w", err)
	}
	return s, nil
}

type sink struct {
	*lines.Output
	columns []lines.Column
	keys    [][]byte // what comes before each value
}

// keys returns each column's name as a key, with what separates it from the
// value before.
func keys(columns []lines.Column) ([][]byte, error) {
	seen := make(map[string]bool, len(columns))
	var result [][]byte
	for i, column := range columns {
		if seen[column.Name] {
			return nil, fmt.Errorf("jsonl: the input has two columns %q, which one object cannot have: leave them out with -columns url, or choose another format", column.Name)
		}
		seen[column.Name] = true
		key := []byte{','}
		if i == 0 {
			key = []byte{'{'}
		}
		result = append(result, append(lines.AppendString(key, column.Name), ':'))
	}
	return result, nil
}

// Encode implements batch.Sink.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	values, err := lines.JSON(b, v, s.columns)
	if err != nil {
		return nil, fmt.Errorf("jsonl: %w", err)
	}
	return s.Output.Encode(func(dst []byte) []byte {
		for row := range v.Rows {
			if !lines.Selected(v, row) {
				continue
			}
			for i, value := range values {
				dst = value(append(dst, s.keys[i]...), row)
			}
			dst = append(dst, "}\n"...)
		}
		return dst
	})
}
