package snappycut

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/s2"

	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/store/must"
)

type ranges = []zstdcut.Range

const unbounded = 1 << 30

// text makes n bytes of words that repeat, with long repetitions and bytes that do not repeat.
func text(rng *rand.Rand, n int) []byte {
	words := make([]byte, 3000)
	for i := range words {
		words[i] = byte('a' + rng.IntN(26))
	}
	out := make([]byte, 0, n+5000)
	for len(out) < n {
		from, most := words, 12
		switch rng.IntN(50) {
		case 0:
			from, most = out, 3000
		case 1:
			from, most = bytes.Repeat([]byte{byte(rng.IntN(256))}, 300), 300
		case 2:
			for range rng.IntN(400) {
				out = append(out, byte(rng.IntN(256)))
			}
		}
		if len(from) > 0 {
			at := rng.IntN(len(from))
			out = append(out, from[at:min(len(from), at+1+rng.IntN(most))]...)
		}
	}
	return out[:n]
}

// someRanges returns ranges of n bytes, of up to most bytes with gaps of up to an eighth of that.
func someRanges(rng *rand.Rand, n, most int) (kept ranges) {
	for low := rng.IntN(most/8 + 1); low < n; {
		high := min(n, low+1+rng.IntN(most))
		kept = append(kept, zstdcut.Range{Low: low, High: high})
		low = high + 1 + rng.IntN(most/8+1)
	}
	return kept
}

// content returns what a cut block holds.
func content(plain, head []byte, kept ranges) []byte {
	out := bytes.Clone(head)
	for _, r := range kept {
		out = append(out, plain[r.Low:r.High]...)
	}
	return out
}

// TestCut cuts blocks of several encoders.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	encoders := []func(dst, src []byte) []byte{snappy.Encode, s2.EncodeSnappy, s2.EncodeSnappyBetter, s2.EncodeSnappyBest, farCopies}
	for _, n := range []int{0, 1, 5, 100, 5000, 70_000, 300_000} {
		plain := text(rng, n)
		for i, encode := range encoders {
			block := encode(nil, plain)
			for _, most := range []int{1, 30, 1000, 30_000, 1 << 20} {
				head, kept := plain[:rng.IntN(min(n, 300)+1)], someRanges(rng, n, most)
				out, ok := Cut([]byte("before"), block, plain, head, kept, unbounded)
				must.Need(t, ok, "encoder %d, %d bytes, ranges of up to %d: not cut", i, n, most)
				got, err := snappy.Decode(nil, out[len("before"):])
				if want := content(plain, head, kept); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("encoder %d, %d bytes, ranges of up to %d: %v, %d bytes, want %d", i, n, most, err, len(got), len(want))
				}
			}
		}
	}
}

// farCopies encodes with copies that have the largest form of offset, and literals of each form.
func farCopies(_, plain []byte) []byte {
	block := []byte{}
	length := 0
	for at := 0; at < len(plain); at += length {
		length = min(64, len(plain)-at)
		if from := bytes.Index(plain[:at], plain[at:at+length]); from >= 0 {
			block = append(block, byte(length-1)<<2|copy4)
			block = append(block, byte(at-from), byte((at-from)>>8), byte((at-from)>>16), 0)
			continue
		}
		forms := [...][]byte{{63 << 2, byte(length - 1), 0, 0, 0}, {62 << 2, byte(length - 1), 0, 0}, {61 << 2, byte(length - 1), 0}, {60 << 2, byte(length - 1)}}
		block = append(append(block, forms[at/64%4]...), plain[at:at+length]...)
	}
	return append(binary.AppendUvarint(nil, uint64(len(plain))), block...)
}

// TestCutRow cuts the block of the package's comment.
func TestCutRow(t *testing.T) {
	const plain = "https://a.test/1 https://a.test/2 https://a.test/3 "
	copyOf15 := string([]byte{14<<2 | copy2, 17, 0})
	block := "\x33" + "\x40https://a.test/1 " + copyOf15 + "\x042 " + copyOf15 + "\x043 "
	out, ok := Cut(nil, []byte(block), []byte(plain), nil, ranges{{Low: 0, High: 17}, {Low: 34, High: 51}}, unbounded)
	must.Equal(t, ok, true)
	must.Equal(t, string(out), "\x22"+"\x40https://a.test/1 "+"\x38https://a.test/"+"\x043 ")
	out, _ = Cut(nil, []byte(block), []byte(plain), nil, ranges{{Low: 0, High: 25}, {Low: 34, High: 51}}, unbounded)
	must.Equal(t, string(out), "\x2a"+"\x40https://a.test/1 "+"\x1chttps://"+"\x38https://a.test/"+"\x043 ", "half of what is copied is kept")
	out, _ = Cut(nil, []byte(block), []byte(plain), nil, ranges{{Low: 0, High: 32}, {Low: 34, High: 51}}, unbounded)
	moved := string([]byte{14<<2 | copy2, 15, 0})
	must.Equal(t, string(out), "\x31"+"\x40https://a.test/1 "+copyOf15+moved+"\x043 ", "a cut between a copy and its bytes")
}

