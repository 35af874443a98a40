package zstdcut

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"robotsbatch/io/store/must"
)

// text makes words that repeat.
func text(rng *rand.Rand, n int) []byte {
	var words [][]byte
	for range 400 {
		w := make([]byte, 2+rng.IntN(9))
		for i := range w {
			w[i] = byte('a' + rng.IntN(26))
		}
		words = append(words, append(w, ' '))
	}
	var out []byte
	for len(out) < n {
		switch rng.IntN(40) {
		case 0:
			if len(out) > 100 { // a long repetition
				at := rng.IntN(len(out))
				out = append(out, out[at:min(len(out), at+rng.IntN(3000))]...)
			}
		case 1:
			out = append(out, bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(400))...)
		case 2:
			for range rng.IntN(300) {
				out = append(out, byte(rng.IntN(256)))
			}
		default:
			out = append(out, words[min(rng.IntN(400), rng.IntN(400))]...)
		}
	}
	return out[:n]
}

// ranges are some of n bytes.
func ranges(rng *rand.Rand, n, most int) (kept []Range) {
	for at := 0; at < n; {
		low := at + rng.IntN(most)
		high := min(n, low+1+rng.IntN(8*most))
		if low >= n {
			break
		}
		kept = append(kept, Range{low, high})
		at = high + 1
	}
	return kept
}

// TestCut cuts frames of klauspost/compress of each of its levels.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c cutting
	large := 0
	for level := zstd.SpeedFastest; level <= zstd.SpeedBestCompression; level++ {
		for i, options := range [][]zstd.EOption{nil, {zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true)}, {zstd.WithWindowSize(64 << 10)}} {
			encoder := must.Get(zstd.NewWriter(nil, append(options, zstd.WithEncoderLevel(level), zstd.WithZeroFrames(true))...))(t)
			for _, n := range []int{0, 1, 5, 300, 5000, 200_000} {
				all := contents(rng, n)
				for _, name := range slices.Sorted(maps.Keys(all)) {
					if large++; n > 100_000 && large%len(all) > 0 {
						continue // by turns
					}
					plain := all[name]
					frame := encoder.EncodeAll(plain, nil)
					t.Run(fmt.Sprintf("%v/%d/%d/%s", level, i, n, name), func(t *testing.T) {
						for _, most := range []int{3, 100, 30_000, 300_000} {
							c.cut(t, frame, plain, plain[:rng.IntN(min(n, 20)+1)], ranges(rng, n, most))
						}
					})
				}
			}
			c.decode(t)
		}
	}
}

// TestCutRow cuts the frame of the package's comment.
func TestCutRow(t *testing.T) {
	plain := []byte("https://a.test/1 ftp://b.example/ https://a.test/3 ")
	frame := slices.Concat([]byte{0x28, 0xB5, 0x2F, 0xFD, 0, 0, 0x65, 1, 0, 0x44, 2}, []byte("https://a.test/1 ftp://b.example/ 3 "), []byte{1, 0, 0x2A, 0x9D, 0x7A, 2})
	sequences := func(frame []byte) (b block) {
		header, err := readFrameHeader(frame)
		must.Need(t, err == nil && b.parse(frame[header.HeaderSize+blockHeaderSize:], 1, &history{repeatOffsets: [3]uint32{1, 4, 8}}, new(freeList)), "%v; %x", err, frame)
		return b
	}
	b := sequences(frame)
	must.Be(t, slices.Equal(b.sequences, []sequence{{34, 15, 34}}), "before: %v", b.sequences)
	out := must.Get(new(Cutter).Cut(nil, frame, plain, nil, []Range{{0, 17}, {34, 51}}))(t)
	if b := sequences(out); !slices.Equal(b.sequences, []sequence{{17, 15, 17}}) || string(b.literalsSection[1:]) != "https://a.test/1 3 " {
		t.Errorf("after: %v, %q", b.sequences, b.literalsSection)
	}
}

