package reference

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// minLimit is the least size limit of a body in bytes, and the default: 500 KiB (RFC 9309
// §2.5).
const minLimit = 500 * 1024

// bodyText returns the part of a body that counts, in UTF-8: without byte order mark, and
// within the size limit, which includes the mark.
//
// RFC9309: a body that starts with a UTF-16 mark is decoded. A line that the limit cuts in
// two is dropped, because a rule without its end would cover more than its author meant.
// Google: there is neither UTF-16 nor a limit.
func bodyText(body []byte, p Profile, limit int) (text string, limited bool) {
	if p == Google {
		return string(body[utf8Mark(body):]), false
	}
	mark, width, decode := encoding(body)
	limit = max(limit, minLimit)
	limit -= limit % width // a character is either within the limit or not
	if len(body) <= limit {
		return decode(body[mark:]), false
	}
	text = decode(body[mark:limit])
	next := decode(body[limit:min(limit+width, len(body))])
	if next != "\r" && next != "\n" {
		text = text[:strings.LastIndexAny(text, "\r\n")+1]
	}
	return text, true
}

// encoding determines a body's encoding from its mark. It returns the length of the mark,
// the least size of a character, and a function that decodes to UTF-8.
func encoding(body []byte) (mark, width int, decode func([]byte) string) {
	switch {
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		return 2, 2, func(b []byte) string { return fromUTF16(b, binary.LittleEndian) }
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		return 2, 2, func(b []byte) string { return fromUTF16(b, binary.BigEndian) }
	}
	return utf8Mark(body), 1, func(b []byte) string { return string(b) }
}

// utf8Mark returns the length of the UTF-8 byte order mark at the body's start; it may be
// incomplete.
func utf8Mark(body []byte) int {
	n := 0
	for n < 3 && n < len(body) && body[n] == "\xEF\xBB\xBF"[n] {
		n++
	}
	return n
}

// fromUTF16 decodes UTF-16. A lone surrogate becomes U+FFFD, and so does an odd byte at the
// end.
func fromUTF16(b []byte, order binary.ByteOrder) string {
	var units []uint16
	for ; len(b) >= 2; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	if len(b) == 1 {
		units = append(units, '\uFFFD')
	}
	return string(utf16.Decode(units))
}
