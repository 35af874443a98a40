package urls

import (
	"bytes"
	"errors"

	"robotsbatch/matcher/internal/kernels"
)

// These are the errors of Split.
var (
	// errInvalid means that the text is not a URL.
	errInvalid = errors.New("not a valid URL")
	// ErrUnsupportedScheme means that the scheme is not http, https or ftp.
	ErrUnsupportedScheme = errors.New("neither http, https nor ftp")
)

// Scratch is memory for splitting URLs. It belongs to one goroutine. The zero value is
// ready for use.
type Scratch struct {
	key  []byte // of the URL split last
	host []byte // its host, with escapes decoded
	path []byte // a path that is not written so in its URL
}

// Split splits a URL into the key of its authority and its path with query (RFC 9309 §2.3;
// RFC 3986 §3).
//
// The key is scheme://host or scheme://host:port in lower case, without userinfo and
// default port. The host is in A-labels or a canonical IP literal. The path starts with a
// slash, ends before the first '#', and is otherwise as written. err is nil, errInvalid or
// ErrUnsupportedScheme; with an error, key and path are nil.
//
// The results alias url or the Scratch. They are valid until the next call, and as long as
// url is.
func (s *Scratch) Split(url []byte) (key, path []byte, err error) {
	url = Trim(url)
	if HasLineByte(url) {
		return nil, nil, errInvalid
	}
	key, rest, err := s.SplitAuthority(url)
	if err != nil {
		return nil, nil, err
	}
	if i := bytes.IndexByte(rest, '#'); i >= 0 {
		rest = rest[:i]
	}
	return key, s.Path(rest), nil
}

// Trim cuts white space from both ends: SP, TAB, CR, LF, VT and FF.
func Trim(url []byte) []byte {
	if isTrimmed(url) {
		return url // as nearly always
	}
	return trim(url)
}

// isTrimmed reports whether a URL is not empty and Trim would cut nothing from it.
func isTrimmed(url []byte) bool {
	n := len(url)
	return n > 0 && url[0] > ' ' && url[n-1] > ' ' // no white space is above SP
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

// SplitAuthority splits a trimmed URL without line bytes into the key of its authority and
// the rest as written. The rest may be empty, may start with '/', '?', '#' or ';', and may
// have a fragment.
func (s *Scratch) SplitAuthority(url []byte) (key, rest []byte, err error) {
	start, plain, err := schemeEnd(url)
	if err != nil {
		return nil, nil, err
	}
	end, plainHost := hosts.PlainHost(url, start)
	if plain && plainHost {
		return url[:end:end], url[end:], nil
	}
	if !s.buildKey(url[:start], url[start:end]) {
		return nil, nil, errInvalid
	}
	return s.key, url[end:], nil
}

// EndsAuthority reports whether a byte ends an authority.
func EndsAuthority(c byte) bool { return classes[c]&endsAuthority != 0 }

// Path makes a path of the rest that SplitAuthority returned: cut at its '#', and with a
// slash at the start.
func (s *Scratch) Path(rest []byte) []byte {
	if len(rest) > 0 && rest[0] == '/' {
		return rest
	}
	s.path = append(append(s.path[:0], '/'), rest...)
	return s.path
}

// schemeEnd returns where the authority starts, and whether the scheme is spelled as in a
// key.
func schemeEnd(url []byte) (start int, plain bool, err error) {
	// Nearly all URLs have one of these two schemes.
	if len(url) >= 8 {
		switch {
		case string(url[:8]) == "https://":
			return 8, true, nil
		case string(url[:7]) == "http://":
			return 7, true, nil
		}
	}
	n := 0
	for n < len(url) && classes[url[n]]&isScheme != 0 {
		n++
	}
	if n == 0 || !isLetter(url[0]) || !bytes.HasPrefix(url[n:], []byte("://")) {
		return 0, false, errInvalid
	}
	for _, scheme := range []string{"http", "https", "ftp"} {
		if equalFold(url[:n], scheme) {
			return n + 3, string(url[:n]) == scheme, nil
		}
	}
	return 0, false, ErrUnsupportedScheme
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// ToLower returns the lower case of an ASCII letter; it returns any other byte unchanged.
func ToLower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// hosts finds hosts that are spelled as in a key.
var hosts = kernels.NewHostTable(
	func(c byte) bool { return classes[c]&isLabel != 0 },
	func(c byte) bool { return classes[c]&endsAuthority != 0 },
)

// HasLineByte reports whether data, a URL or a whole column, has a NUL, CR or LF. No URL
// may have these inside.
func HasLineByte(data []byte) bool { return kernels.HasControl(data) }

// equalFold compares two texts, ignoring the case of ASCII letters. An empty s equals
// nothing.
func equalFold(s []byte, name string) bool {
	if len(s) != len(name) || len(s) == 0 {
		return false
	}
	for i, c := range s {
		if ToLower(c) != ToLower(name[i]) {
			return false
		}
	}
	return true
}
