package urls

import (
	"bytes"
	"math"
)

// Normalise returns the normal spelling of a path and query (RFC 9309 §2.2.2, figures 4 and
// 6). It decodes the escapes of unreserved bytes and of '*', '$', ':' and '@', changes
// other escapes to upper case, escapes bytes that may not stand raw, and writes a '%'
// without two hex digits as "%25". Normalising twice gives the same as normalising once.
//
// It returns path itself if that is normal.
func Normalise(path []byte) []byte {
	if isNormal(path) {
		return path
	}
	return AppendNormal(nil, path)
}

// NormaliseQuery returns the query spelling of a path, which patterns with a literal '?'
// are compared with. It normalises as Normalise does and, after the first '?', also decodes
// the escapes of '/' and '?' (RFC 9309 §2.2.2, figure 4).
//
// It returns path itself if nothing changes.
func NormaliseQuery(path []byte) []byte {
	plain := Normalise(path)
	query := QueryEscape(plain)
	if query < 0 {
		return plain
	}
	return AppendQueryNormal(nil, plain, query)
}

// isNormal reports whether a path is surely normal. It is not sure of any path with an
// escape.
func isNormal(path []byte) bool {
	for _, c := range path {
		if needsWork[c] {
			return false
		}
	}
	return true
}

// NeedsWork reports whether a path with this byte may not be normal.
func NeedsWork(c byte) bool { return needsWork[c] }

// needsWork has the bytes that may need normalisation.
var needsWork = func() (table [256]bool) {
	for c := range table {
		table[c] = classes[c]&isEncoded != 0 || c == '%'
	}
	return table
}()

// AppendNormal appends the normal spelling of a path.
func AppendNormal(dst, path []byte) []byte {
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case !needsWork[c]:
			dst = append(dst, c)
		case c != '%':
			dst = AppendEscape(dst, c)
		default:
			char, ok := Unescape(path, i)
			if !ok {
				dst = append(dst, "%25"...)
				break
			}
			dst = AppendDecoded(dst, char)
			i += 2
		}
	}
	return dst
}

// AppendDecoded appends the normal spelling of a byte that was escaped.
func AppendDecoded(dst []byte, char byte) []byte {
	if classes[char]&isUnreserved != 0 || char == '*' || char == '$' || char == ':' || char == '@' {
		return append(dst, char)
	}
	return AppendEscape(dst, char)
}

// QueryEscape returns the index of the first "%2F" or "%3F" after the first '?' of a
// normalised path, or -1.
func QueryEscape(plain []byte) int {
	start := bytes.IndexByte(plain, '?')
	if start < 0 {
		return -1
	}
	for i := start; ; i++ {
		next := bytes.IndexByte(plain[i:], '%')
		if next < 0 {
			return -1
		}
		if i += next; isQueryEscape(plain, i) {
			return i
		}
	}
}

// isQueryEscape reports whether a normalised path has "%2F" or "%3F" at i.
func isQueryEscape(plain []byte, i int) bool {
	return i+2 < len(plain) && plain[i] == '%' && plain[i+2] == 'F' && (plain[i+1] == '2' || plain[i+1] == '3')
}

// AppendQueryNormal appends a normalised path, with "%2F" and "%3F" decoded from byte from
// on.
func AppendQueryNormal(dst, plain []byte, from int) []byte {
	dst = append(dst, plain[:from]...)
	for i := from; i < len(plain); i++ {
		if !isQueryEscape(plain, i) {
			dst = append(dst, plain[i])
			continue
		}
		if plain[i+1] == '2' {
			dst = append(dst, '/')
		} else {
			dst = append(dst, '?')
		}
		i += 2
	}
	return dst
}

const robotsTxt = "/robots.txt"

// IsRobotsTxt reports whether a path is exactly /robots.txt without a query, in any
// spelling, which is always allowed (RFC 9309 §2.2.2). A fragment is ignored. The answer
// holds for every path with the same first depth bytes; depth is math.MaxInt if it holds
// for this path only.
func IsRobotsTxt(path []byte) (is bool, depth int) {
	i := 0
	for n := range len(robotsTxt) {
		if i >= len(path) {
			return false, math.MaxInt
		}
		c, size := path[i], 1
		if char, ok := Unescape(path, i); ok && classes[char]&isUnreserved != 0 {
			c, size = char, 3
		}
		if c != robotsTxt[n] {
			if path[i] == '%' {
				return false, i + 3 // its digits were read too
			}
			return false, i + 1
		}
		i += size
	}
	return i == len(path) || path[i] == '#', math.MaxInt
}
