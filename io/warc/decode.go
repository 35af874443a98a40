package warc

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxCodings is how many codings a body may have, one in another.
	maxCodings = 3
	// maxWindow is the largest zstd window, in octets, which RFC 9659 §3 has for
	// HTTP.
	maxWindow = 8 << 20
	// textSize is how many first octets show whether a body is coded at all.
	textSize = 64
)

// decoder undoes content codings (RFC 9110 §8.4.1). It keeps the decoders that
// are made again and again.
type decoder struct {
	in   bufio.Reader
	gzip *gzip.Reader
	zstd *zstd.Decoder
	br   *brotli.Reader
}

// open returns the body without its codings, a list by commas; coded tells whether it had any. A
// coding that is not known is taken for none, as "utf-8" or "none".
func (d *decoder) open(raw io.Reader, list string) (body io.Reader, coded bool, err error) {
	codings := strings.Split(strings.ToLower(strings.TrimRight(list, ", ")), ",")
	if len(codings) > maxCodings {
		return nil, true, errors.New("too many codings, one in another")
	}
	for i := len(codings) - 1; i >= 0; i-- {
		coding := strings.TrimSpace(codings[i])
		switch coding {
		case "gzip", "x-gzip", "deflate", "br", "zstd":
		default:
			continue
		}
		in := &d.in
		if coded { // one in another; rare
			in = new(bufio.Reader)
		}
		in.Reset(raw)
		if looksLikeText(in) {
			return in, coded, nil
		}
		if raw, err = d.decode(in, coding, coded); err != nil {
			return nil, true, err
		}
		coded = true
	}
	return raw, coded, nil
}

// looksLikeText tells whether all first octets are printable or white space, as
// those of no coded body are.
func looksLikeText(r *bufio.Reader) bool {
	start, _ := r.Peek(textSize)
	for _, c := range start {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c >= 0x7F {
			return false
		}
	}
	return true
}

// decode undoes one coding. inner says that the decoder is in use already.
func (d *decoder) decode(r *bufio.Reader, coding string, inner bool) (io.Reader, error) {
	if inner {
		d = new(decoder)
	}
	switch coding {
	case "deflate":
		return inflate(r)
	case "br":
		if d.br == nil {
			d.br = brotli.NewReader(r)
			return d.br, nil
		}
		return d.br, d.br.Reset(r)
	case "zstd":
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
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	return d.gzip, d.gzip.Reset(r)
}

// inflate reads "deflate", which is zlib's format (RFC 9110 §8.4.1.2), though
// some servers send it without zlib's header.
func inflate(r *bufio.Reader) (io.Reader, error) {
	head, _ := r.Peek(2)
	if len(head) == 2 && head[0]&0x0F == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}
