package compress

import (
	"bufio"
	"errors"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// OpenText reads a list that people make, as UTF-8 without a byte order mark. If its first
// bytes say so, it is decompressed, or read as UTF-16. Close leaves r open.
func OpenText(r io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(DetectSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	plain, err := NewReader(buffered, Detect(head))
	if err != nil {
		return nil, err
	}
	return text{transform.NewReader(plain, unicode.BOMOverride(transform.Nop)), plain}, nil
}

type text struct {
	io.Reader
	io.Closer
}
