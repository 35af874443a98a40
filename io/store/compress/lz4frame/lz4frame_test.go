package lz4frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pierrec/lz4/v4"

	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/store/must"
)

// text makes n bytes of words, with parts that no compressor makes smaller.
func text(rng *rand.Rand, n int) []byte {
	var words [][]byte
	for range 300 {
		w := make([]byte, 2+rng.IntN(9))
		for i := range w {
			w[i] = byte('a' + rng.IntN(26))
		}
		words = append(words, append(w, ' '))
	}
	out := make([]byte, 0, n+20)
	for len(out) < n {
		if rng.IntN(2000) == 0 {
			for range rng.IntN(100_000) {
				out = append(out, byte(rng.IntN(256)))
			}
		}
		out = append(out, words[min(rng.IntN(300), rng.IntN(300))]...)
	}
	return out[:n]
}

// ranges returns some ranges of n bytes.
func ranges(rng *rand.Rand, n, most int) (kept []zstdcut.Range) {
	for at := 0; at < n; {
		low := at + rng.IntN(most)
		if low >= n {
			break
		}
		high := min(n, low+1+rng.IntN(8*most))
		kept = append(kept, zstdcut.Range{Low: low, High: high})
		at = high + 1
	}
	return kept
}

func frameOf(t testing.TB, plain []byte, options ...lz4.Option) []byte {
	t.Helper()
	var b bytes.Buffer
	w := lz4.NewWriter(&b)
	must.Do(t, w.Apply(options...))
	must.Get(w.Write(plain))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

// linked returns a frame as the C library makes it: each block's matches may begin in the
// blocks before. A block here is a literal, then the same bytes as those that lie some way
// back, so that hardly any can be read without the others.
func linked(rng *rand.Rand, n int) (frame, plain []byte) {
	head := [2]byte{version1, 4 << 4}
	frame = append(frame, 0x04, 0x22, 0x4D, 0x18, head[0], head[1], byte(checksum(head[:])>>8))
	for len(plain) < n {
		if len(plain) == 0 || rng.IntN(9) == 0 {
			part := text(rng, 1+rng.IntN(64<<10))
			frame = append(frame, byte(len(part)), byte(len(part)>>8), byte(len(part)>>16), 0x80)
			frame, plain = append(frame, part...), append(plain, part...)
			continue
		}
		back := 1 + rng.IntN(min(len(plain), window-1))
		length := 4 + rng.IntN(60_000)
		block := []byte{0x1F, 'x', byte(back), byte(back >> 8)}
		plain = append(plain, 'x')
		for range length {
			plain = append(plain, plain[len(plain)-back])
		}
		rest := length - 4 - 15
		if rest < 0 {
			block[0] = byte(0x10 + length - 4)
		} else {
			block = append(block, bytes.Repeat([]byte{255}, rest/255)...)
			block = append(block, byte(rest%255))
		}
		block = append(block, 0x50, 'e', 'n', 'd', 'e', 'd') // a block ends with literals
		plain = append(plain, "ended"...)
		frame = append(frame, byte(len(block)), byte(len(block)>>8), 0, 0)
		frame = append(frame, block...)
	}
	return append(frame, 0, 0, 0, 0), plain
}

// summed returns a frame with checksums of its blocks and of what it holds, as Polars
// writes it.
func summed(frame, plain []byte) []byte {
	head := [2]byte{frame[4] | blockChecksum | contentChecksum, frame[5]}
	out := append(slices.Clone(frame[:4]), head[0], head[1], byte(checksum(head[:])>>8))
	for at := 7; ; {
		size := binary.LittleEndian.Uint32(frame[at:])
		out = append(out, frame[at:at+4]...)
		if at += 4; size == 0 {
			return binary.LittleEndian.AppendUint32(out, checksum(plain))
		}
		block := frame[at : at+int(size&^storedBlock)]
		out = binary.LittleEndian.AppendUint32(append(out, block...), checksum(block))
		at += len(block)
	}
}

func libraryRead(frame []byte) ([]byte, error) {
	return io.ReadAll(lz4.NewReader(bytes.NewReader(frame)))
}

// A frame decodes to what it holds, and what is cut out of it to the ranges.
func TestCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var f Frame
	test := func(name string, frame, plain []byte) {
		t.Run(name, func(t *testing.T) {
			got := make([]byte, len(plain))
			if ok := f.Decode(got, frame); !ok || !bytes.Equal(got, plain) {
				t.Fatalf("it decodes to something else, or not: %v", ok)
			}
			for _, most := range []int{3, 30_000, 300_000} {
				kept := ranges(rng, len(plain), most)
				var want []byte
				for _, r := range kept {
					want = append(want, plain[r.Low:r.High]...)
				}
				out, ok := f.Cut([]byte("before"), kept, nil)
				must.Need(t, ok && bytes.HasPrefix(out, []byte("before")), "cut: %v, or what was there is gone", ok)
				without, _ := f.Cut(nil, kept, func(dst []byte, low, high int) []byte {
					must.Need(t, low >= 7 && high <= len(frame) && low < high, "it copies from %d to %d", low, high)
					return append(dst, frame[low:high]...)
				})
				if out = out[len("before"):]; !bytes.Equal(out, without) {
					t.Fatal("with blocks that are copied by others it differs")
				}
				got := make([]byte, len(want))
				read, err := libraryRead(out)
				must.Need(t, err == nil && bytes.Equal(read, want), "what the library reads differs: %v", err)
				must.Need(t, Decode(got, out) && bytes.Equal(got, want), "what is read here differs")
			}
		})
	}
	for _, n := range []int{1, 5, 5000, 70_000, 1_000_000} {
		plain := text(rng, n)
		for _, size := range []lz4.BlockSize{lz4.Block64Kb, lz4.Block256Kb, lz4.Block4Mb} {
			for _, kind := range []struct {
				name    string
				options []lz4.Option
			}{
				{"simple", []lz4.Option{lz4.ChecksumOption(false)}},
				{"size", []lz4.Option{lz4.ChecksumOption(false), lz4.SizeOption(uint64(n))}},
				{"checksum", nil},
				{"checksums", []lz4.Option{lz4.BlockChecksumOption(true)}},
			} {
				frame := frameOf(t, plain, append(kind.options, lz4.BlockSizeOption(size))...)
				test(fmt.Sprintf("%d/%s/%s", n, size, kind.name), frame, plain)
			}
		}
		frame, plain := linked(rng, n)
		test(fmt.Sprintf("%d/linked", n), frame, plain)
		test(fmt.Sprintf("%d/linked and summed", n), summed(frame, plain), plain)
	}
}

