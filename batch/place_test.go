package batch

import (
	"bytes"
	"strings"
	"testing"
)

// TestPlaceOf has authorities of every length before paths of every length, and
// compares placeOf with its portable twin.
func TestPlaceOf(t *testing.T) {
	for _, scheme := range []string{"", "x", "http://", "https://", "https:///", "https://a/"} {
		for host := range 50 {
			for path := range 50 {
				url := []byte(scheme + strings.Repeat("abcdefg.hij", 5)[:host] + strings.Repeat("/pa/thx", 8)[:path])
				before := append(bytes.Clone(url), "/http://b.example/and/so/on"...)[:len(url)]
				for _, url := range [][]byte{url[:len(url):len(url)], before} {
					if got, want := placeOf(url), placePortable(url); got != want {
						t.Fatalf("%q: %x, not %x", url, got, want)
					}
				}
			}
		}
	}
}

// What the octet behind the slash and the octets of the authority say is in the
// hash; what follows is not.
func TestPlaceOfTellsBeginningsApart(t *testing.T) {
	of := func(url string) uint64 { return placeOf([]byte(url)) }
	seen := map[uint64]string{}
	for _, begin := range []string{
		"http://www.a.example/x", "http://www.a.example/y", "https://www.a.example/x", "http://www.b.example/x",
		"http://www.a.example.net/x", "http://mmm.a.example/x", "http://a.example/x", "http://1.a.example/x",
	} {
		hash := of(begin + "yz/something/that/makes/it/long")
		if hash == 0 || hash != of(begin) || hash != of(begin+"?") {
			t.Errorf("%s: %x, and %x without more", begin, hash, of(begin))
		}
		if seen[hash] != "" {
			t.Errorf("%s: as %s", begin, seen[hash])
		}
		seen[hash] = begin
	}
}

// FuzzPlaceOf compares placeOf with its portable twin.
func FuzzPlaceOf(f *testing.F) {
	f.Add([]byte("https://www.a.example/and/a/path/that/is/longer/than/one/load/of/octets"))
	f.Add([]byte("http://a.example/"))
	f.Fuzz(func(t *testing.T, url []byte) {
		url = url[:min(len(url), 200)]
		for i := range url {
			for _, url := range [][]byte{url[i:], url[:i], url[:i:i]} {
				if got, want := placeOf(url), placePortable(url); got != want {
					t.Fatalf("%q: %x, not %x", url, got, want)
				}
			}
		}
	})
}
