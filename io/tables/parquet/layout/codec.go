package layout

import (
	"encoding/binary"
	"errors"
	"fmt"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/panics"
)

// Codec is what the pages of a column are compressed with, by the format's number.
type Codec int32

// codecs are the compressions by their numbers.
var codecs = [...]struct {
	name  string
	codec compress.Codec
	// unread: this program does not read it. framed: blocks may be framed as Hadoop does.
	unread, framed bool
}{
	0: {name: "uncompressed", codec: compress.None},
	1: {name: "snappy", codec: compress.Snappy},
	2: {name: "gzip", codec: compress.Gzip},
	3: {name: "LZO", unread: true},
	4: {name: "brotli", codec: compress.Brotli},
	5: {name: "LZ4", codec: compress.LZ4Block, framed: true},
	6: {name: "zstd", codec: compress.Zstd},
	7: {name: "LZ4_RAW", codec: compress.LZ4Block},
}

// Uncompressed is the number of no compression.
const Uncompressed Codec = 0

// CodecOf returns the format's number of a compression; ok is false if Parquet does not have it.
func CodecOf(c compress.Codec) (number Codec, ok bool) {
	for i := range codecs {
		if known := &codecs[i]; known.codec == c && !known.unread && !known.framed {
			return Codec(i), true
		}
	}
	return Uncompressed, false
}

// String returns the codec's name.
func (c Codec) String() string {
	if c >= 0 && int(c) < len(codecs) {
		return codecs[c].name
	}
	return fmt.Sprintf("codec %d", int32(c))
}

// Check returns an error for a codec that is not read.
func (c Codec) Check() error {
	if c < 0 || int(c) >= len(codecs) || codecs[c].unread {
		return fmt.Errorf("it is compressed with %s, which is not read: write it with zstd, snappy, gzip or LZ4_RAW", c)
	}
	return nil
}

// Is reports whether pages of this codec are compressed with other. It is false for a codec that is not read.
func (c Codec) Is(other compress.Codec) bool { return c.Check() == nil && codecs[c].codec == other }

var errPageSize = errors.New("damaged: a page is not of the size that it says")

// most returns the most bytes that n bytes of c can decompress to, which bounds what a header may say.
func (c Codec) most(n int) int64 {
	if c.Check() != nil { // no limit: decompressing will fail with this error
		return 1 << 40
	}
	return compress.Most(n, codecs[c].codec)
}

// Decompress fills dst from src, which must decompress to exactly len(dst) bytes. It takes no memory for what
// src says of its size.
func (c Codec) Decompress(dst, src []byte) (err error) {
	if len(dst) == 0 { // some write nothing, some the frame of nothing
		return nil
	}
	defer panics.Recover(&err, panics.As("damaged: a page does not decompress")) // a codec's bug is an error of the page
	// Under LZ4, some write blocks without Hadoop's frames.
	if err = c.Check(); err == nil && (!codecs[c].framed || fillHadoop(dst, src) != nil) {
		err = compress.Fill(dst, src, codecs[c].codec)
	}
	if errors.Is(err, compress.ErrSize) {
		err = errPageSize
	}
	if err != nil {
		err = fmt.Errorf("a page does not decompress: %w", err)
	}
	return err
}

// hadoopFrame returns the two sizes that Hadoop puts before an LZ4 block: plain is that of the block decompressed, and
// packed that of the block itself. ok is false if plain is more than most, or src does not have packed bytes after the
// sizes.
func hadoopFrame(src []byte, most int) (plain, packed uint32, ok bool) {
	if len(src) < 8 {
		return 0, 0, false
	}
	plain, packed = binary.BigEndian.Uint32(src), binary.BigEndian.Uint32(src[4:])
	return plain, packed, uint64(plain) <= uint64(most) && uint64(packed) <= uint64(len(src)-8)
}

// fillHadoop fills dst from LZ4 blocks framed as Hadoop does.
func fillHadoop(dst, src []byte) error {
	for len(src) > 0 {
		plain, packed, ok := hadoopFrame(src, len(dst))
		if !ok {
			return errPageSize
		}
		src = src[8:]
		if err := compress.Fill(dst[:plain], src[:packed], compress.LZ4Block); err != nil {
			return err
		}
		dst, src = dst[plain:], src[packed:]
	}
	if len(dst) > 0 {
		return errPageSize
	}
	return nil
}

// Own returns the codec that page p of a chunk of codec c really has: LZ4_RAW if c is LZ4 and the page does not begin with
// one of Hadoop's frames, which fastparquet neither writes nor reads, and else c. p.Body must have been read.
func (c Codec) Own(p *Page) Codec {
	if body := p.Body[p.PlainLevels():]; c.Check() == nil && codecs[c].framed && len(body) > 0 {
		if _, _, ok := hadoopFrame(body, p.Uncompressed); !ok {
			raw, _ := CodecOf(codecs[c].codec)
			return raw
		}
	}
	return c
}

// Compressor returns a function that appends src compressed to dst; nil for Uncompressed and a codec that is not
// read. level is that of zstd, 0 for the default.
func (c Codec) Compressor(level int) func(dst, src []byte) []byte {
	switch {
	case c == Uncompressed || c.Check() != nil:
		return nil
	case codecs[c].framed:
		return appendHadoop
	}
	return func(dst, src []byte) []byte { return compress.Append(dst, src, codecs[c].codec, level) }
}

// appendHadoop appends src as one LZ4 block framed as Hadoop does: see fillHadoop.
func appendHadoop(dst, src []byte) []byte {
	begin := len(dst)
	dst = compress.Append(append(dst, 0, 0, 0, 0, 0, 0, 0, 0), src, compress.LZ4Block, compress.Standard) // after two sizes, set below
	binary.BigEndian.PutUint32(dst[begin:], uint32(len(src)))
	binary.BigEndian.PutUint32(dst[begin+4:], uint32(len(dst)-begin-8))
	return dst
}
