package urls

import (
	"slices"
	"strings"
)

// Authority returns the key of an authority as a person writes it, see withScheme, or of any
// URL of it. It stays valid.
func Authority(text string) ([]byte, error) {
	var s Scratch
	key, _, err := s.Split([]byte(withScheme(text)))
	return slices.Clone(key), err
}

// withScheme returns a host, or a URL without its scheme, as a person writes them, as a URL of
// https. What has a scheme, or is neither, stays as it is.
func withScheme(url string) string {
	host, _, _ := strings.Cut(url, "/")
	if strings.Contains(url, "://") || !strings.Contains(host, ".") && !strings.HasPrefix(host, "[") || !plainHost(host) {
		return url
	}
	return "https://" + url
}

// plainHost reports whether a word could be a host with a port: mailto:x@example.com is none.
func plainHost(host string) bool {
	if strings.HasPrefix(host, "[") {
		return true
	}
	_, port, hasPort := strings.Cut(host, ":")
	return !hasPort || strings.Trim(port, "0123456789") == ""
}
