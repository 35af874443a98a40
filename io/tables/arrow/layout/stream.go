package layout

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// streamFramer reads the messages of a stream, or those of a file from its
// beginning to its end.
type streamFramer struct {
	Framing
	r       *bufio.Reader
	started bool    // a message was read
	schema  *Schema // once it was read
	batches int     // record batches that were read
}

// Schema implements [Framer].
func (s *streamFramer) Schema() (*Schema, error) {
	f, err := s.Next()
	if err == nil {
		s.schema, err = parseSchema(f.Meta())
	}
	return s.schema, err
}

// Next implements [Framer]. An input that ends before its end marker is an error.
func (s *streamFramer) Next() (*Frame, error) {
	prefix, err := s.readPrefix()
	if err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(prefix[4:]))
	switch {
	case length == 0 && !s.started:
		return nil, errors.New("there is no schema")
	case length == 0:
		return nil, s.readEnd(nil)
	}
	if err := s.checkSize(length); err != nil {
		return nil, err
	}
	f := &Frame{}
	if f.head, err = readN(s.r, prefix, length); err != nil {
		return nil, err
	}
	if f.Header, err = s.parse(f.Meta()); err != nil {
		return nil, err
	}
	if err := checkLength(f.BodyLength, s.Limit); err != nil {
		return nil, err
	}
	body, err := readN(s.r, nil, f.BodyLength)
	if err != nil {
		return nil, err
	}
	f.InMemory(body)
	if err := f.check(&s.sums); err != nil {
		return nil, err
	}
	s.started = true
	if f.Kind == KindRecord {
		s.batches++
	}
	return f, nil
}

// readPrefix returns the bytes before a message's metadata. A file may omit the end marker, so that the footer comes
// instead of a message: readPrefix then returns what readEnd does, io.EOF if the footer is right.
func (s *streamFramer) readPrefix() ([]byte, error) {
	prefix := make([]byte, FramePrefix)
	if _, err := io.ReadFull(s.r, prefix[:4]); err != nil {
		return nil, Cut(err)
	}
	isMessage := binary.LittleEndian.Uint32(prefix) == continuation
	switch {
	case isMessage:
		_, err := io.ReadFull(s.r, prefix[4:])
		return prefix, Cut(err)
	case s.isFile && s.started:
		return nil, s.readEnd(prefix[:4])
	case s.isFile:
		return nil, errNotInOrder
	case s.started:
		return nil, errLegacy
	}
	return nil, errNotStream
}

// readEnd checks what follows the last message: nothing may in a stream; in a file, a footer
// must, which lists as many record batches as were read. It returns io.EOF if that is so. first
// has those bytes of the footer that were read already.
func (s *streamFramer) readEnd(first []byte) error {
	if !s.isFile && s.StopAtEnd {
		return io.EOF
	}
	if !s.isFile {
		if _, err := s.r.ReadByte(); err != nil { // io.EOF, or why it cannot be read
			return err
		}
		return errors.New("there is more behind the end of the stream: give streams one by one, not joined")
	}
	tail, err := io.ReadAll(io.LimitReader(s.r, maxMetadata+1))
	if err != nil {
		return err
	}
	tail = slices.Concat(first, tail)
	if err := checkMetadataSize(int64(len(tail)), s.Limit); err != nil {
		return err
	}
	size, err := footerSize(tail, int64(len(tail)))
	if err != nil {
		return err
	}
	tail = tail[:len(tail)-footerEnd]
	foot, err := s.parseFooter(tail[len(tail)-size:])
	if err != nil {
		return err
	}
	if len(foot.Batches) != s.batches {
		return fmt.Errorf("the file has %d record batches where its footer says %d: it is damaged", s.batches, len(foot.Batches))
	}
	if err := s.schema.checkOther(SchemaMessage(foot.schema)); err != nil {
		return err
	}
	return io.EOF
}

// OpenStream returns a framer of a stream, or of a file that is read from its beginning to its end.
func OpenStream(r io.Reader, shared Framing) (*streamFramer, error) {
	s := &streamFramer{Framing: shared, r: bufio.NewReaderSize(r, 64<<10)}
	head, err := s.r.Peek(len(MagicPadded))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if s.isFile = bytes.HasPrefix(head, []byte(Magic)); s.isFile {
		if _, err := s.r.Discard(len(MagicPadded)); err != nil {
			return nil, Cut(err)
		}
	}
	return s, nil
}

// ReadSchema returns the schema at the beginning of a stream, such as the one stored in a Parquet
// file, and checks it as strictly as an input's. Its error is ErrUnsupported, or says what is damaged.
func ReadSchema(stream []byte) (*Schema, error) {
	limit := metadataShare * int64(len(stream)) // so that all of it may be metadata
	s := &streamFramer{Framing: Framing{Limit: limit}, r: bufio.NewReader(bytes.NewReader(stream))}
	return s.Schema()
}

// ExtendSchema returns a schema message with the columns of the one in stream that have the indices kept, nil for
// all, and then those of added. Everything else stays as in stream, such as one stored in a Parquet file,
// including what this package does not know.
func ExtendSchema(stream []byte, kept []int, added *arrow.Schema) ([]byte, error) {
	first, err := ReadSchema(stream)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		kept = first.All()
	}
	if n := len(first.Columns); slices.ContainsFunc(kept, func(i int) bool { return i >= n }) {
		return nil, fmt.Errorf("it has %d columns, fewer than the file", n)
	}
	second, err := BuildSchema(added)
	if err != nil {
		return nil, err
	}
	return SealedHead(JoinSchemas(first, kept, second), nil), nil
}

// Head returns the schema message with its checksum, without a body, as it lies in a stream.
func (s *Schema) Head() []byte { return SealedHead(s.meta, nil) }
