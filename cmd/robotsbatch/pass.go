package main

import (
	"io"
	"slices"

	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/compress"
	"robotsbatch/io/format"
)

// passThrough makes the columns of an output's inputs pass through, if all rows and
// columns come out as the same kind of table and no other encoding was asked for.
func (j *job) passThrough(t target, out output, src *concatenation) error {
	source, ok := src.first.Source.(*arrowipc.Source)
	switch {
	case !ok || !isArrow(t.format) || j.recode || j.hasCompression || j.emit != batch.EmitAll || j.keep != batch.KeepAll:
		return nil
	case !source.CanPassThrough(t.format == format.ArrowS, len(out.inputs) > 1):
		return nil
	}
	src.passing = true
	return src.first.passThrough()
}

// passThrough makes the input's columns pass through. The source closes the file then.
func (o *opened) passThrough() error {
	source, ok := o.Source.(*arrowipc.Source)
	if !ok {
		return nil
	}
	if o.file == nil || o.codec != compress.None {
		return source.PassThrough(nil)
	}
	o.closers = slices.DeleteFunc(o.closers, func(c io.Closer) bool { return c == io.Closer(o.file) })
	return source.PassThrough(o.file)
}
