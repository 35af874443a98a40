package text

import (
	"bytes"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/compress"
	"robotsbatch/io/lines"
)

// NewSink writes the URLs of the selected rows to w, a line each and with LF at
// its end, compressed with c. They are written as they are. A null URL is an
// empty line, and a LF within a URL, which a table may have, becomes %0A, so
// that there is a line for each row.
func NewSink(w blob.Writer, c compress.Codec) (batch.Sink, error) {
	output, err := lines.NewOutput(w, c, nil)
	if err != nil {
		return nil, err
	}
	return sink{output}, nil
}

type sink struct{ *lines.Output }

// Encode implements batch.Sink.
func (s sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	return s.Output.Encode(func(dst []byte) []byte { return appendURLs(dst, &b.URLs, v) })
}

func appendURLs(dst []byte, urls *batch.Column, v *batch.Verdicts) []byte {
	hasLF := bytes.IndexByte(urls.Data, '\n') >= 0
	for row := range v.Rows {
		if !lines.Selected(v, row) {
			continue
		}
		if !urls.Null(row) {
			url := urls.Value(row)
			if hasLF {
				url = bytes.ReplaceAll(url, []byte("\n"), []byte("%0A"))
			}
			dst = append(dst, url...)
		}
		dst = append(dst, '\n')
	}
	return dst
}
