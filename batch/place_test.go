package batch

import "testing"

// What the octet behind the slash and the octets of the authority say is in the
// hash; what follows is not.
func TestPlaceOfTellsBeginningsApart(t *testing.T) {
	of := func(url string) uint64 { return placeOf([]byte(url), 1) }
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
