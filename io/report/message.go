package report

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"robotsbatch/batch/option"
	"robotsbatch/io/store/blob"
)

// Message is err in words for whoever runs the program: with options in that person's words,
// without the names of system calls, on one line, and harmless to a terminal.
func Message(err error, words option.Words) string {
	return Printable(withoutCalls(option.Text(err, words), err, words))
}

// withoutCalls takes the system calls that the errors below err name out of text,
// and the name of a file that the text before names already.
func withoutCalls(text string, err error, words option.Words) string {
	switch e := err.(type) {
	case *fs.PathError:
		return replaceCall(text, e.Error(), e.Path, e.Err.Error())
	case *os.LinkError:
		return replaceCall(text, e.Error(), e.New, e.Err.Error())
	case *os.SyscallError:
		return strings.Replace(text, e.Error(), e.Err.Error(), 1)
	case *blob.NamedError:
		return withoutCalls(replaceCall(text, option.Text(e, words), e.Name, option.Text(e.Err, words)), e.Err, words)
	case interface{ Unwrap() error }:
		if below := e.Unwrap(); below != nil {
			return withoutCalls(text, below, words)
		}
	case interface{ Unwrap() []error }:
		var lines []string
		for _, below := range e.Unwrap() {
			lines = append(lines, option.Text(below, words))
		}
		text = strings.Replace(text, strings.Join(lines, "\n"), strings.Join(lines, "; "), 1)
		for _, below := range e.Unwrap() {
			text = withoutCalls(text, below, words)
		}
	}
	return text
}

func replaceCall(text, call, path, cause string) string {
	before, after, found := strings.Cut(text, call)
	switch {
	case !found:
		return text
	case path == "" || hasWord(option.Unmarked(before), path):
		return before + cause + after
	}
	return before + path + ": " + cause + after
}

// hasWord tells whether a name stands in text between spaces, or before a colon.
func hasWord(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(name)
		if (begin == 0 || text[begin-1] == ' ') && (end == len(text) || text[end] == ' ' || text[end] == ':') {
			return true
		}
		at = begin + 1
	}
}

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
