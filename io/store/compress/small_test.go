package compress

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func unpackSmall(packed []byte, c Codec) ([]byte, error) {
	d, err := NewSmallReader(bytes.NewReader(packed), c)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}

// TestSmallReaderAgrees gives both readers the same files, cut and damaged at
// every byte, too.
func TestSmallReaderAgrees(t *testing.T) {
	check := func(t *testing.T, c Codec, packed []byte) {
		t.Helper()
		want, wantErr := unpack(bytes.NewReader(packed), c)
		got, err := unpackSmall(packed, c)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, NewReader has %v", err, wantErr)
		}
		if err == nil && !bytes.Equal(got, want) {
			t.Fatal("other content than NewReader has")
		}
	}
	for _, c := range []Codec{Gzip, Zstd} {
		t.Run(c.String(), func(t *testing.T) {
			check(t, c, pack(t, c, lines(20_000), nil, lines(7)))
			packed := pack(t, c, lines(20), lines(20))
			if c == Zstd {
				packed = append(packed, streamFrame(t, lines(10))...)
			}
			for i := range packed {
				check(t, c, packed[:i])
				if _, err := unpackSmall(packed[:i], c); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("cut at %d: error %v", i, err)
				}
				damaged := bytes.Clone(packed)
				damaged[i] ^= 1 << (i % 8)
				check(t, c, damaged)
			}
		})
	}
}

func TestSmallReaderWindow(t *testing.T) {
	for _, test := range []struct {
		name    string
		frame   []byte
		refused bool
	}{
		{"window of 8 MiB", frameHeader(false, 8<<20), false},
		{"window of 16 MiB", frameHeader(false, 16<<20), true},
		{"segment of 9 MiB", frameHeader(true, 9<<20), true},
		{"second frame", append(pack(t, Zstd, lines(7)), frameHeader(false, 16<<20)...), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := unpackSmall(test.frame, Zstd); errors.Is(err, ErrWindow) != test.refused {
				t.Errorf("error %v", err)
			}
		})
	}
}
