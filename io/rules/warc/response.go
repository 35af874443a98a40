package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"robotsbatch/io/rules/captures"
	"robotsbatch/matcher/access"
	"robotsbatch/matcher/urls"
)

// readResponse sets x to the HTTP response, or the body, in the record's block. After an error the next
// record can be read, unless block.err is set.
func (w *Reader) readResponse(x *captures.Capture) error {
	*x = captures.Capture{URL: x.URL, Time: x.Time}
	if w.header.kind == "resource" { // the body alone
		w.answer = answer{status: 200, length: -1}
	} else if err := w.readHTTPHeader(); err != nil {
		return err
	}
	for w.answer.status/100 == 1 && w.startsHTTP() { // the final response comes after it
		if err := w.readHTTPHeader(); err != nil {
			return err
		}
	}
	x.Status = w.answer.status
	switch x.Status / 100 {
	case 3:
		if w.answer.cut {
			return broken("the HTTP header ends within a line")
		}
		x.Location = w.answer.location
	case 2:
		if x.Status == 204 { // No Content
			return nil
		}
		if w.answer.unended {
			return broken("the HTTP header of status %d has no empty line after it, so the body is missing", x.Status)
		}
		a := &w.answer
		isPart := x.Status == 206
		if isPart && a.first > 0 {
			return broken("the body is a part that begins at byte %d", a.first)
		}
		if isPart && a.multipart {
			return broken("the body has several parts of the whole")
		}
		if isPart && a.last < 0 {
			return broken("the body is a part, and no Content-Range says which")
		}
		isCut := w.header.truncated || isPart && a.last != a.size-1 // true for size 0, which is not known
		stored := w.block.left
		mayLackAll := isCut && a.length != 0 || !a.chunked && a.length > stored // what the server sent
		if err := w.readBody(x); err != nil {
			return err
		}
		mayLackAll = mayLackAll || a.chunked && stored > 0 && x.Cut // it was cut in its first chunk
		if mayLackAll && len(x.Body) == 0 {                         // which would allow everything
			return broken("there is no body: it was cut off before its first byte")
		}
		x.Cut = x.Cut || isCut
	}
	return nil
}

// readRevisit sets x to a revisit, whose payload is in another record. The block may have the
// response's header: a 2xx has the other record's payload, and any other status decides by
// itself.
func (w *Reader) readRevisit(x *captures.Capture) error {
	h := &w.header
	*x = captures.Capture{URL: x.URL, Time: x.Time, Status: 200} // unless a header says another
	if h.http && w.startsHTTP() {
		if err := w.readHTTPHeader(); w.block.err != nil {
			return err
		} else if err == nil {
			x.Status = w.answer.status
		}
	}
	switch {
	case h.notModified || x.Status == access.NotModified:
		x.Status = access.NotModified
	case x.Status/100 == 3:
		x.Location = w.answer.location
		x.Failed = len(x.Location) == 0 // the redirect is elsewhere
	case x.Status/100 == 2:
		x.Revisit, x.Record, x.Digest = true, h.original, h.payload
		x.OriginalURL, x.OriginalTime = h.originalURL, h.originalAt
	}
	return nil
}

// startsHTTP reports whether an HTTP response follows in the block.
func (w *Reader) startsHTTP() bool {
	const start = "HTTP/"
	if w.block.left < int64(len(start)) {
		return false
	}
	seen, _ := w.text.Peek(len(start))
	return string(seen) == start
}

// readHTTPHeader reads the response's header from the block into w.answer, with the empty line
// after it.
func (w *Reader) readHTTPHeader() error {
	size := int(min(w.block.left, maxHeader))
	seen, err := w.text.Peek(size)
	if len(seen) < size {
		w.block.err = errEnd(err)
		return w.block.err
	}
	end := headerEnd(seen)
	unended := end < 0
	if unended {
		if int64(size) < w.block.left {
			return broken("the HTTP header has more than %d bytes", maxHeader)
		}
		end = size
	}
	ok := w.answer.parse(seen[:end])
	w.answer.unended, w.answer.cut = unended, unended && !bytes.HasSuffix(seen, []byte("\n"))
	if !ok {
		first, _, _ := bytes.Cut(seen, []byte("\n"))
		return broken("the response is no HTTP: it starts with %.60q", first)
	}
	w.block.left -= int64(end)
	_, _ = w.text.Discard(end) // it is there
	return nil
}

// headerEnd returns the offset after the first empty line, where the body starts; -1 if there
// is none. It does not find one at the start of data.
func headerEnd(data []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		if rest := bytes.TrimPrefix(data[at:], []byte("\r")); bytes.HasPrefix(rest, []byte("\n")) {
			return len(data) - len(rest) + 1
		}
	}
}

// answer is the part of a response's header that matters. Lines that are no fields are
// skipped, as browsers do.
type answer struct {
	status   int
	location []byte
	// codings are those of all Content-Encoding fields, then those of all
	// Transfer-Encoding fields but chunked: the order in which a server applies
	// them (RFC 9112 §7).
	codings []coding
	chunked bool
	length  int64 // Content-Length; -1 when there is none, or several
	unended bool  // the block ends before the empty line after the header
	cut     bool  // and within a line of it
	// Of a part, by Content-Range: the first and last byte, and the size of the whole; 0, -1 and 0 where not known.
	first, last, size int64
	multipart         bool // Content-Type says that there are several parts

	transfer []coding // of Transfer-Encoding
	unfolded []byte   // a field that goes on over several lines
}

