package warc

import (
	"bufio"
	"bytes"
	"errors"
	"strconv"
	"time"
)

// version is what every record starts with; the number of its version follows.
const version = "WARC/"

// header is the part of a record's header that matters.
type header struct {
	kind      string // "response" for a response, else empty
	url       []byte
	date      time.Time
	length    int64
	truncated bool
	http      bool // the block is HTTP, or is not said to be something else

	used    int // bytes of the header that were read
	hasDate bool
}

// isResponse reports whether the record is an HTTP response, and so may be a capture.
func (h *header) isResponse() bool {
	return h.kind == "response" && h.http &&
		(hasPrefixFold(h.url, "http://") || hasPrefixFold(h.url, "https://"))
}

// readHeader reads a record's header, its empty line included.
func (w *Reader) readHeader(h *header) error {
	*h = header{url: h.url[:0], length: -1, http: true}
	line, err := w.headerLine(h)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte(version+"1.")) && !bytes.HasPrefix(line, []byte(version+"0.")) {
		return broken("no WARC record starts here")
	}
	for w.field = w.field[:0]; ; {
		if line, err = w.headerLine(h); err != nil {
			return err
		}
		if startsFolded(line) { // it continues the field before
			w.field = append(append(w.field, ' '), bytes.TrimSpace(line)...)
			continue
		}
		if key, value, found := bytes.Cut(w.field, []byte(":")); found {
			if err := h.set(key, bytes.TrimSpace(value)); err != nil {
				return err
			}
		}
		if len(line) == 0 {
			break
		}
		w.field = append(w.field[:0], line...)
	}
	switch {
	case h.length < 0:
		return broken("the record has no Content-Length")
	case h.isResponse() && !h.hasDate:
		return broken("the response has no WARC-Date")
	}
	return nil
}

// headerLine reads a line without its end; it is valid until the next read.
func (w *Reader) headerLine(h *header) ([]byte, error) {
	line, err := w.text.ReadSlice('\n')
	h.used += len(line)
	if errors.Is(err, bufio.ErrBufferFull) || err == nil && h.used > maxHeader {
		return nil, broken("the record's header has more than %d bytes", maxHeader)
	}
	if err != nil {
		return nil, unexpected(err)
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// set takes the value of a field of the header.
func (h *header) set(key, value []byte) error {
	switch {
	case isField(key, "WARC-Type"):
		if string(value) == "response" {
			h.kind = "response"
		}
	case isField(key, "WARC-Target-URI"):
		// WARC 1.0 has it in angle brackets.
		value = bytes.TrimSuffix(bytes.TrimPrefix(value, []byte("<")), []byte(">"))
		h.url = append(h.url[:0], value...)
	case isField(key, "WARC-Date"):
		date, err := time.Parse(time.RFC3339, string(value))
		if err != nil {
			return broken("WARC-Date %.40q is no time", value)
		}
		h.date, h.hasDate = date, true
	case isField(key, "WARC-Truncated"):
		h.truncated = len(value) > 0
	case isField(key, "Content-Type"):
		h.http = hasPrefixFold(value, "application/http")
	case isField(key, "Content-Length"):
		length, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || length < 0 || length > maxRecord {
			return broken("Content-Length %.40q is no length of a record", value)
		}
		h.length = length
	}
	return nil
}

func isField(key []byte, name string) bool {
	return len(key) == len(name) && hasPrefixFold(key, name)
}

// hasPrefixFold reports whether s starts with prefix, whatever the case.
func hasPrefixFold(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && bytes.EqualFold(s[:len(prefix)], []byte(prefix))
}
