package format

import (
	"bytes"
	"fmt"

	"robotsbatch/matcher/domains"
)

// trailingError is the error for a list of URLs whose lines go on after the URL, which would
// make the rest a part of it.
type trailingError struct {
	// line is the first such line, and separator what follows its URL.
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
	case '|', ',', ';':
		what, cut, header = string(e.separator), fmt.Sprintf("cut -d'%c' -f1", e.separator), above
	}
	return fmt.Sprintf("the lines go on after the URL and %s (%q): pipe the list through %s%s", what, line, cut, header)
}

// leastLines and leastDomains are how much of a list must have commas or semicolons before figures.
const leastLines, leastDomains = 8, 3

// CheckTrailing returns an error if the first lines of a list show that they go on
// after the URL. No URL has a tab, so it is enough that half of the lines have one. The other separators
// occur in URLs. So every line must have the same number of them, and a number, a time or a URL
// after each. At least one | or comma or semicolon must be outside of a query. Commas and
// semicolons need eight lines of three domains, because all URLs of a site may end in a comma and a
// number.
func CheckTrailing(head []byte) error {
	if len(head) >= HeadSize { // its last line may be cut
		if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
			head = head[:end]
		}
	}
	const separators = "\t |,;"
	var first [len(separators)][]byte // line with each separator
	var with, fields [len(separators)]int
	var outside [len(separators)]bool        // of a query
	lines, found := 0, make(map[string]bool) // by domain
	for line := range bytes.Lines(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))) {
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
		found[string(domains.Registered(host))] = true
		for i, separator := range []byte(separators) {
			count := trailing(line, separator)
			if count == 0 || with[i] > 0 && separator != '\t' && count != fields[i] {
				continue
			}
			if with[i] == 0 {
				first[i], fields[i] = line, count
			}
			with[i]++
			outside[i] = outside[i] || bytes.IndexByte(line[:bytes.IndexByte(line, separator)], '?') < 0
		}
	}
	for i, separator := range []byte(separators) {
		enough := lines > 1 && with[i] == lines
		switch separator {
		case '\t':
			enough = with[i] > 0 && 2*with[i] >= lines
		case '|':
			enough = enough && outside[i]
		case ',', ';':
			enough = enough && outside[i] && lines >= leastLines && len(found) >= leastDomains
		}
		if enough {
			return &trailingError{string(first[i]), separator}
		}
	}
	return nil
}

// trailing returns the number of fields after a line's URL; 0 for none, and where one after
// any but a tab may be a part of the URL.
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
