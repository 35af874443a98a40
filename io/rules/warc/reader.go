package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"robotsbatch/io/rules/captures"
	"robotsbatch/io/store/compress"
	"robotsbatch/matcher/robotstxt"
)

const (
	// maxHeader is the largest header, in bytes, of a record and of the HTTP response
	// in it: 64 KiB each.
	maxHeader = 64 << 10
	// maxRecord is the largest length of a record, in bytes: 1 TiB.
	maxRecord = 1 << 40

	// readSize is the number of bytes of a file that one read asks for.
	readSize = 256 << 10
	// bodySize is the number of bytes of a coded body that one read asks for.
	bodySize = 16 << 10
)

// Options say how a file is read. The zero value is the default.
type Options struct {
	// Name of the file for errors.
	Name string
	// BodySize is the most bytes of a body that are read; 0 means
	// robotstxt.Options{}.ReadSize().
	BodySize int
	// Broken, if not nil, is called with an error for each thing that is broken. The error
	// names the file, the record's offset (in a gzip file its member's, in a zstd file that
	// after decompression), the URL if it is known, and what became of the record.
	Broken func(error)
}

// Stats count what was read.
type Stats struct {
	// Records counts the whole records, of any type.
	Records int64
	// Responses counts the responses that Next returned.
	Responses int64
	// Broken counts what is broken.
	Broken int64
}

// Reader reads one WARC file. It is for one goroutine.
type Reader struct {
	options Options
	file    *file         // as it is on disk
	counted *file         // in which offsets are counted: file, or a zstd file decompressed
	text    *bufio.Reader // the file's bytes, decompressed
	members *members      // of a gzip file, else nil
	close   func() error
	block   block // of the record read last
	header  header
	field   []byte        // of the header, with the lines folded onto it
	at      int64         // offset of the record, or of its gzip member
	base    int64         // of the file's first byte, for Record
	gzip    *members      // reused for all gzip files; nil before the first
	member  *bufio.Reader // reads its text
	done    bool

	answer  answer
	http    *bufio.Reader // of a body that is chunked or coded
	body    bytes.Buffer
	decoder decoder
	stats   Stats
}

// NewReader returns a reader of r, and detects its compression by its first bytes. After a
// broken gzip member it goes on at the next one if r is an [io.Seeker], and else where the
// decoder stopped.
func NewReader(r io.Reader, o Options) (*Reader, error) {
	if o.BodySize <= 0 {
		o.BodySize = robotstxt.Options{}.ReadSize()
	}
	w := &Reader{options: o, file: newFile(nil), http: bufio.NewReaderSize(nil, bodySize)}
	return w, w.start(r)
}

// start begins to read another file, and reuses the reader's memory.
func (w *Reader) start(r io.Reader) error {
	w.file.start(r)
	w.counted, w.members, w.done = w.file, nil, false
	head, err := w.file.Peek(compress.DetectSize)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", w.options.Name, err)
	}
	switch codec := compress.Detect(head); codec {
	case compress.Gzip:
		if w.gzip == nil {
			w.gzip = &members{file: w.file}
			w.member = bufio.NewReaderSize(w.gzip, maxHeader)
		}
		w.members, w.text = w.gzip, w.member
		w.members.ended = true // so that skipToRecord begins the first member
		w.text.Reset(w.members)
	case compress.Zstd:
		stream, err := compress.NewReader(w.file, codec)
		if err != nil {
			return fmt.Errorf("%s: %w", w.options.Name, err)
		}
		w.close = stream.Close
		w.counted = newFile(stream)
		w.text = w.counted.Reader
	default:
		w.text = w.file.Reader
	}
	return nil
}

// readNamed sets x to the response in data, which is one record with its compression, from a
// file at an offset; both are for errors. The slices of x are valid until the next call. It
// returns an error if data has no response.
func (w *Reader) readNamed(file string, offset int64, data []byte, x *captures.Capture) error {
	w.options.Name, w.base = file, offset
	if err := errors.Join(w.Close(), w.start(bytes.NewReader(data))); err != nil {
		return err
	}
	if err := w.Next(x); err != io.EOF {
		return err
	}
	return broken("there is no response")
}

// Stats returns counts of what was read so far.
func (w *Reader) Stats() Stats { return w.stats }

// Close frees what the Reader holds; the file that it reads stays open.
func (w *Reader) Close() error {
	w.done = true
	if w.close == nil {
		return nil
	}
	err := w.close()
	w.close = nil
	return err
}

// broken returns an error after which reading goes on.
func broken(format string, args ...any) error { return fmt.Errorf(format, args...) }

// Next sets x to the next response, whose slices are valid until the next call. It returns
// io.EOF after the last. A broken record is reported to Options.Broken: it becomes a fetch
// without an answer if its URL is known, and is else skipped. An error means that the file
// cannot be read.
func (w *Reader) Next(x *captures.Capture) error {
	for !w.done {
		found, err := w.readRecord(x)
		if err == nil {
			// Whether the record is whole shows only at its end.
			err = w.skipRest()
		}
		switch {
		case err == nil:
			w.stats.Records++
		case err == io.EOF:
			w.done = true
		default:
			if failure := w.file.failure(); failure != nil {
				return fmt.Errorf("%s: %w", w.options.Name, failure)
			}
			err = w.resync(err) // and says whether the rest is lost
			found = w.reportBroken(x, err)
		}
		if found {
			w.stats.Responses++
			x.Payload, x.Offset = w.header.digest, w.at
			return nil
		}
	}
	return io.EOF
}

