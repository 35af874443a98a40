package parquetio

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"go.uber.org/goleak"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio/tablestest"
	"robotsbatch/io/store/must"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // the tests allocate much and keep little
	goleak.VerifyTestMain(m)
}

// output is a blob.Writer in memory.
type output struct {
	bytes.Buffer
	closed, aborted bool
}

func (o *output) Close() error { o.closed = true; return nil }
func (o *output) Abort()       { o.aborted = true }

// memoryFile is a File in memory.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func fileOf(data []byte) memoryFile { return memoryFile{bytes.NewReader(data)} }

// libraryWrite has the library write records, each as row groups of at most
// rows rows.
func libraryWrite(t testing.TB, codec compress.Compression, version parquet.DataPageVersion, rows int64, records ...arrow.Record) []byte {
	t.Helper()
	return must.Get(tryLibraryWrite(codec, version, rows, records...))(t)
}

// tryLibraryWrite is libraryWrite for types that the library may not write.
func tryLibraryWrite(codec compress.Compression, version parquet.DataPageVersion, rows int64, records ...arrow.Record) (_ []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithMaxRowGroupLength(rows),
		parquet.WithDataPageVersion(version), parquet.WithRootRepetition(parquet.Repetitions.Required))
	w, err := pqarrow.NewFileWriter(records[0].Schema(), &out, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	for _, record := range records {
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}

// libraryRead has the library read a file as one record a row group.
func libraryRead(t testing.TB, data []byte) (*file.Reader, []arrow.Record) {
	t.Helper()
	f := must.Get(file.NewParquetReader(bytes.NewReader(data)))(t)
	r := must.Get(pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.NewGoAllocator()))(t)
	var records []arrow.Record
	for i := range f.NumRowGroups() {
		all := make([]int, f.MetaData().Schema.NumColumns())
		for j := range all {
			all[j] = j
		}
		table := must.Get(r.ReadRowGroups(context.Background(), all, []int{i}))(t)
		columns := make([]arrow.Array, table.NumCols())
		for j := range columns {
			columns[j] = table.Column(j).Data().Chunk(0)
		}
		records = append(records, array.NewRecord(table.Schema(), columns, table.NumRows()))
	}
	return f, records
}

// readAll decodes all batches of a file.
func readAll(data []byte, o Options) (*Source, []*batch.Batch, error) {
	s, err := Open(fileOf(data), int64(len(data)), o)
	if err != nil {
		return nil, nil, err
	}
	var batches []*batch.Batch
	err = tablestest.Each(s, func(p batch.Piece) error {
		b, err := p.Decode()
		batches = append(batches, b)
		return err
	})
	if err != nil {
		return s, nil, err
	}
	return s, batches, s.Close()
}

// writeAll writes batches with a verdict column.
func writeAll(t testing.TB, o SinkOptions, batches []*batch.Batch, verdicts func(rows int) *batch.Verdicts) []byte {
	t.Helper()
	o.Layout.Verdicts = []batch.VerdictColumn{{Name: "allowed", Kind: batch.Allowed}}
	return write(t, o, batches, verdicts)
}

// write writes batches.
func write(t testing.TB, o SinkOptions, batches []*batch.Batch, verdicts func(rows int) *batch.Verdicts) []byte {
	t.Helper()
	var out output
	s := must.Get(NewSink(&out, o))(t)
	for _, b := range batches {
		must.Do(t, s.Write(must.Get(s.Encode(b, verdicts(b.URLs.Len())))(t)))
	}
	must.Do(t, s.Close())
	must.Need(t, out.closed && !out.aborted, "the output was not closed")
	return out.Bytes()
}

// countedFile counts the bytes that are read.
type countedFile struct {
	memoryFile
	bytes atomic.Int64
}

func (f *countedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.memoryFile.ReadAt(p, at)
	f.bytes.Add(int64(n))
	return n, err
}
