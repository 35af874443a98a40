package outputs

import (
	"slices"

	"robotsbatch/batch"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/arrowipc"
	"robotsbatch/io/frontier/delimited"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/jsonl"
	"robotsbatch/io/frontier/parquetio"
	"robotsbatch/io/frontier/text"
	"robotsbatch/io/store/blob"
)

// Passage says whether inputs can be copied to an output without decoding their columns: they
// must be the same kind of table, all columns must be written, and no other encoding be asked
// for.
func (o *Options) Passage(out Output) *frontier.Passage {
	if o.Encode || o.Keep == batch.KeepNone || areMixed(out.Inputs) {
		return nil
	}
	return &frontier.Passage{
		Selects: !o.AllRows,
		Output:  func(input format.Format) format.Format { return o.formatOf(out, input) },
		Several: len(out.Inputs) > 1,
	}
}

// areMixed reports whether there are both Arrow and Parquet among inputs, by their names.
func areMixed(inputs []frontier.Input) bool {
	var families []string
	for _, in := range inputs {
		if f, _ := format.ByName(in.Stem); f.IsBinary() && !slices.Contains(families, f.Family()) {
			families = append(families, f.Family())
		}
	}
	return len(families) > 1
}

// NewSink returns a sink that encodes rows to w. first is the first input. memory is the most
// bytes that encoding a batch may take.
func (o *Options) NewSink(t Target, first *frontier.Source, memory int64, w blob.Writer) (batch.Sink, error) {
	layout := batch.Layout{Keep: o.Keep, URLColumn: first.URLColumn, Verdicts: o.Verdicts, Memory: memory, AllRows: o.AllRows}
	return sinks[t.Format](&opening{Options: o, Target: t, layout: layout, first: first, w: w})
}

// opening is a sink that is being opened.
type opening struct {
	*Options
	Target
	layout batch.Layout
	first  *frontier.Source
	w      blob.Writer
}

// sinks open the sink of each format that can be written.
var sinks = map[format.Format]func(*opening) (batch.Sink, error){
	format.Arrow: newArrow, format.ArrowS: newArrow, format.Parquet: newParquet,
	format.Text: func(o *opening) (batch.Sink, error) { return text.NewSink(o.w, o.codec, o.layout) },
	format.CSV:  newDelimited, format.TSV: newDelimited,
	format.JSONL: func(o *opening) (batch.Sink, error) {
		return jsonl.NewSink(o.w, jsonl.SinkOptions{Layout: o.layout, Schema: o.first.Schema, Codec: o.codec})
	},
}

func newDelimited(o *opening) (batch.Sink, error) {
	return delimited.NewSink(o.w, delimited.SinkOptions{Layout: o.layout, Schema: o.first.Schema, Codec: o.codec, Tab: o.Target.Format == format.TSV})
}

// newParquet returns a sink of Parquet. It copies the input's columns undecoded if the input
// permits that.
func newParquet(o *opening) (batch.Sink, error) {
	if o.first.Passing {
		return parquetio.NewPassing(o.w, o.first.Source.(*parquetio.Source), o.layout)
	}
	return parquetio.NewSink(o.w, parquetio.SinkOptions{Layout: o.layout, Schema: o.first.Schema, Codec: o.Inside, Level: o.Level})
}

// newArrow returns a sink of Arrow files or streams. It copies the input's columns undecoded
// if the input permits that.
func newArrow(o *opening) (batch.Sink, error) {
	s := arrowipc.SinkOptions{Layout: o.layout, Schema: o.first.Schema, Codec: o.Inside, Stream: o.Target.Format == format.ArrowS, Selects: !o.AllRows}
	if o.first.Passing {
		s.From = o.first.Source.(*arrowipc.Source)
	}
	return arrowipc.NewSink(o.w, s)
}
