package zstdcut

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
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

// What is cut decompresses to the head and the ranges that are kept.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	var c Cutter
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBestCompression} {
		for _, n := range []int{0, 1, 5, 300, 5000, 100_000, 700_000} {
			for _, options := range [][]zstd.EOption{nil, {zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true)}, {zstd.WithWindowSize(64 << 10)}} {
				encoder, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderLevel(level), zstd.WithZeroFrames(true))...)
				if err != nil {
					t.Fatal(err)
				}
				for round := range 4 {
					t.Run(fmt.Sprintf("%v/%d/%d", level, n, round), func(t *testing.T) {
						plain := text(rng, n)
						frame := encoder.EncodeAll(plain, nil)
						head := plain[:rng.IntN(min(n, 20)+1)]
						kept := ranges(rng, n, []int{3, 100, 30_000, 300_000}[round])
						c.cutAs(t, decoder, frame, plain, head, kept)
					})
				}
			}
		}
	}
}

// cutAs cuts a frame, and fails unless what is cut decompresses to the head and the ranges.
func (c *Cutter) cutAs(t *testing.T, decoder *zstd.Decoder, frame, plain, head []byte, kept []Range) {
	t.Helper()
	want := bytes.Clone(head)
	for _, r := range kept {
		want = append(want, plain[r.Low:r.High]...)
	}
	out, err := c.Cut([]byte("before"), frame, plain, head, kept)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decoder.DecodeAll(out[6:], nil); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%v; %d bytes, want %d", err, len(got), len(want))
	}
}

// literalKinds adds the kinds of the literals in a frame's blocks.
func literalKinds(t *testing.T, frame []byte, kinds map[int]int) {
	t.Helper()
	h, err := readFrameHeader(frame)
	ok := err == nil
	var b block
	var tables freeList
	s := history{repeatOffsets: [3]uint32{1, 4, 8}}
	for data, last, n := frame[h.size:], false, 1; ok && !last; n++ {
		head := int(data[0]) | int(data[1])<<8 | int(data[2])<<16
		size := head >> 3
		if last = head&lastBlockFlag != 0; head>>1&3 == blockTypeRLE {
			size = 1
		}
		if head>>1&3 == blockTypeCompressed {
			ok = b.parse(data[blockHeaderSize:][:size], n, &s, &tables)
			kinds[b.literalsType]++
		}
		data = data[blockHeaderSize+size:]
	}
	if !ok {
		t.Fatal("a block cannot be read")
	}
}

// Frames of the zstd program are cut, too: of low and high levels, with and without checksums
// and sizes, with long windows, and with literals of each kind. Of one that is damaged, what is
// cut is what it decompresses to, if it does.
func TestCutProgram(t *testing.T) {
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("there is no zstd program")
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<31))
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	rng := rand.New(rand.NewPCG(9, 10))
	plain := text(rng, 600_000)
	plain = append(plain, bytes.Repeat([]byte("x"), 300_000)...) // blocks of one byte
	plain = append(plain, plain[:100_000]...)
	for i := range 20_000 { // few literals, all the same
		plain = append(plain, plain[i:i+8]...)
		plain = append(plain, '!')
	}
	var c Cutter
	kinds := make(map[int]int)
	for _, flags := range []string{"-1", "--fast=5", "-3 --no-check", "-6", "-12", "-16", "-19 --long=27", "-3 --long=27", "-4 --no-content-size", "-1 --zstd=wlog=10"} {
		cmd := exec.Command("zstd", append(strings.Fields(flags), "-c", "-q")...)
		cmd.Stdin = bytes.NewReader(plain)
		frame, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", flags, err)
		}
		literalKinds(t, frame, kinds)
		for _, most := range []int{100, 30_000, 300_000} {
			t.Run(fmt.Sprintf("%s/%d", flags, most), func(t *testing.T) {
				c.cutAs(t, decoder, frame, plain, plain[:rng.IntN(20)], ranges(rng, len(plain), most))
			})
		}
		kept := []Range{{0, 300_000}, {310_000, len(plain)}}
		for range 20 {
			damaged := bytes.Clone(frame)
			damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
			if read, err := decoder.DecodeAll(damaged, nil); err == nil && len(read) == len(plain) {
				c.cutAs(t, decoder, damaged, read, nil, kept)
			} else {
				c.Cut(nil, damaged, plain, nil, kept) // does not panic
			}
		}
	}
	for _, kind := range []int{literalsBlockRaw, literalsBlockCompressed, literalsBlockTreeless} {
		if kinds[kind] == 0 {
			t.Errorf("no block has literals of kind %d: %v", kind, kinds)
		}
	}
}

// A frame that is not cut says why, and leaves what it was appended to.
func TestErrors(t *testing.T) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	plain := bytes.Repeat([]byte("a frame of one block; "), 100)
	frame := encoder.EncodeAll(plain, nil)
	header, err := readFrameHeader(frame)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, mask byte) []byte {
		damaged := bytes.Clone(frame)
		damaged[at] ^= mask
		return damaged
	}
	block := header.size
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
		{"a reserved bit", changed(4, reservedBit), plain, ErrUnsupported},
		{"an ID of a dictionary", changed(4, 1), plain, ErrDictionary},
		{"two frames", append(bytes.Clone(frame), frame...), plain, ErrUnsupported},
		{"less content", frame, plain[1:], ErrDamaged},
		{"no blocks", frame[:block], plain, ErrDamaged},
		{"half a block", frame[:block+20], plain, ErrDamaged},
		{"a block of the reserved type", changed(block, 1<<1), plain, ErrDamaged},
		{"treeless literals in the first block", changed(block+blockHeaderSize, literalsBlockTreeless), plain, ErrDamaged},
		{"half a checksum", frame[:len(frame)-1], plain, ErrDamaged},
	} {
		out, err := new(Cutter).Cut([]byte("before"), test.frame, test.plain, nil, []Range{{0, 100}, {200, len(test.plain)}})
		if !errors.Is(err, test.want) || err != nil && string(out) != "before" {
			t.Errorf("%s: %v, want %v; %q", test.name, err, test.want, out)
		}
	}
}

// Where little is cut, little is added, although much of the text repeats what is cut.
func TestCutSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var c Cutter
	plain := text(rng, 2_000_000)
	frame := encoder.EncodeAll(plain, nil)
	kept := []Range{{0, 300_000}, {320_000, 1_100_000}, {1_120_000, 2_000_000}}
	out, err := c.Cut(nil, frame, plain, nil, kept)
	if limit := len(frame) * 6 / 5; err != nil || len(out) > limit {
		t.Errorf("%v; %d bytes, of %d", err, len(out), len(frame))
	}
}

// A frame that is damaged is cut to something, or not at all, without a panic. One that
// decompresses is cut to its ranges.
func FuzzCut(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20))
	if err != nil {
		f.Fatal(err)
	}
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
		if want := append(bytes.Clone(plain[:low]), plain[high:]...); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v; %d bytes, want %d", err, len(got), len(want))
		}
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
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(512<<10))
	if err != nil {
		b.Fatal(err)
	}
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
			if out, err = c.Cut(out[:0], frame, plain, nil, kept); err != nil {
				b.Fatal(err)
			}
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
		if got := Worth(test.size, test.kept, test.ranges); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}
