package matcher

import (
	"bytes"
	"testing"
)

// TestHasLineOctet puts every byte into every place of texts of every length
// up to some loads.
func TestHasLineOctet(t *testing.T) {
	for n := range 300 {
		data := bytes.Repeat([]byte{'~'}, n)
		if HasLineOctet(data) {
			t.Fatalf("%d text without have one", n)
		}
		for i := range data {
			for _, c := range []byte{0, 1, '\t', '\n', '\v', '\f', '\r', 14, ' ', 0x80, 0x8A, 0xFF} {
				data[i] = c
				if got, want := HasLineOctet(data), bytes.IndexByte([]byte("\x00\r\n"), c) >= 0; got != want {
					t.Fatalf("char %#x at %d of %d: %v", c, i, n, got)
				}
			}
			data[i] = '~'
		}
	}
}

func FuzzHasLineOctet(f *testing.F) {
	f.Add([]byte("http://a.example/\nhttp://b.example/, and some more text than a load"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, want := HasLineOctet(data), bytes.ContainsAny(data, "\x00\r\n"); got != want {
			t.Errorf("%q: %v", data, got)
		}
	})
}
