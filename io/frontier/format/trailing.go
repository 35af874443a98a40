package format

import (
	"bytes"
	"fmt"
)

// trailingError is the error for a list of URLs whose lines go on after the URL, which would
// make the rest a part of it.
type trailingError struct {
	// line is the first such line, and separator what follows its URL: a tab, a blank or |.
	line      string
	separator byte
}

func (e *trailingError) Error() string {
	const most = 80
	const above = ", or put a header above the first line, with url and the names of the other columns"
	line, what, cut, header := e.line, "blanks", "awk '{print $1}'", ""
	if len(line) > most {
		line = line[:most] + "…"
	}
	switch e.separator {
	case '\t':
		what, cut, header = "a tab", "cut -f1", above
	case '|':
		what, cut, header = "|", "cut -d'|' -f1", above
	}
	return fmt.Sprintf("the lines go on after the URL and %s (%q): pipe the list through %s%s", what, line, cut, header)
}

// CheckTrailing returns an error if the first lines of a list show that they go on
// after the URL. After a tab, which no URL has, half of them must. Blanks and | do stand in real
// URLs: every line must have as many, and after each numbers, times or further URLs; | must
// stand outside of a query at least once.
func CheckTrailing(head []byte) error {
	if len(head) >= HeadSize { // its last line may be cut
		if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
			head = head[:end]
		}
	}
	var first [3][]byte // line with each separator
	var with, fields [3]int
	lines, outside := 0, false
	for line := range bytes.Lines(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))) {
		line = bytes.Trim(line, " \t\r\n\v\f")
		scheme, _, ok := bytes.Cut(line, []byte("://"))
		if !ok || !isScheme(scheme) {
			continue
		}
		lines++
		for i, separator := range []byte{'\t', ' ', '|'} {
			count := trailing(line, separator)
			if count == 0 || with[i] > 0 && separator != '\t' && count != fields[i] {
				continue
			}
			if with[i] == 0 {
				first[i], fields[i] = line, count
			}
			with[i]++
			outside = outside || separator == '|' && bytes.IndexByte(line[:bytes.IndexByte(line, '|')], '?') < 0
		}
	}
	switch {
	case with[0] > 0 && 2*with[0] >= lines:
		return &trailingError{string(first[0]), '\t'}
	case lines > 1 && with[1] == lines:
		return &trailingError{string(first[1]), ' '}
	case lines > 1 && with[2] == lines && outside:
		return &trailingError{string(first[2]), '|'}
	}
	return nil
}

// trailing returns the number of fields after a line's URL; 0 for none, and where one after
// blanks or | may be a part of the URL.
func trailing(line []byte, separator byte) (fields int) {
	_, rest, more := bytes.Cut(line, []byte{separator})
	for more {
		var field []byte
		field, rest, more = bytes.Cut(rest, []byte{separator})
		field = bytes.Trim(field, " ")
		if separator == ' ' && len(field) == 0 {
			continue
		}
		if separator != '\t' && !isFigure(field) {
			return 0
		}
		fields++
	}
	return fields
}

// isFigure reports whether a field is a number, a time or a URL.
func isFigure(field []byte) bool {
	if scheme, _, ok := bytes.Cut(field, []byte("://")); ok && isScheme(scheme) {
		return true
	}
	digits := 0
	for _, c := range field {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c != '.' && c != '-' && c != '+' && c != ':' && c != '%' && c != 'T' && c != 'Z' && c != 'e':
			return false
		}
	}
	return digits > 0
}
