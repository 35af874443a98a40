package kernels

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// testHost is a table like that of package urls.
var testHost = NewHostTable(
	func(c byte) bool {
		return c > ' ' && c < 0x7F && !strings.ContainsRune("\"#%/:;<>?@[\\]^{|}`.", rune(c)) && (c < 'A' || c > 'Z')
	},
	func(c byte) bool { return strings.ContainsRune("/?#;", rune(c)) },
)

// TestFirstWithout puts the only signature that fits at each index of lists of each length,
// up to several rounds of the loop.
func TestFirstWithout(t *testing.T) {
	const missing = 1<<63 | 1
	for n := range 20 {
		for at := range n + 1 {
			signatures := make([]byte, 3)
			for i := range n {
				signature := uint64(1) << (63 * (i & 1))
				if i == at || i == at+2 {
					signature = ^uint64(missing)
				}
				signatures = binary.LittleEndian.AppendUint64(signatures, signature)
			}
			if got := FirstWithout(signatures, 3, n, missing); got != at {
				t.Fatalf("%d of %d: %d", at, n, got)
			}
		}
	}
}

// FuzzLoad compares the loads with those of encoding/binary.
func FuzzLoad(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 0x88, 9, 10, 0xFF, 12})
	f.Fuzz(func(t *testing.T, b []byte) {
		for i := range max(0, len(b)-7) {
			want := binary.LittleEndian.Uint64(b[i:])
			if Load64(b, i) != want || Load32(b, i) != uint32(want) || Load8(b, i) != byte(want) {
				t.Fatalf("%x at %d: %x, %x, %x", b, i, Load64(b, i), Load32(b, i), Load8(b, i))
			}
		}
	})
}

// FuzzIndexPair compares IndexPair with its plain Go twin, in all suffixes of a text.
func FuzzIndexPair(f *testing.F) {
	f.Add([]byte("/owner/repository/pulls/12/commits/0123456789abcdef"), uint8(5), byte('/'), byte('s'))
	f.Add(bytes.Repeat([]byte("ab"), 40), uint8(2), byte('a'), byte('a'))
	f.Fuzz(func(t *testing.T, s []byte, gap uint8, first, last byte) {
		for ; len(s)-int(gap) >= MinPairs; s = s[1:] {
			if got, want := IndexPair(s, int(gap), first, last), indexPairPortable(s, int(gap), first, last); got != want {
				t.Fatalf("%q and %d behind %q in %q: %d, not %d", first, gap, last, s, got, want)
			}
		}
	})
}

// checkPlainHost compares PlainHost with its plain Go twin, for a URL at the end of its
// memory and for one with more bytes after it.
func checkPlainHost(t *testing.T, url []byte, start int) {
	t.Helper()
	wantEnd, want := testHost.plainHostPortable(url, start)
	more := append(bytes.Clone(url), ".b.example/and/what/a/column/has/behind"...)
	for _, url := range [][]byte{url[:len(url):len(url)], more[:len(url)]} {
		if end, plain := testHost.PlainHost(url, start); end != wantEnd || plain != want {
			t.Fatalf("%q from %d on: %d, %v; not %d, %v", url, start, end, plain, wantEnd, want)
		}
	}
}

// TestPlainHost puts each byte at each index of hosts of each length up to more than a
// load, and dots at each two indices of some.
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

// FuzzPlainHost compares PlainHost with its plain Go twin.
func FuzzPlainHost(f *testing.F) {
	f.Add([]byte("https://www.a.example/and/a/path/that/is/longer/than/one/load/of/bytes"))
	f.Add([]byte("http://a..example./"))
	f.Fuzz(func(t *testing.T, url []byte) {
		url = url[:min(len(url), 200)]
		for start := range url {
			checkPlainHost(t, url, start)
		}
	})
}

// benchmarkKernel measures both implementations of a kernel on size bytes.
func benchmarkKernel(b *testing.B, size int, asm, portable func()) {
	for _, impl := range []struct {
		name string
		run  func()
	}{{"asm", asm}, {"go", portable}} {
		b.Run("impl="+impl.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				impl.run()
			}
		})
	}
}

// testColumn returns a column of URLs with the bounds of their paths.
func testColumn() (data []byte, paths []Bounds) {
	for i := range 256 {
		low := len(data) + len("https://www.example.com")
		data = append(data, "https://www.example.com/section/articles/2024/some-headline-of-the-day-"...)
		data = append(data, strings.Repeat("word-", i%7)...)
		data = append(data, "12345.html?page=2"...)
		paths = append(paths, Bounds{low, len(data)})
	}
	return data, paths
}

var sink int

