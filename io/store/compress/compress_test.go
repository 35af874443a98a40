package compress

import (
	"bytes"
	stdgzip "compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	goleak.VerifyTestMain(m)
}

// files are the codecs of whole files.
var files = []Codec{None, Gzip, Zstd}

// lines is text that compresses as lists of URLs do.
func lines(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for range n {
		fmt.Fprintf(&b, "https://host%d.example/path/%x?q=%d\n", r.IntN(100), r.Uint64(), r.IntN(1000))
	}
	return b.Bytes()
}

func pack(t testing.TB, c Codec, parts ...[]byte) []byte {
	t.Helper()
	var packed []byte
	for _, part := range parts {
		packed = must.Get(AppendCompressed(packed, part, c))(t)
	}
	return packed
}

func unpack(r io.Reader, c Codec) ([]byte, error) { return readAll(NewReader(r, c)) }

func unpackSmall(packed []byte, c Codec) ([]byte, error) {
	return readAll(NewSmallReader(bytes.NewReader(packed), c))
}

func readAll(d io.ReadCloser, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}

func TestRoundTrip(t *testing.T) {
	long := lines(20_000)
	tests := []struct {
		name  string
		parts [][]byte
	}{
		{"nothing", [][]byte{{}}},
		{"one part", [][]byte{[]byte("http://a.example/\n")}},
		{"several parts, empty ones between", [][]byte{[]byte("a\n"), {}, []byte("b\n"), {}}},
		{"long parts", [][]byte{long, long[:100_000], long}},
	}
	for _, c := range files {
		for _, test := range tests {
			t.Run(c.String()+"/"+test.name, func(t *testing.T) {
				packed := pack(t, c, test.parts...)
				must.Be(t, c == None || Detect(packed) == c, "Detect says %s", Detect(packed))
				want := bytes.Join(test.parts, nil)
				if c == None && len(want) == 0 {
					packed = nil
				}
				for _, r := range []io.Reader{bytes.NewReader(packed), iotest.HalfReader(bytes.NewReader(packed)), iotest.DataErrReader(bytes.NewReader(packed))} {
					got := must.Get(unpack(r, c))(t)
					must.Need(t, bytes.Equal(got, want), "%d bytes came back, want %d", len(got), len(want))
				}
			})
		}
	}
}

// TestOthersRead has other readers than ours read what we write.
func TestOthersRead(t *testing.T) {
	want := lines(5000)
	z := must.Get(stdgzip.NewReader(bytes.NewReader(pack(t, Gzip, want[:1000], nil, want[1000:]))))(t)
	got, err := io.ReadAll(z)
	must.Be(t, err == nil && bytes.Equal(got, want), "compress/gzip: %d bytes and error %v", len(got), err)
}

func TestNewWriter(t *testing.T) {
	for _, c := range files {
		for _, want := range [][]byte{nil, lines(10), lines(50_000)} {
			t.Run(fmt.Sprintf("%s/%d", c, len(want)), func(t *testing.T) {
				var packed bytes.Buffer
				w := must.Get(NewWriter(&packed, c))(t)
				must.Get(w.Write(want))(t)
				must.Do(t, w.Close())
				got, err := unpack(&packed, c)
				must.Be(t, err == nil && bytes.Equal(got, want), "%d bytes came back with error %v, want %d", len(got), err, len(want))
			})
		}
	}
}

