// Package domains says of a host which registered domain it belongs to, and how
// Common Crawl's tables name it.
//
// The list of public suffixes (publicsuffix.org) is the one of golang.org/x/net, so
// the version of that module decides which registries are known.
package domains

import (
	"bytes"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Host returns the host of an authority, a key as urls.Scratch.Split returns it:
// without scheme and port, an IPv6 address in brackets. It aliases the key.
func Host(authority []byte) []byte {
	if i := bytes.Index(authority, []byte("://")); i >= 0 {
		authority = authority[i+len("://"):]
	}
	if i := bytes.LastIndexByte(authority, ':'); i > bytes.LastIndexByte(authority, ']') {
		authority = authority[:i]
	}
	return authority
}

// Registered returns the part of a host that somebody registered: one label more
// than the suffix under which a registry takes registrations, example.co.uk for
// www.example.co.uk. It is empty for IP addresses, single labels and what is a
// suffix itself. The host is that of a key, so an IDN is in A-labels.
//
// Only suffixes of registries count, not those that companies let their customers
// have: alice.github.io belongs to github.io, as in the column
// url_host_registered_domain of Common Crawl's index. An unknown top-level domain
// counts as a registry, as the list's algorithm has it; that index has null there.
func Registered(host []byte) string {
	if IsIP(host) {
		return ""
	}
	name := string(host)
	suffix := registrySuffix(name)
	rest := len(name) - len(suffix) - len(".")
	if rest <= 0 || name[rest] != '.' {
		return ""
	}
	return name[strings.LastIndexByte(name[:rest], '.')+1:]
}

// registrySuffix returns the longest suffix of a name that is a registry's.
func registrySuffix(name string) string {
	suffix, _ := publicsuffix.PublicSuffix(name)
	for {
		// Only of a suffix itself does the package say reliably whose it is: of a longer
		// name it may tell that of a label that is on the list for others below it.
		_, registry := publicsuffix.PublicSuffix(suffix)
		_, parent, more := strings.Cut(suffix, ".")
		if registry || !more { // no more: an unknown top-level domain
			return suffix
		}
		suffix, _ = publicsuffix.PublicSuffix(parent)
	}
}

// AppendSURT appends a host in the form that Common Crawl's host index calls
// surt_host_name: the labels from right to left between commas, without a first
// label www or www2, com,example for www.example.com. As there, the numbers of an IPv4
// address are labels, too; an IPv6 address stands as it is, without brackets.
func AppendSURT(dst, host []byte) []byte {
	if len(host) > 0 && host[0] == '[' {
		return append(dst, bytes.Trim(host, "[]")...)
	}
	host = withoutWWW(host)
	for {
		dot := bytes.LastIndexByte(host, '.')
		dst = append(dst, host[dot+1:]...)
		if dot < 0 {
			return dst
		}
		dst, host = append(dst, ','), host[:dot]
	}
}

// withoutWWW cuts off a first label of www and digits, unless it is the only one.
func withoutWWW(host []byte) []byte {
	rest, www := bytes.CutPrefix(host, []byte("www"))
	if !www {
		return host
	}
	rest = bytes.TrimLeft(rest, "0123456789")
	if len(rest) < 2 || rest[0] != '.' {
		return host
	}
	return rest[1:]
}

// IsIP tells whether a host is an IP address.
func IsIP(host []byte) bool {
	if len(host) > 0 && host[0] == '[' {
		return true
	}
	if len(host) == 0 || host[len(host)-1] < '0' || host[len(host)-1] > '9' {
		return false // no top-level domain ends in a digit but one in A-labels
	}
	_, err := netip.ParseAddr(string(host))
	return err == nil
}
