package warc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxCodings is the number of codings that a body may have, one applied to another.
	maxCodings = 3
	// maxWindow is the largest zstd window, in bytes, that RFC 9659 §3 permits in
	// HTTP.
	maxWindow = 8 << 20
	// textSize is the number of first bytes that show whether a body is coded at all.
	textSize = 64
)

// coding is a content or transfer coding (RFC 9110 §8.4.1).
type coding uint8

const (
	identity coding = iota // none, or unknown
	gzipCoding
	deflateCoding
	compressCoding
	brCoding
	zstdCoding
)

// codingsByName are the codings by their names in lower case.
var codingsByName = map[string]coding{
	"gzip": gzipCoding, "x-gzip": gzipCoding, "deflate": deflateCoding, "compress": compressCoding, "x-compress": compressCoding,
	"br": brCoding, "zstd": zstdCoding,
}

// decoder undoes codings. It keeps its memory for the next body.
type decoder struct {
	joined  bufio.Reader // the chunks of a body
	decoded bufio.Reader
	gzip    gunzip
	zstd    *zstd.Decoder
	br      *brotli.Reader
}

// open returns a reader of the body in r without its codings. codings are those that the
// header names, in the order in which the server applied them. coded reports whether one was
// undone. Crawlers store bodies decoded, dechunked, both or neither, and servers mix up the
// order, so each step looks at the bytes: chunks are joined as soon as there are some, and
// text ends the decoding. The reader is valid until the next call.
func (d *decoder) open(r *bufio.Reader, codings []coding, chunked bool) (body io.Reader, coded bool, err error) {
	if len(codings) > maxCodings {
		return nil, true, errors.New("too many codings, one in another")
	}
	for i := len(codings) - 1; ; i-- {
		if chunked && looksChunked(r) {
			chunked = false
			joined := httputil.NewChunkedReader(r)
			if i < 0 {
				return joined, coded, nil
			}
			d.joined.Reset(joined)
			r = &d.joined
		}
		if i < 0 {
			return r, coded, nil
		}
		coding := codings[i]
		if looksLikeText(r, coding) {
			return r, coded, nil
		}
		if head, _ := r.Peek(len(magic)); string(head) == magic {
			coding = gzipCoding // whatever it was called
		}
		if coded { // one coding in another, which is rare: the readers of this decoder are in use
			d = new(decoder)
		}
		raw, err := d.decode(r, coding)
		if err != nil {
			return nil, true, err
		}
		d.decoded.Reset(raw)
		r, coded = &d.decoded, true
	}
}

// looksLikeText reports whether the next textSize bytes, or all if there are fewer, are text without
// control characters other than white space: UTF-8, or for gzip in any charset. All compressed data soon
// has other bytes, and gzip begins with one.
func looksLikeText(r *bufio.Reader, c coding) bool {
	start, _ := r.Peek(textSize)
	for utf8.FullRune(start) { // Peek may cut the last one
		char, size := utf8.DecodeRune(start)
		invalid := char == utf8.RuneError && size == 1
		if char < 0x20 && char != '\t' && char != '\n' && char != '\r' || char == 0x7F || invalid && c != gzipCoding {
			return false
		}
		start = start[size:]
	}
	return true
}

// looksChunked reports whether the next bytes are the length of a chunk; true for an empty
// body, which lacks even the last chunk: the reader of chunks then says that it is cut.
func looksChunked(r *bufio.Reader) bool {
	const mostDigits, lineStart = 16, 32 // a length has at most 64 bits; blanks may follow it
	start, err := r.Peek(lineStart)
	if len(start) == 0 {
		return err == io.EOF
	}
	rest := bytes.TrimLeft(start, "0123456789abcdefABCDEF")
	digits := len(start) - len(rest)
	rest = bytes.TrimLeft(rest, " \t")
	return digits > 0 && digits <= mostDigits && (len(rest) == 0 || rest[0] == '\r' || rest[0] == '\n' || rest[0] == ';')
}

// decode returns a reader of r with one coding undone, valid until the next call.
func (d *decoder) decode(r *bufio.Reader, c coding) (io.Reader, error) {
	switch c {
	case deflateCoding:
		return inflate(r)
	case compressCoding: // that of the compress program, which servers have not sent for decades
		return nil, errors.New("it has the compress coding, which is not supported")
	case brCoding:
		if d.br == nil {
			d.br = brotli.NewReader(r)
			return d.br, nil
		}
		return d.br, d.br.Reset(r)
	case zstdCoding:
		if d.zstd == nil {
			var err error
			d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
			if err != nil {
				return nil, err
			}
		}
		return d.zstd, d.zstd.Reset(r)
	}
	d.gzip.r = r
	return &d.gzip, d.gzip.next()
}

// gunzip decompresses the gzip members in r until its end, or until bytes that are no gzip member:
// those after a whole body do not make it a cut one. It is ready after next.
type gunzip struct {
	r *bufio.Reader
	z gzip.Reader
}

// next begins the gzip member that follows.
func (g *gunzip) next() error {
	if err := g.z.Reset(g.r); err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

// Read reads decompressed bytes, over the ends of members.
func (g *gunzip) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if head, _ := g.r.Peek(len(magic)); string(head) != magic || g.next() != nil {
			return 0, io.EOF
		}
	}
}

// inflate decompresses "deflate": zlib's format (RFC 9110 §8.4.1.2), or without zlib's header,
// as some servers send it. The header's first byte ends in 8, and as a number of two bytes the header is a
// multiple of 31 (RFC 1950 §2.2).
func inflate(r *bufio.Reader) (io.Reader, error) {
	head, _ := r.Peek(2)
	if len(head) == 2 && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}