// namedMember is a gzip member whose header has a name, an extra field and a
// comment, as gzip and pigz write them.
func namedMember(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := stdgzip.NewWriter(&b)
	w.Name, w.Comment, w.Extra = "urls.txt", "a comment", []byte("extra")
	must.Get(io.WriteString(w, content))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

// TestCutAnywhere cuts files at each byte: only a cut between two members or
// frames, which nobody can see, may pass.
func TestCutAnywhere(t *testing.T) {
	content := string(lines(40))
	skippable := []byte("\x50\x2A\x4D\x18\x05\x00\x00\x0012345")
	for _, test := range []struct {
		name  string
		codec Codec
		parts [][]byte
	}{
		{"gzip", Gzip, [][]byte{pack(t, Gzip, []byte(content)), pack(t, Gzip, []byte(content))}},
		{"gzip with names", Gzip, [][]byte{namedMember(t, content), namedMember(t, content)}},
		{"zstd", Zstd, [][]byte{pack(t, Zstd, []byte(content)), pack(t, Zstd, []byte(content))}},
		{"zstd with skippable frames", Zstd, [][]byte{skippable, pack(t, Zstd, []byte(content)), skippable, pack(t, Zstd, []byte(content))}},
		{"zstd of several blocks", Zstd, [][]byte{streamFrame(t, lines(30))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			whole := bytes.Join(test.parts, nil)
			between := map[int]bool{len(whole): true}
			at := 0
			for _, part := range test.parts {
				at += len(part)
				between[at] = true
			}
			for cut := range len(whole) + 1 {
				_, err := unpack(bytes.NewReader(whole[:cut]), test.codec)
				switch {
				case between[cut] && err != nil:
					t.Errorf("cut between parts at %d: %v", cut, err)
				case !between[cut] && !errors.Is(err, io.ErrUnexpectedEOF):
					t.Errorf("cut at %d of %d: error %v, want io.ErrUnexpectedEOF", cut, len(whole), err)
				}
			}
		})
	}
}

// streamFrame is a frame of many small blocks, of unknown content size.
func streamFrame(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := must.Get(zstd.NewWriter(&b, zstd.WithWindowSize(64<<10)))(t) // decoders clear 8 MiB for the usual one
	for len(content) > 0 {
		n := min(100, len(content))
		must.Get(w.Write(content[:n]))(t)
		must.Do(t, w.Flush())
		content = content[n:]
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// TestDamageAnywhere flips a bit of each byte: the result is the content,
// or an error. (Some bytes, such as a member's time, carry no content.)
func TestDamageAnywhere(t *testing.T) {
	content := lines(40)
	for _, c := range []Codec{Gzip, Zstd} {
		t.Run(c.String(), func(t *testing.T) {
			whole := pack(t, c, content, content)
			want := append(bytes.Clone(content), content...)
			passed := 0
			for i := range whole {
				damaged := must.Flipped(whole, i, 1<<(i%8))
				got, err := unpack(bytes.NewReader(damaged), c)
				must.Need(t, err != nil || bytes.Equal(got, want), "byte %d: other content and no error", i)
				if err == nil {
					passed++
				}
			}
			must.Be(t, passed <= 40, "%d of %d damaged files passed", passed, len(whole))
		})
	}
}

func TestTrailingGarbage(t *testing.T) {
	for _, c := range []Codec{Gzip, Zstd} {
		for _, garbage := range []string{"\x00", "x", "http://a.example/\n", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
			t.Run(fmt.Sprintf("%s/%q", c, garbage), func(t *testing.T) {
				packed := append(pack(t, c, []byte("content")), garbage...)
				got, err := unpack(bytes.NewReader(packed), c)
				must.Fail(t, err)
				must.Equal(t, string(got), "content", "before the error")
			})
		}
	}
}

func TestDamageIsNamed(t *testing.T) {
	damaged := pack(t, Gzip, lines(10))
	damaged[len(damaged)-6] ^= 1 // in the checksum
	_, err := unpack(bytes.NewReader(damaged), Gzip)
	must.Be(t, err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && strings.Contains(err.Error(), "gzip: the compressed data is damaged"), "error %v", err)
}

// TestSourceErrors has the reader below fail at each byte. Its error must come
// through, also io.ErrUnexpectedEOF where a member or frame has just ended.
func TestSourceErrors(t *testing.T) {
	broken := errors.New("the network is down")
	for _, c := range []Codec{Gzip, Zstd} {
		for _, want := range []error{broken, io.ErrUnexpectedEOF} {
			t.Run(c.String()+"/"+want.Error(), func(t *testing.T) {
				packed := pack(t, c, []byte("content"), []byte("more"))
				for cut := range len(packed) + 1 {
					r := io.MultiReader(bytes.NewReader(packed[:cut]), iotest.ErrReader(want))
					_, err := unpack(r, c)
					must.Need(t, err == want, "failure at %d: error %v, want %v", cut, err, want)
				}
			})
		}
	}
}

func TestErrorStays(t *testing.T) {
	for _, c := range []Codec{Gzip, Zstd} {
		packed := pack(t, c, lines(100))
		d := must.Get(NewReader(bytes.NewReader(packed[:len(packed)-1]), c))(t)
		_, first := io.ReadAll(d)
		_, second := d.Read(make([]byte, 10))
		must.Be(t, first != nil && first == second, "%s: %v, then %v", c, first, second)
		d.Close()
		d.Close()
		_, err := d.Read(make([]byte, 10))
		must.Be(t, err != nil && err != io.EOF, "%s: reading after Close gives %v", c, err)
	}
}

// TestCloseEarly leaves a stream unread; TestMain sees the goroutines.
func TestCloseEarly(t *testing.T) {
	packed := pack(t, Zstd, lines(100_000))
	d := must.Get(NewReader(bytes.NewReader(packed), Zstd))(t)
	must.Get(io.ReadFull(d, make([]byte, 10)))(t)
	must.Do(t, d.Close())
}

// frameHeader is a zstd frame's beginning that asks for a window, or for one
// segment, of size bytes; what follows is a block of RLE zeros.
func frameHeader(singleSegment bool, size uint64) []byte {
	frame := []byte{0x28, 0xB5, 0x2F, 0xFD}
	if singleSegment {
		frame = append(frame, 0xE0)
		frame = binary.LittleEndian.AppendUint64(frame, size)
	} else {
		exponent := 0
		for 1<<(10+exponent) < size {
			exponent++
		}
		frame = append(frame, 0, byte(exponent<<3))
	}
	return append(frame, 0x03, 0x00, 0x02, 0x00) // last block, RLE, 2^14 zeros
}

func TestWindowLimit(t *testing.T) {
	for _, test := range []struct {
		name           string
		frame          []byte
		small, refused bool
	}{
		{"window of 128 MiB", frameHeader(false, 128<<20), false, false},
		{"window of 256 MiB", frameHeader(false, 256<<20), false, true},
		{"window of 2 TiB", frameHeader(false, 2<<40), false, true},
		{"segment of 129 MiB", frameHeader(true, 129<<20), false, true},
		{"segment of 2^63 bytes", frameHeader(true, 1<<63), false, true},
		{"small reader, window of 8 MiB", frameHeader(false, 8<<20), true, false},
		{"small reader, window of 16 MiB", frameHeader(false, 16<<20), true, true},
		{"small reader, segment of 9 MiB", frameHeader(true, 9<<20), true, true},
		{"small reader, second frame", append(pack(t, Zstd, lines(7)), frameHeader(false, 16<<20)...), true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := unpack(bytes.NewReader(test.frame), Zstd)
			refused := err != nil && strings.Contains(err.Error(), "window")
			if test.small {
				_, err = unpackSmall(test.frame, Zstd)
				refused = errors.Is(err, ErrWindow)
			}
			must.Be(t, refused == test.refused, "error %v", err)
		})
	}
}

func TestEmptyFileIsCutOff(t *testing.T) {
	for _, c := range []Codec{Gzip, Zstd} {
		must.Is(t, must.Err(unpack(bytes.NewReader(nil), c)), io.ErrUnexpectedEOF, c)
	}
}

func TestDetect(t *testing.T) {
	for want, heads := range map[Codec][]string{
		None: {"", "\x1f", "\x28\xb5\x2f", "\x60\x2a\x4d\x18\x04", "http://a.example/", "PAR1"},
		Gzip: {"\x1f\x8b", "\x1f\x8b\x08\x00\x00"},
		Zstd: {"\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18\x04", "\x5f\x2a\x4d\x18\x04"},
	} {
		for _, head := range heads {
			must.Equal(t, Detect([]byte(head)), want, "Detect", head)
		}
	}
}

func TestByName(t *testing.T) {
	for _, test := range []struct {
		name  string
		codec Codec
		plain string
	}{
		{"", None, ""},
		{"a.txt", None, "a.txt"},
		{"a.txt.gz", Gzip, "a.txt"},
		{"dir.gz/a.txt", None, "dir.gz/a.txt"},
		{"A.TXT.GZ", Gzip, "A.TXT"},
		{"a.csv.zst", Zstd, "a.csv"},
		{"a.gz.zst", Zstd, "a.gz"},
	} {
		codec, plain := ByName(test.name)
		must.Be(t, codec == test.codec && plain == test.plain, "ByName(%q) = %s, %q", test.name, codec, plain)
	}
}

func TestUnknownCodec(t *testing.T) {
	must.Fail(t, must.Err(NewReader(strings.NewReader("x"), 99)), "NewReader")
	must.Fail(t, must.Err(NewWriter(io.Discard, 99)), "NewWriter")
	must.Fail(t, must.Err(AppendCompressed(nil, nil, 99)), "AppendCompressed")
}

// TestAppendCompressedConcurrently is for the race detector, and sees that no
// call gets another's bytes.
func TestAppendCompressedConcurrently(t *testing.T) {
	text := lines(3000)
	for _, c := range files {
		var wg sync.WaitGroup
		for worker := range 8 {
			wg.Go(func() {
				prefix := []byte("kept")
				for i := range 10 {
					part := text[worker*100 : len(text)-i*1000]
					packed, err := AppendCompressed(bytes.Clone(prefix), part, c)
					rest, isKept := bytes.CutPrefix(packed, prefix)
					must.Be(t, err == nil && isKept, "%s: error %v, dst is kept: %v", c, err, isKept)
					got, err := unpack(bytes.NewReader(rest), c)
					must.Be(t, err == nil && bytes.Equal(got, part), "%s: %d bytes came back with error %v, want %d", c, len(got), err, len(part))
				}
			})
		}
		wg.Wait()
	}
}

func BenchmarkAppendCompressed(b *testing.B) {
	text := lines(65_536)
	for _, c := range files {
		b.Run("codec="+c.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var packed []byte
			for b.Loop() {
				packed = must.Get(AppendCompressed(packed[:0], text, c))(b)
			}
			b.ReportMetric(float64(len(packed))/float64(len(text)), "ratio")
		})
	}
}

func BenchmarkNewReader(b *testing.B) {
	text := lines(500_000)
	buffer := make([]byte, 1<<20)
	for _, c := range files {
		packed := pack(b, c, text)
		b.Run("codec="+c.String(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				d, err := NewReader(bytes.NewReader(packed), c)
				must.Do(b, err)
				for err == nil {
					_, err = d.Read(buffer)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				d.Close()
			}
		})
	}
}

func TestOpenText(t *testing.T) {
	const want = "ä\r\nb\n"
	for _, list := range []string{want, "\uFEFF" + want, "\xFF\xFE\xE4\x00\r\x00\n\x00b\x00\n\x00", "\xFE\xFF\x00\xE4\x00\r\x00\n\x00b\x00\n", ""} {
		for _, codec := range []Codec{None, Gzip, Zstd} {
			data := must.Get(AppendCompressed(nil, []byte(list), codec))(t)
			r := must.Get(OpenText(bytes.NewReader(data)))(t)
			text, err := io.ReadAll(r)
			must.Be(t, err == nil && string(text) == want[:min(len(want), len(list))], "%q, %v: %q, %v", list, codec, text, err)
			must.Do(t, r.Close())
		}
	}
	must.Fail(t, must.Err(OpenText(strings.NewReader("\x1F\x8B\x08\x00"))), "gzip header that is cut is opened")
}

// Bytes are compressed at the level that its writer seems to have taken, and at the fastest
// one where the standard one saves next to nothing.
func TestLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 8_000)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", rng.Uint32()>>rng.IntN(24))
	}
	var text, noise []byte
	for len(text) < sampleSize || len(noise) < sampleSize {
		begin := rng.IntN(len(words) - 8) // runs of words, which a longer search finds
		text = append(text, strings.Join(words[begin:begin+1+rng.IntN(8)], "")...)
		noise = binary.LittleEndian.AppendUint32(noise, rng.Uint32())
	}
	text = text[:sampleSize]
	size := func(data []byte, level int) int { return len(Append(nil, data, Zstd, level)) }
	fast, standard := size(text, Fastest), size(text, 0)
	must.Need(t, fast >= standard*102/100, "the levels are alike: %d and %d bytes", fast, standard)
	for _, test := range []struct {
		name         string
		plain        []byte
		stored, want int
	}{
		{"text at the fastest level", text, size(text, Fastest) * 101 / 100, Fastest},
		{"text at the standard level", text, size(text, 0), 0},
		{"text that is hardly compressed", text, len(text), Fastest},
		{"noise", noise, len(noise), Fastest},
	} {
		must.Equal(t, Level(test.plain, test.stored), test.want, test.name, "level")
	}
}

