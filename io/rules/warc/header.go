package warc

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"strconv"
	"time"

	"robotsbatch/io/rules/captures"
)

// version is what every record starts with; the number of its version follows.
const version = "WARC/"

// header is the part of a record's header that matters.
type header struct {
	kind      string // "response", "revisit" or "resource", else otherKind; empty if it is not said
	url       []byte
	record    captures.Name // of WARC-Record-ID
	payload   captures.Name // of WARC-Payload-Digest
	digest    []byte        // that, as written
	date      time.Time
	length    int64
	truncated bool
	http      bool // the block is HTTP, or is not said to be something else
	plain     bool // the block is plain text, or is not said to be something else
	// Of a revisit, what it says of the record that has its payload.
	notModified bool // the server said that nothing changed since then
	original    captures.Name
	originalURL []byte
	originalAt  time.Time

	used    int // bytes of the header that were read; math.MaxInt if reading stopped within a line that is too long
	hasDate bool
	broken  error // the first value that cannot be read
	ended   bool  // the empty line was read: with a length it is known where the record ends
}

// otherKind is the kind of records that are skipped.
const otherKind = "other"

// reset empties a header, and keeps its memory.
func (h *header) reset() {
	*h = header{url: h.url[:0], digest: h.digest[:0], length: -1, http: true, plain: true, originalURL: h.originalURL[:0]}
}

// isResponse reports whether the record is an HTTP response, or a resource of plain text, which is the
// body of one. Other resources are such as an image of the page.
func (h *header) isResponse() bool {
	return (h.kind == "response" || h.kind == "resource" && h.plain) && h.isHTTP()
}

// isRevisit reports whether the record is an HTTP response whose payload is elsewhere.
func (h *header) isRevisit() bool { return h.kind == "revisit" && h.isHTTP() }

// isHTTP reports whether the URL is one of HTTP.
func (h *header) isHTTP() bool {
	return hasPrefixFold(h.url, "http://") || hasPrefixFold(h.url, "https://")
}

// readHeader reads a record's header and the empty line after it into h. A value that cannot
// be parsed is an error, but only after all others are read.
func (w *Reader) readHeader(h *header) error {
	line, err := w.headerLine(h)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte(version+"1.")) && !bytes.HasPrefix(line, []byte(version+"0.")) {
		return broken("no WARC record starts here")
	}
	for w.field = w.field[:0]; ; { // which is complete once the next line does not continue it
		line, err = w.headerLine(h)
		if err == nil && startsFolded(line) { // it continues the field before
			w.field = append(append(w.field, ' '), bytes.TrimSpace(line)...)
			continue
		}
		if key, value, found := bytes.Cut(w.field, []byte(":")); found {
			if err := h.set(key, bytes.TrimSpace(value)); err != nil && h.broken == nil {
				h.broken = err
			}
		}
		if errors.Is(err, errLongHeader) {
			_ = w.skipLongHeader(h) // the next read finds out, too, why the file cannot be read
		}
		if err != nil {
			return err
		}
		if len(line) == 0 {
			h.ended = true
			break
		}
		w.field = append(w.field[:0], line...)
	}
	switch {
	case h.broken != nil:
		return h.broken
	case h.length < 0:
		return broken("the record has no Content-Length")
	case h.kind == "":
		return broken("the record has no WARC-Type")
	case h.kind != otherKind && len(h.url) == 0:
		return broken("the %s has no WARC-Target-URI", h.kind)
	case (h.isResponse() || h.isRevisit()) && !h.hasDate:
		return broken("the response has no WARC-Date")
	}
	return nil
}

// headerLine reads a line of the header without its line end. It is valid until the next read.
// It returns errLongHeader if the header is too long.
func (w *Reader) headerLine(h *header) ([]byte, error) {
	if h.used > maxHeader {
		return nil, errLongHeader
	}
	line, err := w.text.ReadSlice('\n')
	h.used += len(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		h.used = math.MaxInt // tells skipLongHeader that the next bytes are within a line
		return nil, errLongHeader
	}
	if err != nil {
		return nil, errEnd(err)
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

var errLongHeader = broken("the record's header has more than %d bytes", maxHeader)

// skipLongHeader reads the rest of a header that is too long, to find its Content-Length and
// its end. Otherwise the reader would look for the next record within the block, where a site may
// have written what looks like a record of another host.
func (w *Reader) skipLongHeader(h *header) error {
	for begins := h.used < math.MaxInt; ; { // whether the next bytes begin a line: MaxInt was set within one
		line, err := w.text.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return errEnd(err)
		}
		whole := err == nil
		text := bytes.TrimRight(line, "\r\n")
		if begins && whole && len(text) == 0 {
			h.ended = true
			return nil
		}
		if key, value, found := bytes.Cut(text, []byte(":")); begins && whole && found && isField(key, "Content-Length") {
			_ = h.set(key, bytes.TrimSpace(value)) // without one the record's end is not known
		}
		begins = whole
	}
}

// set sets the field of h that a header field, key: value, belongs to. It ignores unknown
// fields.
func (h *header) set(key, value []byte) error {
	switch {
	case isField(key, "WARC-Type"):
		h.kind = otherKind
		for _, kind := range [...]string{"response", "revisit", "resource"} {
			if isField(value, kind) {
				h.kind = kind
			}
		}
	case isField(key, "WARC-Target-URI"):
		h.url = append(h.url[:0], withoutBrackets(value)...)
	case isField(key, "WARC-Date"):
		date, err := time.Parse(time.RFC3339, string(value))
		if err != nil || date.Year() > captures.LastYear {
			return broken("WARC-Date %.40q is no time", value)
		}
		h.date, h.hasDate = date, true
	case isField(key, "WARC-Record-ID"):
		h.record = captures.NameOf(withoutBrackets(value))
	case isField(key, "WARC-Payload-Digest"):
		h.payload, h.digest = captures.NameOf(value), append(h.digest[:0], value...)
	case isField(key, "WARC-Truncated"):
		h.truncated = len(value) > 0
	case isField(key, "Content-Type"):
		h.http, h.plain = hasPrefixFold(value, "application/http"), hasPrefixFold(value, "text/plain")
	case isField(key, "Content-Length"):
		length, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || length < 0 || length > maxRecord {
			return broken("Content-Length %.40q is no length of a record", value)
		}
		h.length = length
	case isField(key, "WARC-Profile"):
		h.notModified = bytes.HasSuffix(value, []byte("/server-not-modified"))
	case isField(key, "WARC-Refers-To"):
		h.original = captures.NameOf(withoutBrackets(value))
	case isField(key, "WARC-Refers-To-Target-URI"):
		h.originalURL = append(h.originalURL[:0], withoutBrackets(value)...)
	case isField(key, "WARC-Refers-To-Date"):
		h.originalAt, _ = time.Parse(time.RFC3339, string(value)) // without a time it refers to nothing
	}
	return nil
}

// withoutBrackets returns a URI without the angle brackets that WARC 1.0 has around it.
func withoutBrackets(value []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimPrefix(value, []byte("<")), []byte(">"))
}

func isField(key []byte, name string) bool {
	return len(key) == len(name) && hasPrefixFold(key, name)
}

// hasPrefixFold reports whether s starts with prefix, whatever the case.
func hasPrefixFold(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && bytes.EqualFold(s[:len(prefix)], []byte(prefix))
}
