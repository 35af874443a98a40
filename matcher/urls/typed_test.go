package urls

import (
	"testing"

	"robotsbatch/io/store/must"
)

func TestTypedHosts(t *testing.T) {
	for text, want := range map[string]string{
		"example.com": "https://example.com", "example.com:8443/a": "https://example.com:8443/a",
		"[::1]:80": "https://[::1]:80", "http://example.com": "http://example.com",
		"mailto:x@example.com": "mailto:x@example.com", "localhost": "localhost", "a/example.com": "a/example.com", "": "",
	} {
		must.Equal(t, withScheme(text), want, text)
	}
}
