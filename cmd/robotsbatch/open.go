package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/compress"
	"robotsbatch/io/format"
	"robotsbatch/io/text"
)

// opener opens inputs the way the command line asks for.
type opener struct {
	stdin     io.Reader
	format    format.Format // Unknown: by content and name
	urlColumn string
	batchRows int
	memory    int64
}

// opened is an input that is open and recognised.
type opened struct {
	batch.Source
	input  input
	format format.Format
	codec  compress.Codec
	// schema is nil for a list of URLs.
	schema    *arrow.Schema
	urlColumn string
	// file is the input as it lies on the disk, when it is a regular file.
	file    *os.File
	closers []io.Closer // in the order of their opening
}

// Close closes the source and everything below it.
func (o *opened) Close() error {
	var err error
	if o.Source != nil {
		err = o.Source.Close()
	}
	for i := len(o.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, o.closers[i].Close())
	}
	return err
}

// open opens an input and finds out what it is. ctx ends a read from a pipe
// that has nothing to say.
func (o *opener) open(ctx context.Context, in input) (*opened, error) {
	result := &opened{input: in}
	if err := o.openInto(ctx, result); err != nil {
		result.Close()
		return nil, err
	}
	return result, nil
}

func (o *opener) openInto(ctx context.Context, result *opened) error {
	name := result.input.name()
	raw, err := o.openRaw(ctx, result)
	if err != nil {
		return err
	}
	r, head, err := peek(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	result.codec = compress.Detect(head)
	if result.codec != compress.None {
		decompressed, err := compress.NewReader(r, result.codec)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		result.closers = append(result.closers, decompressed)
		if r, head, err = peek(decompressed); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, plain := compress.ByName(result.input.stem)
	result.format = o.format
	if result.format == format.Unknown {
		result.format = format.Detect(head, plain)
	}
	return o.decode(result, r)
}

// decode puts the source for the recognised format on top of the input's
// octets.
func (o *opener) decode(result *opened, r io.Reader) error {
	name := result.input.name()
	options := arrowipc.Options{Name: name, URLColumn: o.urlColumn, BatchRows: o.batchRows, Memory: o.memory}
	var table *arrowipc.Source
	var err error
	switch result.format {
	case format.Text:
		if o.urlColumn != "" && o.urlColumn != listColumn {
			return usageErrorf("%s is a list of URLs and has no column %q: leave out -url-column", name, o.urlColumn)
		}
		result.Source = text.NewSource(r, text.Options{Name: name, BatchRows: o.batchRows})
		result.urlColumn = listColumn
		return nil
	case format.Arrow, format.ArrowS:
		if result.format == format.Arrow && result.codec == compress.None && result.file != nil {
			table, err = openTable(result.file, options)
		} else {
			table, err = arrowipc.OpenStream(r, options)
		}
	case format.Unknown:
		return fmt.Errorf("%s: the format is unknown: say what it is with -in-format", name)
	default:
		return unavailable(fmt.Sprintf("%s: reading %s", name, formatName(result.format)))
	}
	if err != nil {
		return err
	}
	result.Source, result.schema, result.urlColumn = table, table.Schema(), table.URLColumn()
	return nil
}

// listColumn is the name of a list's one column.
const listColumn = "url"

// openRaw returns the input's octets, and remembers the file when they can be
// read at any place; else they are a stream whose reads end with ctx.
func (o *opener) openRaw(ctx context.Context, result *opened) (io.Reader, error) {
	path := result.input.path
	if path == "-" {
		if f, ok := o.stdin.(*os.File); ok && isRegular(f) {
			result.file = f
			return f, nil
		}
		return interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(o.stdin), nil }), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a named pipe may take for ever, too
		return interruptible(ctx, func() (io.ReadCloser, error) { return os.Open(path) }), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	result.file = f
	result.closers = append(result.closers, f)
	return f, nil
}

// isRegular tells whether stdin is a regular file that nobody has read from.
func isRegular(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	at, err := f.Seek(0, io.SeekCurrent)
	return err == nil && at == 0
}

func openTable(f *os.File, options arrowipc.Options) (*arrowipc.Source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return arrowipc.OpenFile(f, info.Size(), options)
}

// peek buffers r and returns its first octets, which are still to be read.
func peek(r io.Reader) (*bufio.Reader, []byte, error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	head, err := buffered.Peek(format.HeadSize)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	return buffered, head, nil
}
