package compress

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// limits says how much memory and concurrency a reader may take.
type limits struct {
	buffer int    // bytes that are read at once from what is decompressed
	window uint64 // the largest window of a zstd frame, in bytes
	blocks int    // of zstd, at most 128 KiB each, that are decompressed at the same time; 1 starts no goroutine
}

// A frame says how large its window is, for which a decoder takes memory. 128 MiB is also the most that the zstd
// program accepts without an option, and 8 MiB is what RFC 8878 §3.1.1.1.2 recommends that every decoder accepts.
var (
	large = limits{buffer: 256 << 10, window: 128 << 20, blocks: 4}
	small = limits{buffer: 4 << 10, window: 8 << 20, blocks: 1}
)

// ErrWindow: a zstd frame has a larger window than is accepted.
var ErrWindow = errors.New("the zstd window is too large")

// NewReader decompresses r, all its members or frames to the end; checksums
// are verified. Zstd is decompressed by goroutines beside the consumer's, which
// end when Close has been called; Close waits for a read of r that is under
// way, and leaves r open.
//
// A stream that ends too early gives an error that is [io.ErrUnexpectedEOF],
// also when there is nothing in it at all. Bytes that belong to no member or
// frame are an error, those after the last one included, and so is a zstd frame
// with a window above 128 MiB. An error of r is returned as it is. Read returns the
// bytes before an error first, and the error at each later call.
func NewReader(r io.Reader, c Codec) (io.ReadCloser, error) { return newReader(r, c, large) }

// NewSmallReader is NewReader for the many files that are small: it has small
// buffers and starts no goroutine, and its largest zstd window is 8 MiB.
// A frame with a larger window, or with a larger content and no window,
// gives an error that is [ErrWindow].
func NewSmallReader(r io.Reader, c Codec) (io.ReadCloser, error) {
	return newReader(r, c, small)
}

// SmallWindow returns the number of bytes that NewSmallReader takes for the window of a zstd
// frame. ok is false if it refuses such a window, or if the frame's header is damaged.
func SmallWindow(frame []byte) (size int64, ok bool) {
	var h zstd.Header
	if err := h.Decode(frame); err != nil || h.Skippable {
		return 0, false
	}
	window := h.WindowSize
	if h.SingleSegment { // it has no window but itself
		window = h.FrameContentSize
	}
	return 2 * int64(min(window, small.window)), window <= small.window // the decoder's history has twice the window
}

// newReader returns a reader of files of codec c. It reads the beginning of r.
func newReader(r io.Reader, c Codec, l limits) (io.ReadCloser, error) {
	if err := c.checkFile(); err != nil {
		return nil, err
	}
	source := &source{r: r}
	d := &reader{codec: c, source: source, window: l.window}
	buffered := bufio.NewReaderSize(source, l.buffer)
	if c != None {
		// An empty file is no gzip or zstd file, though the decoders would take
		// it for one without members.
		if _, err := buffered.Peek(1); err != nil {
			return nil, d.explain(noEOF(err))
		}
	}
	var err error
	if d.stream, d.close, err = codecs[c].open(buffered, l); err != nil {
		return nil, d.explain(err)
	}
	return d, nil
}

// openNone opens a file that is not compressed.
func openNone(r *bufio.Reader, _ limits) (io.Reader, func(), error) { return r, nil, nil }

// openGzip opens a sequence of members, and reads the header of the first.
func openGzip(r *bufio.Reader, _ limits) (io.Reader, func(), error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, noEOF(err)
	}
	z.Multistream(false)
	return &members{r: r, z: z}, nil, nil
}

// openZstd opens a sequence of frames. The decoder may have goroutines, which Close ends.
func openZstd(r *bufio.Reader, l limits) (io.Reader, func(), error) {
	z, err := zstd.NewReader(r,
		zstd.WithDecoderConcurrency(l.blocks),
		zstd.WithDecoderMaxWindow(l.window),
		zstd.WithDecoderMaxMemory(l.window)) // for a frame of one segment, which has no window
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// reader is what NewReader returns. It explains the errors of the codec's decoder.
type reader struct {
	codec  Codec
	source *source
	window uint64    // the largest window of a zstd frame, in bytes
	stream io.Reader // the decoder
	close  func()    // ends the decoder; may be nil
	err    error     // of all further calls of Read
}

// Read implements io.Reader.
func (d *reader) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.stream.Read(p)
	if err != nil {
		d.err = d.explain(err)
	}
	return n, d.err
}

