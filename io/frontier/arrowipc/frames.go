package arrowipc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"robotsbatch/io/tables"
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

// framer reads an input's messages: the schema, and then dictionaries and record batches.
type framer interface {
	// schema returns the metadata of the schema message. It comes before next.
	schema() ([]byte, error)
	// next returns the next message, or io.EOF after the last.
	next() (*frame, error)
	shared() *framing
}

// framing is what files and streams share.
type framing struct {
	limit  int64
	strict bool // metadata is verified
	isFile bool // the input has a footer
	// stopAtEnd reads nothing behind a stream's end marker.
	stopAtEnd bool
	second    []byte // the other schema message of a file, once it was read; nil for none
	sums      sums
}

func (f *framing) shared() *framing { return f }

// checkSize checks how many bytes of metadata a message has, before they are read.
func (f *framing) checkSize(length int64) error {
	if length > maxMetadata {
		return fmt.Errorf("damaged: a message with %d bytes of metadata", length)
	}
	return checkMetadataSize(length, f.limit)
}

// parse reads the metadata of a message.
func (f *framing) parse(meta []byte) (h header, err error) {
	if f.strict {
		err = checkFlat(meta, messageLayout)
	}
	if err != nil {
		return header{}, err
	}
	return parseHeader(meta)
}

// parseFooter reads the footer of a file, and compares its checksum.
func (f *framing) parseFooter(buf []byte) (foot footer, err error) {
	if f.strict {
		err = checkFlat(buf, footerLayout)
	}
	if err == nil {
		foot, err = parseFooter(buf)
	}
	if err == nil {
		err = f.sums.check(kindFooter, nil, buf, footerSlot, nil)
	}
	if err != nil {
		err = fmt.Errorf("the footer: %w", err)
	}
	return foot, err
}

// checkLength refuses messages over the memory limit.
func checkLength(length, limit int64) error {
	if length > limit {
		return tables.TooLarge("a message of %d bytes is larger than the limit of %d", length, limit)
	}
	return nil
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