// A block of copies of bytes that are cut would have all its content as literals: it is not cut.
func TestCutGrows(t *testing.T) {
	row := text(rand.New(rand.NewPCG(9, 10)), 1000)
	plain := bytes.Repeat(row, 50)
	block := farCopies(nil, plain)
	kept := ranges{{Low: len(row), High: len(plain)}}
	most := len(block) + len(block)/16
	out, ok := Cut(make([]byte, 0, most), block, plain, nil, kept, most)
	must.Equal(t, ok || cap(out) > most, false)
	_, ok = Cut(nil, block, plain, nil, kept, len(plain)*5/4)
	must.Equal(t, ok, true)
}

// What does not hold the content that it should is not cut, and leaves what it was appended to.
func TestCutDamaged(t *testing.T) {
	plain := text(rand.New(rand.NewPCG(3, 4)), 1000)
	block := snappy.Encode(nil, plain)
	for name, damaged := range map[string][]byte{
		"nothing": nil, "only the size": block[:2], "half": block[:len(block)/2], "a byte less": block[:len(block)-1],
		"another size": append([]byte{1}, block[1:]...), "a literal that is too long": append(block[:2:2], 63<<2, 255, 255, 255, 255),
		"content that is too long": append(block[:2:2], bytes.Repeat([]byte{63<<2 | copy1, 0}, 1000)...),
	} {
		out, ok := Cut([]byte("before"), damaged, plain, nil, ranges{{Low: 0, High: 10}, {Low: 20, High: 1000}}, unbounded)
		must.Be(t, !ok && string(out) == "before", "%s: cut to %q", name, out)
	}
}

// A block that is damaged is cut to something, or not at all, without a panic. One that decompresses is cut to
// its ranges.
func FuzzCut(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{10, 3000, 100_000} {
		plain := text(rng, n)
		f.Add(snappy.Encode(nil, plain), plain, n/3, n/2)
	}
	f.Fuzz(func(t *testing.T, block, plain []byte, low, high int) {
		size, err := snappy.DecodedLen(block)
		if err == nil && size > 1<<20 {
			return
		}
		read, err := snappy.Decode(nil, block)
		if err == nil {
			plain = read
		}
		if low <= 0 || low >= high || high >= len(plain) {
			return
		}
		kept := ranges{{Low: 0, High: low}, {Low: high, High: len(plain)}}
		out, ok := Cut(nil, block, plain, nil, kept, unbounded)
		if err != nil {
			return
		}
		got, err := snappy.Decode(nil, out)
		must.Need(t, ok && err == nil && bytes.Equal(got, content(plain, nil, kept)), "%v, %v; %d bytes", ok, err, len(got))
	})
}

func TestWorth(t *testing.T) {
	const size = 1 << 20
	for _, test := range []struct {
		kept, ranges int
		want         bool
	}{{size - size/16, 32, true}, {size - size/16 - 1, 1, false}, {size - 1, 33, false}} {
		must.Equal(t, Worth(size, test.kept, test.ranges), test.want, test)
	}
}

// Of a column of texts, one row in 25 is left out.
func BenchmarkCut(b *testing.B) {
	const size = 1 << 20
	rng := rand.New(rand.NewPCG(7, 8))
	zipf := rand.NewZipf(rng, 1.1, 1, 40_000)
	words := text(rng, 40_001*8)
	plain := make([]byte, 0, size+8)
	for len(plain) < size {
		word := zipf.Uint64()
		plain = append(append(plain, words[8*word:8*word+2+word%7]...), ' ')
	}
	plain = plain[:size]
	block := snappy.Encode(nil, plain)
	for _, row := range []int{1 << 10, 3 << 10, 24 << 10} {
		var kept ranges
		for low := 0; low < size; low += 25 * row {
			kept = append(kept, zstdcut.Range{Low: low, High: min(size, low+24*row)})
		}
		rest := content(plain, nil, kept)
		room := make([]byte, s2.MaxEncodedLen(len(rest)))
		for name, run := range map[string]func() []byte{
			"cut": func() []byte {
				out, ok := Cut(room[:0], block, plain, nil, kept, unbounded)
				must.Equal(b, ok, true)
				return out
			},
			"compress": func() []byte { return s2.EncodeSnappy(room, rest) },
		} {
			b.Run(fmt.Sprintf("row=%d/impl=%s", row, name), func(b *testing.B) {
				b.SetBytes(int64(len(rest)))
				out := 0
				for b.Loop() {
					out = len(run())
				}
				b.ReportMetric(float64(out)/float64(len(block)), "of-the-block")
			})
		}
	}
}