// TestSmallReaderAgrees gives both readers the same files, cut and damaged at
// every byte, too.
func TestSmallReaderAgrees(t *testing.T) {
	check := func(t *testing.T, c Codec, packed []byte) error {
		t.Helper()
		want, wantErr := unpack(bytes.NewReader(packed), c)
		got, err := unpackSmall(packed, c)
		must.Need(t, (err == nil) == (wantErr == nil), "error %v, NewReader has %v", err, wantErr)
		must.Need(t, err != nil || bytes.Equal(got, want), "other content than NewReader has")
		return err
	}
	for _, c := range []Codec{Gzip, Zstd} {
		t.Run(c.String(), func(t *testing.T) {
			check(t, c, pack(t, c, lines(20_000), nil, lines(7)))
			packed := pack(t, c, lines(20), lines(20))
			if c == Zstd {
				packed = append(packed, streamFrame(t, lines(10))...)
			}
			for i := range packed {
				err := check(t, c, packed[:i])
				must.Need(t, err == nil || errors.Is(err, io.ErrUnexpectedEOF), "cut at %d: error %v", i, err)
				damaged := must.Flipped(packed, i, 1<<(i%8))
				check(t, c, damaged)
			}
		})
	}
}

// FuzzReader reads what may be gzip or zstd: both readers agree, and gzip that is
// sound to its end is what Go's own library makes of it.
func FuzzReader(f *testing.F) {
	text := []byte("http://a.example/\nhttp://b.example/\n")
	for _, c := range []Codec{Gzip, Zstd} {
		f.Add(pack(f, c, text), c == Zstd)
		f.Add(pack(f, c, text, nil, lines(100)), c == Zstd)
	}
	f.Fuzz(func(t *testing.T, data []byte, zstd bool) {
		const most = 1 << 20
		codec := map[bool]Codec{false: Gzip, true: Zstd}[zstd]
		read := func(open func(io.Reader, Codec) (io.ReadCloser, error)) ([]byte, error) {
			r, err := open(bytes.NewReader(data), codec)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			got, err := io.ReadAll(io.LimitReader(r, most))
			if err != nil {
				_, again := r.Read(make([]byte, 1))
				must.Need(t, again == err, "the error %v became %v", err, again)
			}
			return got, err
		}
		got, err := read(NewReader)
		small, smallErr := read(NewSmallReader)
		if errors.Is(smallErr, ErrWindow) {
			return
		}
		must.Need(t, (err == nil) == (smallErr == nil) && (err != nil || bytes.Equal(got, small)),
			"%d bytes, %v; the small reader %d, %v", len(got), err, len(small), smallErr)
		if err != nil || zstd || len(got) == most {
			return
		}
		r, err := stdgzip.NewReader(bytes.NewReader(data))
		must.Need(t, err == nil, "Go's library: %v", err)
		if want, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, Go's library %q, %v", got, want, err)
		}
	})
}

// Bytes that do not fit into dst make it a quarter larger or so, not twice as large: it may be the body of a record batch.
func TestAppendGrows(t *testing.T) {
	src := make([]byte, 64<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(src)
	for _, c := range []Codec{Gzip, LZ4, Brotli} {
		out := Append(make([]byte, 1<<20), src, c, Fastest)
		must.Be(t, cap(out) < 3<<19, "%s: %d bytes have room for %d", c, len(out), cap(out))
	}
}