// A frame that is not cut says why, and leaves what it was appended to.
func TestErrors(t *testing.T) {
	encoder := must.Get(zstd.NewWriter(nil, zstd.WithEncoderCRC(true)))(t)
	plain := bytes.Repeat([]byte("a frame of one block; "), 100)
	frame := encoder.EncodeAll(plain, nil)
	header := must.Get(readFrameHeader(frame))(t)
	changed := func(at int, mask byte) []byte {
		damaged := bytes.Clone(frame)
		damaged[at] ^= mask
		return damaged
	}
	block := header.HeaderSize
	for _, test := range []struct {
		name  string
		frame []byte
		plain []byte
		want  error
	}{
		{"sound", frame, plain, nil},
		{"no bytes", nil, plain, ErrDamaged},
		{"a header that ends early", frame[:block-1], plain, ErrDamaged},
		{"a skippable frame", append([]byte{0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0}, frame...), plain, ErrUnsupported},
		{"a reserved bit", changed(4, 1<<3), plain, ErrUnsupported},
		{"an ID of a dictionary", changed(4, 1), plain, ErrDictionary},
		{"two frames", append(bytes.Clone(frame), frame...), plain, ErrUnsupported},
		{"less content", frame, plain[1:], ErrDamaged},
		{"no blocks", frame[:block], plain, ErrDamaged},
		{"half a block", frame[:block+20], plain, ErrDamaged},
		{"a block of the reserved type", changed(block, 1<<1), plain, ErrDamaged},
		{"treeless literals in the first block", changed(block+blockHeaderSize, literalsBlockTreeless), plain, ErrDamaged},
	} {
		out, err := new(Cutter).Cut([]byte("before"), test.frame, test.plain, nil, []Range{{0, 100}, {200, len(test.plain)}})
		must.Be(t, errors.Is(err, test.want) && (err == nil || string(out) == "before"), "%s: %v, want %v; %q", test.name, err, test.want, out)
	}
}

// Where little is cut, little is added, although much of the text repeats what is cut.
func TestCutSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	encoder := must.Get(zstd.NewWriter(nil))(t)
	var c Cutter
	plain := text(rng, 2_000_000)
	frame := encoder.EncodeAll(plain, nil)
	kept := []Range{{0, 300_000}, {320_000, 1_100_000}, {1_120_000, 2_000_000}}
	out, err := c.Cut(nil, frame, plain, nil, kept)
	limit := len(frame) * 6 / 5
	must.Be(t, err == nil && len(out) <= limit, "%v; %d bytes, of %d", err, len(out), len(frame))
}

// A frame that is damaged is cut to something, or not at all, without a panic. One that
// decompresses is cut to its ranges.
func FuzzCut(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	encoder := must.Get(zstd.NewWriter(nil))(f)
	decoder := must.Get(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20)))(f)
	for _, n := range []int{10, 3000, 200_000} {
		plain := text(rng, n)
		f.Add(encoder.EncodeAll(plain, nil), plain, n/3, n/2)
	}
	f.Fuzz(func(t *testing.T, frame, plain []byte, low, high int) {
		read, err := decoder.DecodeAll(frame, nil)
		if err == nil {
			plain = read
		}
		if low <= 0 || low >= high || high >= len(plain) {
			return
		}
		var c Cutter
		out, refused := c.Cut(nil, frame, plain, nil, []Range{{0, low}, {high, len(plain)}})
		if err != nil || refused != nil {
			return
		}
		got, err := decoder.DecodeAll(out, nil)
		want := append(bytes.Clone(plain[:low]), plain[high:]...)
		must.Need(t, err == nil && bytes.Equal(got, want), "%v; %d bytes, want %d", err, len(got), len(want))
	})
}

// Of a column of texts, 4 in 100 are cut.
func BenchmarkCut(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	zipf := rand.NewZipf(rng, 1.1, 1, 40_000)
	words := make([][]byte, 40_001)
	for i := range words {
		words[i] = append(text(rng, 2+rng.IntN(9)), ' ')
	}
	const n, size = 8 << 20, 24 << 10
	plain := make([]byte, 0, n+size)
	for len(plain) < n {
		if part := words[zipf.Uint64()]; rng.IntN(20) > 0 || len(plain) < 1000 {
			plain = append(plain, part...)
		} else {
			at := rng.IntN(len(plain) - 200)
			plain = append(plain, plain[at:at+rng.IntN(200)]...)
		}
	}
	plain = plain[:n]
	encoder := must.Get(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(512<<10)))(b)
	frame := encoder.EncodeAll(plain, nil)
	var kept []Range
	for low := 0; low < n; low += 25 * size {
		kept = append(kept, Range{low, min(n, low+24*size)})
	}
	var c Cutter
	var out []byte
	b.Run("impl=cut", func(b *testing.B) {
		b.SetBytes(n)
		for b.Loop() {
			out = must.Get(c.Cut(out[:0], frame, plain, nil, kept))(b)
		}
		b.ReportMetric(float64(len(out))/float64(len(frame)), "of-the-frame")
	})
	b.Run("impl=compress", func(b *testing.B) {
		b.SetBytes(n)
		for b.Loop() {
			out = encoder.EncodeAll(plain[:n*24/25], out[:0])
		}
		b.ReportMetric(float64(len(out))/float64(len(frame)), "of-the-frame")
	})
}

func TestWorth(t *testing.T) {
	const size = 1 << 20
	for _, test := range []struct {
		size, kept, ranges int
		want               bool
	}{
		{size, size - size/8, 256, true},
		{size, size - size/8 - 1, 1, false},
		{size, size - 1, 257, false},
		{64 << 10, 60 << 10, 1, true},
		{64<<10 - 1, 60 << 10, 1, false},
	} {
		must.Equal(t, Worth(test.size, test.kept, test.ranges), test.want, test)
	}
}
