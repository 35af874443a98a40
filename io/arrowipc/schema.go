package arrowipc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// ErrUnsupported says of a schema that it is whole, as far as can be seen, and
// has something in it that is not known here, such as a type of a later version
// of the format.
var ErrUnsupported = errors.New("the schema is not supported")

// ReadSchema reads the schema at the beginning of a stream that lies in memory,
// such as the one that Parquet files store. It trusts it as little as that of
// an input. Its error is ErrUnsupported, or says what is damaged.
func ReadSchema(stream []byte) (*arrow.Schema, error) {
	framer := &streamFramer{r: bufio.NewReader(bytes.NewReader(stream)), limit: int64(len(stream))}
	f, err := framer.next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	d, err := newDecoder(f.meta(), int64(len(stream)), memory.NewGoAllocator())
	if err != nil {
		return nil, err
	}
	defer d.release()
	return d.schema, nil
}

// ExtendSchema returns a schema message, such as one that Parquet files store, with the
// fields of another schema behind its own. All else in it stays, also what is not known
// here.
func ExtendSchema(stream []byte, added *arrow.Schema) ([]byte, error) {
	framer := &streamFramer{r: bufio.NewReader(bytes.NewReader(stream)), limit: int64(len(stream))}
	f, err := framer.next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	mem := memory.NewGoAllocator()
	first, err := readSchema(f.meta(), mem)
	if err != nil {
		return nil, err
	}
	s := &sink{options: SinkOptions{mem: mem}, ipc: []ipc.Option{ipc.WithAllocator(mem)}, schema: added}
	message, err := s.encodeSchema()
	if err != nil {
		return nil, err
	}
	second, err := readSchema(message.meta(), mem)
	if err != nil {
		return nil, err
	}
	return newMessage(joinSchemas(first, first.all(), second), nil).head, nil
}
