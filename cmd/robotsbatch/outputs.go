package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"robotsbatch/batch"
	"robotsbatch/batch/manifest"
	"robotsbatch/cmd/robotsbatch/internal/console"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/blob"
	"robotsbatch/io/compress"
	"robotsbatch/io/delimited"
	"robotsbatch/io/format"
	"robotsbatch/io/frontier"
	"robotsbatch/io/jsonl"
	"robotsbatch/io/outputs"
	"robotsbatch/io/parquetio"
	"robotsbatch/io/text"
)

// planOutputs says which inputs go to which output: all to one, or each to its
// own when -out is a folder.
func planOutputs(c *jobConfig, inputs []frontier.Input) ([]outputs.Output, error) {
	if !outputs.IsFolder(c.out) {
		return []outputs.Output{{Path: c.out, Inputs: inputs}}, nil
	}
	taken := make(map[string]frontier.Input)
	var planned []outputs.Output
	for _, in := range inputs {
		if !filepath.IsLocal(filepath.FromSlash(in.Stem)) {
			return nil, usageErrorf("%s cannot have an output of that name below %s: name a file with -out", in.Name(), blob.Shown(c.out))
		}
		path := outputs.Below(c.out, withoutEnding(in.Stem)+c.partName())
		if other, ok := taken[path]; ok {
			return nil, usageErrorf("%s and %s would both be written as %s: give them folders of their own", other.Name(), in.Name(), blob.Shown(path))
		}
		taken[path] = in
		planned = append(planned, outputs.Output{Path: path, InFolder: true, Inputs: []frontier.Input{in}})
	}
	return planned, nil
}

// withEnding appends an ending to the name of a file or object.
func withEnding(name, ending string) string {
	if u, err := blob.ParseURL(name); blob.IsURL(name) && err == nil {
		return u.Below(ending).String()
	}
	return name + ending
}

// wantsText tells whether the output will be a list of URLs, without columns.
func (c *jobConfig) wantsText() bool {
	if c.outFormat != format.Unknown {
		return c.outFormat == format.Text
	}
	named, _ := format.ByName(blob.Shown(c.out))
	return named == format.Text && !outputs.IsFolder(c.out)
}

// withoutEnding cuts the endings that tell a format or a compression.
func withoutEnding(name string) string {
	_, plain := compress.ByName(name)
	if f, _ := format.ByName(plain); f != format.Unknown {
		return strings.TrimSuffix(plain, filepath.Ext(plain))
	}
	return plain
}

// target is how one output is written.
type target struct {
	path   string
	format format.Format
	codec  compress.Codec
}

// name is the output's name for people.
func (t target) name() string { return blob.Shown(t.path) }

// target decides how out is written, now that its first input is known.
func (c *jobConfig) target(out outputs.Output, first *frontier.Source) (target, error) {
	t := target{path: out.Path, format: c.outFormat}
	named := format.Unknown
	switch {
	case out.InFolder:
		if first.Format.IsLines() {
			t.codec = first.Codec
		}
	case out.Path != "-":
		named, t.codec = format.ByName(blob.Shown(out.Path))
	}
	if t.format == format.Unknown {
		t.format = named
	}
	if t.format == format.Unknown {
		if out.Path != "-" && !out.InFolder {
			return target{}, usageErrorf("-out %s: no format has this ending: use .arrow, .arrows, .parquet, .csv, .tsv, .jsonl or .txt, or say which with -out-format", blob.Shown(out.Path))
		}
		t.format = defaultFormat(first.Format, out.InFolder)
	}
	if out.InFolder {
		if t.format.IsBinary() {
			t.codec = compress.None
		}
		t.path = withEnding(t.path, t.format.Ending()+t.codec.Ending())
	}
	if err := c.checkTarget(t, out); err != nil {
		return target{}, err
	}
	if out.InFolder && !blob.IsURL(t.path) {
		if err := os.MkdirAll(filepath.Dir(t.path), 0o777); err != nil {
			return target{}, fmt.Errorf("-out: %w", err)
		}
	}
	return t, nil
}

// defaultFormat is the output's format when neither name nor flag tells:
// csv for a list, the input's own for other lines, jsonl for CDXJ and csv for CDX,
// Arrow for a table, a stream where the output is one.
func defaultFormat(in format.Format, inFolder bool) format.Format {
	switch {
	case in == format.Text:
		return format.CSV
	case in == format.CDXJ:
		return format.JSONL
	case in == format.CDX:
		return format.CSV
	case in.IsLines():
		return in
	case inFolder:
		return in
	}
	return format.ArrowS
}

