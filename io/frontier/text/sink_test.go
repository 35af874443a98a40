package text

import (
	"testing"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/must"
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
				s := must.Get(NewSink(w, c, batch.Layout{}))(t)
				v := &batch.Verdicts{Rows: len(test.urls), Selected: test.selected}
				packed := linestest.Write(t, w, s, v, linestest.List(test.urls...))
				must.Equal(t, compress.Detect(packed), c, "output")
				if c == compress.None && string(packed) != test.want {
					t.Errorf("%q, want %q", packed, test.want)
				}
			}
		})
	}
}
