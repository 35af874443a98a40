package zstdcut

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
		must.Need(t, err == nil && b.parse(frame[header.HeaderSize+blockHeaderSize:], 1, &history{repeatOffsets: [3]uint32{1, 4, 8}}), "%v; %x", err, frame)
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
	changed := func(at int, mask byte) []byte { return must.Flipped(frame, at, mask) }
	block := header.HeaderSize
	for _, test := range []struct {
		name         string
		frame, plain []byte
		want         error
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

var (
	update = flag.Bool("update", false, "make the frames in testdata, which needs the zstd program")
	rounds = flag.Int("rounds", 1, "how often to cut each frame of the zstd program; more than 1 also compresses each content with each option")
)

// contents are texts and numbers of n bytes each, and what encoders write special blocks for.
func contents(rng *rand.Rand, n int) map[string][]byte {
	rows := map[string][]byte{"text": text(rng, n)}
	number, offset := uint64(1_700_000_000_000), uint32(0)
	for i := 0; len(rows["urls"]) < n; i++ {
		rows["urls"] = fmt.Appendf(rows["urls"], "https://www.site%d.example/%s/%d/page-%x.html", i/40, []string{"news", "blog", "img"}[rng.IntN(3)], rng.IntN(3000), rng.Uint32()>>12)
	}
	for len(rows["rising"]) < n {
		number += rng.Uint64N(100)
		rows["rising"] = binary.LittleEndian.AppendUint64(rows["rising"], number)
	}
	for len(rows["offsets"]) < n {
		offset += rng.Uint32N(4000)
		rows["offsets"] = binary.LittleEndian.AppendUint32(rows["offsets"], offset)
		rows["few"] = append(rows["few"], "aaab"[rng.IntN(4)], 0, 0, 0)
	}
	mixed := append(text(rng, n/4), bytes.Repeat([]byte("x"), n/4)...)
	mixed = append(mixed, mixed[:n/8]...)
	for i := range n / 64 { // few literals, all the same
		mixed = append(append(mixed, mixed[i:i+7]...), '!')
	}
	for len(mixed) < n {
		mixed = append(mixed, byte(rng.IntN(256)))
	}
	rows["mixed"] = mixed
	for name := range rows {
		rows[name] = rows[name][:n]
	}
	return rows
}

// program runs the zstd program. Frames get a content size unless the flags say otherwise.
func program(t *testing.T, input []byte, flags string) []byte {
	t.Helper()
	if !strings.Contains(flags, "-d ") && !strings.Contains(flags, "--no-content-size") {
		flags += fmt.Sprintf(" --stream-size=%d", len(input))
	}
	cmd := exec.Command("zstd", append(strings.Fields(flags), "-c", "-q")...)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	must.Need(t, err == nil, "zstd %s: %v", flags, err)
	return out
}

func hasProgram() bool {
	_, err := exec.LookPath("zstd")
	return err == nil
}

// features adds what a frame has: types of blocks and literals, compression modes, repeat
// offsets and what its header says.
func features(t *testing.T, frame []byte, count map[string]int) {
	t.Helper()
	h := must.Get(readFrameHeader(frame))(t)
	count[fmt.Sprintf("checksum %t", h.HasCheckSum)]++
	count[fmt.Sprintf("single segment %t", h.SingleSegment)]++
	count[fmt.Sprintf("content size %t", h.HasFCS)]++
	var b block
	s := history{repeatOffsets: [3]uint32{1, 4, 8}}
	for data, last, n := frame[h.HeaderSize:], false, 1; !last; n++ {
		header := int(data[0]) | int(data[1])<<8 | int(data[2])<<16
		blockType, size := header>>1&3, header>>3
		if last = header&lastBlockFlag != 0; blockType == blockTypeRLE {
			size = 1
		}
		count["block "+[]string{"raw", "RLE", "compressed"}[blockType]]++
		if blockType == blockTypeCompressed {
			before := s.repeatOffsets
			must.Need(t, b.parse(data[blockHeaderSize:][:size], n, &s), "a block cannot be read")
			count["literals "+[]string{"raw", "RLE", "compressed", "treeless"}[b.literalsType]]++
			for k := range symbolTypes {
				mode := "FSE"
				switch {
				case len(b.sequences) == 0:
					continue
				case !b.ownTable[k]:
					mode = "repeat"
				case s.tables[k] == predefinedTables[k]:
					mode = "predefined"
				case s.tables[k].accuracyLog == 0:
					mode = "RLE"
				}
				count["mode "+mode]++
			}
			for _, sequence := range b.sequences {
				if slices.Contains(before[:], sequence.offset) {
					count["repeat offset"]++
				}
				before = [3]uint32{sequence.offset, before[0], before[1]}
			}
		}
		data = data[blockHeaderSize+size:]
	}
}

// allFeatures are those that the tests must have seen.
var allFeatures = []string{
	"block raw", "block RLE", "block compressed", "literals raw", "literals RLE", "literals compressed", "literals treeless",
	"mode predefined", "mode RLE", "mode FSE", "mode repeat", "repeat offset",
	"checksum true", "checksum false", "single segment true", "single segment false", "content size true", "content size false",
}

// A cutting is a Cutter, and its results so far: frames in a row, and what they must hold.
type cutting struct {
	Cutter
	frames, want []byte
}

// cut cuts ranges out of a frame, and has klauspost/compress decode the result.
func (c *cutting) cut(t *testing.T, frame, plain, head []byte, kept []Range) {
	t.Helper()
	begin := len(c.want)
	c.want = append(c.want, head...)
	for _, r := range kept {
		c.want = append(c.want, plain[r.Low:r.High]...)
	}
	out := must.Get(c.Cut([]byte("before"), frame, plain, head, kept))(t)
	got, err := decoder.DecodeAll(out[6:], nil)
	must.Need(t, err == nil && bytes.Equal(got, c.want[begin:]), "%v; %d bytes, want %d", err, len(got), len(c.want)-begin)
	c.frames = append(c.frames, out[6:]...)
}

// decode has the zstd program decode all results, if there is one.
func (c *cutting) decode(t *testing.T) {
	t.Helper()
	must.Need(t, !hasProgram() || bytes.Equal(program(t, c.frames, "-d --long=31"), c.want), "the zstd program decodes something else")
	c.frames, c.want = c.frames[:0], c.want[:0]
}

// TestCutProgram cuts frames of the zstd program, of each of its levels and of options that
// change the format.
func TestCutProgram(t *testing.T) {
	if !hasProgram() {
		t.Skip("there is no zstd program")
	}
	options := []string{
		"--ultra -22", "-19 --long=27", "-3 --long=27", "-1 --long=30", "--no-check -3", "-4 --no-content-size", "--no-check -1 --no-content-size",
		"-1 --zstd=wlog=10", "-9 --zstd=wlog=12", "-19 --zstd=mml=3,tlen=999", "-5 -B65536 -T2", "-3 --no-compress-literals", "-7 --compress-literals",
	}
	for level := -5; level <= 19; level++ {
		switch {
		case level < 0:
			options = append(options, fmt.Sprintf("--fast=%d", -level))
		case level > 0:
			options = append(options, fmt.Sprintf("-%d", level))
		}
	}
	rng := rand.New(rand.NewPCG(9, 10))
	all := contents(rng, 150_000)
	var c cutting
	for k, name := range slices.Sorted(maps.Keys(all)) {
		for i, flags := range options {
			if *rounds == 1 && i%len(all) != k {
				continue
			}
			t.Run(name+" "+flags, func(t *testing.T) {
				plain := all[name]
				frame := program(t, plain, flags)
				for range *rounds {
					for _, most := range []int{20, 1000, 30_000} {
						c.cut(t, frame, plain, plain[:rng.IntN(20)], ranges(rng, len(plain), most))
					}
				}
				c.decode(t)
			})
		}
	}
}

// stored are the frames in testdata, each with the flags that the zstd program made it with.
var stored = map[string]string{
	"checksum": "-19", "no-content-size": "-19 --no-content-size", "no-checksum": "--fast=5 --no-check", "small-blocks": "-3 --zstd=wlog=13", "smaller-blocks": "-5 --zstd=wlog=10",
}

// TestCutStored cuts frames that the zstd program made once.
func TestCutStored(t *testing.T) {
	if *update {
		store(t)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	count := make(map[string]int)
	var c cutting
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		frame, plain := load(t, name)
		features(t, frame, count)
		t.Run(name, func(t *testing.T) {
			for range 4 * *rounds {
				for _, most := range []int{5, 300, 10_000} {
					c.cut(t, frame, plain, plain[:rng.IntN(20)], ranges(rng, len(plain), most))
				}
			}
			c.decode(t)
		})
	}
	for _, feature := range allFeatures {
		must.Be(t, count[feature] != 0, "no frame has: %s", feature)
	}
}

// load reads a frame from testdata, and decompresses it.
func load(t *testing.T, name string) (frame, plain []byte) {
	t.Helper()
	frame = must.Get(os.ReadFile(filepath.Join("testdata", name+".zst")))(t)
	plain = must.Get(decoder.DecodeAll(frame, nil))(t)
	return frame, plain
}

// store makes the frames in testdata.
func store(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	folder := t.TempDir()
	write := func(name string, data []byte) { must.Do(t, os.WriteFile(name, data, 0o666)) }
	plain := append(text(rng, 5000), make([]byte, 140_000)...)
	for i := range 600 {
		plain = append(append(plain, plain[i:i+8]...), '!')
	}
	plain = append(plain, text(rng, 4000)...)
	for range 2000 { // literals that are all the same
		at := len(plain) - 4000 + rng.IntN(3900)
		plain = append(append(plain, plain[at:at+6+rng.IntN(9)]...), '!')
	}
	for range 1100 {
		plain = append(plain, byte(rng.IntN(256)))
	}
	for name, flags := range stored {
		write("testdata/"+name+".zst", program(t, plain, flags))
	}
	samples := text(rng, 100_000)
	train := []string{"--train", "-q", "--maxdict=2000", "-o", folder + "/dictionary"}
	for i := range 200 {
		name := fmt.Sprintf("%s/%d", folder, i)
		write(name, samples[400*i:][:500])
		train = append(train, name)
	}
	out, err := exec.Command("zstd", train...).CombinedOutput()
	must.Need(t, err == nil, "%v: %s", err, out)
	write("testdata/dictionary.zst", program(t, samples[:3000], "-3 -D "+folder+"/dictionary"))
	write("testdata/dictionary-without-id.zst", program(t, samples[:3000], "-3 --no-dictID -D "+folder+"/dictionary"))
}

// TestCutDictionary refuses frames with dictionaries. One that does not say so uses a Huffman
// tree, FSE tables or bytes of before the frame.
func TestCutDictionary(t *testing.T) {
	for name, want := range map[string]error{"dictionary": ErrDictionary, "dictionary-without-id": ErrDamaged} {
		frame := must.Get(os.ReadFile(filepath.Join("testdata", name+".zst")))(t)
		plain := make([]byte, 3000)
		must.Is(t, must.Err(new(Cutter).Cut(nil, frame, plain, nil, []Range{{0, 100}, {200, len(plain)}})), want, name)
	}
}

// TestCutDamaged cuts frames in which bits are changed or which end early. What a decoder
// takes is cut to its ranges. What it does not take makes no panic, and takes little memory.
func TestCutDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	var c cutting
	n := 200 * *rounds
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		frame, plain := load(t, name)
		kept := []Range{{0, 4000}, {4010, 8000}, {8500, 150_000}, {150_050, len(plain)}}
		for range n {
			damaged := bytes.Clone(frame)
			for range 1 + rng.IntN(3) {
				damaged[rng.IntN(len(damaged))] ^= 1 << rng.IntN(8)
			}
			if rng.IntN(4) == 0 {
				damaged = damaged[:rng.IntN(len(damaged))]
			}
			read, err := decoder.DecodeAll(damaged, nil)
			if err == nil && len(read) == len(plain) {
				must.Need(t, frame[4]&1<<2 == 0 || damaged[4] != frame[4] || bytes.Equal(read, plain), "the checksum holds for something else")
				c.cut(t, damaged, read, nil, kept)
				continue
			}
			size := must.Allocated(func() { _, err = new(Cutter).Cut(nil, damaged, plain, nil, kept) })
			must.Need(t, err == nil || errors.Is(err, ErrDamaged) || errors.Is(err, ErrDictionary) || errors.Is(err, ErrUnsupported), "%v", err)
			must.Need(t, size <= 8<<20, "%s: %d bytes of memory", name, size)
		}
	}
}

// decoder takes windows of the options above.
var decoder = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(1<<31))
	if err != nil {
		panic(err)
	}
	return d
}()
