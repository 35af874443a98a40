package main

import (
	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/format"
	"robotsbatch/io/frontier"
	"robotsbatch/io/outputs"
	"robotsbatch/io/parquetio"
)

// passThrough makes the columns of an output's inputs pass through, if all of them come
// out as the same kind of table and no other encoding was asked for.
func (j *job) passThrough(t target, out outputs.Output, src *frontier.Concatenation) error {
	if j.recode || j.hasCompression || j.keep == batch.KeepNone {
		return nil
	}
	passing := false
	switch source := src.First().Source.(type) {
	case *arrowipc.Source:
		passing = t.format.IsArrow() && source.CanPassThrough(t.format == format.ArrowS, len(out.Inputs) > 1)
	case *parquetio.Source:
		passing = t.format == format.Parquet && source.CanPassThrough()
	}
	if !passing {
		return nil
	}
	return src.PassThrough()
}