// reportBroken counts and reports a broken record. If the record is known to be a response, it
// sets x to a fetch without an answer, because without any capture the host would be allowed,
// and returns true.
func (w *Reader) reportBroken(x *captures.Capture, err error) (found bool) {
	what := "skipped"
	if found = w.header.isResponse() || w.header.isRevisit(); found {
		*x = captures.Capture{URL: w.header.url, Time: w.header.date, Failed: true, Unread: true}
		what = fmt.Sprintf("of %.200q taken as a fetch without an answer", x.URL)
	}
	w.stats.Broken++
	if w.options.Broken != nil {
		w.options.Broken(fmt.Errorf("%s: offset %d: record %s: %w", w.options.Name, w.at, what, err))
	}
	return found
}

// readRecord reads the next record and sets x to its response, if it is one; found reports
// that. It returns io.EOF at the end of the file.
func (w *Reader) readRecord(x *captures.Capture) (found bool, err error) {
	at := w.at
	if err := w.skipToRecord(); err != nil {
		// The checksum of a zstd frame is compared after its last record was read: that record is in
		// doubt then, and w.header still has it. Other damage is of the next frame.
		if errors.Is(err, zstd.ErrCRCMismatch) {
			w.at = at
		} else {
			w.header.reset()
		}
		return false, err
	}
	w.header.reset()
	err = w.readHeader(&w.header)
	w.block = block{r: w.text, left: max(0, w.header.length)}
	if err != nil && w.header.ended && w.header.length >= 0 {
		// The block is not searched for the next record: a robots.txt may look like one of another
		// host's.
		return w.reportBroken(x, err), nil
	}
	if err != nil {
		return false, err
	}
	x.URL, x.Time = w.header.url, w.header.date
	if w.header.isRevisit() {
		return true, w.readRevisit(x)
	}
	if !w.header.isResponse() {
		return false, nil
	}
	if err := w.readResponse(x); err != nil {
		if w.block.err != nil {
			return false, err
		}
		// The record is whole, so what follows it is not in doubt.
		return w.reportBroken(x, err), nil
	}
	x.Record, x.Digest = w.header.record, w.header.payload
	return true, nil
}

// skipToRecord skips line ends before the next record, and sets w.at to the record's offset.
func (w *Reader) skipToRecord() error {
	for {
		err := w.skipLineEnds()
		if w.members == nil {
			w.at = w.base + w.counted.offset()
			return err
		}
		w.at = w.base + w.members.start
		if err != io.EOF {
			return err
		}
		w.at = w.base + w.file.offset()
		if err := w.members.next(); err != nil {
			return err
		}
		w.text.Reset(w.members)
	}
}

// skipLineEnds skips line ends. It returns io.EOF if nothing follows them in the file or, if that
// is gzip, in its member.
func (w *Reader) skipLineEnds() error {
	for {
		c, err := w.text.ReadByte()
		if err != nil {
			return err
		}
		if c != '\r' && c != '\n' {
			return w.text.UnreadByte()
		}
	}
}

// skipRest reads the record to its end. It returns an error if the record does not end where
// its Content-Length says.
func (w *Reader) skipRest() error {
	if err := discard(w.text, w.block.left); err != nil {
		return errEnd(err)
	}
	w.block.left = 0
	end, err := w.text.Peek(1)
	if err != nil && err != io.EOF {
		return err
	}
	if err == nil && end[0] != '\r' && end[0] != '\n' {
		return broken("the record does not end where its Content-Length %d says", w.header.length)
	}
	if w.members == nil {
		return nil
	}
	// The checksum of a gzip member is compared at its end, if no other record follows in it.
	if err := w.skipLineEnds(); err != io.EOF {
		return err
	}
	return nil
}

// resync skips to where the next record may start: after a line end, the text "WARC/", or in a
// damaged gzip file a member that starts so. It sets done if there is none. It returns damage,
// with a note if the rest of a zstd file is lost, because that is not read past damage.
func (w *Reader) resync(damage error) error {
	err := w.skipToVersion()
	switch {
	case err == nil:
	case w.members == nil:
		w.done = true
		if isZstd := w.close != nil; isZstd && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w; the rest of the file is not read", damage)
		}
	case err == io.EOF: // go on with the next member
	case w.members.resync() == nil:
		w.text.Reset(w.members)
	default:
		w.done = true
	}
	return damage
}

// skipToVersion skips to the next line that starts with "WARC/".
func (w *Reader) skipToVersion() error {
	if w.members != nil && w.members.err != nil {
		return w.members.err
	}
	for {
		line, err := w.text.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(line) == 0 || line[len(line)-1] != '\n' {
			continue
		}
		if next, _ := w.text.Peek(len(version)); string(next) == version {
			return nil
		}
	}
}

