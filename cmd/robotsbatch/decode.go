package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/blob"
	"robotsbatch/io/format"
	"robotsbatch/io/frontier"
	"robotsbatch/io/parquetio"
)

// decode reads an output to its end, which a broken one does not let anybody do.
// Of a table it counts the rows; text is decompressed, and what is in a line is
// left to who wrote it.
func (v *verifier) decode(name, urlColumn string) (rows int64, isTable bool, err error) {
	f, err := blob.Open(v.ctx, name)
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	found, codec, r, err := format.Sniff(contextReader{v.ctx, f}, f.Name())
	if err != nil {
		return 0, false, err
	}
	defer r.Close()
	if !found.IsBinary() || codec != 0 {
		if _, err := io.Copy(io.Discard, r); err != nil {
			return 0, false, atName(blob.Shown(name), err)
		}
		return 0, false, nil
	}
	rows, err = v.decodeTable(name, found, urlColumn)
	return rows, true, err
}

// decodeTable reads a table as an input. That needs a column of strings; of a
// table that has none, such as verdicts alone, the library reads the rest.
func (v *verifier) decodeTable(name string, f format.Format, urlColumn string) (int64, error) {
	if f == format.Parquet {
		return v.checkParquet(name)
	}
	o := frontier.Options{Format: f, URLColumn: urlColumn, BatchRows: defaultRows, Memory: defaultMemory, Columns: true, Keep: batch.KeepAll}
	in, err := frontier.Open(v.ctx, frontier.Input{Path: name}, o)
	if err == nil {
		return v.drain(in)
	}
	t, schemaErr := openLibrary(v.ctx, name, f)
	if schemaErr != nil {
		return 0, err // of the reader that knows what to say
	}
	defer t.Close()
	for _, field := range t.schema.Fields() {
		switch field.Type.ID() {
		case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
			o.URLColumn = field.Name
			if in, err := frontier.Open(v.ctx, frontier.Input{Path: name}, o); err == nil {
				return v.drain(in)
			}
		}
	}
	if err := v.checkSums(name, f); err != nil {
		return 0, atName(blob.Shown(name), err)
	}
	rows, libraryErr := t.count(v.ctx.Err)
	if libraryErr != nil {
		return rows, atName(blob.Shown(name), libraryErr)
	}
	return rows, nil
}

// checkParquet decodes all columns of a Parquet file.
func (v *verifier) checkParquet(name string) (int64, error) {
	in, err := blob.Open(v.ctx, name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	size, _ := in.Size()
	rows, err := parquetio.CheckFile(in, size, defaultMemory)
	if err != nil {
		return rows, atName(blob.Shown(name), err)
	}
	return rows, nil
}

// checkSums compares the checksums in a table, which the library does not look
// at.
func (v *verifier) checkSums(name string, f format.Format) error {
	in, err := blob.Open(v.ctx, name)
	if err != nil {
		return err
	}
	defer in.Close()
	size, _ := in.Size()
	if f == format.Arrow {
		return arrowipc.CheckFile(in, size, defaultMemory)
	}
	return arrowipc.CheckStream(io.NewSectionReader(in, 0, size), defaultMemory)
}

// drain decodes all that an input has, and closes it.
func (v *verifier) drain(in *frontier.Source) (rows int64, err error) {
	defer func() { err = errors.Join(err, in.Close()) }()
	for {
		piece, err := in.Next(v.ctx)
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

// openLibrary opens a table. What the library makes of damage is an error, also
// where it panics.
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

// count reads all rows, until stop says otherwise.
func (t *library) count(stop func() error) (rows int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	for {
		if err := stop(); err != nil {
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
