package delimited

import "bytes"

// reader goes over the fields of a block of whole records.
type reader struct {
	data      []byte
	separator byte
	literal   bool // a quote is a plain character
	at        int  // the offset of the next field
	lineEnd   int  // the offset of the first LF at or after at; len(data) without one
	end       int  // where the text of that line ends: at lineEnd, or before a CR there
}

// newReader returns a reader of data, which starts with a record. With literal, a quote is a plain
// character.
func newReader(data []byte, separator byte, literal bool) *reader {
	r := &reader{data: data, separator: separator, literal: literal}
	r.findEnd()
	return r
}

// findEnd sets lineEnd and end for the line of the next field. A CR before a line end, or at
// the end of the data, belongs to the line end.
func (r *reader) findEnd() {
	r.lineEnd = len(r.data)
	if i := bytes.IndexByte(r.data[r.at:], '\n'); i >= 0 {
		r.lineEnd = r.at + i
	}
	r.end = r.lineEnd
	if r.end > r.at && r.data[r.end-1] == '\r' {
		r.end--
	}
}

// more skips empty lines and reports whether another record follows.
func (r *reader) more() bool {
	for r.at < len(r.data) && r.at == r.end {
		r.at = min(r.lineEnd+1, len(r.data))
		r.findEnd()
	}
	return r.at < len(r.data)
}

// field appends the next field of a record to dst. last reports whether it is the record's
// last. ok is false if a quote is not closed; nothing can be read after that.
func (r *reader) field(dst []byte) (_ []byte, last, ok bool) {
	if r.at < r.end && r.data[r.at] == '"' && !r.literal {
		if dst, ok = r.quoted(dst); !ok {
			return dst, true, false
		}
	}
	// A plain field, or what follows closing quotes, which belongs to the value.
	plain := r.data[r.at:r.end]
	if i := bytes.IndexByte(plain, r.separator); i >= 0 {
		r.at += i + 1
		return append(dst, plain[:i]...), false, true
	}
	r.at = min(r.lineEnd+1, len(r.data))
	r.findEnd()
	return append(dst, plain...), true, true
}

// quoted appends the text between quotes to dst, with doubled quotes as one, and moves past
// the closing quote. ok is false if there is none.
func (r *reader) quoted(dst []byte) (_ []byte, ok bool) {
	for at := r.at + 1; ; {
		i := bytes.IndexByte(r.data[at:], '"')
		if i < 0 {
			return dst, false
		}
		dst = append(dst, r.data[at:at+i]...)
		at += i + 1
		if at == len(r.data) || r.data[at] != '"' {
			r.at = at
			if at > r.lineEnd {
				r.findEnd()
			}
			return dst, true
		}
		dst = append(dst, '"')
		at++
	}
}
