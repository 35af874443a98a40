package reference

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// These are the reasons for which a URL has no verdict.
const (
	invalidURL        = "invalid_url"
	unsupportedScheme = "unsupported_scheme"
)

// defaultPorts has the supported schemes with their default ports.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ftp": "21"}

var schemeSyntax = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)

// maxUnicodeHost is the most bytes of a host that is not ASCII.
const maxUnicodeHost = 1024

// SplitURL splits a URL into its authority, whose robots.txt covers it (RFC 9309 §2.3), and
// the path with query as written. The authority is a key: scheme://host in lower case, with
// IPv6 addresses and internationalised names in canonical form, and :port unless it is the
// scheme's default. A reason, invalid_url or unsupported_scheme, means that there is no
// verdict.
func SplitURL(url string) (authority, path, reason string) {
	url = strings.Trim(url, " \t\r\n\v\f")
	if strings.ContainsAny(url, "\x00\r\n") {
		return "", "", invalidURL
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || !schemeSyntax.MatchString(scheme) {
		return "", "", invalidURL
	}
	scheme = lower(scheme)
	ownPort, ok := defaultPorts[scheme]
	if !ok {
		return "", "", unsupportedScheme
	}

	// Unlike in RFC 3986, but as in Google's parser, a ";" ends the authority.
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#;"); i >= 0 {
		end = i
	}
	host, port, ok := splitAuthority(rest[:end])
	if !ok {
		return "", "", invalidURL
	}
	authority = scheme + "://" + host
	if port != "" && port != ownPort {
		authority += ":" + port
	}

	path, _, _ = strings.Cut(rest[end:], "#")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return authority, path, ""
}

// splitAuthority returns the canonical host and port, without userinfo; port is "" if there is none.
// ok is false if either is invalid.
func splitAuthority(s string) (host, port string, ok bool) {
	s = s[strings.LastIndexByte(s, '@')+1:]
	if literal, isLiteral := strings.CutPrefix(s, "["); isLiteral {
		literal, s, ok = strings.Cut(literal, "]")
		addr, err := netip.ParseAddr(unescape(literal))
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" || s != "" && s[0] != ':' {
			return "", "", false
		}
		host, port = "["+addr.String()+"]", strings.TrimPrefix(s, ":")
	} else {
		host, port, _ = strings.Cut(s, ":")
		if host, ok = canonicalHost(host); !ok {
			return "", "", false
		}
	}
	if port == "" {
		return host, "", true
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return host, strconv.FormatUint(number, 10), err == nil && number > 0
}

// canonicalHost returns the canonical form of a host's name; false if it is invalid. ASCII labels are
// only changed to lower case, whatever they are; others become A-labels.
func canonicalHost(host string) (string, bool) {
	host = unescape(host)
	if hasForbidden(host) || !utf8.ValidString(host) || !isASCII(host) && len(host) > maxUnicodeHost {
		return "", false
	}
	// The ideographic full stops separate labels as well (UTS 46).
	host = strings.NewReplacer("\u3002", ".", "\uFF0E", ".", "\uFF61", ".").Replace(host)
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for i, label := range labels {
		if !isASCII(label) {
			var err error
			if label, err = idna.Lookup.ToASCII(label); err != nil {
				return "", false
			}
		}
		if label == "" || hasForbidden(label) {
			return "", false
		}
		labels[i] = lower(label)
	}
	return strings.Join(labels, "."), true
}

// unescape decodes each %XX.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if isEscape(s[i:]) {
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// hasForbidden reports whether a host has a byte that no host may have.
func hasForbidden(host string) bool {
	return slices.ContainsFunc([]byte(host), func(c byte) bool { return c <= ' ' || c == 0x7F || isOneOf(c, "\"#%/:<>?@[\\]^{|}`") })
}

func isASCII(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(c byte) bool { return c >= 0x80 })
}
