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
	var tables freeList
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
			must.Need(t, b.parse(data[blockHeaderSize:][:size], n, &s, &tables), "a block cannot be read")
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
	write := func(name string, data []byte) {
		must.Do(t, os.WriteFile(name, data, 0o666))
	}
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
