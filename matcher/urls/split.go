package urls

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

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
	if n := len(url); n > 0 && url[0] > ' ' && url[n-1] > ' ' {
		return url // as nearly always: no white space is above SP
	}
	return bytes.Trim(url, " \t\r\n\v\f")
}

// SplitAuthority splits a trimmed URL into the key of its authority and the rest as written. The
// rest may be empty, may start with '/', '?', '#' or ';', and may have a fragment. Errors and
// how long the results are valid are as for Split, but a URL with a line byte may have a key:
// see HasLineByte.
func (s *Scratch) SplitAuthority(url []byte) (key, rest []byte, err error) {
	start, plainScheme, err := schemeEnd(url)
	if err != nil {
		return nil, nil, err
	}
	end, plainHost := hosts.PlainHost(url, start)
	if plainScheme && plainHost { // as nearly always: the URL starts with its key
		return url[:end:end], url[end:], nil
	}
	if !s.buildKey(url[:start], url[start:end]) {
		return nil, nil, errInvalid
	}
	return s.key, url[end:], nil
}

// HasAuthority reports whether a URL starts with this scheme and authority, written in the same way.
// It is false for an empty authority.
func HasAuthority(url, written []byte) bool {
	n := len(written)
	return n > 0 && len(url) >= n && (len(url) == n || classes[url[n]]&endsAuthority != 0) && bytes.Equal(url[:n], written)
}

// Path returns the path of a rest that SplitAuthority returned: the rest itself, or with a slash
// before it. The caller must have cut off the fragment. The path is valid until the next call.
func (s *Scratch) Path(rest []byte) []byte {
	if len(rest) > 0 && rest[0] == '/' {
		return rest
	}
	s.path = append(append(s.path[:0], '/'), rest...)
	return s.path
}

