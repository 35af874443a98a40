package text

import (
	"bytes"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/store/blob"
)

// NewSink returns a sink that writes the URLs of the selected rows to w, a line each. A null URL
// is an empty line, and an LF within a URL, which a table may have, becomes %0A.
func NewSink(w blob.Writer, o lines.SinkOptions) (batch.Sink, error) {
	output, err := lines.NewOutput(w, nil, o)
	if err != nil {
		return nil, err
	}
	return sink{output}, nil
}

type sink struct{ *lines.Output }

// Encode implements batch.Sink.
func (s sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	urls := &b.URLs
	hasLF := bytes.IndexByte(urls.Data, '\n') >= 0
	return s.Output.Encode(b.Grant, v, func(dst []byte, row int) []byte {
		if !urls.Null(row) {
			url := urls.Value(row)
			if hasLF {
				url = bytes.ReplaceAll(url, []byte("\n"), []byte("%0A"))
			}
			dst = append(dst, url...)
		}
		return append(dst, '\n')
	})
}
