package warc

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"

	"robotsbatch/io/captures"
)

// response reads the HTTP response that a record's block is. An error is about
// the response alone, unless the block has one.
func (w *Reader) response(x *captures.Capture) error {
	x.Status, x.Location, x.Body, x.Cut, x.Failed = 0, nil, nil, false, false
	head, err := w.httpHeader()
	if err != nil {
		return err
	}
	answer, err := w.parse(head)
	if err != nil {
		// Servers send much that is no HTTP, and browsers live with it.
		if answer, err = w.parse(plainHeader(head)); err != nil {
			return broken("the response is no HTTP: %.200w", err)
		}
	}
	x.Status = answer.StatusCode
	if x.Status/100 == 3 {
		x.Location = []byte(answer.Header.Get("Location"))
	}
	if x.Status/100 == 2 {
		return w.readBody(x, answer)
	}
	return nil
}

// httpHeader takes the response's header, its empty line included, from the
// block. It is valid until the next call.
func (w *Reader) httpHeader() ([]byte, error) {
	size := int(min(w.block.left, MaxHeader))
	seen, err := w.text.Peek(size)
	if len(seen) < size {
		w.block.err = unexpected(err)
		return nil, w.block.err
	}
	end := headerEnd(seen)
	whole := end < 0
	w.status.Reset()
	switch {
	case !whole:
	case int64(size) < w.block.left:
		return nil, broken("the HTTP header has more than %d octets", MaxHeader)
	default: // there is no body, and not even the empty line before it
		end = size
	}
	w.status.Write(seen[:end])
	w.block.left -= int64(end)
	_, _ = w.text.Discard(end) // it is there
	if whole {
		w.status.WriteString("\r\n\r\n")
	}
	return w.status.Bytes(), nil
}

// headerEnd is where the body starts, -1 when there is no empty line.
func headerEnd(data []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		rest := data[at:]
		if bytes.HasPrefix(rest, []byte("\n")) {
			return at + 1
		}
		if bytes.HasPrefix(rest, []byte("\r\n")) {
			return at + 2
		}
	}
}

// parse reads a header; what follows it is read from the block.
func (w *Reader) parse(head []byte) (*http.Response, error) {
	w.source.head.Reset(head)
	w.source.block = &w.block
	w.http.Reset(&w.source)
	if bytes.HasPrefix(head, []byte("HTTP/2 ")) || bytes.HasPrefix(head, []byte("HTTP/3 ")) {
		// net/http wants two numbers, and these versions have only one.
		head = slices.Insert(slices.Clone(head), len("HTTP/2"), '.', '0')
		w.source.head.Reset(head)
	}
	return http.ReadResponse(w.http, nil)
}

// plainHeader is a header reduced to its first line and the fields that matter,
// without the length: it follows from the record's.
func plainHeader(head []byte) []byte {
	var plain []byte
	for line := range bytes.Lines(head) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if plain == nil || isField(name, "Location") || isField(name, "Content-Encoding") || isField(name, "Transfer-Encoding") {
			plain = append(plain, line...)
		}
	}
	return append(plain, "\r\n"...)
}

// readBody reads the body up to one octet more than the limit.
func (w *Reader) readBody(x *captures.Capture, answer *http.Response) error {
	raw := io.Reader(answer.Body)
	if slices.Contains(answer.TransferEncoding, "chunked") && !w.looksChunked() {
		raw = w.http
	}
	w.body.Reset()
	codings := answer.Header.Values("Content-Encoding")
	reader, coded, err := w.decoder.open(raw, codings)
	if err == nil && !coded && len(codings) > 0 && raw != w.http && answer.ContentLength >= 0 {
		// It was stored decoded, and the length is that of the coded body.
		whole := io.MultiReader(reader, w.http)
		reader = whole
	}
	if err == nil {
		_, err = io.CopyN(&w.body, reader, int64(w.options.BodyLimit)+1)
	}
	x.Body = w.body.Bytes()
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case w.block.err != nil:
		return w.block.err
	case coded && len(x.Body) == 0 && !errors.Is(err, io.ErrUnexpectedEOF):
		return broken("the body cannot be decoded: %w", err)
	}
	x.Cut = true
	return nil
}

// looksChunked tells whether the body starts with the length of a chunk.
func (w *Reader) looksChunked() bool {
	start, err := w.http.Peek(32)
	if len(start) == 0 {
		return err == io.EOF
	}
	digits := 0
	for digits < len(start) && isHexDigit(start[digits]) {
		digits++
	}
	rest := bytes.TrimLeft(start[digits:], " \t")
	return digits > 0 && digits <= 16 && (len(rest) == 0 || rest[0] == '\r' || rest[0] == '\n' || rest[0] == ';')
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
