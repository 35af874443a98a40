package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is s with what a terminal might obey as %XX: control characters, those
// that change the direction of text, and bytes that are not UTF-8.
func Printable(s string) string {
	harmless := func(r rune) bool { return !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) }
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !harmless(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if harmless(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(s[:size])
		} else {
			for _, c := range []byte(s[:size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		}
		s = s[size:]
	}
	return b.String()
}
