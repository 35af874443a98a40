package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
)

// mark is UTF-8's byte order mark.
const mark = "\xEF\xBB\xBF"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read returns the rows of every batch.
func read(t testing.TB, s *lines.Source) (batches [][]string, err error) {
	t.Helper()
	return linestest.Batches(t, s, func(b *batch.Batch) []string {
		must.Be(t, b.Table == nil && b.URLs.Validity == nil, "a table %v, or a null among %v", b.Table, b.URLs)
		return linestest.URLs(b)
	})
}

// mustRead returns the rows of an input that has no error.
func mustRead(t testing.TB, s *lines.Source) []string {
	t.Helper()
	batches, err := read(t, s)
	must.Need(t, err == io.EOF, "error %v", err)
	return slices.Concat(batches...)
}

func TestRows(t *testing.T) {
	for _, test := range []struct {
		name, input string
		rows        []string
	}{
		{"empty", "", nil},
		{"one line", "http://a.example/\n", []string{"http://a.example/"}},
		{"no line end", "http://a.example/", []string{"http://a.example/"}},
		{"no last line end", "a\nb", []string{"a", "b"}},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"LF and CRLF", "a\nb\r\nc\n", []string{"a", "b", "c"}},
		{"CR at the end of the input", "a\nb\r", []string{"a", "b\r"}},
		{"two CRs and a LF", "a\r\r\nb\n", []string{"a\r", "b"}},
		{"CR alone ends no line", "a\rb\rc\n", []string{"a\rb\rc"}},
		{"blank lines", "\n\na\n\n\nb\n\n", []string{"a", "b"}},
		{"lines of white space", " \n\t\n\r\n\v\f\n \t\r\v\f \r\na\n ", []string{"a"}},
		{"only blank lines", "\n \r\n\n", nil},
		{"white space around is kept", "  a\t\n\vb \n", []string{"  a\t", "\vb "}},
		{"NUL, no UTF-8", "\x00\n\xff\xfe\n", []string{"\x00", "\xff\xfe"}},
		{"U+0085 and U+2028 end no line and are not blank", "\u0085\na\u2028b\n", []string{"\u0085", "a\u2028b"}},
		{"mark", mark + "a\nb\n", []string{"a", "b"}},
		{"mark alone", mark, nil},
		{"mark and a blank line", mark + " \r\na\n", []string{"a"}},
		{"mark twice", mark + mark + "a\n", []string{mark + "a"}},
		{"mark later", "a\n" + mark + "b\n", []string{"a", mark + "b"}},
		{"part of a mark", "\xEF\xBBa\n", []string{"\xEF\xBBa"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, rows := range []int{0, 1, 2, 3} {
				for _, r := range []io.Reader{
					strings.NewReader(test.input),
					iotest.OneByteReader(strings.NewReader(test.input)),
					iotest.DataErrReader(strings.NewReader(test.input)),
				} {
					must.EqualSlices(t, mustRead(t, NewSource(r, lines.Options{Name: "in", BatchRows: rows})), test.rows, "batches of", rows)
				}
			}
		})
	}
}

