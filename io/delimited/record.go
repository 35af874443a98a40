package delimited

import "bytes"

// reader goes over the fields of a block of whole records.
type reader struct {
	data      []byte
	separator byte
	literal   bool // a quote is a character like others
	at        int  // the next field's first octet
	lineEnd   int  // the first line end at or after at; len(data) without one
	end       int  // lineEnd less the CR before it
}

// newReader returns a reader of data, which starts with a record. Where literal
// is true, quotes mean nothing.
func newReader(data []byte, separator byte, literal bool) *reader {
	r := &reader{data: data, separator: separator, literal: literal}
	r.findEnd()
	return r
}

// findEnd finds the end of the line that data[r.at] is in. A CR before the end
// belongs to it, also at the end of the data.
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

// more tells whether there is another record, which is the next after empty
// lines.
func (r *reader) more() bool {
	for r.at < len(r.data) && r.at == r.end {
		r.at = min(r.lineEnd+1, len(r.data))
		r.findEnd()
	}
	return r.at < len(r.data)
}

// field appends the next field of a record to dst. It is the last of its record
// when last is true; ok is false when it opens with a quote that nothing closes,
// and then there is nothing after it.
func (r *reader) field(dst []byte) (_ []byte, last, ok bool) {
	if r.at < r.end && r.data[r.at] == '"' && !r.literal {
		if dst, ok = r.quoted(dst); !ok {
			return dst, true, false
		}
	}
	// The whole of a plain field. After quotes there should be nothing, but
	// what is there belongs to the value.
	plain := r.data[r.at:r.end]
	if i := bytes.IndexByte(plain, r.separator); i >= 0 {
		r.at += i + 1
		return append(dst, plain[:i]...), false, true
	}
	r.at = min(r.lineEnd+1, len(r.data))
	r.findEnd()
	return append(dst, plain...), true, true
}

// quoted appends what is in quotes, two in it being one, and goes behind them.
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
