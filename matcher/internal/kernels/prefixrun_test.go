package kernels

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// checkPrefixRun compares PrefixRun and its plain Go twin with bytes.HasPrefix, for both
// widths of offsets. The last value ends where the memory of data ends.
func checkPrefixRun(t *testing.T, prefix, data []byte, offsets []int32) {
	t.Helper()
	wide := make([]int64, len(offsets))
	for i, offset := range offsets {
		wide[i] = int64(offset)
	}
	want := 0
	for want < len(offsets)-1 && bytes.HasPrefix(data[offsets[want]:offsets[want+1]], prefix) {
		want++
	}
	if got := prefixRunPortable(prefix, data, offsets); got != want {
		t.Fatalf("%q, %q at %d: %d in plain Go, not %d", prefix, data, offsets, got, want)
	}
	if got := PrefixRun(prefix, data, offsets); got != want {
		t.Fatalf("%q, %q at %d: %d, not %d", prefix, data, offsets, got, want)
	}
	if got := PrefixRun(prefix, data, wide); got != want {
		t.Fatalf("%q, %q at 64-bit %d: %d, not %d", prefix, data, offsets, got, want)
	}
}

// TestPrefixRun has values that differ from the prefix at each byte of it, are a little
// shorter, or start with it, for prefixes of each length up to several loads.
func TestPrefixRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 200 {
		prefix := make([]byte, n)
		for i := range prefix {
			prefix[i] = 'a' + byte(rng.IntN(26))
		}
		for parts := -1; parts <= n; parts++ {
			var data []byte
			offsets := []int32{0}
			add := func(value []byte) {
				data = append(data, value...)
				offsets = append(offsets, int32(len(data)))
			}
			for range rng.IntN(3) {
				add(append(bytes.Clone(prefix), prefix[:rng.IntN(n+1)]...))
			}
			switch last := bytes.Clone(prefix); {
			case parts < 0:
				add(last) // all start with the prefix
			case parts < n:
				last[parts] ^= 1 << rng.IntN(8)
				add(append(last, 'x'))
			case n > 0:
				add(last[:n-1])
				add(last) // starts with the prefix, after one that does not
			}
			checkPrefixRun(t, prefix, bytes.Clone(data), offsets)
		}
	}
	checkPrefixRun(t, []byte("http://a.example/"), nil, []int32{0})
}

func FuzzPrefixRun(f *testing.F) {
	f.Add([]byte("http://a.example/"), []byte("http://a.example/xhttp://a.example/"), byte(18), byte(17))
	f.Add(bytes.Repeat([]byte("ab"), 50), bytes.Repeat([]byte("ab"), 300), byte(120), byte(100))
	f.Fuzz(func(t *testing.T, prefix, data []byte, first, others byte) {
		offsets := []int32{0}
		for end := int(first); end <= len(data); end += int(others) + 1 {
			offsets = append(offsets, int32(end))
		}
		checkPrefixRun(t, prefix, data[:offsets[len(offsets)-1]], offsets)
	})
}
