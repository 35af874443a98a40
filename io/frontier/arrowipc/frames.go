package arrowipc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"robotsbatch/batch/option"
)

// magic begins and ends a file; two bytes of padding follow it at the beginning.
const (
	magic        = "ARROW1"
	magicPadded  = magic + "\x00\x00"
	continuation = 0xFFFFFFFF
)

// framePrefix is how many bytes stand before a message's metadata: the
// continuation marker and the metadata's length.
const framePrefix = 8

// endOfStream is the marker behind the last message.
var endOfStream = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}

var (
	errCut       = fmt.Errorf("the input is cut: it ends before its end marker: %w", io.ErrUnexpectedEOF)
	errNotStream = errors.New("it does not begin as an Arrow stream does: it is something else, or was written before Arrow 0.15")
	errLegacy    = errors.New("a message does not begin with the continuation marker: the input is damaged, or was written before Arrow 0.15")
	// errNotInOrder is returned for files of Polars that come through a pipe: only
	// their footer says where the messages are.
	errNotInOrder     = errors.New("the file does not begin with its schema, so that it cannot be read from a pipe: give it by its name")
	errLateDictionary = errors.New("the file has its dictionaries at its end, so that it cannot be read from a pipe: give it by its name")
	errTail           = fmt.Errorf("the file does not end with a footer and ARROW1: it is damaged, or was not written to its end: %w", io.ErrUnexpectedEOF)
)

// frame is a message as it was read. The body may still be in the file.
type frame struct {
	header
	head  []byte // as it was read: continuation marker, length, metadata
	body  *io.SectionReader
	bytes []byte // the body, if it was read
}

// meta is the message's metadata.
func (f *frame) meta() []byte { return f.head[framePrefix:] }

// inMemory puts a body that is in memory into the frame.
func (f *frame) inMemory(body []byte) {
	f.bytes, f.body = body, io.NewSectionReader(bytes.NewReader(body), 0, int64(len(body)))
}

// load reads the body unless it is in memory.
func (f *frame) load() error {
	if f.bytes != nil || f.body.Size() == 0 {
		return nil
	}
	body := make([]byte, f.body.Size())
	if err := readAt(f.body, body, 0); err != nil {
		return err
	}
	f.inMemory(body)
	return nil
}

// framer reads messages. After the last, next returns io.EOF.
type framer interface {
	next() (*frame, error)
}

// checkLength refuses messages over the memory limit.
func checkLength(length, limit int64) error {
	if length > limit {
		return option.Errorf("a message of %d bytes is larger than the limit of %d: raise %s", length, limit, option.Memory)
	}
	return nil
}

// streamFramer reads the messages of a stream, or those of a file from its
// beginning to its end.
type streamFramer struct {
	r     *bufio.Reader
	file  bool // a file: a footer follows
	limit int64
	// stopAtEnd reads nothing behind a stream's end marker.
	stopAtEnd bool
	started   bool // a message was read
	batches   int
	schema    []byte // the schema of a file's footer as a message, once that was read
	sums      sums
}

// next reads a message. An input that ends before its end marker is an error.
func (s *streamFramer) next() (*frame, error) {
	prefix := make([]byte, framePrefix)
	if _, err := io.ReadFull(s.r, prefix[:4]); err != nil {
		return nil, cut(err)
	}
	if binary.LittleEndian.Uint32(prefix) != continuation {
		switch {
		case !s.file && !s.started:
			return nil, errNotStream
		case !s.file:
			return nil, errLegacy
		case !s.started:
			return nil, errNotInOrder
		}
		return nil, s.end(prefix[:4]) // files may omit the end marker
	}
	if _, err := io.ReadFull(s.r, prefix[4:]); err != nil {
		return nil, cut(err)
	}
	length := int64(binary.LittleEndian.Uint32(prefix[4:]))
	if length == 0 {
		return nil, s.end(nil)
	}
	if length > maxMetadata {
		return nil, fmt.Errorf("damaged: a message with %d bytes of metadata", length)
	}
	if err := checkMetadataSize(length, s.limit); err != nil {
		return nil, err
	}
	f := &frame{}
	var err error
	if f.head, err = readN(s.r, prefix, length); err != nil {
		return nil, err
	}
	if f.header, err = parseHeader(f.meta()); err != nil {
		return nil, err
	}
	if err := checkLength(f.bodyLength, s.limit); err != nil {
		return nil, err
	}
	body, err := readN(s.r, nil, f.bodyLength)
	if err != nil {
		return nil, err
	}
	f.inMemory(body)
	if err := f.check(&s.sums); err != nil {
		return nil, err
	}
	s.started = true
	if f.kind == kindRecord {
		s.batches++
	}
	return f, nil
}