// parse sets a to what an HTTP header says, and copies what it needs. It returns false if head
// is not an HTTP header.
func (a *answer) parse(head []byte) bool {
	*a = answer{
		location: a.location[:0], codings: a.codings[:0], length: -1, last: -1,
		transfer: a.transfer[:0], unfolded: a.unfolded[:0],
	}
	line, rest := cutLine(head)
	if !a.parseStatus(line) {
		return false
	}
	lengths := 0
	for len(rest) > 0 {
		if line, rest = a.cutField(rest); len(line) == 0 {
			continue
		}
		if first := line[0] | 0x20; first != 'c' && first != 'l' && first != 't' { // in lower case: most fields do not matter
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case isField(name, "Location") && len(a.location) == 0:
			a.location = append(a.location, value...)
		case isField(name, "Content-Encoding"):
			a.codings = a.appendCodings(a.codings, value)
		case isField(name, "Transfer-Encoding"):
			a.transfer = a.appendCodings(a.transfer, value)
		case isField(name, "Content-Length"):
			length, err := strconv.ParseInt(string(value), 10, 64)
			if lengths++; lengths > 1 && length != a.length || err != nil || length < 0 {
				length = -1
			}
			a.length = length
		case isField(name, "Content-Range"): // some write bytes= as in Range
			value = bytes.TrimLeft(bytes.TrimPrefix(urls.AppendLower(nil, value), []byte("bytes")), " \t=")
			_, _ = fmt.Sscanf(string(value), "%d-%d/%d", &a.first, &a.last, &a.size) // as far as it says so
		case isField(name, "Content-Type"):
			a.multipart = bytes.HasPrefix(urls.AppendLower(nil, value), []byte("multipart/byteranges"))
		}
	}
	a.codings = append(a.codings, a.transfer...)
	return true
}

// appendCodings appends the codings that a field's value lists. It skips unknown ones, such as
// "utf-8" or "none". For chunked, it sets a.chunked instead.
func (a *answer) appendCodings(list []coding, value []byte) []coding {
	for name := range bytes.SplitSeq(value, []byte(",")) {
		name, _, _ = bytes.Cut(name, []byte(";")) // parameters
		name = bytes.TrimSpace(name)
		if isField(name, "chunked") {
			a.chunked = true
		} else if c := codingsByName[string(urls.AppendLower(nil, name))]; c != identity {
			list = append(list, c)
		}
	}
	return list
}

// cutField splits the first field from data, with the lines folded onto it: those that start
// with a space or a tab (RFC 9112 §5.2). The field is valid until the next call.
func (a *answer) cutField(data []byte) (field, rest []byte) {
	field, rest = cutLine(data)
	if !startsFolded(rest) {
		return field, rest
	}
	a.unfolded = append(a.unfolded[:0], field...)
	for startsFolded(rest) {
		var line []byte
		line, rest = cutLine(rest)
		a.unfolded = append(append(a.unfolded, ' '), bytes.TrimSpace(line)...)
	}
	return a.unfolded, rest
}

func startsFolded(data []byte) bool {
	return len(data) > 0 && (data[0] == ' ' || data[0] == '\t')
}

// parseStatus sets the status from a status line (RFC 9112 §4); false if it is none. It
// accepts versions that are one number, such as HTTP/2.
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
	if a.status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0'); a.status == 0 {
		a.status = -1 // captures.Capture.Status 0 means that it is not known
	}
	return true
}

// cutLine splits the first line, without its line end, from data.
func cutLine(data []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(data, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// readBody sets x.Body to the first Options.BodySize bytes of the body, decoded, and x.Cut and
// x.Longer. The body is valid until the next one is read.
func (w *Reader) readBody(x *captures.Capture) error {
	if length := w.answer.length; length >= 0 && !w.answer.chunked {
		x.Longer = w.block.left > length
		x.Cut = w.block.left < length
	}
	w.body.Reset()
	if !w.answer.chunked && len(w.answer.codings) == 0 {
		return w.readPlain(x)
	}
	w.http.Reset(&w.block)
	reader, coded, err := w.decoder.open(w.http, w.answer.codings, w.answer.chunked)
	if err == nil {
		_, err = io.CopyN(&w.body, reader, int64(w.options.BodySize))
	}
	x.Body, x.Cut = w.body.Bytes(), false // a decoder knows where its input ends
	x.Longer = x.Longer && coded          // else the length is that of the coded body
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case w.block.err != nil:
		return w.block.err
	case coded && len(x.Body) == 0: // without a body it would allow everything
		return broken("the body cannot be decoded: %w", err)
	}
	x.Cut = true
	return nil
}

// readPlain is readBody for a body without codings.
func (w *Reader) readPlain(x *captures.Capture) error {
	size := int(min(w.block.left, int64(w.options.BodySize)))
	w.body.Grow(size)
	body := w.body.AvailableBuffer()[:size]
	if _, err := io.ReadFull(&w.block, body); err != nil {
		return err
	}
	x.Body = body
	x.Cut = x.Cut && size < w.options.BodySize // what is missing after BodySize bytes would not be read
	return nil
}