// plainRows is what the rows of an input are, said as simply as can be.
func plainRows(input string) []string {
	var rows []string
	for line := range strings.SplitAfterSeq(strings.TrimPrefix(input, mark), "\n") {
		row, ended := strings.CutSuffix(line, "\n")
		if ended {
			row = strings.TrimSuffix(row, "\r")
		}
		if strings.Trim(row, " \t\r\v\f") != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

func FuzzRows(f *testing.F) {
	f.Add("http://a.example/\r\n\r\nhttp://b.example/", 1, []byte{3, 0, 7})
	f.Add(mark+"\n \na\n", 2, []byte{1, 1, 100})
	f.Add(strings.Repeat("a\n", 100)+strings.Repeat("b", 3000), 7, []byte{255, 255})
	f.Fuzz(func(t *testing.T, input string, batchRows int, sizes []byte) {
		s := NewSource(linestest.Chunks(input, sizes), lines.Options{Name: "in", BatchRows: batchRows})
		batches, err := read(t, s)
		must.Need(t, err == io.EOF, "%v", err)
		got, want := slices.Concat(batches...), plainRows(input)
		must.Need(t, slices.Equal(got, want), "%q, want %q", got, want)
		for _, rows := range batches {
			must.Be(t, batchRows <= 0 || len(rows) <= batchRows, "a batch of %d rows, more than %d", len(rows), batchRows)
		}
	})
}

// TestBatches looks at the batches themselves: all but the last are full, and
// they are counted in lines.
func TestBatches(t *testing.T) {
	var input strings.Builder
	for i := range 10 {
		fmt.Fprintf(&input, "http://a.example/%d\n", i)
		if i%4 == 0 {
			input.WriteString(" \r\n")
		}
	}
	s := NewSource(strings.NewReader(input.String()), lines.Options{Name: "urls.txt", BatchRows: 4})
	want := []struct {
		name     string
		firstRow int64
		rows     int
	}{
		{"urls.txt: batch 0 (lines 1 to 4)", 0, 3},
		{"urls.txt: batch 1 (lines 5 to 8)", 4, 3},
		{"urls.txt: batch 2 (lines 9 to 12)", 8, 3},
		{"urls.txt: batch 3 (lines 13 to 13)", 12, 1},
	}
	i := 0
	must.Do(t, tablestest.Each(s, func(p batch.Piece) error {
		b := must.Get(p.Decode())(t)
		must.Be(t, p.Name() == want[i].name && b.FirstRow == want[i].firstRow && b.URLs.Len() == want[i].rows,
			"%s has %d rows from %d, want %v", p.Name(), b.URLs.Len(), b.FirstRow, want[i])
		i++
		return nil
	}))
	must.Equal(t, i, len(want), "batches")
}

// TestPiecesAreIndependent decodes late and out of order.
func TestPiecesAreIndependent(t *testing.T) {
	var input strings.Builder
	for i := range 100 {
		fmt.Fprintf(&input, "http://a.example/%d\n", i)
	}
	s := NewSource(strings.NewReader(input.String()), lines.Options{BatchRows: 7})
	var pieces []batch.Piece
	must.Do(t, tablestest.Each(s, func(p batch.Piece) error { pieces = append(pieces, p); return nil }))
	must.Do(t, s.Close())
	must.Need(t, len(pieces) == 15, "%d pieces", len(pieces))
	for i, p := range slices.Backward(pieces) {
		b := must.Get(p.Decode())(t)
		must.Equal(t, string(b.URLs.Value(0)), fmt.Sprintf("http://a.example/%d", 7*i), "piece", i, "starts with")
		b.Release()
	}
}

func TestBatchesHaveABoundedSize(t *testing.T) {
	line := strings.Repeat("x", 1<<19) + "\n"
	const count = 100
	s := NewSource(strings.NewReader(strings.Repeat(line, count)), lines.Options{})
	batches, err := read(t, s)
	must.Need(t, err == io.EOF, "%v", err)
	rows := 0
	for i, b := range batches {
		rows += len(b)
		size := len(b) * len(line)
		must.Be(t, size <= lines.MaxBlockSize+2*len(line), "batch %d has %d bytes", i, size)
	}
	must.Be(t, rows == count && len(batches) >= 3, "%d rows in %d batches, want %d", rows, len(batches), count)
}

func TestLineLimit(t *testing.T) {
	const limit = 10
	long := strings.Repeat("x", limit+1)
	for _, test := range []struct {
		name, input string
		line        int // that the error names; 0 for none
	}{
		{"exactly", long[1:] + "\n", 0},
		{"exactly, CRLF", long[1:] + "\r\n", 0},
		{"exactly, at the end", "a\n" + long[1:], 0},
		{"exactly, after the mark", mark + long[1:] + "\r\n", 0},
		{"more", long + "\n", 1},
		{"more, CRLF", "a\r\n" + long + "\r\n", 2},
		{"more, at the end", "a\n\nb\n" + long, 4},
		{"more, and blank", "a\n" + strings.Repeat(" ", limit+1) + "\n", 2},
		{"much more, in a later batch", strings.Repeat("a\n", 50) + strings.Repeat(long, 100), 51},
		{"much more, after many lines", strings.Repeat("a\n", 200_000) + strings.Repeat(long, 100_000), 200_001},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, rows := range []int{0, 1, 7} {
				s := NewSource(strings.NewReader(test.input), lines.Options{Name: "urls.txt", BatchRows: rows, MaxLine: limit})
				_, err := read(t, s)
				if test.line == 0 {
					must.Equal(t, err, io.EOF, "batches of", rows)
					continue
				}
				want := fmt.Sprintf("line %d has more than %d bytes", test.line, limit)
				must.Say(t, err, want, "batches of", rows)
			}
		})
	}
}