// schemeEnd returns the offset of the authority in a URL; plain reports whether the scheme is in
// lower case, as in a key. Errors are as for Split.
func schemeEnd(url []byte) (start int, plain bool, err error) {
	// Nearly all URLs have one of these two schemes: a shuffled list takes 8 % less.
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
		if bytes.EqualFold(url[:n], []byte(scheme)) {
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

// AppendLower appends a text with its ASCII letters in lower case. All other bytes stay, also those
// that are not UTF-8.
func AppendLower(dst, text []byte) []byte {
	for _, c := range text {
		dst = append(dst, ToLower(c))
	}
	return dst
}

// hosts finds hosts that are spelled as in a key.
var hosts = kernels.NewHostTable(
	func(c byte) bool { return classes[c]&isLabel != 0 },
	func(c byte) bool { return classes[c]&endsAuthority != 0 },
)

// HasLineByte reports whether data, a URL or a whole column, has a NUL, CR or LF. No URL
// may have these inside.
func HasLineByte(data []byte) bool {
	return bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 || bytes.IndexByte(data, 0) >= 0
}

// maxIDNHost is the most bytes of a host that is not ASCII. A longer one cannot be in the
// DNS, which allows 255 bytes (RFC 1035 §2.3.4), and the time of IDNA grows faster than the
// length.
const maxIDNHost = 1024

// buildKey sets s.key to the key of an authority, which may have userinfo and a port. scheme ends
// with "://". It returns false for an authority that is not valid, and so do the methods that
// append to s.key.
func (s *Scratch) buildKey(scheme, authority []byte) bool {
	s.key = s.key[:0]
	for _, c := range scheme {
		s.key = append(s.key, ToLower(c))
	}
	if i := bytes.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	host, port := authority, []byte(nil)
	if len(host) > 0 && host[0] == '[' {
		end := bytes.IndexByte(host, ']')
		if end < 0 {
			return false
		}
		host, port = authority[:end+1], authority[end+1:]
	} else if i := bytes.IndexByte(authority, ':'); i >= 0 {
		host, port = authority[:i], authority[i:]
	}
	return s.appendHost(host) && s.appendPort(port)
}

// appendPort appends a port, given with its colon, unless it is the scheme's default or empty. It
// returns false if it is invalid.
func (s *Scratch) appendPort(port []byte) bool {
	if len(port) == 0 {
		return true
	}
	if port[0] != ':' {
		return false
	}
	if len(port) == 1 {
		return true // an empty port means the default (RFC 3986 §3.2.3)
	}
	number, err := strconv.ParseUint(string(port[1:]), 10, 16) // digits alone, which may start with zeros
	if err != nil || number == 0 {
		return false
	}
	if number != defaultPort(s.key) {
		s.key = strconv.AppendUint(append(s.key, ':'), number, 10)
	}
	return true
}

// defaultPort returns the default port of the scheme that a key starts with.
func defaultPort(key []byte) uint64 {
	switch {
	case bytes.HasPrefix(key, []byte("https:")):
		return 443
	case bytes.HasPrefix(key, []byte("ftp:")):
		return 21
	}
	return 80
}

// appendHost appends a host to s.key, spelled as in a key. It returns false if the host is invalid; what
// s.key has then is not used.
func (s *Scratch) appendHost(host []byte) bool {
	host, ascii := s.decodeHost(host)
	if len(host) > 0 && host[0] == '[' {
		return s.appendIPv6(host)
	}
	if ascii {
		return s.appendASCIIHost(host)
	}
	return s.appendIDN(host)
}

// decodeHost decodes the escapes of a host, in s.host, and reports whether the result is all
// ASCII.
func (s *Scratch) decodeHost(host []byte) (decoded []byte, ascii bool) {
	ascii = true
	s.host = s.host[:0]
	for i := 0; i < len(host); i++ {
		c := host[i]
		if char, ok := Unescape(host, i); ok {
			c = char
			i += 2
		}
		ascii = ascii && c < utf8.RuneSelf
		s.host = append(s.host, c)
	}
	return s.host, ascii
}

// appendIPv6 appends an IPv6 address, which starts with '[', in canonical form. It returns false if
// it is invalid or has a zone.
func (s *Scratch) appendIPv6(host []byte) bool {
	if host[len(host)-1] != ']' {
		return false
	}
	// The string is at most as long as the host and does not escape.
	addr, err := netip.ParseAddr(string(host[1 : len(host)-1]))
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return false
	}
	s.key = append(addr.AppendTo(append(s.key, '[')), ']')
	return true
}

// appendASCIIHost appends a host in lower case, without a trailing dot. It returns false for any
// other empty label, and for a byte that no host may have.
func (s *Scratch) appendASCIIHost(host []byte) bool {
	if n := len(host); n > 0 && host[n-1] == '.' {
		host = host[:n-1]
	}
	last := byte('.')
	for _, c := range host {
		c = ToLower(c)
		if classes[c]&isHost == 0 || (c == '.' && last == '.') {
			return false
		}
		last = c
		s.key = append(s.key, c)
	}
	return last != '.'
}

// appendIDN appends a host whose labels that are not ASCII become A-labels (RFC 5891). It returns
// false if it is invalid, and checks ASCII labels as appendASCIIHost does.
func (s *Scratch) appendIDN(host []byte) bool {
	if len(host) > maxIDNHost || !utf8.Valid(host) {
		return false
	}
	var ascii []byte
	for rest := host; ; {
		label, after, found := cutLabel(rest)
		if utf8.RuneCount(label) == len(label) { // it is all ASCII
			ascii = append(ascii, label...)
		} else {
			converted, err := idna.Lookup.ToASCII(string(label))
			if err != nil || converted == "" {
				return false
			}
			ascii = append(ascii, converted...)
		}
		if !found {
			break
		}
		ascii = append(ascii, '.')
		rest = after
	}
	return s.appendASCIIHost(ascii)
}

// cutLabel cuts a host, which is UTF-8, at the first dot: U+002E, U+3002, U+FF0E or U+FF61 (UTS
// 46 §2.3). found is false if there is none; then label is the host.
func cutLabel(host []byte) (label, after []byte, found bool) {
	i := bytes.IndexAny(host, ".\u3002\uFF0E\uFF61")
	if i < 0 {
		return host, nil, false
	}
	_, size := utf8.DecodeRune(host[i:])
	return host[:i], host[i+size:], true
}

// Authority returns the key of an authority as a person writes it, see withScheme, or of any
// URL of it, in memory of its own. Errors are as for Split.
func Authority(text string) ([]byte, error) {
	var s Scratch
	key, _, err := s.Split([]byte(withScheme(text)))
	return slices.Clone(key), err
}

// withScheme puts https:// before a text that looks like a host, or like a URL without its scheme. It
// returns any other text unchanged.
func withScheme(url string) string {
	host, _, _ := strings.Cut(url, "/")
	if strings.Contains(url, "://") || !strings.Contains(host, ".") && !strings.HasPrefix(host, "[") || !mayBeHost(host) {
		return url
	}
	return "https://" + url
}

// mayBeHost reports whether a word could be a host, with or without a port; mailto:x@example.com
// could not.
func mayBeHost(host string) bool {
	if strings.HasPrefix(host, "[") {
		return true
	}
	_, port, hasPort := strings.Cut(host, ":")
	return !hasPort || strings.Trim(port, "0123456789") == ""
}
