package arrowipc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
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
