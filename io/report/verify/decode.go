package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"robotsbatch/batch"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/arrowipc"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/parquetio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
)

// These bound a decoded batch of a table.
const (
	batchRows   = 65536
	batchMemory = 512 << 20
)

// decode reads an output to its end. It counts the rows of a table; it checks only that
// text can be decompressed.
func (f *Finding) decode(ctx context.Context, name, urlColumn string, read *decoding) error {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	size, _ := in.Size()
	found, codec, r, err := format.Sniff(&sizedReader{contextReader{ctx, in}, 0, size, read.to}, in.Name())
	if err != nil {
		return err
	}
	defer r.Close()
	f.Format = found
	if !found.IsBinary() || codec != compress.None {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		return nil
	}
	f.IsTable = true
	f.Rows, err = decodeTable(ctx, name, found, urlColumn, read)
	return err
}

// decodeTable reads a table as a frontier, which needs a column of strings. The Arrow
// library reads a table without one, such as verdicts alone.
func decodeTable(ctx context.Context, name string, f format.Format, urlColumn string, read *decoding) (int64, error) {
	if f == format.Parquet {
		return checkParquet(ctx, name, read)
	}
	if err := checkMetadata(ctx, name, f); err != nil {
		return 0, fmt.Errorf("%s: %w", blob.Shown(name), err)
	}
	o := frontier.Options{Format: f, URLColumn: urlColumn, BatchRows: batchRows, Memory: batchMemory, Columns: true, Keep: batch.KeepAll}
	in, err := frontier.Open(ctx, frontier.Input{Path: name}, o)
	if err == nil {
		return drain(ctx, in, read)
	}
	t, schemaErr := openLibrary(ctx, name, f)
	if schemaErr != nil {
		return 0, err // the error of the frontier reader is clearer
	}
	defer t.Close()
	for _, field := range t.schema.Fields() {
		switch field.Type.ID() {
		case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
			o.URLColumn = field.Name
			if in, err := frontier.Open(ctx, frontier.Input{Path: name}, o); err == nil {
				return drain(ctx, in, read)
			}
		}
	}
	err = checkArrow(ctx, name, f)
	rows := int64(0)
	if err == nil {
		rows, err = t.count(ctx)
	}
	if err != nil {
		return rows, fmt.Errorf("%s: %w", blob.Shown(name), err)
	}
	return rows, nil
}

// sizedReaderAt says how much of a file was read, each byte once.
type sizedReaderAt struct {
	r    io.ReaderAt
	read atomic.Int64
	size int64
	to   func(share float64)
}

func (r *sizedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := r.r.ReadAt(p, at)
	r.to(float64(r.read.Add(int64(n))) / float64(max(1, r.size)))
	return n, err
}

// checkParquet decodes all columns of a Parquet file.
func checkParquet(ctx context.Context, name string, read *decoding) (int64, error) {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	size, _ := in.Size()
	rows, err := parquetio.CheckFile(&sizedReaderAt{r: in, size: size, to: read.to}, size, batchMemory)
	if err != nil {
		return rows, fmt.Errorf("%s: %w", blob.Shown(name), err)
	}
	return rows, nil
}

// checkMetadata verifies the metadata of Arrow data as other readers do.
func checkMetadata(ctx context.Context, name string, f format.Format) error {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	size, regular := in.Size()
	if !regular {
		return nil // it can be read once
	}
	return arrowipc.CheckMetadata(in, size, f == format.Arrow)
}

// checkArrow compares the checksums in an Arrow file or stream. The library does not check
// them.
func checkArrow(ctx context.Context, name string, f format.Format) error {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	size, _ := in.Size()
	if f == format.Arrow {
		return arrowipc.CheckFile(in, size, batchMemory)
	}
	return arrowipc.CheckStream(io.NewSectionReader(in, 0, size), batchMemory)
}

// drain decodes all rows of an input, and closes it.
func drain(ctx context.Context, in *frontier.Source, read *decoding) (rows int64, err error) {
	defer func() { err = errors.Join(err, in.Close()) }()
	for {
		piece, err := in.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		b, err := piece.Decode()
		if err != nil {
			return rows, fmt.Errorf("%s: %w", piece.Name(), err)
		}
		rows += int64(b.URLs.Len())
		read.to(in.Share())
		if b.Release != nil {
			b.Release()
		}
	}
}

// library is a table that the Arrow library reads.
type library struct {
	io.Closer
	schema *arrow.Schema
	next   func() (arrow.Record, error) // io.EOF after the last
}

// openLibrary opens a table. A panic of the library is an error: the table is
// damaged.
func openLibrary(ctx context.Context, name string, f format.Format) (t *library, err error) {
	in, err := blob.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
		if err != nil {
			in.Close()
		}
	}()
	t = &library{Closer: in}
	size, _ := in.Size()
	section := io.NewSectionReader(in, 0, size)
	switch f {
	case format.Arrow:
		r, err := ipc.NewFileReader(section)
		if err != nil {
			return nil, err
		}
		t.schema, t.next = r.Schema(), r.Read
	case format.ArrowS:
		r, err := ipc.NewReader(section)
		if err != nil {
			return nil, err
		}
		t.schema, t.next = r.Schema(), r.Read
	}
	return t, nil
}

// count reads all rows, until ctx ends.
func (t *library) count(ctx context.Context) (rows int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	for {
		if err := context.Cause(ctx); err != nil {
			return rows, err
		}
		record, err := t.next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += record.NumRows()
	}
}
