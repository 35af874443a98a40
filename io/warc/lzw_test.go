package warc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// compressed is what the compress program makes of s, with codes of up to 12 bits.
func compressed(s string) string { return lzw(s, 12, 0) }

// lzw compresses as the compress program does; the table is cleared every so many
// codes, never for 0.
func lzw(s string, maxBits, clearEvery int) string {
	const block = 0x80
	out := []byte{0x1F, 0x9D, block | byte(maxBits)}
	bits, free, inGroup := 9, lzwClear+1, 0
	var pending uint64
	held, codes := 0, 0
	table := make(map[string]int)
	flush := func() { // the padding of a group, when the width changes
		for ; inGroup%8 != 0; inGroup++ {
			held += bits
		}
		for held > 0 {
			out = append(out, byte(pending))
			pending >>= 8
			held -= 8
		}
		pending, held = 0, 0
	}
	write := func(code int) {
		if free >= 1<<bits && bits < maxBits {
			flush()
			bits++
		}
		pending |= uint64(code) << held
		held, inGroup, codes = held+bits, inGroup+1, codes+1
		for ; held >= 8; held -= 8 {
			out = append(out, byte(pending))
			pending >>= 8
		}
	}
	code := func(text string) int {
		if len(text) == 1 {
			return int(text[0])
		}
		return table[text]
	}
	for defined := false; len(s) > 0; {
		n := 1
		for n < len(s) {
			if _, ok := table[s[:n+1]]; !ok {
				break
			}
			n++
		}
		write(code(s[:n]))
		// The decoder defines a code once it has seen the one after.
		if defined && free < 1<<maxBits {
			free++
		}
		defined = true
		if n < len(s) && lzwClear+1+len(table) < 1<<maxBits {
			table[s[:n+1]] = lzwClear + 1 + len(table)
		}
		s = s[n:]
		if clearEvery > 0 && codes%clearEvery == 0 && len(s) > 0 {
			write(lzwClear)
			flush()
			clear(table)
			bits, free, defined = 9, lzwClear+1, false
		}
	}
	if held > 0 {
		out = append(out, byte(pending))
	}
	return string(out)
}

func TestLZW(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(random.IntN(64))
	}
	texts := map[string]string{
		"empty": "", "one byte": "a", "defined by itself": strings.Repeat("a", 10_000),
		"lines": strings.Repeat("Disallow: /some/path\n", 5000), "noise": string(noise),
	}
	for name, want := range texts {
		for _, maxBits := range []int{10, 12, 16} {
			for _, clearEvery := range []int{0, 7, 8, 1000} {
				var z lzwReader
				err := z.reset(bufio.NewReader(strings.NewReader(lzw(want, maxBits, clearEvery))))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(&z)
				if err != nil || string(got) != want {
					t.Errorf("%s, %d bits, cleared every %d: %d bytes of %d, error %v", name, maxBits, clearEvery, len(got), len(want), err)
				}
			}
		}
	}
}

func FuzzLZW(f *testing.F) {
	f.Add([]byte(compressed(text)))
	f.Add([]byte(lzw(text, 10, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		var z lzwReader
		if z.reset(bufio.NewReader(bytes.NewReader(data))) != nil {
			return
		}
		n, err := io.Copy(io.Discard, &z)
		if err != nil && !errors.Is(err, errLZW) {
			t.Fatal(err)
		}
		if n > int64(len(data))*(1<<lzwMaxBits) {
			t.Fatalf("%d bytes from %d", n, len(data))
		}
	})
}
