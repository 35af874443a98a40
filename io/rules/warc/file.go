package warc

import (
	"bufio"
	"bytes"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
)

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
