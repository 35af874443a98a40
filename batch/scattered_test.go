package batch

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// checkRecallAll compares recallAll with its portable twin.
func checkRecallAll(t *testing.T, starts *beginnings, data []byte, offsets []int32) {
	t.Helper()
	wide := make([]int64, len(offsets))
	for i, offset := range offsets {
		wide[i] = int64(offset)
	}
	want := make([]uint64, len(offsets)-1)
	recallAllPortable(starts, data, offsets, want)
	got := make([]uint64, len(want))
	if recallAll(starts, data, offsets, got); !slices.Equal(got, want) {
		t.Fatalf("%q at %d: %x, not %x", data, offsets, got, want)
	}
	clear(got)
	if recallAll(starts, data, wide, got); !slices.Equal(got, want) {
		t.Fatalf("%q at 64-bit %d: %x, not %x", data, offsets, got, want)
	}
}

// keep keeps the first n octets of a URL as its beginning.
func keep(starts *beginnings, url []byte, n int) {
	if hash := placeOf(url, 1+n%2); hash != 0 {
		starts.keep(hash, url[:min(n, len(url), maxRecall)])
	}
}

// TestRecallAll has authorities of every length before paths of every length, and
// keeps beginnings of every length, some of them of another URL.
func TestRecallAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	starts := new(beginnings)
	kept := 0
	for _, scheme := range []string{"", "x", "http://", "https://", "https:///", "https://a/"} {
		for host := range 50 {
			var data []byte
			offsets := []int32{0}
			for path := range 80 {
				url := scheme + strings.Repeat("abcdefg.hij", 5)[:host] + strings.Repeat("/pa/thx", 12)[:path]
				keep(starts, []byte(url), rng.IntN(70))
				data = append(data, url...)
				offsets = append(offsets, int32(len(data)))
			}
			checkRecallAll(t, starts, data, offsets)
			hashes := make([]uint64, len(offsets)-1)
			recallAll(starts, data, offsets, hashes)
			for _, hash := range hashes {
				kept += int(hash & isKept / isKept)
			}
		}
	}
	if kept < 1000 {
		t.Errorf("only %d URLs are kept", kept)
	}
}

// FuzzRecallAll compares recallAll with its portable twin for any octets, the
// beginnings of some of which are kept.
func FuzzRecallAll(f *testing.F) {
	f.Add([]byte("https://www.a.example/and/a/path/that/is/longer/than/one/load/of/octets"), byte(30), byte(24))
	f.Add(bytes.Repeat([]byte("http://a.example/bhttp://b.example/c"), 5), byte(18), byte(17))
	f.Fuzz(func(t *testing.T, data []byte, width, length byte) {
		data = data[:min(len(data), 2000)]
		offsets := []int32{0}
		for end := int(width); end <= len(data); end += int(width) + 1 {
			offsets = append(offsets, int32(end))
		}
		starts := new(beginnings)
		for i := range len(offsets) - 1 {
			keep(starts, data[offsets[i]:offsets[i+1]], int(length)+i%3)
		}
		checkRecallAll(t, starts, data, offsets)
	})
}
