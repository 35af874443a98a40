package format

import (
	"bytes"
	"fmt"
	"strings"

	"robotsbatch/matcher/domains"
)

// trailingError is the error for a list of URLs whose lines go on after the URL, which would
// make the rest a part of it.
type trailingError struct {
	// line is the first such line, and separator what follows its URL.
	line      string
	separator byte
}

// Error says which command removes all but the URLs.
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
	case '|', ',', ';':
		what, cut, header = string(e.separator), fmt.Sprintf("cut -d'%c' -f1", e.separator), above
	}
	return fmt.Sprintf("the lines go on after the URL and %s (%q): pipe the list through %s%s", what, line, cut, header)
}

// leastLines and leastDomains are the least lines, and registered domains of their URLs, that show
// that commas or semicolons separate fields: all URLs of one site may end in a comma and a number.
const leastLines, leastDomains = 8, 3

// CheckTrailing returns an error if the first lines of a list, in head, show that text follows the
// URLs. No URL has a tab, so it suffices that half of the lines have one. Other separators occur in
// URLs, so more is asked of them: each line has the same number of them, with a number, a time or a
// URL after each. At least one |, comma or semicolon is outside of a query. For commas and
// semicolons, leastLines and leastDomains are reached.
func CheckTrailing(head []byte) error {
	if len(head) >= HeadSize { // its last line may be cut
		if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
			head = head[:end]
		}
	}
	trailers := []trailer{{separator: '\t'}, {separator: ' '}, {separator: '|'}, {separator: ','}, {separator: ';'}}
	lines, seen := 0, make(map[string]bool) // by registered domain
	for line := range bytes.Lines(withoutMark(head)) {
		line = bytes.Trim(line, " \t\r\n\v\f")
		scheme, _, ok := bytes.Cut(line, []byte("://"))
		if !ok || !isScheme(scheme) {
			continue
		}
		lines++
		host := bytes.ToLower(line[len(scheme)+len("://"):])
		if end := bytes.IndexAny(host, "/?#,;:"); end >= 0 {
			host = host[:end]
		}
		seen[string(domains.Registered(host))] = true
		for i := range trailers {
			trailers[i].add(line)
		}
	}
	for i := range trailers {
		if t := &trailers[i]; t.isCertain(lines, len(seen)) {
			return &trailingError{string(t.first), t.separator}
		}
	}
	return nil
}

// trailer counts the lines that have fields after the URL, for a separator. With a tab, each such
// line counts. With any other separator, a line counts if it has as many fields as the first such line.
type trailer struct {
	separator byte
	lines     int    // the number of lines that count
	first     []byte // the first of them
	fields    int    // the number of fields after its URL
	outside   bool   // in some line a separator is outside of the query
}

// add counts a line, if it has fields after its URL.
func (t *trailer) add(line []byte) {
	fields := fieldsAfterURL(line, t.separator)
	if t.lines == 0 {
		t.first, t.fields = line, fields
	}
	if fields == 0 || t.separator != '\t' && fields != t.fields {
		return
	}
	t.lines++
	t.outside = t.outside || bytes.IndexByte(line[:bytes.IndexByte(line, t.separator)], '?') < 0
}

// isCertain reports whether the counted lines show that fields follow the URLs, by the rules of
// CheckTrailing. Only a tab is certain in a single line. lines is the number of all lines with a
// URL, and domains the number of their registered domains.
func (t *trailer) isCertain(lines, domains int) bool {
	switch t.separator {
	case '\t':
		return t.lines > 0 && 2*t.lines >= lines
	case ' ':
		return lines > 1 && t.lines == lines
	case '|':
		return lines > 1 && t.lines == lines && t.outside
	}
	return t.lines == lines && t.outside && lines >= leastLines && domains >= leastDomains // ',' or ';'
}

// fieldsAfterURL returns the number of fields after a line's URL; 0 if there are none, or if
// one of them, after any separator but a tab, may be a part of the URL.
func fieldsAfterURL(line []byte, separator byte) (fields int) {
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

// isFigure reports whether a field is a number, a time or a URL. Numbers and times may have signs,
// exponents, a percent sign and a time zone.
func isFigure(field []byte) bool {
	if scheme, _, ok := bytes.Cut(field, []byte("://")); ok && isScheme(scheme) {
		return true
	}
	digits := 0
	for _, c := range field {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case strings.IndexByte(".-+:%TZe", c) < 0:
			return false
		}
	}
	return digits > 0
}
