package compress

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"testing"
)

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
		codec := Gzip
		if zstd {
			codec = Zstd
		}
		read := func(open func(io.Reader, Codec) (io.ReadCloser, error)) ([]byte, error) {
			r, err := open(bytes.NewReader(data), codec)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			got, err := io.ReadAll(io.LimitReader(r, most))
			if err != nil {
				if _, again := r.Read(make([]byte, 1)); again != err {
					t.Fatalf("the error %v became %v", err, again)
				}
			}
			return got, err
		}
		got, err := read(NewReader)
		small, smallErr := read(NewSmallReader)
		if errors.Is(smallErr, ErrWindow) {
			return
		}
		if (err == nil) != (smallErr == nil) || err == nil && !bytes.Equal(got, small) {
			t.Fatalf("%d bytes, %v; the small reader %d, %v", len(got), err, len(small), smallErr)
		}
		if err != nil || zstd || len(got) == most {
			return
		}
		r, err := stdgzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("Go's library: %v", err)
		}
		if want, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, Go's library %q, %v", got, want, err)
		}
	})
}
