package arrowipc

import (
	"bufio"
	"bytes"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// ReadSchema reads the schema at the beginning of a stream that lies in memory,
// such as the one that Parquet files store. It trusts it as little as that of
// an input.
func ReadSchema(stream []byte) (*arrow.Schema, error) {
	framer := &streamFramer{r: bufio.NewReader(bytes.NewReader(stream)), limit: int64(len(stream))}
	f, err := framer.next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	d, err := newDecoder(f.meta, int64(len(stream)), memory.NewGoAllocator())
	if err != nil {
		return nil, err
	}
	defer d.release()
	return d.schema, nil
}
