package parquetio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// encoded is a page of text in one codec, as the library compresses it.
func encoded(t *testing.T, codec compress.Compression, text []byte) []byte {
	t.Helper()
	c, err := compress.GetCodec(codec)
	if err != nil {
		t.Fatal(err)
	}
	return c.Encode(make([]byte, c.CompressBound(int64(len(text)))), text)
}

// streamed is a zstd frame that does not say its size, as some writers have it.
func streamed(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for part := text; len(part) > 0; part = part[min(len(part), 200_000):] {
		if _, err := w.Write(part[:min(len(part), 200_000)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var longText = bytes.Repeat([]byte("https://example.com/page?number=123456\n"), 10_000)

// A page that is not of the size that its header says is refused before the
// library sees it; in version 2 it would be cut or filled with zeros.
func TestPageSize(t *testing.T) {
	for _, codec := range []compress.Compression{compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli} {
		packed := encoded(t, codec, longText)
		for _, version2 := range []bool{false, true} {
			for _, more := range []int64{0, 1, -1, 1000, -1000} {
				var c pageChecker
				err := c.checkSize(packed, int64(len(longText))+more, codec, version2)
				if (err != nil) != (more != 0) {
					t.Errorf("%s, version 2 %v: %d octets more than there are: %v", codec, version2, more, err)
				}
			}
		}
	}
}

func TestZstdSize(t *testing.T) {
	stream := streamed(t, longText)
	two := append(encoded(t, compress.Codecs.Zstd, longText), stream...)
	for name, test := range map[string]struct {
		packed []byte
		exact  bool
		least  int
	}{
		"one frame":      {encoded(t, compress.Codecs.Zstd, longText), true, len(longText)},
		"without a size": {stream, false, len(longText)},
		"two frames":     {two, false, 2 * len(longText)},
		"nothing":        {nil, false, 0},
		"no frame":       {[]byte("no frame at all"), false, 0},
		"cut":            {stream[:len(stream)-8], false, 0},
	} {
		most, exact := zstdSize(test.packed)
		if exact != test.exact || most < int64(test.least) || most > int64(test.least)+2*zstdBlock+int64(len(longText)) {
			t.Errorf("%s: at most %d octets, exact %v", name, most, exact)
		}
	}
	// Such a frame in a page that says it is small would take memory first.
	var c pageChecker
	for _, packed := range [][]byte{stream, two} {
		if err := c.checkSize(packed, 100, compress.Codecs.Zstd, false); !errors.Is(err, errPageSize) {
			t.Errorf("%d octets: %v", len(packed), err)
		}
	}
	for _, version2 := range []bool{false, true} {
		if err := c.checkSize(stream, int64(len(longText)), compress.Codecs.Zstd, version2); err != nil {
			t.Error(err)
		}
	}
}

// The library stops reading gzip before its checksum.
func TestGzipChecksum(t *testing.T) {
	text := longText[:1000]
	packed := encoded(t, compress.Codecs.Gzip, text)
	const header = 10
	for i := header; i < len(packed); i++ {
		bad := bytes.Clone(packed)
		bad[i] ^= 1
		var c pageChecker
		if err := c.checkSize(bad, int64(len(text)), compress.Codecs.Gzip, false); err == nil {
			t.Errorf("octet %d changed: no error", i)
		}
	}
}

// page is a data page of version 1, not compressed, with a checksum.
func pageWithChecksum(data []byte, checksum uint32) []byte {
	header := []byte{0x15, 0} // kind
	for range 2 {             // sizes
		header = binary.AppendUvarint(append(header, 0x15), uint64(len(data))<<1)
	}
	crc := int64(int32(checksum))
	header = binary.AppendUvarint(append(header, 0x15), uint64(crc<<1)^uint64(crc>>63))
	return append(append(header, 0), data...)
}

func TestPageChecksum(t *testing.T) {
	for _, text := range []string{"", "a page", "another page, whose checksum is negative"} {
		data := []byte(text)
		sum := crc32.ChecksumIEEE(data)
		file := append([]byte("PAR1"), pageWithChecksum(data, sum)...)
		check := func(file []byte) error {
			return checkPages(file[4:], compress.Codecs.Uncompressed, 1<<20)
		}
		if err := check(file); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if err := check(append([]byte("PAR1"), pageWithChecksum(data, sum^1)...)); !errors.Is(err, errPageChecksum) {
			t.Errorf("%q: a wrong checksum: %v", text, err)
		}
		for i := len(file) - len(data); i < len(file); i++ {
			bad := bytes.Clone(file)
			bad[i] ^= 0x20
			if err := check(bad); !errors.Is(err, errPageChecksum) {
				t.Errorf("%q: octet %d changed: %v", text, i, err)
			}
		}
	}
}
