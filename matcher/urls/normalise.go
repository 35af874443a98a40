package urls

import (
	"bytes"
	"math"
	"slices"
)

// Normalise returns the normal spelling of a path and query (RFC 9309 §2.2.2, figures 4 and
// 6). It decodes the escapes of unreserved bytes and of '*', '$', ':' and '@', changes
// other escapes to upper case, escapes bytes that may not stand raw, and writes a '%'
// without two hex digits as "%25". Normalising twice gives the same as normalising once.
//
// It returns path itself if it has no byte that may need normalisation.
func Normalise(path []byte) []byte {
	if !slices.ContainsFunc(path, NeedsWork) {
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

// NeedsWork reports whether a path with this byte may not be normal.
func NeedsWork(c byte) bool { return needsWork[c] }

// needsWork has the bytes that may need normalisation.
var needsWork = func() (table [256]bool) {
	for c := range table {
		table[c] = classes[c]&isEncoded != 0 || c == '%'
	}
	return table
}()

// AppendNormal appends the normal spelling of a path; see Normalise.
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

// IsUnreserved reports whether a byte means the same escaped or not (RFC 3986 §2.3).
func IsUnreserved(char byte) bool { return classes[char]&isUnreserved != 0 }

// AppendDecoded appends the normal spelling of a byte that was escaped.
func AppendDecoded(dst []byte, char byte) []byte {
	if IsUnreserved(char) || char == '*' || char == '$' || char == ':' || char == '@' {
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
		decoded, _ := Unescape(plain, i) // a slash or a question mark
		dst = append(dst, decoded)
		i += 2
	}
	return dst
}

const robotsTxt = "/robots.txt"

// IsRobotsTxt reports whether a path is exactly /robots.txt without a query, in any
// spelling, which is always allowed (RFC 9309 §2.2.2). A fragment is ignored. The answer
// holds for every path with the same first depth bytes; depth is math.MaxInt if it holds
// for this path only.
func IsRobotsTxt(path []byte) (isRobotsTxt bool, depth int) {
	i := 0
	for n := range len(robotsTxt) {
		if i >= len(path) {
			return false, math.MaxInt
		}
		c, size := path[i], 1
		if char, ok := Unescape(path, i); ok && IsUnreserved(char) {
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

// byteClass is a set of classes that a byte belongs to.
type byteClass uint8

const (
	// isBlank: white space that is trimmed from both ends of a URL.
	isBlank byteClass = 1 << iota
	// endsAuthority: a byte that ends the authority.
	endsAuthority
	// isHost: a byte that hosts in keys have unchanged.
	isHost
	// isLabel: the same without the dot.
	isLabel
	// isScheme: a byte that a scheme may have (RFC 3986 §3.1).
	isScheme
	// isUnreserved: a byte whose escape is decoded (RFC 3986 §2.3).
	isUnreserved
	// isEncoded: a byte that no path or query may have as it is; it is escaped.
	isEncoded
)

// notInHost are the printable bytes that no host may have. It may not have 0x00 to 0x20 and 0x7F
// either.
const notInHost = "\"#%/:<>?@[\\]^{|}`"

// classes has the classes of each byte.
var classes = func() (table [256]byteClass) {
	set := func(s string, class byteClass) {
		for i := range len(s) {
			table[s[i]] |= class
		}
	}
	set(" \t\r\n\v\f", isBlank)
	set("/?#;", endsAuthority)
	for c := 'a'; c <= 'z'; c++ {
		table[c] |= isScheme | isUnreserved
		table[c-'a'+'A'] |= isScheme | isUnreserved
	}
	set("0123456789", isScheme|isUnreserved)
	set("+-.", isScheme)
	set("-._~", isUnreserved)
	for c := range 256 {
		if c <= 0x20 || c >= 0x7F {
			table[c] |= isEncoded
		}
		if c > 0x20 && c < 0x7F && !(c >= 'A' && c <= 'Z') {
			table[c] |= isHost
		}
	}
	set("\"<>[\\]^{|}`", isEncoded)
	for i := range len(notInHost) {
		table[notInHost[i]] &^= isHost
	}
	for c := range 256 {
		if table[c]&(isHost|endsAuthority) == isHost && c != '.' {
			table[c] |= isLabel
		}
	}
	return table
}()

// hexValue has the value of each hex digit, and 0xFF for other bytes.
var hexValue = func() (table [256]byte) {
	for c := range table {
		table[c] = 0xFF
	}
	for i, c := range []byte(hexDigits) {
		table[c] = byte(i)
		table[ToLower(c)] = byte(i)
	}
	return table
}()

const hexDigits = "0123456789ABCDEF"

// Unescape returns the byte that the escape at s[i] stands for. ok is false if s[i] does
// not start an escape: a '%' and two hex digits.
func Unescape(s []byte, i int) (char byte, ok bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	high, low := hexValue[s[i+1]], hexValue[s[i+2]]
	if high|low > 0x0F {
		return 0, false
	}
	return high<<4 | low, true
}

// AppendEscape appends the escape of a byte, with upper-case digits.
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
}

// IsBlank reports whether a byte is trimmed from both ends of a URL.
func IsBlank(c byte) bool { return classes[c]&isBlank != 0 }
