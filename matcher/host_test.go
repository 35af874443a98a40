package matcher

import (
	"bytes"
	"testing"
)

// checkPlainHost compares plainHost with its portable twin, where a URL's memory
// ends with it and where more octets follow.
func checkPlainHost(t *testing.T, url []byte, start int) {
	t.Helper()
	wantEnd, want := plainHostPortable(url, start)
	more := append(bytes.Clone(url), ".b.example/and/what/a/column/has/behind"...)
	for _, url := range [][]byte{url[:len(url):len(url)], more[:len(url)]} {
		if end, plain := plainHost(url, start); end != wantEnd || plain != want {
			t.Fatalf("%q from %d on: %d, %v; not %d, %v", url, start, end, plain, wantEnd, want)
		}
	}
}

// TestPlainHost puts every octet into every place of hosts of every length up to
// more than a load, and dots into every two places of some.
func TestPlainHost(t *testing.T) {
	for n := range 40 {
		for _, rest := range []string{"", "/", "/path/that/makes/the/url/long/enough", "?q", "#f", ";p", ":80/", "@b.example/"} {
			url := append(bytes.Repeat([]byte{'a'}, n), rest...)
			checkPlainHost(t, url, 0)
			for i := range n {
				for c := range 256 {
					url[i] = byte(c)
					checkPlainHost(t, url, 0)
				}
				url[i] = '.'
				for j := range i {
					url[j] = '.'
					checkPlainHost(t, url, 0)
					url[j] = 'a'
				}
				url[i] = 'a'
			}
		}
	}
}

// FuzzPlainHost compares plainHost with its portable twin.
func FuzzPlainHost(f *testing.F) {
	f.Add([]byte("https://www.a.example/and/a/path/that/is/longer/than/one/load/of/octets"))
	f.Add([]byte("http://a..example./"))
	f.Fuzz(func(t *testing.T, url []byte) {
		url = url[:min(len(url), 200)]
		for start := range url {
			checkPlainHost(t, url, start)
		}
	})
}