// end checks what follows the last message: nothing in a stream; in a file, a footer
// that lists as many record batches as were read. It returns io.EOF on success. first
// holds bytes that were read already.
func (s *streamFramer) end(first []byte) error {
	if !s.file && s.stopAtEnd {
		return io.EOF
	}
	if !s.file {
		if _, err := s.r.ReadByte(); err == nil {
			return errors.New("there is more behind the end of the stream: give streams one by one, not joined")
		} else if err != io.EOF {
			return err
		}
		return io.EOF
	}
	tail, err := io.ReadAll(io.LimitReader(s.r, maxMetadata+1))
	if err != nil {
		return err
	}
	tail = append(first[:len(first):len(first)], tail...)
	if err := checkMetadataSize(int64(len(tail)), s.limit); err != nil {
		return err
	}
	size, err := footerSize(tail, int64(len(tail)))
	if err != nil {
		return err
	}
	end := len(tail) - footerEnd
	foot, err := parseFooter(tail[end-size : end])
	if err != nil {
		return err
	}
	if err := s.sums.check(kindFooter, nil, tail[end-size:end], footerSlot, nil); err != nil {
		return fmt.Errorf("the footer: %w", err)
	}
	if len(foot.batches) != s.batches {
		return fmt.Errorf("the file has %d record batches where its footer says %d: it is damaged", s.batches, len(foot.batches))
	}
	s.schema = schemaMessage(foot.schema.f.buf, foot.schema.pos)
	return io.EOF
}

// footerEnd is how many bytes follow a footer: its length and the magic.
const footerEnd = 4 + len(magic)

// footerSize returns the length of the footer of a file that ends with tail. room is
// the most bytes that the footer with its length and magic may take.
func footerSize(tail []byte, room int64) (int, error) {
	if len(tail) < footerEnd || string(tail[len(tail)-len(magic):]) != magic {
		return 0, errTail
	}
	size := int64(binary.LittleEndian.Uint32(tail[len(tail)-footerEnd:]))
	if size == 0 || size > maxMetadata || size > room-int64(footerEnd) {
		return 0, fmt.Errorf("damaged: a footer of %d bytes", size)
	}
	return int(size), nil
}

// cut turns an end of input into errCut, where more had to come.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

// check compares the message's checksum.
func (f *frame) check(s *sums) error {
	return s.check(f.kind, f.head[:framePrefix], f.meta(), messageSlot, f.body)
}

// readN returns head followed by n bytes of r. It allocates as bytes arrive, because n
// comes from the input and may be a lie.
func readN(r io.Reader, head []byte, n int64) ([]byte, error) {
	const step = 1 << 20
	n += int64(len(head))
	buf := append(make([]byte, 0, min(n, step)), head...)
	for int64(len(buf)) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, 2*int64(cap(buf))))
			copy(grown, buf)
			buf = grown
		}
		got, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+got]
		if err != nil {
			return nil, cut(err)
		}
	}
	return buf, nil
}

// fileFramer reads the record batches of a file in the footer's order.
type fileFramer struct {
	r      io.ReaderAt
	end    int64 // of the messages: where the footer begins
	limit  int64
	footer footer
	schema []byte // metadata of the message at the beginning, or nil
	sums   sums
	i      int  // the next record batch, and
	last   int  // the one after the last
	partly bool // only the needed parts of bodies are read
}