// checkTarget finds flags that do not go with the output's format, and outputs
// that would replace their own input.
func (c *jobConfig) checkTarget(t target, out outputs.Output) error {
	name := t.format.String()
	switch {
	case !t.format.Writable():
		return unavailable(fmt.Sprintf("-out %s: writing %s", t.name(), name))
	case t.format == format.Text && c.emit == batch.EmitAll:
		return usageErrorf("-out %s: text has URLs only, no verdicts: choose which with -emit allowed, denied or unknown, or write csv", t.name())
	case t.format == format.Text && (c.explain || c.hasKeep || len(c.with) > 0):
		return usageErrorf("-out %s: text has URLs only: -explain, -with and -columns need another format", t.name())
	case t.format.IsArrow() && t.codec != compress.None:
		return usageErrorf("-out %s: Arrow is compressed inside: leave out the last ending and use -compression", t.name())
	case t.format.IsBinary() && t.codec != compress.None:
		return usageErrorf("-out %s: Parquet is compressed inside: leave out the last ending and use -compression", t.name())
	case t.format.IsArrow() && c.compression == snappyCompression:
		return usageErrorf("-compression snappy is for Parquet: Arrow has zstd, lz4 or none")
	case t.format == format.Parquet && c.compression == lz4Compression:
		return usageErrorf("-compression lz4 is for Arrow: Parquet is written with zstd, snappy or none")
	case !t.format.IsBinary() && c.hasCompression:
		return usageErrorf("-compression is for Arrow and Parquet: %s is compressed when the name of -out ends in .zst or .gz", name)
	}
	if blob.IsURL(t.path) {
		for _, in := range out.Inputs {
			if in.Name() == t.name() {
				return usageErrorf("-out %s would replace an input: choose another name", t.name())
			}
		}
		return nil
	}
	before, err := os.Stat(t.path)
	if t.path == "-" || err != nil {
		return nil
	}
	for _, in := range out.Inputs {
		if info, err := os.Stat(in.Path); err == nil && os.SameFile(before, info) && info.Mode().IsRegular() {
			return usageErrorf("-out %s would replace an input: choose another name", t.path)
		}
	}
	return nil
}

var errBinaryTerminal = usageErrorf("Arrow or Parquet on a terminal is unreadable: name a file with -out, or use -out-format csv")

// createTarget starts an output.
func createTarget(ctx context.Context, s streams, t target) (blob.Writer, error) {
	if t.path == "-" {
		if t.format.IsBinary() && console.IsTerminal(s.out) {
			return nil, errBinaryTerminal
		}
		return stdoutWriter{s.out}, nil
	}
	w, err := blob.Create(ctx, t.path)
	if err != nil {
		return nil, fmt.Errorf("-out: %w", err)
	}
	return w, nil
}

// newSink encodes to w. The checksums are nil without a manifest.
func (j *job) newSink(t target, src *frontier.Concatenation, w blob.Writer) (batch.Sink, *manifest.Sums, error) {
	w, sums := j.record.Sums(w)
	sink, err := j.encoder(t, src.First(), src.Passing(), w)
	if err != nil {
		w.Abort()
		return nil, nil, fmt.Errorf("%s: %w", src.First().Input.Name(), err)
	}
	if t.format.IsBinary() { // text has no types
		j.summary.Note(src.First().Source, sink)
	}
	if sums != nil {
		sink = sums.Around(sink)
	}
	return outputs.Checked(sink, func() error {
		if err := j.unchanged(src); err != nil {
			return err
		}
		if err := src.Complete(); err != nil {
			return err
		}
		return outputs.Forget(t.path)
	}), sums, nil
}

func (c *jobConfig) encoder(t target, first *frontier.Source, passing bool, w blob.Writer) (batch.Sink, error) {
	layout := batch.Layout{Keep: c.keep, URLColumn: first.URLColumn, Verdicts: c.columns, Memory: c.batchMemory()}
	switch t.format {
	case format.Text:
		return text.NewSink(w, t.codec, layout)
	case format.JSONL:
		return jsonl.NewSink(w, jsonl.SinkOptions{Layout: layout, Schema: first.Schema, Codec: t.codec})
	case format.CSV, format.TSV:
		return delimited.NewSink(w, delimited.SinkOptions{Layout: layout, Schema: first.Schema, Codec: t.codec, Tab: t.format == format.TSV})
	case format.Parquet:
		if passing {
			return parquetio.NewPassing(w, first.Source.(*parquetio.Source), layout)
		}
		return parquetio.NewSink(w, parquetio.SinkOptions{Layout: layout, Schema: first.Schema, Compression: c.compression.parquet()})
	default:
		o := arrowipc.SinkOptions{Layout: layout, Schema: first.Schema, Compression: c.compression.arrow(), Stream: t.format == format.ArrowS}
		if passing {
			o.From = first.Source.(*arrowipc.Source)
		}
		return arrowipc.NewSink(w, o)
	}
}

// stdoutWriter is stdout as a blob.Writer. What was written cannot be taken back.
type stdoutWriter struct{ io.Writer }

func (stdoutWriter) Close() error { return nil }
func (stdoutWriter) Abort()       {}
