package parquetio

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	blocks "robotsbatch/io/compress"
	"robotsbatch/io/tables/tablestest"
)

// repack returns a file that is not compressed with its pages compressed by f.
func repack(t testing.TB, data []byte, codec compress.Compression, f func(src []byte) []byte) []byte {
	t.Helper()
	end := len(data) - tailSize
	begin := end - int(binary.LittleEndian.Uint32(data[end:]))
	meta, err := metadata.NewFileMetaData(data[begin:end], nil)
	if err != nil {
		t.Fatal(err)
	}
	p := packer{
		codec: codec, data: data[len(magic):begin], meta: meta,
		compress: func(dst, src []byte) []byte { return append(dst, f(src)...) },
	}
	packed, err := p.pack()
	if err != nil {
		t.Fatal(err)
	}
	var footer bytes.Buffer
	if _, err := meta.WriteTo(&footer, nil); err != nil {
		t.Fatal(err)
	}
	out := append([]byte(magic), packed...)
	out = append(out, footer.Bytes()...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(footer.Len())), magic...)
}

// streamed returns src as a writer compresses it that knows no size before.
func streamed[W io.WriteCloser](newWriter func(io.Writer) W) func(src []byte) []byte {
	return func(src []byte) []byte {
		var out bytes.Buffer
		w := newWriter(&out)
		if _, err := w.Write(src); err != nil {
			panic(err)
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
		return out.Bytes()
	}
}

var (
	streamedZstd = streamed(func(w io.Writer) *zstd.Encoder {
		e, err := zstd.NewWriter(w)
		if err != nil {
			panic(err)
		}
		return e
	})
	streamedGzip   = streamed(func(w io.Writer) *gzip.Writer { return gzip.NewWriter(w) })
	streamedBrotli = streamed(func(w io.Writer) *brotli.Writer { return brotli.NewWriter(w) })
)

func rawLZ4(src []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(src)))
	var c lz4.Compressor
	n, err := c.CompressBlock(src, out)
	if err != nil {
		panic(err)
	}
	return out[:n]
}

func plainURLs(t testing.TB) []byte {
	return libraryWrite(t, compress.Codecs.Uncompressed, parquet.DataPageV1, 7, tablestest.NewRecord([]string{"url"}, tablestest.URLArray(12, true)))
}

// Codecs that the library writes in one way or not at all are read however they
// are written.
func TestOtherCompressors(t *testing.T) {
	for name, test := range map[string]struct {
		codec compress.Compression
		f     func([]byte) []byte
	}{
		"zstd without its size": {compress.Codecs.Zstd, streamedZstd},
		"zstd in two frames": {compress.Codecs.Zstd, func(src []byte) []byte {
			return blocks.AppendZstd(blocks.AppendZstd(nil, src[:len(src)/2]), src[len(src)/2:])
		}},
		"gzip":    {compress.Codecs.Gzip, streamedGzip},
		"brotli":  {compress.Codecs.Brotli, streamedBrotli},
		"LZ4_RAW": {lz4Raw, rawLZ4},
	} {
		data := repack(t, plainURLs(t), test.codec, test.f)
		if rows, err := use(t, data); err != nil || rows != 12 {
			t.Errorf("%s: %d rows: %v", name, rows, err)
		}
	}
}

// What a page has beyond what it says is not decompressed.
func TestPageBombs(t *testing.T) {
	const size = 64 << 20
	bomb := func(f func([]byte) []byte) func([]byte) []byte {
		var packed []byte
		return func(src []byte) []byte {
			if packed == nil {
				packed = f(make([]byte, size))
			}
			return packed
		}
	}
	encodeZstd := func(src []byte) []byte { return blocks.AppendZstd(nil, src) }
	for name, test := range map[string]struct {
		codec compress.Compression
		f     func([]byte) []byte
	}{
		"zstd":                  {compress.Codecs.Zstd, bomb(encodeZstd)},
		"zstd without its size": {compress.Codecs.Zstd, bomb(streamedZstd)},
		"second zstd frame": {compress.Codecs.Zstd, func(src []byte) []byte {
			return append(encodeZstd(src), bomb(streamedZstd)(nil)...)
		}},
		"gzip":          {compress.Codecs.Gzip, bomb(streamedGzip)},
		"second member": {compress.Codecs.Gzip, func(src []byte) []byte { return append(streamedGzip(src), streamedGzip(src)...) }},
		"brotli":        {compress.Codecs.Brotli, bomb(streamedBrotli)},
		"snappy":        {compress.Codecs.Snappy, func([]byte) []byte { return snappy.Encode(nil, make([]byte, 1<<20)) }},
		"LZ4_RAW":       {lz4Raw, bomb(rawLZ4)},
		"nothing":       {compress.Codecs.Zstd, func([]byte) []byte { return nil }},
	} {
		data := repack(t, plainURLs(t), test.codec, test.f)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := use(t, data)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), `column "url": a page does not decompress`) {
			t.Errorf("%s: error %v", name, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > size/2 {
			t.Errorf("%s: %d octets of memory taken", name, taken)
		}
	}
}

// Pages that we write have checksums, and those of others are checked, too.
func TestPageChecksum(t *testing.T) {
	record := tablestest.NewRecord([]string{"url"}, tablestest.URLArray(500, false))
	_, batches, err := readAll(libraryWrite(t, compress.Codecs.Zstd, parquet.DataPageV1, 500, record), Options{Name: "in"})
	if err != nil {
		t.Fatal(err)
	}
	data := writeAll(t, SinkOptions{Schema: record.Schema(), Compression: Snappy}, batches, tablestest.Verdicts)
	if _, _, err := readAll(data, Options{Name: "in"}); err != nil {
		t.Fatal(err)
	}
	data[300] ^= 1
	if _, _, err := readAll(data, Options{Name: "in"}); err == nil || !strings.Contains(err.Error(), "not what its checksum says") {
		t.Errorf("error %v", err)
	}
}

// A page of another size than its header says is refused, and one whose octets
// changed where the codec itself has a checksum.
func TestDecompress(t *testing.T) {
	text := bytes.Repeat([]byte("https://example.com/page?number=123456\n"), 1000)
	for codec, f := range map[compress.Compression]func([]byte) []byte{
		compress.Codecs.Uncompressed: func(src []byte) []byte { return src },
		compress.Codecs.Snappy:       func(src []byte) []byte { return snappy.Encode(nil, src) },
		compress.Codecs.Zstd:         func(src []byte) []byte { return blocks.AppendZstd(nil, src) },
		compress.Codecs.Gzip:         streamedGzip,
		compress.Codecs.Brotli:       streamedBrotli,
		lz4Raw:                       rawLZ4,
	} {
		packed := f(text)
		for _, more := range []int{0, 1, -1, 1000, -1000} {
			dst := make([]byte, len(text)+more)
			err := decompress(codec, dst, packed)
			if (err != nil) != (more != 0) || err == nil && !bytes.Equal(dst, text) {
				t.Errorf("%s: %d octets more than there are: %v", codec, more, err)
			}
		}
		if codec != compress.Codecs.Gzip && codec != compress.Codecs.Zstd {
			continue
		}
		for i := len(packed) - 4; i < len(packed); i++ {
			bad := bytes.Clone(packed)
			bad[i] ^= 1
			if err := decompress(codec, make([]byte, len(text)), bad); err == nil {
				t.Errorf("%s: octet %d changed: no error", codec, i)
			}
		}
	}
}
