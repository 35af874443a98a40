// Package domains finds the registered domain of a host and the name that Common Crawl's
// tables have for it.
//
// It uses the list of public suffixes (publicsuffix.org) in golang.org/x/net. So the
// version of that module decides which registries are known.
package domains

import (
	"bytes"
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Host returns the host in the key of an authority, as urls.Scratch.Split returns it:
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

// Registered returns the registered domain of a host: a registry's suffix and one more
// label, such as example.co.uk for www.example.co.uk. It is empty for IP addresses, for
// single labels and for suffixes themselves. The host is that of a key, so an IDN is in
// A-labels.
//
// Only suffixes of registries count, not those under which a company gives names to its
// customers: alice.github.io belongs to github.io, as in the column
// url_host_registered_domain of Common Crawl's index. An unknown top-level domain counts as
// a registry, as the list's algorithm says; that index has null there.
func Registered(host []byte) string {
	if isIP(host) {
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

// registrySuffix returns the longest suffix of a name that belongs to a registry.
func registrySuffix(name string) string {
	suffix, _ := publicsuffix.PublicSuffix(name)
	for {
		// The package is asked about each suffix by itself. For a longer name it may answer
		// for another entry of the list, one below that suffix.
		_, registry := publicsuffix.PublicSuffix(suffix)
		_, parent, more := strings.Cut(suffix, ".")
		if registry || !more { // !more: an unknown top-level domain
			return suffix
		}
		suffix, _ = publicsuffix.PublicSuffix(parent)
	}
}

// AppendSURT appends a host in the form of the column surt_host_name in Common Crawl's host
// index: its labels from right to left between commas, without a first label www or www2.
// Example: com,example for www.example.com. As in that index, the numbers of an IPv4
// address are labels too; an IPv6 address is unchanged but for its brackets.
func AppendSURT(dst, host []byte) []byte {
	if len(host) > 0 && host[0] == '[' {
		return append(dst, bytes.Trim(host, "[]")...)
	}
	return appendLabels(dst, withoutWWW(host))
}

// AppendSURTEnd appends an upper bound of the SURTs of a registered domain: those of all its hosts
// are less. Hosts of other domains may come between its own: a+b.com comes after a.com and before
// x.a.com.
func AppendSURTEnd(dst, domain []byte) []byte { return append(appendLabels(dst, domain), ','+1) }

// appendLabels appends the labels of a host from right to left.
func appendLabels(dst, host []byte) []byte {
	for {
		dot := bytes.LastIndexByte(host, '.')
		dst = append(dst, host[dot+1:]...)
		if dot < 0 {
			return dst
		}
		dst, host = append(dst, ','), host[:dot]
	}
}

// withoutWWW cuts off a first label of www and digits, unless it is the only label.
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

// isIP reports whether a host is an IP address.
func isIP(host []byte) bool {
	if len(host) > 0 && host[0] == '[' {
		return true
	}
	if len(host) == 0 || host[len(host)-1] < '0' || host[len(host)-1] > '9' {
		return false // only top-level domains in A-labels may end in a digit
	}
	_, err := netip.ParseAddr(string(host))
	return err == nil
}