// Blocks far from every cut are copied, and the frame does not grow.
func TestCutCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	plain := text(rng, 4<<20)
	frame := frameOf(t, plain, lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb))
	var f Frame
	must.Need(t, f.Decode(make([]byte, len(plain)), frame), "it does not decode")
	out, ok := f.Cut(nil, []zstdcut.Range{{Low: 0, High: 1 << 20}, {Low: 1<<20 + 100, High: 4 << 20}}, nil)
	must.Need(t, ok && len(out) <= len(frame)+len(frame)/100, "%d bytes of %d", len(out), len(frame))
	half := f.blocks[15].end // the first megabyte
	must.Be(t, bytes.Equal(out[7:half], frame[7:half]) && bytes.HasSuffix(out, frame[f.blocks[17].begin:]), "blocks that lie whole in a range were not copied")
}

// A frame that is cut, or has another size, does not decode.
func TestDecodeDamaged(t *testing.T) {
	plain := text(rand.New(rand.NewPCG(1, 2)), 200_000)
	frame := frameOf(t, plain, lz4.ChecksumOption(false), lz4.BlockSizeOption(lz4.Block64Kb))
	for _, n := range []int{len(plain) - 1, len(plain) + 1, 0} {
		must.Be(t, !Decode(make([]byte, n), frame), "%d bytes: it decodes", n)
	}
	blocks := frameOf(t, plain, lz4.ChecksumOption(false), lz4.BlockChecksumOption(true), lz4.BlockSizeOption(lz4.Block64Kb))
	for name, whole := range map[string][]byte{"no checksums": frame, "checksums of blocks": blocks} {
		for i := range whole {
			must.Be(t, i%97 != 0 || !Decode(make([]byte, len(plain)), whole[:i]), "%s: cut at %d: it decodes", name, i)
		}
	}
	for after, whole := range map[int][]byte{0: frameOf(t, plain), 4: blocks} { // bytes after the checksum: of the last block, the end marker
		for i := range 4 {
			changed := must.Flipped(whole, len(whole)-1-after-i, 1)
			must.Be(t, Decode(make([]byte, len(plain)), whole) && !Decode(make([]byte, len(plain)), changed), "a frame with another checksum decodes, or none does; %d bytes follow it", after)
		}
	}
	must.Be(t, !Decode(make([]byte, len(plain)), append(bytes.Clone(frame), frame[:20]...)), "a second frame that is cut: it decodes")
}

// Whatever a frame says, it decodes or does not, as it does for the library, and so does
// what was cut.
func FuzzFrame(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	plain := text(rng, 3000)
	f.Add(frameOf(f, plain, lz4.ChecksumOption(false)), 3000, 100, 2000)
	f.Add(frameOf(f, plain), 3000, 0, 1)
	frame, plain := linked(rng, 2000)
	f.Add(frame, len(plain), 500, 1200)
	f.Add(summed(frame, plain), len(plain), 500, 1200)
	f.Fuzz(func(t *testing.T, frame []byte, n, low, high int) {
		if n < 0 || n > 1<<20 || low < 0 || high > n || low >= high {
			return
		}
		plain := make([]byte, n)
		var one Frame
		if !one.Decode(plain, frame) {
			return
		}
		read, err := libraryRead(frame)
		must.Need(t, err == nil && bytes.Equal(read, plain), "the library reads something else: %v", err)
		out, ok := one.Cut(nil, []zstdcut.Range{{Low: low, High: high}}, nil)
		if !ok {
			return
		}
		read, err = libraryRead(out)
		must.Need(t, err == nil && bytes.Equal(read, plain[low:high]), "what was cut differs: %v", err)
	})
}
