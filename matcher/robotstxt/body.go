package robotstxt

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// sniffed is the number of bytes at the start of a text that tell whether it is HTML or binary data.
const sniffed = 512

// Counted returns the part of a body that counts under o (RFC 9309 §2.5), and whether that is less
// than the body. Parsing that part without Options.Cut gives the same groups and records as parsing
// the body under o. The result aliases the body.
func Counted(body []byte, o Options) (counted []byte, limited bool) {
	limit := len(body)
	if o.Profile != Google {
		limit = min(limit, o.ReadLimit())
	}
	if limited = o.Cut || limit < len(body); !limited {
		return body, false
	}
	if order := utf16Mark(body); order != nil && o.Profile != Google {
		return wholeUTF16Lines(body, limit, order), true
	}
	counted = body[:limit:limit]
	if !startsWithLineEnd(body[limit:]) { // else the last line is whole
		counted = counted[:bytes.LastIndexAny(counted, "\n\r")+1]
	}
	return counted, true
}

// readText returns the part of a body that counts, as UTF-8 without byte order mark. It aliases the
// body unless that is decoded. It sets f.Limited and f.Kind, and gives the warnings about the body
// as a whole.
func (f *File) readText(body []byte, o Options) (text []byte) {
	order := utf16Mark(body)
	if order != nil {
		o.warn(UTF16Body, wholeBody)
	}
	text, f.Limited = Counted(body, o)
	if f.Limited {
		o.warn(BodyLimited, wholeBody)
	}
	switch {
	case order == nil:
		text = skipMark(text)
	case o.Profile == Google: // its parser reads UTF-16 as if it were UTF-8
		f.Kind = UnreadableKind
		return text
	default:
		text = decodeUTF16(text[utf16MarkSize:], order)
	}
	f.sniff(text, o)
	return text
}

// startsWithLineEnd reports whether a text starts with LF or CR.
func startsWithLineEnd(text []byte) bool {
	return len(text) > 0 && (text[0] == '\n' || text[0] == '\r')
}

// skipMark skips a UTF-8 byte order mark at the start, even an incomplete one.
func skipMark(text []byte) []byte {
	const mark = "\xEF\xBB\xBF"
	n := 0
	for n < len(mark) && n < len(text) && text[n] == mark[n] {
		n++
	}
	return text[n:]
}

// utf16MarkSize is the number of bytes of a UTF-16 byte order mark: one code unit.
const utf16MarkSize = 2

// utf16Mark returns the byte order of a body that starts with a UTF-16 byte order mark; nil for any
// other.
func utf16Mark(body []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return binary.BigEndian
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return binary.LittleEndian
	}
	return nil
}

// wholeUTF16Lines returns the part of a body within a limit, including its mark. It drops the
// line that the limit cuts, and half a code unit. A line is not cut if its end follows the
// limit, as in UTF-8.
func wholeUTF16Lines(body []byte, limit int, order binary.ByteOrder) []byte {
	limit &^= 1 // a code unit has two bytes, as in the loop below
	if next := body[limit:min(limit+lookahead, len(body))]; startsWithLineEnd(decodeUTF16(next, order)) {
		return body[:limit:limit]
	}
	for limit > utf16MarkSize && !startsWithLineEnd(decodeUTF16(body[limit-2:limit], order)) {
		limit -= 2
	}
	return body[:limit:limit]
}

// decodeUTF16 returns UTF-16 text as UTF-8. Each half of a surrogate pair without the other
// half, and half a code unit at the end, becomes U+FFFD.
func decodeUTF16(body []byte, order binary.ByteOrder) []byte {
	text := make([]byte, 0, len(body)/2)
	for ; len(body) >= 2; body = body[2:] {
		r := rune(order.Uint16(body))
		if utf16.IsSurrogate(r) && len(body) >= 4 {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(body[2:]))); pair != utf8.RuneError {
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

// sniff sets f.Kind by the start of a text, and gives a warning if that looks like HTML or binary
// data. A text may look like both: then it is HTML, with both warnings.
func (f *File) sniff(text []byte, o Options) {
	f.Kind = TextKind
	if hasBinary(text[:min(len(text), sniffed)]) {
		f.Kind = BinaryKind
		o.warn(BinaryBody, wholeBody)
	}
	trimmed := bytes.TrimLeft(text, " \t\n\v\f\r")
	if len(trimmed) == 0 {
		f.Kind = EmptyKind
	} else if at := len(text) - len(trimmed); at < sniffed && trimmed[0] == '<' {
		f.Kind = HTMLKind
		o.warn(HTMLBody, wholeBody)
	}
}

// hasBinary reports whether a text has a control character other than white space and ESC,
// which some encodings use.
func hasBinary(text []byte) bool {
	const esc = 0x1B
	return slices.ContainsFunc(text, func(c byte) bool { return c < ' ' && c != esc && !isSpace(c) })
}
