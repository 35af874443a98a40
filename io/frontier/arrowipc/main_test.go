package arrowipc

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/arrow/layout"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	flag.Parse()
	if testing.Short() { // under the race detector the writers of LZ4 take many minutes
		encodings = slices.DeleteFunc(slices.Clone(allEncodings), func(e encoding) bool { return e.compression == compress.LZ4 })
	}
	goleak.VerifyTestMain(m)
}

// output is a blob.Writer in memory.
type output struct {
	bytes.Buffer
	closed, aborted bool
	fail            int // bytes after which writing fails; 0: never
}

func (o *output) Write(p []byte) (int, error) {
	if o.fail > 0 && o.Len()+len(p) > o.fail {
		return 0, errors.New("disk full")
	}
	return o.Buffer.Write(p)
}

func (o *output) Close() error { o.closed = true; return nil }
func (o *output) Abort()       { o.aborted = true }

// encoding is a way to write Arrow data.
type encoding struct {
	stream      bool
	compression compress.Codec
}

func (e encoding) String() string { return fmt.Sprintf("stream=%v/%s", e.stream, e.compression) }

var allEncodings = []encoding{
	{false, compress.Zstd},
	{false, compress.LZ4},
	{false, compress.None},
	{true, compress.Zstd},
	{true, compress.LZ4},
	{true, compress.None},
}

// encodings are those that a test of many tries.
var encodings = allEncodings

// libraryWrite writes records with the library's writers.
func libraryWrite(t testing.TB, e encoding, schema *arrow.Schema, records ...arrow.Record) []byte {
	t.Helper()
	return libraryWriteWith(t, e, schema, nil, records...)
}

func libraryWriteWith(t testing.TB, e encoding, schema *arrow.Schema, options []ipc.Option, records ...arrow.Record) []byte {
	t.Helper()
	switch e.compression {
	case compress.Zstd:
		options = append(options, ipc.WithZstd())
	case compress.LZ4:
		options = append(options, ipc.WithLZ4())
	}
	return tablestest.WriteArrow(t, e.stream, schema, records, options...)
}

// open opens data as a stream, or as a file when it is one and pipe is false.
func open(data []byte, pipe bool, o Options) (*Source, error) {
	if !pipe && bytes.HasPrefix(data, []byte(layout.Magic)) {
		return OpenFile(bytes.NewReader(data), int64(len(data)), o)
	}
	// Reading in small steps is what a pipe does.
	return OpenStream(&stepReader{data}, o)
}

type stepReader struct{ data []byte }

func (r *stepReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 1000)], r.data)
	r.data = r.data[n:]
	return n, nil
}

// readAll decodes everything; the batches are not released.
func readAll(data []byte, pipe bool, o Options) (batches []*batch.Batch, err error) {
	source, err := open(data, pipe, o)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	err = tablestest.Each(source, func(p batch.Piece) error {
		b, err := p.Decode()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
		batches = append(batches, b)
		return nil
	})
	return batches, err
}

// positions returns the positions of the tables in a vector.
func positions(t layout.Table, slot int) (list []int) {
	t.Tables(slot, func(element layout.Table) { list = append(list, element.Pos) })
	return list
}
