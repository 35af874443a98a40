package format

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"

	"robotsbatch/io/compress"
)

// sniffBuffer holds an input's first bytes, and serves small reads after.
const sniffBuffer = 64 << 10

// Sniff tells format and compression of an input by its first bytes and its name. It
// returns a reader of the whole input, decompressed. UTF-16 with a byte order mark
// becomes UTF-8, and half of a surrogate pair U+FFFD. Closing the reader ends the
// decompression and leaves r open.
//
// Sniff waits for HeadSize bytes or the end. An error at the first byte names the
// input; later errors come from the reader. An input named .gz or .zst that is not
// compressed is read as it is; one that has no complete header has been cut off.
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
		return detected(raw, head, plain, name, codec, io.NopCloser(r))
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
	return detected(buffered, head, plain, name, codec, decompressed)
}

// detected tells the format of what r reads, which begins with head, as UTF-8.
func detected(r *bufio.Reader, head []byte, plain, name string, codec compress.Codec, closer io.Closer) (Format, compress.Codec, io.ReadCloser, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\xFF\xFE\x00\x00")) || bytes.HasPrefix(head, []byte("\x00\x00\xFE\xFF")):
		closer.Close()
		return Unknown, codec, nil, fmt.Errorf("format: %s: the text is UTF-32: convert it to UTF-8", name)
	case bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\xFE\xFF")):
		utf8 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(r)
		r = bufio.NewReaderSize(utf8, sniffBuffer)
		var err error
		if head, err = peek(r); err != nil {
			closer.Close()
			return Unknown, codec, nil, fmt.Errorf("format: %s: %w", name, err)
		}
	}
	return Detect(head, plain), codec, readCloser{r, closer}, nil
}

// peek returns the first bytes, and an error only when there are none.
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
