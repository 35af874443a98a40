package layout

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// ErrUnsupported is returned for a schema that looks intact but uses something that
// this package does not know, such as a type of a later version of the format.
var ErrUnsupported = errors.New("the schema is not supported")

// ReadSchema returns the schema at the beginning of a stream, such as the one stored in a Parquet
// file, and checks it as strictly as an input's. Its error is ErrUnsupported, or says what is damaged.
func ReadSchema(stream []byte) (*Schema, error) {
	limit := metadataShare * int64(len(stream)) // so that all of it may be metadata
	s := &streamFramer{Framing: Framing{Limit: limit}, r: bufio.NewReader(bytes.NewReader(stream))}
	meta, err := s.Schema()
	if err != nil {
		return nil, err
	}
	return ParseSchema(meta)
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
