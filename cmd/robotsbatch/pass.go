package main

import (
	"io"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/compress"
	"robotsbatch/io/format"
	"robotsbatch/io/parquetio"
)

// passThrough makes the columns of an output's inputs pass through, if all rows and
// columns come out as the same kind of table and no other encoding was asked for.
func (j *job) passThrough(t target, out output, src *concatenation) error {
	if j.recode || j.hasCompression || j.emit != batch.EmitAll || j.keep != batch.KeepAll {
		return nil
	}
	switch source := src.first.Source.(type) {
	case *arrowipc.Source:
		src.passing = isArrow(t.format) && source.CanPassThrough(t.format == format.ArrowS, len(out.inputs) > 1)
	case *parquetio.Source:
		src.passing = t.format == format.Parquet
	}
	if !src.passing {
		return nil
	}
	return src.first.passThrough()
}

// passThrough makes the input's columns pass through. Its source closes the file then.
func (o *opened) passThrough() error {
	switch source := o.Source.(type) {
	case *parquetio.Source:
		return source.PassThrough()
	case *arrowipc.Source:
		if o.file == nil || o.codec != compress.None {
			return source.PassThrough(nil)
		}
		o.closers = slices.DeleteFunc(o.closers, func(c io.Closer) bool { return c == io.Closer(o.file) })
		return source.PassThrough(o.file)
	}
	return nil
}