// openFile reads the footer of a file of size bytes.
func openFile(r io.ReaderAt, size, limit int64) (*fileFramer, error) {
	if size < int64(len(magicPadded)+footerEnd) {
		return nil, errTail
	}
	head, tail := make([]byte, len(magic)), make([]byte, footerEnd)
	if err := readAt(r, head, 0); err != nil {
		return nil, err
	}
	if string(head) != magic {
		return nil, errors.New("the file does not begin with ARROW1: it is not an Arrow file")
	}
	if err := readAt(r, tail, size-int64(footerEnd)); err != nil {
		return nil, err
	}
	length, err := footerSize(tail, size-int64(len(magicPadded)))
	if err != nil {
		return nil, err
	}
	if err := checkMetadataSize(int64(length), limit); err != nil {
		return nil, err
	}
	f := &fileFramer{r: r, end: size - int64(footerEnd+length), limit: limit}
	buf := make([]byte, length)
	if err := readAt(r, buf, f.end); err != nil {
		return nil, err
	}
	if f.footer, err = parseFooter(buf); err != nil {
		return nil, err
	}
	if err := f.sums.check(kindFooter, nil, buf, footerSlot, nil); err != nil {
		return nil, fmt.Errorf("the footer: %w", err)
	}
	f.last = len(f.footer.batches)
	if err := f.checkBlocks(); err != nil {
		return nil, err
	}
	f.schema, err = f.checkContents()
	return f, err
}

// checkBlocks checks that each block fits into the file.
func (f *fileFramer) checkBlocks() error {
	for _, list := range [][]block{f.footer.dictionaries, f.footer.batches} {
		for i, b := range list {
			if b.offset < int64(len(magicPadded)) || b.offset > f.end || b.meta < framePrefix || b.body < 0 || b.body > f.end || b.offset+int64(b.meta)+b.body > f.end {
				return fmt.Errorf("damaged: block %d of the footer lies outside the file", i)
			}
		}
	}
	return nil
}

// next reads the next record batch.
func (f *fileFramer) next() (*frame, error) {
	if f.i == f.last {
		return nil, io.EOF
	}
	f.i++
	return f.read(f.footer.batches[f.i-1], kindRecord)
}

// read reads the message of a block.
func (f *fileFramer) read(b block, kind uint8) (*frame, error) {
	if b.meta > maxMetadata {
		return nil, fmt.Errorf("damaged: a message with %d bytes of metadata", b.meta)
	}
	if err := checkMetadataSize(int64(b.meta), f.limit); err != nil {
		return nil, err
	}
	m := &frame{head: make([]byte, b.meta)}
	if err := readAt(f.r, m.head, b.offset); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(m.head) != continuation {
		return nil, errLegacy
	}
	length := int64(binary.LittleEndian.Uint32(m.head[4:]))
	if length > int64(b.meta)-framePrefix {
		return nil, fmt.Errorf("damaged: a message with %d bytes of metadata where its block has %d", length, b.meta)
	}
	var err error
	if m.header, err = parseHeader(m.meta()[:length]); err != nil {
		return nil, err
	}
	if m.kind != kind {
		return nil, fmt.Errorf("damaged: a message of kind %d where the footer says %d", m.kind, kind)
	}
	if m.bodyLength > b.body {
		return nil, fmt.Errorf("damaged: a body of %d bytes where its block has %d", m.bodyLength, b.body)
	}
	m.body = io.NewSectionReader(f.r, b.offset+int64(b.meta), m.bodyLength)
	if !f.partly {
		if err := checkLength(m.bodyLength, f.limit); err != nil {
			return nil, err
		}
		if err := m.load(); err != nil {
			return nil, err
		}
	}
	return m, m.check(&f.sums)
}

// readAt fills buf from the bytes at offset.
func readAt(r io.ReaderAt, buf []byte, offset int64) error {
	n, err := r.ReadAt(buf, offset)
	if n == len(buf) {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return cut(err)
}

// isFile reports whether a stream holds the file format, and if so skips its magic.
func isFile(r *bufio.Reader) (bool, error) {
	head, err := r.Peek(len(magicPadded))
	if err != nil && err != io.EOF {
		return false, err
	}
	if !bytes.HasPrefix(head, []byte(magic)) {
		return false, nil
	}
	_, err = r.Discard(len(magicPadded))
	return true, cut(err)
}
