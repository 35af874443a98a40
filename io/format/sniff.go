package format

import (
	"bufio"
	"fmt"
	"io"

	"robotsbatch/io/compress"
)

// sniffBuffer holds an input's first octets, and serves small reads after.
const sniffBuffer = 64 << 10

// Sniff tells format and compression of an input by its first octets and its
// name, and returns a reader of the whole of it, decompressed. Closing that
// reader ends the decompression and leaves r open.
//
// It waits for HeadSize octets or the end. An input that cannot be read or
// decompressed from its first octet on is an error that names it; one that
// breaks later gives its error when it is read. A name that ends in .gz or .zst
// compresses nothing: an input that is not compressed is read as it is. But an
// input of that name that is empty, or nearly so, has been cut off.
func Sniff(r io.Reader, name string) (Format, compress.Codec, io.ReadCloser, error) {
	raw := bufio.NewReaderSize(r, sniffBuffer)
	head, err := peek(raw)
	if err != nil {
		return Unknown, compress.None, nil, fmt.Errorf("format: %s: %w", name, err)
	}
	named, plain := compress.ByName(name)
	codec := compress.Detect(head)
	if codec == compress.None {
		if named != compress.None && len(head) < compress.DetectSize {
			return Unknown, named, nil, fmt.Errorf("format: %s: %s: the compressed data is cut off: %w", name, named, io.ErrUnexpectedEOF)
		}
		return Detect(head, plain), codec, readCloser{raw, io.NopCloser(r)}, nil
	}
	decompressed, err := compress.NewReader(raw, codec)
	if err != nil {
		return Unknown, codec, nil, fmt.Errorf("format: %s: %w", name, err)
	}
	buffered := bufio.NewReaderSize(decompressed, sniffBuffer)
	head, err = peek(buffered)
	if err != nil {
		decompressed.Close()
		return Unknown, codec, nil, fmt.Errorf("format: %s: %w", name, err)
	}
	return Detect(head, plain), codec, readCloser{buffered, decompressed}, nil
}

// peek returns the first octets, and an error only when there are none.
func peek(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(HeadSize)
	if len(head) > 0 || err == io.EOF {
		err = nil
	}
	return head, err
}

type readCloser struct {
	io.Reader
	io.Closer
}