// TestZstdBomb reads a frame of one line of 256 MiB, which takes some kilobytes on the disk.
func TestZstdBomb(t *testing.T) {
	var bomb bytes.Buffer
	w := must.Get(compress.NewWriter(&bomb, compress.Zstd))(t)
	must.Get(io.Copy(w, io.LimitReader(linestest.Endless("", 0), 1<<28)))(t)
	must.Do(t, w.Close())

	allocated := must.Allocated(func() {
		r := must.Get(compress.NewReader(&bomb, compress.Zstd))(t)
		defer r.Close()
		s := NewSource(r, lines.Options{Name: "bomb.txt.zst"})
		must.Say(t, must.Err(read(t, s)), "bomb.txt.zst: line 1 has more than 1048576 bytes")
	})
	must.Be(t, allocated <= 64<<20, "%d bytes were allocated", allocated)
}

// TestReadErrors has reading fail: whole lines come first, then the error, with
// the line that it is in.
func TestReadErrors(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, rows := range []int{0, 1, 2} {
		r := io.MultiReader(strings.NewReader("a\n\nb\nc"), iotest.ErrReader(broken))
		s := NewSource(r, lines.Options{Name: "urls.txt", BatchRows: rows})
		batches, err := read(t, s)
		must.EqualSlices(t, slices.Concat(batches...), []string{"a", "b"}, "batches of", rows, "rows", "before")
		must.Be(t, errors.Is(err, broken) && strings.Contains(err.Error(), "urls.txt: reading line 4: "), "batches of %d: error %v", rows, err)
	}
}

func TestReaderWithoutProgress(t *testing.T) {
	idle := linestest.ReaderFunc(func([]byte) (int, error) { return 0, nil })
	must.Is(t, must.Err(read(t, NewSource(idle, lines.Options{}))), io.ErrNoProgress)
}

func TestCancel(t *testing.T) {
	linestest.CancelReads(t, mark+"a\nbc\r\n\nd", func(r io.Reader) batch.Source { return NewSource(r, lines.Options{BatchRows: 2}) })
}

// TestNoAllocations asserts that reading and decoding reuse their memory.
func TestNoAllocations(t *testing.T) {
	input := strings.NewReader(strings.Repeat("http://a.example/some/path?and=query\n", 100_000))
	// The piece, the batch and its release; s.rest now and then.
	n := linestest.Allocations(t, NewSource(input, lines.Options{BatchRows: 1000}))
	must.Be(t, n <= 6, "%.0f allocations a batch of 1000 rows", n)
}

func BenchmarkSource(b *testing.B) {
	const rows = 1 << 20
	input := strings.Repeat("https://www.example.com/some/path/of/a/page.html?with=a&query=string\n", rows)
	linestest.Benchmark(b, input, rows, func(r io.Reader) batch.Source { return NewSource(r, lines.Options{}) })
}

func TestSink(t *testing.T) {
	for _, test := range []struct {
		name     string
		urls     []string
		selected []byte
		want     string
	}{
		{"all rows", []string{"http://a.example/", " b ", "c\r"}, nil, "http://a.example/\n b \nc\r\n"},
		{"selected rows", []string{"a", "b", "c", "d"}, []byte{0b1010}, "b\nd\n"},
		{"no row", []string{"a", "b"}, []byte{0}, ""},
		{"null and empty rows", []string{"a", "null", "", "b"}, nil, "a\n\n\nb\n"},
		{"line ends within", []string{"a\nb\n", "\n", "c\r\nd"}, nil, "a%0Ab%0A\n%0A\nc\r%0Ad\n"},
		{"not UTF-8", []string{"\xff\x00"}, nil, "\xff\x00\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range []compress.Codec{compress.None, compress.Gzip, compress.Zstd} {
				w := new(linestest.Writer)
				s := must.Get(NewSink(w, lines.SinkOptions{Codec: c}))(t)
				v := &batch.Verdicts{Rows: len(test.urls), Selected: test.selected}
				packed := linestest.Write(t, w, s, v, linestest.List(test.urls...))
				must.Equal(t, compress.Detect(packed), c, "output")
				must.Be(t, c != compress.None || string(packed) == test.want, "%q, want %q", packed, test.want)
			}
		})
	}
}
