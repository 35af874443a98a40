package urls

import "testing"

func TestTypedHosts(t *testing.T) {
	for text, want := range map[string]string{
		"example.com":          "https://example.com",
		"example.com:8443/a":   "https://example.com:8443/a",
		"[::1]:80":             "https://[::1]:80",
		"http://example.com":   "http://example.com",
		"mailto:x@example.com": "mailto:x@example.com",
		"localhost":            "localhost",
		"a/example.com":        "a/example.com",
		"":                     "",
	} {
		if got := withScheme(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
