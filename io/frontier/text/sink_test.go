package text

import (
	"slices"
	"strings"
	"testing"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/store/compress"
)

func TestSink(t *testing.T) {
	tests := []struct {
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
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range []compress.Codec{compress.None, compress.Gzip, compress.Zstd} {
				w := new(linestest.Writer)
				s, err := NewSink(w, c, batch.Layout{})
				if err != nil {
					t.Fatal(err)
				}
				v := &batch.Verdicts{Rows: len(test.urls), Selected: test.selected}
				packed := linestest.Write(t, w, s, v, linestest.List(test.urls...))
				if got := compress.Detect(packed); got != c {
					t.Errorf("the output is %s, want %s", got, c)
				}
				if c == compress.None {
					if string(packed) != test.want {
						t.Errorf("%q, want %q", packed, test.want)
					}
					continue
				}
				r, err := compress.NewReader(&w.Buffer, c)
				if err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				buffer := make([]byte, 100)
				for err == nil {
					var n int
					n, err = r.Read(buffer)
					got.Write(buffer[:n])
				}
				r.Close()
				if got.String() != test.want {
					t.Errorf("%s: %q, want %q", c, got.String(), test.want)
				}
			}
		})
	}
}

// TestThroughAndBack has the source read what the sink wrote.
func TestThroughAndBack(t *testing.T) {
	urls := []string{"http://a.example/", " http://b.example/\t", "http://c.example/\xff", "x\ry"}
	w := new(linestest.Writer)
	s, err := NewSink(w, compress.None, batch.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	b := linestest.List(urls...)
	linestest.Write(t, w, s, &batch.Verdicts{Rows: len(urls)}, b, b)
	if got := mustRead(t, NewSource(&w.Buffer, lines.Options{})); !slices.Equal(got, slices.Repeat(urls, 2)) {
		t.Errorf("%q", got)
	}
}