// discard skips n bytes of r.
func discard(r *bufio.Reader, n int64) error {
	for n > 0 {
		step := int(min(n, math.MaxInt32))
		if _, err := r.Discard(step); err != nil {
			return err
		}
		n -= int64(step)
	}
	return nil
}

// errEnd replaces io.EOF, in the middle of a record, by an error that says so. It returns
// other errors as they are.
func errEnd(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return broken("the file ends within the record")
	}
	return err
}

// block reads the rest of a record's block.
type block struct {
	r    *bufio.Reader
	left int64
	err  error // why the record cannot be read to its end
}

// Read reads from the rest of the block.
func (b *block) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err != nil {
		b.err = errEnd(err)
	}
	return n, b.err
}

// file is a file as it is on disk, and knows the offset of the byte to be read next.
type file struct {
	*bufio.Reader
	counter
	seeker io.Seeker // nil when it cannot
}

// counter counts the bytes that are read, and keeps the error that ended reading,
// which decoders replace by their own. A zstd decoder reads in its own goroutine, so
// failure may be called at any time, but only the goroutine that reads may use the
// count.
type counter struct {
	r   io.Reader
	at  int64
	err atomic.Pointer[error] // other than io.EOF
}

// failure returns why reading failed, nil if it did not.
func (c *counter) failure() error {
	if err := c.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Read reads from c.r, and counts.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.at += int64(n)
	if err != nil && err != io.EOF {
		c.err.Store(&err)
	}
	return n, err
}

// newFile returns a file that reads from r.
func newFile(r io.Reader) *file {
	f := new(file)
	f.Reader = bufio.NewReaderSize(&f.counter, readSize)
	f.start(r)
	return f
}

// start begins to read from r, at offset 0.
func (f *file) start(r io.Reader) {
	f.r, f.at = r, 0
	f.err.Store(nil)
	f.seeker, _ = r.(io.Seeker)
	f.Reader.Reset(&f.counter)
}

// Read is the bufio.Reader's.
func (f *file) Read(p []byte) (int, error) { return f.Reader.Read(p) }

// offset returns the offset of the next byte.
func (f *file) offset() int64 { return f.at - int64(f.Buffered()) }

// seekTo seeks back to an offset of the file. If the file cannot seek, it does nothing.
func (f *file) seekTo(offset int64) {
	if f.seeker == nil {
		return
	}
	if _, err := f.seeker.Seek(offset-f.at, io.SeekCurrent); err != nil {
		return // such as a pipe
	}
	f.at = offset
	f.Reader.Reset(&f.counter)
}

// members reads a gzip file member by member: Read returns io.EOF at the end of each.
type members struct {
	file  *file
	start int64 // offset of the member
	z     gzip.Reader
	trial gzip.Reader // for resync
	ended bool        // the member is read to its end, or none was begun
	err   error       // why it is damaged
}

// next begins the next gzip member. It returns io.EOF at the end of the file.
func (m *members) next() error {
	m.start, m.ended, m.err = m.file.offset(), false, nil
	if _, err := m.file.Peek(1); err != nil {
		return err
	}
	if err := m.z.Reset(m.file.Reader); err != nil {
		m.ended = true
		m.err = broken("no gzip member starts here: %w", errEnd(err))
		return m.err
	}
	m.z.Multistream(false)
	return nil
}

// Read reads decompressed bytes of the member. An error stays until next or resync.
func (m *members) Read(p []byte) (int, error) {
	switch {
	case m.err != nil:
		return 0, m.err
	case m.ended:
		return 0, io.EOF
	}
	n, err := m.z.Read(p)
	switch err {
	case nil:
	case io.EOF:
		m.ended = true
	default:
		m.err = broken("the gzip member is damaged: %w", errEnd(err))
		err = m.err
	}
	return n, err
}

const (
	magic = "\x1F\x8B\x08"
	// trialSize is the number of bytes of a member that startsRecord decompresses: its header
	// and the tables of its first block fit in them.
	trialSize = 1024
)

// resync skips the broken member and goes to the next one that starts with a WARC record. It
// returns io.EOF if there is none.
func (m *members) resync() error {
	m.file.seekTo(m.start + 1)
	m.ended, m.err = true, nil
	for {
		window, err := m.file.Peek(readSize)
		at := bytes.Index(window, []byte(magic))
		if at < 0 {
			if err != nil {
				return io.EOF
			}
			at = len(window) - len(magic) + 1 // the last bytes may begin one
		}
		_, _ = m.file.Discard(at) // it is there
		window, _ = m.file.Peek(trialSize)
		if m.startsRecord(window) {
			return nil
		}
		if bytes.HasPrefix(window, []byte(magic)) {
			_, _ = m.file.Discard(1)
		}
	}
}

// startsRecord reports whether data is the start of a gzip member whose text starts with a
// WARC record.
func (m *members) startsRecord(data []byte) bool {
	if m.trial.Reset(bytes.NewReader(data)) != nil {
		return false
	}
	var head [len(version)]byte
	_, _ = io.ReadFull(&m.trial, head[:])
	return string(head[:]) == version
}
