package layout

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
)

const (
	// aheadSize is the least number of bytes to read at once, so that one read fetches
	// several small pages.
	aheadSize = 64 << 10
	// aheadHeader is the number of bytes that are tried first for a header, whose length nothing
	// says. Headers are longer only with long statistics.
	aheadHeader = 8 << 10
)

// Stream reads the pages of a chunk one after the other, from where they lie: a chunk
// may be larger than memory.
//
//	for s.More() {
//		p, err := s.Next()         // the header
//		s.Body(&p, buffer)         // and the body, or
//		s.Skip(&p)
//	}
type Stream struct {
	in      io.ReaderAt
	chunk   *Chunk
	limit   int64 // see NewStream
	at, end int64 // where in the file the next page begins, and where the chunk ends

	ahead []byte // what was read from at on
	own   []byte // the memory of ahead
}

// NewStream returns a stream of the pages of a chunk, or of none before Reset if that is nil. A page whose
// compressed and decompressed bytes together exceed 2*limit is an error.
func NewStream(in io.ReaderAt, chunk *Chunk, limit int64) *Stream {
	s := &Stream{in: in, limit: limit}
	if chunk != nil {
		s.Reset(chunk)
	}
	return s
}

// Reset makes the stream read another chunk of the file. It keeps its memory.
func (s *Stream) Reset(chunk *Chunk) {
	s.chunk, s.at, s.end, s.ahead = chunk, chunk.Pages.Offset, chunk.Pages.Offset+chunk.Pages.Length, nil
}

// More reports whether there are more bytes.
func (s *Stream) More() bool { return s.at < s.end }

// Next reads the header of the next page. Header, Low and High alias the stream's memory, and are valid until
// Body or Skip, one of which must be called next.
func (s *Stream) Next() (Page, error) {
	for want := int64(aheadHeader); ; want *= 2 {
		want = min(want, s.end-s.at, maxHeaderSize)
		if err := s.fill(want); err != nil {
			return Page{}, err
		}
		p, err := readHeader(s.ahead[:min(len(s.ahead), maxHeaderSize)])
		if err == nil {
			return p, p.checkHeader(s.end-s.at-int64(len(p.Header)), s.chunk, s.limit)
		}
		if want == min(s.end-s.at, maxHeaderSize) { // more bytes would not help
			return p, err
		}
	}
}

// fill makes sure that s.ahead has n bytes, which the chunk must have. It reads at least aheadSize.
func (s *Stream) fill(n int64) error {
	have := int64(len(s.ahead))
	if have >= n {
		return nil
	}
	size := min(max(n, aheadSize), s.end-s.at)
	if int64(cap(s.own)) < size {
		s.own = append(make([]byte, 0, size), s.ahead...)
	} else {
		copy(s.own[:have], s.ahead) // ahead is a later part of own
	}
	s.ahead = s.own[:size]
	if err := ReadAt(s.in, s.ahead[have:], s.at+have); err != nil {
		s.ahead = nil
		return err
	}
	return nil
}

// Body reads a page's body, and compares it with the header's checksum if that has one. The page's Header and Body
// then alias buffer, which must have the page's StoredSize bytes; its bounds are copies.
func (s *Stream) Body(p *Page, buffer []byte) error {
	n := copy(buffer, s.ahead)
	if n < len(buffer) {
		if err := ReadAt(s.in, buffer[n:], s.at+int64(n)); err != nil {
			return err
		}
	}
	s.advance(n, len(buffer))
	header := len(p.Header)
	p.Header, p.Body = buffer[:header:header], buffer[header:]
	p.Low, p.High = bytes.Clone(p.Low), bytes.Clone(p.High) // they lie in what is read ahead
	if p.hasChecksum && crc32.ChecksumIEEE(p.Body) != uint32(p.checksum) {
		return errors.New("damaged: a page is not what its checksum says")
	}
	return nil
}

// Skip passes over the body of a page whose header was read.
func (s *Stream) Skip(p *Page) {
	size := p.StoredSize()
	s.advance(min(len(s.ahead), size), size)
}

// advance moves the stream on by size bytes, of which the first fromAhead are in s.ahead.
func (s *Stream) advance(fromAhead, size int) {
	s.ahead = s.ahead[fromAhead:]
	s.at += int64(size)
}
