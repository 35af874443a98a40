package text

import (
	"bytes"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// NewSink returns a sink that writes the URLs of the selected rows to w, a line each,
// compressed with c. A null URL is an empty line, and an LF within a URL, which a table may
// have, becomes %0A. Of the layout it uses only the limit of memory.
func NewSink(w blob.Writer, c compress.Codec, l batch.Layout) (batch.Sink, error) {
	output, err := lines.NewOutput(w, c, nil, l)
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
