package urls

import (
	"bytes"
	"net/netip"
	"strconv"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxIDNHost is the most bytes of a host that is not ASCII. A longer one cannot be in the
// DNS, which allows 255 bytes (RFC 1035 §2.3.4), and the time of IDNA grows faster than the
// length.
const maxIDNHost = 1024

// buildKey sets s.key to the key of an authority. scheme ends with "://".
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

// appendPort appends a port unless it is the scheme's default. port is empty or starts with
// a colon.
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
	number := 0
	for _, c := range port[1:] {
		if c < '0' || c > '9' {
			return false
		}
		if number = number*10 + int(c-'0'); number > 65535 {
			return false
		}
	}
	if number == 0 {
		return false
	}
	if number != defaultPort(s.key) {
		s.key = strconv.AppendInt(append(s.key, ':'), int64(number), 10)
	}
	return true
}

// defaultPort returns the default port of the scheme that a key starts with.
func defaultPort(key []byte) int {
	switch {
	case bytes.HasPrefix(key, []byte("https:")):
		return 443
	case bytes.HasPrefix(key, []byte("ftp:")):
		return 21
	}
	return 80
}

// appendHost appends a host, spelled as in a key.
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

// decodeHost decodes escapes and reports whether the result is all ASCII.
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

// appendASCIIHost checks a host label by label and changes it to lower case. It drops a
// trailing dot; any other empty label makes the host invalid.
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

// appendIDN changes the labels of a host that are not ASCII to A-labels (RFC 5891). It
// leaves ASCII labels alone.
func (s *Scratch) appendIDN(host []byte) bool {
	if len(host) > maxIDNHost || !utf8.Valid(host) {
		return false
	}
	var ascii []byte
	for rest := host; ; {
		label, after, found := cutLabel(rest)
		if isASCII(label) {
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

// cutLabel cuts at the first dot, which is U+002E, U+3002, U+FF0E or U+FF61 (UTS 46 §2.3).
func cutLabel(host []byte) (label, after []byte, found bool) {
	for i := 0; i < len(host); {
		r, size := utf8.DecodeRune(host[i:])
		switch r {
		case '.', '\u3002', '\uFF0E', '\uFF61':
			return host[:i], host[i+size:], true
		}
		i += size
	}
	return host, nil, false
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
