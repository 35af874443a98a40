package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/captures"
	"robotsbatch/io/format"
	"robotsbatch/io/warc"
)

// open opens a file of captures, whatever its format.
func (s *captureSet) open(ctx context.Context, name string) (captures.Reader, error) {
	found, err := detectRules(ctx, name)
	switch {
	case err != nil:
		return nil, atName(name, err)
	case found == format.WARC || !isCaptures(found): // an empty one, too
		return s.openWARC(ctx, name)
	}
	return s.openTable(ctx, name)
}

// warcFile is a WARC file that is open.
type warcFile struct {
	*warc.Reader
	file *blob.File
	name string
	set  *captureSet
}

func (s *captureSet) openWARC(ctx context.Context, name string) (captures.Reader, error) {
	f, err := blob.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	var file io.Reader = f
	if size, regular := f.Size(); regular {
		file = io.NewSectionReader(f, 0, size) // which can go back
	}
	r, err := warc.NewReader(file, warc.Options{Name: f.Name(), BodySize: s.bodySize, Broken: s.warnBroken})
	if err != nil {
		f.Close()
		return nil, err
	}
	return &warcFile{r, f, f.Name(), s}, nil
}

func (f *warcFile) Next(x *captures.Capture) error {
	err := f.Reader.Next(x)
	if err == io.EOF && f.Stats() == (warc.Stats{}) {
		f.set.warn(f.name + " has no records: was it cut off?")
	}
	return err
}

func (f *warcFile) Close() error {
	_ = f.Reader.Close() // it was only read from
	return f.file.Close()
}

// tableRows is how many rows of a table of captures are read at once: their
// bodies are large.
const tableRows = 1024

// tableFile is a table of captures that is open.
type tableFile struct {
	captures.Reader
	input *opened
}

func (f *tableFile) Close() error { return errors.Join(f.Reader.Close(), f.input.Close()) }

// openTable opens a table by its column url, or else authority.
func (s *captureSet) openTable(ctx context.Context, name string) (captures.Reader, error) {
	file, err := s.openTableBy(ctx, name, "url")
	if err != nil {
		other, otherErr := s.openTableBy(ctx, name, "authority")
		if otherErr == nil {
			return other, nil
		}
	}
	return file, err
}

func (s *captureSet) openTableBy(ctx context.Context, name, column string) (captures.Reader, error) {
	o := opener{urlColumn: column, batchRows: tableRows, maxLine: captures.MaxLine, memory: s.memory, columns: true, keep: batch.KeepAll}
	input := &opened{input: input{path: name}}
	reader, err := s.decodeTable(ctx, &o, input)
	if err != nil {
		input.Close()
		return nil, err
	}
	return &tableFile{reader, input}, nil
}

func (s *captureSet) decodeTable(ctx context.Context, o *opener, input *opened) (captures.Reader, error) {
	name := input.input.name()
	options := captures.TableOptions{Name: name, Broken: s.warnBroken}
	r, err := o.recognise(ctx, input)
	if err != nil {
		return nil, err
	}
	if input.format == format.JSONL {
		return captures.NewJSONL(r, options), nil
	}
	if err := o.decode(input, r); err != nil {
		return nil, err
	}
	table, ok := input.Source.(captures.TableSource)
	if !ok {
		return nil, fmt.Errorf("%s is no table", name)
	}
	return captures.NewTable(table, options)
}