// Close implements io.Closer. It does not close what is read.
func (d *reader) Close() error {
	if d.close != nil {
		d.close()
		d.close = nil
	}
	d.err = errors.New("read after Close")
	return nil
}

// explain returns an error of a decoder as one that says what happened: reading failed, or the stream is
// cut off, has too large a window, or is damaged. io.EOF is returned as it is.
func (d *reader) explain(err error) error {
	switch {
	case d.source.err != nil:
		return d.source.err
	case err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrCut(d.codec)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: the data was compressed with a window above %d MiB: compress it again without --long: %w", d.codec, d.window>>20, ErrWindow)
	}
	return fmt.Errorf("%s: the compressed data is damaged: %w", d.codec, err)
}

// ErrCut returns the error for a stream of a codec that ends too early.
func ErrCut(c Codec) error { return CutError(c.String() + ": the compressed data is cut off") }

// CutError says that an input ends too early. errors.Is takes it for io.ErrUnexpectedEOF, although its text does not
// have that error's, which would tell people nothing more.
type CutError string

// Error implements error.
func (e CutError) Error() string { return string(e) }

// Is implements the interface of errors.Is.
func (e CutError) Is(target error) bool { return target == io.ErrUnexpectedEOF }

// source keeps the error with which reading failed. Decoders do not return it as it
// is: some take an io.ErrUnexpectedEOF, which a broken network connection gives, for the end of
// the stream.
type source struct {
	r   io.Reader
	err error // other than io.EOF
}

// errSource is what decoders get instead of the error that source keeps.
var errSource = errors.New("reading failed")

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, errSource
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err, err = err, errSource
	}
	return n, err
}

// members reads a gzip file's members. It goes from one to the next itself
// because gzip.Reader takes a file that is cut within the name in a member's
// header for complete.
type members struct {
	r *bufio.Reader
	z *gzip.Reader
}

// Read implements io.Reader.
func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err != io.EOF { // the member goes on
			return n, err
		}
		if _, err := m.r.Peek(1); err != nil { // io.EOF after the last member
			return n, err
		}
		if err := m.z.Reset(m.r); err != nil {
			return n, fmt.Errorf("after the end of a member: %w", noEOF(err))
		}
		m.z.Multistream(false)
		if n > 0 {
			return n, nil
		}
	}
}

// noEOF returns io.ErrUnexpectedEOF for io.EOF, where the end comes too early, and any other error as it is.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// NewWriter compresses into w, into one member or frame. Close ends it, also
// when nothing was written, and leaves w open. Zstd is compressed by goroutines
// beside the producer's, which end with Close.
func NewWriter(w io.Writer, c Codec) (io.WriteCloser, error) {
	if err := c.checkFile(); err != nil {
		return nil, err
	}
	return codecs[c].write(w)
}

// writeNone writes a file that is not compressed.
func writeNone(w io.Writer) (io.WriteCloser, error) { return uncompressed{w}, nil }

// uncompressed is a writer with a Close that does nothing.
type uncompressed struct{ io.Writer }

// Close implements io.Closer.
func (uncompressed) Close() error { return nil }

// AppendCompressed appends src to dst as a whole member or frame, with its
// checksum, and returns the extended slice; with None it appends src as it is.
// The results of several calls, one after another, are a valid file; that of an
// empty src is the smallest there is. It is safe for concurrent use.
func AppendCompressed(dst, src []byte, c Codec) ([]byte, error) {
	if err := c.checkFile(); err != nil {
		return dst, err
	}
	return Append(dst, src, c, Standard), nil
}

// OpenText returns a reader of a text file that people make, as UTF-8 without a byte order mark. The file may be
// compressed, or UTF-16 with a byte order mark: its first bytes say so. Close leaves r open.
func OpenText(r io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(DetectSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	plain, err := NewReader(buffered, Detect(head))
	if err != nil {
		return nil, err
	}
	return text{transform.NewReader(plain, unicode.BOMOverride(transform.Nop)), plain}, nil
}

type text struct {
	io.Reader
	io.Closer
}
