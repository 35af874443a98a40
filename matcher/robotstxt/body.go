package robotstxt

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// sniffed is how many octets of a text are looked at to tell HTML and binary
// data from a robots.txt.
const sniffed = 512

// Counted returns the part of a body that counts (RFC 9309 §2.5), which aliases
// it, and whether that is less than there was: Parse makes of it, without Cut,
// the same groups and records that it makes of the body under o. Without a limit
// or Cut that is the body.
func Counted(body []byte, o Options) (counted []byte, limited bool) {
	limit := len(body)
	if o.Profile != Google {
		limit = min(limit, o.ReadLimit())
	}
	if limited = o.Cut || limit < len(body); !limited {
		return body, false
	}
	if order := utf16Mark(body); order != nil && o.Profile != Google {
		return order.wholeLines(body, limit), true
	}
	counted = body[:limit:limit]
	if !startsWithLineEnd(body[limit:]) {
		counted = wholeLines(counted)
	}
	return counted, true
}

// open returns the part of a body that counts, as text in UTF-8 without a byte
// order mark, and records what concerns the body as a whole.
func (f *File) open(body []byte, o Options) []byte {
	counted, limited := Counted(body, o)
	f.Limited = limited
	order := utf16Mark(body)
	if order != nil {
		f.warn(UTF16Body, 0)
	}
	if f.Limited {
		f.warn(BodyLimited, 0)
	}
	if order != nil && o.Profile != Google {
		text := order.decode(counted[2:])
		f.sniff(text)
		return text
	}
	text := skipMark(counted)
	if order == nil {
		f.sniff(text)
	}
	return text
}

// wholeLines cuts what follows the last line end.
func wholeLines(text []byte) []byte {
	const piece = 256 // octets at a time: what is no text may have one line
	n := len(text)
	for n > piece && bytes.IndexByte(text[n-piece:n], '\n') < 0 && bytes.IndexByte(text[n-piece:n], '\r') < 0 {
		n -= piece
	}
	for n > 0 && !startsWithLineEnd(text[n-1:]) {
		n--
	}
	return text[:n]
}

func startsWithLineEnd(text []byte) bool {
	return len(text) > 0 && (text[0] == '\n' || text[0] == '\r')
}

// skipMark skips the UTF-8 byte order mark, or as much of its beginning as is
// there.
func skipMark(text []byte) []byte {
	const mark = "\xEF\xBB\xBF"
	n := 0
	for n < len(mark) && n < len(text) && text[n] == mark[n] {
		n++
	}
	return text[n:]
}

// utf16Order says which octet of a code unit is the high one.
type utf16Order struct{ high, low int }

// utf16Mark returns the order that a UTF-16 byte order mark at the body's
// start announces, or nil.
func utf16Mark(body []byte) *utf16Order {
	switch {
	case len(body) < 2:
		return nil
	case body[0] == 0xFE && body[1] == 0xFF:
		return &utf16Order{high: 0, low: 1}
	case body[0] == 0xFF && body[1] == 0xFE:
		return &utf16Order{high: 1, low: 0}
	}
	return nil
}

// wholeLines is what counts of a body, with its mark, that is cut at limit: a
// code unit that the limit halves lies beyond it, and a line that it cuts is
// dropped.
func (o *utf16Order) wholeLines(body []byte, limit int) []byte {
	limit &^= 1
	if next := body[limit:min(limit+lookahead, len(body))]; startsWithLineEnd(o.decode(next)) {
		return body[:limit:limit]
	}
	for limit > 2 && !startsWithLineEnd(o.decode(body[limit-2:limit])) {
		limit -= 2
	}
	return body[:limit:limit]
}

// decode returns UTF-16 text as UTF-8, with U+FFFD for each half of a surrogate
// pair, and for half a code unit at the end, that lacks the other half.
func (o *utf16Order) decode(body []byte) []byte {
	text := make([]byte, 0, len(body)/2)
	for ; len(body) >= 2; body = body[2:] {
		r := o.unit(body)
		if utf16.IsSurrogate(r) && len(body) >= 4 {
			if pair := utf16.DecodeRune(r, o.unit(body[2:])); pair != utf8.RuneError {
				r = pair
				body = body[2:]
			}
		}
		text = utf8.AppendRune(text, r)
	}
	if len(body) > 0 {
		text = utf8.AppendRune(text, utf8.RuneError)
	}
	return text
}

func (o *utf16Order) unit(body []byte) rune {
	return rune(body[o.high])<<8 | rune(body[o.low])
}

// sniff warns of a text that begins as no robots.txt does.
func (f *File) sniff(text []byte) {
	text = text[:min(len(text), sniffed)]
	if hasBinary(text) {
		f.warn(BinaryBody, 0)
	}
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	if len(text) > 0 && text[0] == '<' {
		f.warn(HTMLBody, 0)
	}
}

// hasBinary tells whether there is one of the control characters that no text has: all
// but those of white space and ESC, with which some encodings switch.
func hasBinary(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != 0x1B && !isSpace(c) {
			return true
		}
	}
	return false
}
