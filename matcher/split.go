package matcher

import (
	"bytes"

	"robotsbatch/matcher/internal/kernels"
)

// Scratch is one goroutine's own memory for splitting URLs. The zero value is
// ready to use.
type Scratch struct {
	key  []byte // the authority key of the URL split last
	host []byte // its host with escapes decoded
	path []byte // a path that had to be written out
}

// Split separates a URL into the key of its authority and its path with query
// (RFC 9309 §2.3; RFC 3986 §3).
//
// The key is scheme://host or scheme://host:port, all in lower case, without
// userinfo and without the scheme's default port, the host as A-labels or as
// canonical IP literal. The path starts with a slash, reaches to the first '#',
// and is otherwise as written. reason is NoReason, or InvalidURL or
// UnsupportedScheme, and then key and path are nil.
//
// The results alias url or the Scratch; they are valid until the next call and
// as long as url is.
func (s *Scratch) Split(url []byte) (key, path []byte, reason Reason) {
	url = TrimURL(url)
	if HasLineOctet(url) {
		return nil, nil, InvalidURL
	}
	key, rest, reason := s.SplitAuthority(url)
	if reason != NoReason {
		return nil, nil, reason
	}
	if i := bytes.IndexByte(rest, '#'); i >= 0 {
		rest = rest[:i]
	}
	return key, s.Path(rest), NoReason
}

// TrimURL cuts blanks off both ends: SP, TAB, CR, LF, VT and FF.
func TrimURL(url []byte) []byte {
	if Trimmed(url) {
		return url // as hardly any is not
	}
	return trim(url)
}

// Trimmed is false for a URL that TrimURL has something to cut off of, or is empty.
func Trimmed(url []byte) bool {
	n := len(url)
	return n > 0 && url[0] > ' ' && url[n-1] > ' ' // no blank is above SP
}

func trim(url []byte) []byte {
	for len(url) > 0 && classes[url[0]]&isBlank != 0 {
		url = url[1:]
	}
	for len(url) > 0 && classes[url[len(url)-1]]&isBlank != 0 {
		url = url[:len(url)-1]
	}
	return url
}

// SplitAuthority is Split for a trimmed URL without line bytes: it finds the
// authority and returns what follows it as written, which may be empty, may
// start with '/', '?', '#' or ';', and may have a fragment.
func (s *Scratch) SplitAuthority(url []byte) (key, rest []byte, reason Reason) {
	start, plain, reason := schemeEnd(url)
	if reason != NoReason {
		return nil, nil, reason
	}
	end, plainHost := hosts.PlainHost(url, start)
	if plain && plainHost {
		return url[:end:end], url[end:], NoReason
	}
	if !s.buildKey(url[:start], url[start:end]) {
		return nil, nil, InvalidURL
	}
	return s.key, url[end:], NoReason
}

// EndsAuthority tells whether a byte is one that ends an authority.
func EndsAuthority(c byte) bool { return classes[c]&endsAuthority != 0 }

// Path makes a path of what SplitAuthority left over, cut at its '#': it
// starts with a slash.
func (s *Scratch) Path(rest []byte) []byte {
	if len(rest) > 0 && rest[0] == '/' {
		return rest
	}
	s.path = append(append(s.path[:0], '/'), rest...)
	return s.path
}

// schemeEnd returns where the authority starts, and whether the scheme is
// written as in a key.
func schemeEnd(url []byte) (start int, plain bool, reason Reason) {
	// The two that nearly all URLs have.
	if len(url) >= 8 {
		switch {
		case string(url[:8]) == "https://":
			return 8, true, NoReason
		case string(url[:7]) == "http://":
			return 7, true, NoReason
		}
	}
	n := 0
	for n < len(url) && classes[url[n]]&isScheme != 0 {
		n++
	}
	if n == 0 || !isLetter(url[0]) || !bytes.HasPrefix(url[n:], []byte("://")) {
		return 0, false, InvalidURL
	}
	for _, scheme := range []string{"http", "https", "ftp"} {
		if equalFoldASCII(url[:n], scheme) {
			return n + 3, string(url[:n]) == scheme, NoReason
		}
	}
	return 0, false, UnsupportedScheme
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func toLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// hosts finds the hosts that are written as in a key.
var hosts = kernels.NewHostTable(
	func(c byte) bool { return classes[c]&isLabel != 0 },
	func(c byte) bool { return classes[c]&endsAuthority != 0 },
)

// HasLineOctet tells whether there is a NUL, CR or LF in data: bytes that no URL may
// have inside. It serves for one URL as for a column of many.
func HasLineOctet(data []byte) bool { return kernels.HasControl(data) }
