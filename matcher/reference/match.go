package reference

import (
	"fmt"
	"slices"
	"strings"
)

// octet is one octet of a normalised spelling.
type octet struct {
	value byte
	// raw says that it stood so in the text, not as part of an escape that
	// was decoded or made: a raw "*" in a pattern is a wildcard, "%2A" is not.
	raw bool
}

// Octets that percent-encoding has something to say about (RFC 9309 §2.2.2,
// RFC 3986 §2).
const (
	letters    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	unreserved = letters + "0123456789-._~"
	// decoded are those whose escapes mean the octets themselves: the
	// unreserved ones, and four that delimit nothing in a path or query.
	decoded = unreserved + "*$:@"
	// decodedInQuery are those of which that is true in a query.
	decodedInQuery = decoded + "/?"
	// forbidden are the printable octets that no URL holds unescaped; to them
	// come controls, the space, DEL and everything beyond ASCII.
	forbidden = "\"<>[\\]^`{|}"
)

// normalise gives the one spelling that equal texts share. With query, escapes
// of "/" and "?" behind the first "?" are decoded too (RFC 9309 figure 4).
func normalise(text string, query bool) []octet {
	var out []octet
	inQuery := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isEscape(text[i:]):
			value := unhex(text[i+1])<<4 | unhex(text[i+2])
			i += 2
			if query && inQuery && isOneOf(value, decodedInQuery) || isOneOf(value, decoded) {
				out = append(out, octet{value: value})
			} else {
				out = appendEscape(out, value)
			}
		case c == '%' || c <= ' ' || c >= 0x7F || isOneOf(c, forbidden):
			out = appendEscape(out, c)
		default:
			inQuery = inQuery || c == '?'
			out = append(out, octet{value: c, raw: true})
		}
	}
	return out
}

// googlePattern is all that Google's parser does to a pattern: it escapes what
// is beyond ASCII and writes hexadecimal digits in upper case.
func googlePattern(text string) []octet {
	var out []octet
	for i := 0; i < len(text); i++ {
		switch {
		case isEscape(text[i:]):
			out = appendEscape(out, unhex(text[i+1])<<4|unhex(text[i+2]))
			i += 2
		case text[i] >= 0x80:
			out = appendEscape(out, text[i])
		default:
			out = append(out, octet{value: text[i], raw: true})
		}
	}
	return out
}

// isEscape tells whether the text begins with % and two hexadecimal digits.
func isEscape(text string) bool {
	const hex = "0123456789ABCDEFabcdef"
	return len(text) >= 3 && text[0] == '%' && isOneOf(text[1], hex) && isOneOf(text[2], hex)
}

// unhex is the value of a hexadecimal digit.
func unhex(digit byte) byte {
	return byte(strings.IndexByte("0123456789abcdef", lower(string(digit))[0]))
}

func appendEscape(out []octet, value byte) []octet {
	for _, c := range []byte(fmt.Sprintf("%%%02X", value)) {
		out = append(out, octet{value: c})
	}
	return out
}

func isOneOf(c byte, set string) bool { return strings.IndexByte(set, c) >= 0 }

func spelling(octets []octet) string {
	var b strings.Builder
	for _, o := range octets {
		b.WriteByte(o.value)
	}
	return b.String()
}

// NormalisePath gives the two spellings of a path that RFC9309 patterns are
// matched against: plain has its query as written, in query the escapes of "/"
// and "?" behind the first "?" are decoded too.
func NormalisePath(path string) (plain, query string) {
	return spelling(normalise(path, false)), spelling(normalise(path, true))
}

// IsRobotsTxt reports whether the path, normalised, is /robots.txt without a query,
// as that of /%72obots.txt is. It is always allowed under RFC9309 (RFC 9309 §2.2.2).
func IsRobotsTxt(path string) bool {
	plain, _ := NormalisePath(path)
	return plain == "/robots.txt"
}

// Path is a path with its query, ready to be matched.
type Path struct{ plain, query string }

// NewPath prepares a path. Google: it is matched as written.
func NewPath(path string, p Profile) Path {
	if p == Google {
		return Path{path, path}
	}
	plain, query := NormalisePath(path)
	return Path{plain, query}
}

// Pattern is what a rule's pattern means (RFC 9309 §2.2.2, §2.2.3).
type Pattern struct {
	octets []octet
	// query says that it has a literal "?" and is matched against the path's
	// query spelling.
	query bool
}

// NewPattern prepares a pattern.
func NewPattern(text string, p Profile) Pattern {
	if p == Google {
		return Pattern{octets: googlePattern(text)}
	}
	query := strings.Contains(text, "?")
	return Pattern{octets: normalise(text, query), query: query}
}

// Length is how specific the pattern is: its octets, wildcards included.
func (t Pattern) Length() int { return len(t.octets) }

// Match tells whether the pattern matches the path: from its first octet, and
// not necessarily to its last. An empty pattern matches nothing.
//
// It goes along the pattern once and keeps all the places in the path, in
// order, that it can have come to; there is no going back.
func (t Pattern) Match(path Path) bool {
	s := path.plain
	if t.query {
		s = path.query
	}
	places := []int{0}
	for i, o := range t.octets {
		var next []int
		switch {
		case o.raw && o.value == '*': // any run: all places from the first on
			for place := places[0]; place <= len(s); place++ {
				next = append(next, place)
			}
		case o.raw && o.value == '$' && i == len(t.octets)-1: // the end alone
			return slices.Contains(places, len(s))
		default: // one step over an equal octet
			for _, place := range places {
				if place < len(s) && s[place] == o.value {
					next = append(next, place+1)
				}
			}
		}
		if places = next; len(places) == 0 {
			return false
		}
	}
	return len(t.octets) > 0
}
