package compress

import "io"

// NewWriter compresses into w, into one member or frame. Close ends it, also
// when nothing was written, and leaves w open. Zstd is compressed by goroutines
// beside the producer's, which end with Close.
func NewWriter(w io.Writer, c Codec) (io.WriteCloser, error) {
	if err := c.checkFile(); err != nil {
		return nil, err
	}
	return codecs[c].write(w)
}

func writeNone(w io.Writer) (io.WriteCloser, error) { return uncompressed{w}, nil }

type uncompressed struct{ io.Writer }

func (uncompressed) Close() error { return nil }

// AppendCompressed appends src to dst as a whole member or frame, with its
// checksum, and returns the extended slice; with None it appends src as it is.
// The results of several calls, one after another, are a valid file; that of an
// empty src is the smallest there is. It is safe for concurrent use.
func AppendCompressed(dst, src []byte, c Codec) ([]byte, error) {
	if err := c.checkFile(); err != nil {
		return dst, err
	}
	return Append(dst, src, c, 0), nil
}
