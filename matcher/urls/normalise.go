package urls

import (
	"bytes"
	"math"
)

// Normalise returns the spelling of a path and query under which RFC 9309
// compares it (§2.2.2, figures 4 and 6): escapes of unreserved bytes and of
// '*', '$', ':' and '@' decoded, other escapes with upper-case digits, bytes
// that may not stand raw Unescape, and a '%' without two hex digits as "%25".
// Normalising twice equals normalising once.
//
// It returns path itself when that is its own normal spelling.
func Normalise(path []byte) []byte {
	if isNormal(path) {
		return path
	}
	return AppendNormal(nil, path)
}

// NormaliseQuery returns the spelling of a path and query for patterns with a
// literal '?': as Normalise, and after the first '?' also the escapes of '/'
// and '?' decoded (RFC 9309 §2.2.2, figure 4).
//
// It returns path itself when that is its own spelling of this kind.
func NormaliseQuery(path []byte) []byte {
	plain := Normalise(path)
	query := QueryEscape(plain)
	if query < 0 {
		return plain
	}
	return AppendQueryNormal(nil, plain, query)
}

// isNormal tells whether a path is its own normal spelling. Every escape
// counts as a reason to look closer.
func isNormal(path []byte) bool {
	for _, c := range path {
		if needsWork[c] {
			return false
		}
	}
	return true
}

// NeedsWork tells whether a path with a byte may not be normal.
func NeedsWork(c byte) bool { return needsWork[c] }

// needsWork are the bytes for which a path may not be normal.
var needsWork = func() (table [256]bool) {
	for c := range table {
		table[c] = classes[c]&isEncoded != 0 || c == '%'
	}
	return table
}()

// AppendNormal appends Normalise of a path.
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

// AppendDecoded appends what the escape of a byte becomes.
func AppendDecoded(dst []byte, char byte) []byte {
	if classes[char]&isUnreserved != 0 || char == '*' || char == '$' || char == ':' || char == '@' {
		return append(dst, char)
	}
	return AppendEscape(dst, char)
}

// QueryEscape returns where the first "%2F" or "%3F" after the first '?' of a
// normalised path is, or -1.
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
		if i += next; IsQueryEscape(plain, i) {
			return i
		}
	}
}

// IsQueryEscape tells whether a normalised path has "%2F" or "%3F" at i.
func IsQueryEscape(plain []byte, i int) bool {
	return i+2 < len(plain) && plain[i] == '%' && plain[i+2] == 'F' && (plain[i+1] == '2' || plain[i+1] == '3')
}

// AppendQueryNormal decodes "%2F" and "%3F" of a normalised path from its
// byte from on.
func AppendQueryNormal(dst, plain []byte, from int) []byte {
	dst = append(dst, plain[:from]...)
	for i := from; i < len(plain); i++ {
		if !IsQueryEscape(plain, i) {
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

// IsRobotsTxt tells whether a path is exactly /robots.txt without a query, in any
// spelling, which is always allowed (RFC 9309 §2.2.2). A fragment is ignored. Every path
// that agrees with this one in its first depth bytes gets the same answer; depth is
// math.MaxInt where that is not known.
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
				return false, i + 3 // its digits were looked at, too
			}
			return false, i + 1
		}
		i += size
	}
	return i == len(path) || path[i] == '#', math.MaxInt
}
