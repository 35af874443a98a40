package warc

import (
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"strconv"

	"robotsbatch/io/captures"
)

// response reads the HTTP response that a record's block is. An error is about
// the response alone, unless the block has one.
func (w *Reader) response(x *captures.Capture) error {
	*x = captures.Capture{URL: x.URL, Time: x.Time}
	if err := w.httpHeader(); err != nil {
		return err
	}
	x.Status = w.answer.status
	switch x.Status / 100 {
	case 3:
		x.Location = w.answer.location
	case 2:
		if x.Status != 204 {
			return w.readBody(x)
		}
	}
	return nil
}

// httpHeader takes the response's header, its empty line included, from the
// block.
func (w *Reader) httpHeader() error {
	size := int(min(w.block.left, MaxHeader))
	seen, err := w.text.Peek(size)
	if len(seen) < size {
		w.block.err = unexpected(err)
		return w.block.err
	}
	end := headerEnd(seen)
	if end < 0 {
		if int64(size) < w.block.left {
			return broken("the HTTP header has more than %d octets", MaxHeader)
		}
		end = size // there is no body, and not even the empty line before it
	}
	ok := w.answer.parse(seen[:end])
	if !ok {
		first, _, _ := bytes.Cut(seen, []byte("\n"))
		return broken("the response is no HTTP: it starts with %.60q", first)
	}
	w.block.left -= int64(end)
	_, _ = w.text.Discard(end) // it is there
	return nil
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
		if len(rest) > 0 && rest[0] == '\n' {
			return at + 1
		}
		if len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			return at + 2
		}
	}
}

// answer is what matters of a response's header. Servers send much that is no
// HTTP, and browsers live with it: lines that are no fields are skipped.
type answer struct {
	status   int
	location []byte
	codings  []byte // of all Content-Encoding fields, by commas
	chunked  bool
	length   int64 // Content-Length; -1 when there is none, or several
}

// parse sets a to what a header says and keeps nothing of it; false when it is
// none.
func (a *answer) parse(head []byte) bool {
	*a = answer{location: a.location[:0], codings: a.codings[:0], length: -1}
	line, rest := cutLine(head)
	if !a.parseStatus(line) {
		return false
	}
	lengths := 0
	for len(rest) > 0 {
		if line, rest = cutLine(rest); len(line) == 0 {
			continue
		}
		switch line[0] | 0x20 { // most fields do not matter
		case 'c', 'l', 't':
		default:
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case isField(name, "Location") && len(a.location) == 0:
			a.location = append(a.location, value...)
		case isField(name, "Content-Encoding"):
			a.codings = append(append(a.codings, value...), ',')
		case isField(name, "Transfer-Encoding"):
			a.chunked = a.chunked || bytes.EqualFold(value, []byte("chunked"))
		case isField(name, "Content-Length"):
			length, err := strconv.ParseInt(string(value), 10, 64)
			if lengths++; lengths > 1 && length != a.length || err != nil || length < 0 {
				length = -1
			}
			a.length = length
		}
	}
	return true
}

// parseStatus takes a status line (RFC 9112 §4); versions from 2 on have one
// number.
func (a *answer) parseStatus(line []byte) bool {
	proto, rest, _ := bytes.Cut(line, []byte(" "))
	version, ok := bytes.CutPrefix(proto, []byte("HTTP/"))
	if !ok || len(version) == 0 || len(bytes.Trim(version, "0123456789.")) > 0 {
		return false
	}
	code, _, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	if len(code) != 3 || len(bytes.Trim(code, "0123456789")) > 0 {
		return false
	}
	a.status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	return true
}

// cutLine cuts off the first line, and its end.
func cutLine(data []byte) (line, rest []byte) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		i = len(data)
	} else {
		rest = data[i+1:]
	}
	line = data[:i]
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	return line, rest
}

// readBody reads the body up to one octet more than the limit.
func (w *Reader) readBody(x *captures.Capture) error {
	w.body.Reset()
	if !w.answer.chunked && len(w.answer.codings) == 0 {
		return w.readPlain(x)
	}
	w.http.Reset(&w.block)
	raw, limited := io.Reader(w.http), false
	switch {
	case w.answer.chunked && w.looksChunked():
		raw = httputil.NewChunkedReader(w.http)
	case !w.answer.chunked && w.answer.length >= 0:
		raw, limited = &exactly{w.http, w.answer.length}, true
	}
	reader, coded, err := w.decoder.open(raw, string(w.answer.codings))
	if err == nil && !coded && limited {
		// It was stored decoded, and the length is that of the coded body.
		reader = io.MultiReader(reader, w.http)
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

// readPlain reads a body that is as it was sent.
func (w *Reader) readPlain(x *captures.Capture) error {
	size := w.block.left
	if length := w.answer.length; length >= 0 {
		size = min(size, length)
		x.Cut = size < length && size <= int64(w.options.BodyLimit)
	}
	size = min(size, int64(w.options.BodyLimit)+1)
	w.body.Grow(int(size))
	body := w.body.AvailableBuffer()[:size]
	if _, err := io.ReadFull(&w.block, body); err != nil {
		return err
	}
	x.Body = body
	return nil
}

// exactly reads so many octets, and is cut when there are fewer.
type exactly struct {
	r    io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
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
