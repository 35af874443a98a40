package reference

import (
	"fmt"
	"slices"
	"strings"
)

// char is one byte of a normalised text.
type char struct {
	value byte
	// raw means that the text has the byte itself, not an escape of it: a raw "*" in a
	// pattern is a wildcard, "%2A" is not.
	raw bool
}

// These are sets of bytes that percent-encoding treats differently (RFC 9309 §2.2.2, RFC
// 3986 §2).
const (
	letters    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	unreserved = letters + "0123456789-._~"
	// decoded are the bytes whose escapes are decoded: the unreserved ones, and four that
	// delimit nothing in a path or query.
	decoded = unreserved + "*$:@"
	// decodedInQuery are those whose escapes are decoded in a query.
	decodedInQuery = decoded + "/?"
	// forbidden are the printable bytes that a URL may have only escaped. The same is true of
	// controls, the space, DEL and bytes that are not ASCII.
	forbidden = "\"<>[\\]^`{|}"
)

// normalise returns the spelling that all equal texts share. If query is set, it also
// decodes escapes of "/" and "?" after the first "?" (RFC 9309 figure 4).
func normalise(text string, query bool) []char {
	out := make([]char, 0, len(text))
	inQuery := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isEscape(text[i:]):
			value := unhex(text[i+1])<<4 | unhex(text[i+2])
			i += 2
			if query && inQuery && isOneOf(value, decodedInQuery) || isOneOf(value, decoded) {
				out = append(out, char{value: value})
			} else {
				out = appendEscape(out, value)
			}
		case c == '%' || c <= ' ' || c >= 0x7F || isOneOf(c, forbidden):
			out = appendEscape(out, c)
		default:
			inQuery = inQuery || c == '?'
			out = append(out, char{value: c, raw: true})
		}
	}
	return out
}

// googlePattern does all that Google's parser does to a pattern: it escapes bytes that are
// not ASCII and changes hex digits to upper case.
func googlePattern(text string) []char {
	out := make([]char, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case isEscape(text[i:]):
			out = appendEscape(out, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
		case text[i] >= 0x80:
			out = appendEscape(out, text[i])
		default:
			out = append(out, char{value: text[i], raw: true})
		}
	}
	return out
}

// isEscape reports whether the text starts with "%" and two hex digits.
func isEscape(text string) bool {
	const hex = "0123456789ABCDEFabcdef"
	return len(text) >= 3 && text[0] == '%' && isOneOf(text[1], hex) && isOneOf(text[2], hex)
}

// unhex returns the value of a hex digit.
func unhex(digit byte) byte {
	return byte(strings.IndexByte("0123456789abcdef", lower(string(digit))[0]))
}

// appendEscape appends the escape of a byte, three bytes that are not raw.
func appendEscape(out []char, value byte) []char {
	for _, c := range []byte(fmt.Sprintf("%%%02X", value)) {
		out = append(out, char{value: c})
	}
	return out
}

func isOneOf(c byte, set string) bool { return strings.IndexByte(set, c) >= 0 }

// spelling returns the text of a normalised text.
func spelling(chars []char) string {
	text := make([]byte, len(chars))
	for i, c := range chars {
		text[i] = c.value
	}
	return string(text)
}

// NormalisePath returns the two spellings of a path that RFC9309 patterns are compared
// with: plain has its query as written; in query, escapes of "/" and "?" after the first
// "?" are decoded as well.
func NormalisePath(path string) (plain, query string) {
	return spelling(normalise(path, false)), spelling(normalise(path, true))
}

// IsRobotsTxt reports whether the normalised path is /robots.txt without a query;
// /%72obots.txt is, too. It is always allowed under RFC9309 (RFC 9309 §2.2.2).
func IsRobotsTxt(path string) bool { return NewPath(path, RFC9309).plain == robotsTxtPath }

const robotsTxtPath = "/robots.txt"

// Path is a path with its query, ready to be matched.
type Path struct{ plain, query string }

// NewPath prepares a path.
// Google: it is used as written.
func NewPath(path string, p Profile) Path {
	if p == Google {
		return Path{path, path}
	}
	plain, query := NormalisePath(path)
	return Path{plain, query}
}

// Pattern is a rule's pattern, ready to be matched (RFC 9309 §2.2.2, §2.2.3).
type Pattern struct {
	chars []char
	// query means that the pattern has a literal "?" and is matched against the path's
	// query spelling.
	query bool
}

// NewPattern prepares a pattern.
func NewPattern(text string, p Profile) Pattern {
	if p == Google {
		return Pattern{chars: googlePattern(text)}
	}
	query := strings.Contains(text, "?")
	return Pattern{chars: normalise(text, query), query: query}
}

// Length returns the specificity of the pattern: its number of bytes, wildcards included.
func (t Pattern) Length() int { return len(t.chars) }

// Match reports whether the pattern matches the path. The match starts at the first byte of
// the path and need not reach the last. An empty pattern matches nothing.
//
// Match goes through the pattern once. It keeps the sorted list of all positions in the
// path where a match of the pattern so far may end. So it never goes back.
func (t Pattern) Match(path Path) bool {
	s := path.plain
	if t.query {
		s = path.query
	}
	var first, second [16]int // no memory is allocated for short paths
	positions, next := first[:1], second[:0]
	for i, c := range t.chars {
		next = next[:0]
		switch {
		case c.raw && c.value == '*': // any run of bytes: all positions from the first one on
			for at := positions[0]; at <= len(s); at++ {
				next = append(next, at)
			}
		case c.raw && c.value == '$' && i == len(t.chars)-1: // the end of the path only
			return slices.Contains(positions, len(s))
		default: // one byte on, where it is equal
			for _, at := range positions {
				if at < len(s) && s[at] == c.value {
					next = append(next, at+1)
				}
			}
		}
		if len(next) == 0 {
			return false
		}
		positions, next = next, positions
	}
	return len(t.chars) > 0
}
