package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/blob"
	"robotsbatch/io/compress"
	"robotsbatch/io/delimited"
	"robotsbatch/io/format"
	"robotsbatch/io/jsonl"
	"robotsbatch/io/lines"
	"robotsbatch/io/parquetio"
	"robotsbatch/io/text"
)

// opener opens inputs the way the command line asks for.
type opener struct {
	stdin     io.Reader
	format    format.Format // Unknown: by content and name
	urlColumn string
	batchRows int
	maxLine   int  // bytes of a line, or a row of csv or tsv; 0: the default
	separator byte // of csv and tsv; 0: as the header has it, or a tab
	memory    int64
	// acceptTruncated also reads an Arrow file that has no end.
	acceptTruncated bool
	// columns asks sources that read lines for all that a row has; verdicts
	// are the columns that will come after.
	columns  bool
	verdicts []batch.VerdictColumn
	// keep says which columns of a table are needed.
	keep batch.Keep
}

// opened is an input that is open and recognised.
type opened struct {
	batch.Source
	input  input
	format format.Format
	codec  compress.Codec
	// schema is nil for a list of URLs or of objects.
	schema    *arrow.Schema
	urlColumn string
	// file is the input as it lies on the disk, when it is a regular file.
	file    *blob.File
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
	r, err := o.recognise(ctx, result)
	if err != nil {
		return err
	}
	return o.decode(result, r)
}

// recognise finds out what an input is, and returns its octets, decompressed.
func (o *opener) recognise(ctx context.Context, result *opened) (io.Reader, error) {
	raw, err := o.openRaw(ctx, result)
	if err != nil {
		return nil, err
	}
	found, codec, r, err := format.Sniff(raw, result.input.name())
	if err != nil {
		return nil, err
	}
	result.closers = append(result.closers, r)
	result.format, result.codec = o.format, codec
	if result.format == format.Unknown {
		result.format = found
	}
	return r, nil
}

// decode puts the source for the recognised format on top of the input's
// octets.
func (o *opener) decode(result *opened, r io.Reader) error {
	name := result.input.name()
	options := arrowipc.Options{Name: name, URLColumn: o.urlColumn, BatchRows: o.batchRows, Memory: o.memory, Keep: o.keep}
	var table tableSource
	var err error
	switch result.format {
	case format.Text:
		if o.urlColumn != "" && o.urlColumn != listColumn {
			return usageErrorf("%s is a list of URLs and has no column %q: leave out -url-column", name, o.urlColumn)
		}
		result.Source = text.NewSource(r, text.Options{Name: name, BatchRows: o.batchRows, BatchSize: o.batchSize(), MaxLine: o.maxLine})
		result.urlColumn = listColumn
		return nil
	case format.Arrow, format.ArrowS:
		if result.format == format.Arrow && result.codec == compress.None && result.file != nil {
			size, _ := result.file.Size()
			table, err = arrowipc.OpenFile(result.file, size, options)
			if o.acceptTruncated && isCut(err) {
				table, err = arrowipc.OpenStream(r, options)
			}
		} else {
			table, err = arrowipc.OpenStream(r, options)
		}
	case format.CSV, format.TSV, format.CDX:
		separator := o.separator
		if result.format == format.TSV && separator == 0 {
			separator = '\t'
		}
		table, err = delimited.NewSource(r, delimited.Options{
			Name: name, Separator: separator, CDX: result.format == format.CDX, URLColumn: o.urlColumn, Columns: o.columns, BatchRows: o.batchRows, BatchSize: o.batchSize(), MaxLine: o.maxLine,
		})
	case format.JSONL, format.CDXJ:
		table = jsonl.NewSource(r, jsonl.Options{
			Name: name, CDXJ: result.format == format.CDXJ, URLKey: o.urlColumn, Columns: o.columns, Verdicts: o.verdicts, BatchRows: o.batchRows, BatchSize: o.batchSize(), MaxLine: o.maxLine,
		})
	case format.Parquet:
		if result.codec != compress.None || result.file == nil {
			return usageErrorf("%s: Parquet is read from its end: give a file, neither compressed around nor a pipe", name)
		}
		size, _ := result.file.Size()
		table, err = parquetio.Open(result.file, size, parquetio.Options{
			Name: name, URLColumn: o.urlColumn, BatchRows: o.batchRows, Memory: o.memory, Keep: o.keep,
		})
		if err == nil { // the source closes the file, for pieces read it after the last Next
			result.closers = slices.DeleteFunc(result.closers, func(c io.Closer) bool { return c == io.Closer(result.file) })
		}
	case format.Unknown:
		return fmt.Errorf("%s: the format is unknown: say what it is with -in-format", name)
	case format.RulePack:
		return usageErrorf("%s is a rule pack: name it with -rules", name)
	case format.WARC:
		return usageErrorf("%s is a WARC file, which has captures: name it with -rules", name)
	default:
		return unavailable(fmt.Sprintf("%s: reading %s", name, result.format.String()))
	}
	if err != nil {
		return err
	}
	result.Source, result.schema, result.urlColumn = table, table.Schema(), table.URLColumn()
	return nil
}

// batchSize is how many octets of text a batch may have: enough of them fit into
// the memory to keep workers busy.
func (o *opener) batchSize() int { return int(min(o.memory/8, lines.MaxBlockSize)) }

// tableSource is a source whose rows have more than a URL.
type tableSource interface {
	batch.Source
	// Schema is nil where each row may have other things.
	Schema() *arrow.Schema
	URLColumn() string
}

// listColumn is the name of a list's one column.
const listColumn = "url"

// openRaw returns the input's octets, and remembers the file when they can be
// read at any place; else they are a stream whose reads end with ctx.
func (o *opener) openRaw(ctx context.Context, result *opened) (io.Reader, error) {
	path := result.input.path
	if path == blob.Stdio && o.stdin != os.Stdin {
		return interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(o.stdin), nil }), nil
	}
	if info, err := os.Stat(path); path != blob.Stdio && !blob.IsURL(path) && err == nil && !info.Mode().IsRegular() {
		// A pipe or a device; even opening it may take for ever.
		return interruptible(ctx, func() (io.ReadCloser, error) { return blob.Open(ctx, path) }), nil
	}
	f, err := blob.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, regular := f.Size(); !regular {
		return interruptible(ctx, func() (io.ReadCloser, error) { return f, nil }), nil
	}
	result.file = f
	result.closers = append(result.closers, f)
	return f, nil
}