func BenchmarkSign(b *testing.B) {
	data, paths := testColumn()
	signatures := make([]Signature, len(paths))
	for impl, sign := range signKernels(testTable) {
		b.Run("impl="+impl, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				sign(signatures, data, paths)
			}
		})
	}
}

func BenchmarkIndexPair(b *testing.B) {
	s := []byte("/section/articles/2024/some-headline-of-the-day-12345.html?page=2&sort=up&from=feed")
	benchmarkKernel(b, len(s),
		func() { sink = IndexPair(s, 5, '/', 'x') },
		func() { sink = indexPairPortable(s, 5, '/', 'x') })
}

func BenchmarkPlainHost(b *testing.B) {
	url := []byte("https://www.example.com/section/articles/2024/some-headline-of-the-day")
	benchmarkKernel(b, len("www.example.com"),
		func() { sink, _ = testHost.PlainHost(url, 8) },
		func() { sink, _ = testHost.plainHostPortable(url, 8) })
}

func BenchmarkPrefixRun(b *testing.B) {
	data, paths := testColumn()
	offsets := []int32{0}
	for _, path := range paths {
		offsets = append(offsets, int32(path.High))
	}
	prefix := []byte("https://www.example.com/section/articles/")
	benchmarkKernel(b, len(data),
		func() { sink = PrefixRun(prefix, data, offsets) },
		func() { sink = prefixRunPortable(prefix, data, offsets) })
}

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

// testTable is a table like the matcher's.
var testTable = NewSignatureTable(func(c byte) bool {
	return c <= ' ' || c >= 0x7F || bytes.IndexByte([]byte("%\"<>[\\]^`{|}"), c) >= 0
})

// TestSignaturesOfPartsAreSubsets: a part of a text has no bit that the text lacks,
// wherever the part lies. Otherwise a suffix that matches would be rejected.
func TestSignaturesOfPartsAreSubsets(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		s := make([]byte, random.IntN(70))
		for i := range s {
			s[i] = "/.0a?/%A#\xFA"[random.IntN(10)]
		}
		if got, want := testTable.Of(s), testTable.bytesOf(s)|gramsOf(s); got != want {
			t.Fatalf("%q: %x, not %x as in plain Go", s, got, want)
		}
		low := random.IntN(len(s) + 1)
		part := s[low : low+random.IntN(len(s)-low+1)]
		if set := testTable.Of(part) &^ testTable.Of(s); set != 0 {
			t.Fatalf("%q in %q: %x more", part, s, set)
		}
	}
}

// TestSignature checks that texts have the documented bits, so that the subsets above are
// not empty sets.
func TestSignature(t *testing.T) {
	var want Signature
	s := []byte("/aaaa/bcdefg/e/.xyz/%2F/")
	for i, c := range s {
		want |= testTable.bits[c]
		if c == '/' && i+gramSize < len(s) {
			want |= gramBit(binary.LittleEndian.Uint32(s[i+1:]))
		}
	}
	if got := testTable.Of(s); got != want || got&WorkBit == 0 || got>>gramShift&(1<<32-1) == 0 {
		t.Errorf("signature %x, want %x", got, want)
	}
	if testTable.Of([]byte("a#b"))&FragmentBit == 0 || testTable.Of(bytes.Repeat([]byte("a"), 20))&HardBits != 0 {
		t.Error("the bits for fragments and work are wrong")
	}
}

// FuzzSign compares Sign of many texts with its plain Go twin.
func FuzzSign(f *testing.F) {
	f.Add([]byte("/some/path/of/words.html?with=a&query=%2F#and/\xFA/fragment"), []byte{56, 30, 56, 17, 16, 15, 0, 2, 33, 56})
	f.Add(bytes.Repeat([]byte("/ab"), 70), []byte{63, 64, 65, 66, 67, 125, 126, 127, 128, 129, 190, 210})
	f.Add(bytes.Repeat([]byte("/"), 60), []byte{60, 48, 47, 46, 33, 32, 31, 18, 17, 16, 15, 3, 2, 1})
	f.Fuzz(func(t *testing.T, s, cuts []byte) {
		texts := make([]Bounds, 0, 2*len(cuts))
		for _, cut := range cuts {
			n := min(int(cut), len(s))
			texts = append(texts, Bounds{0, n}, Bounds{n, len(s)})
		}
		got, want := make([]Signature, len(texts)), make([]Signature, len(texts))
		testTable.signPortable(want, s, texts)
		for impl, sign := range signKernels(testTable) {
			sign(got, s, texts)
			for i, text := range texts {
				if got[i] != want[i] {
					t.Fatalf("%s: %q: %x, not %x", impl, s[text.Low:text.High], got[i], want[i])
				}
			}
		}
	})
}
