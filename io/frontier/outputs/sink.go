package outputs

import (
	"slices"

	"robotsbatch/batch"
	"robotsbatch/io/frontier"
	"robotsbatch/io/frontier/arrowipc"
	"robotsbatch/io/frontier/delimited"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/jsonl"
	"robotsbatch/io/frontier/lines"
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
	if newSink := lineSinks[t.Format]; newSink != nil {
		return newSink(w, lines.SinkOptions{Layout: layout, Schema: first.Schema, Codec: t.codec, Tab: t.Format == format.TSV})
	}
	if t.Format == format.Parquet {
		return o.newParquet(first, layout, w)
	}
	return o.newArrow(first, layout, w, t.Format == format.ArrowS)
}

// lineSinks open the sinks of the formats that are made of lines.
var lineSinks = map[format.Format]func(blob.Writer, lines.SinkOptions) (batch.Sink, error){
	format.Text: text.NewSink, format.CSV: delimited.NewSink, format.TSV: delimited.NewSink, format.JSONL: jsonl.NewSink,
}

// newParquet returns a sink of Parquet. It copies the input's columns undecoded if the input
// permits that.
func (o *Options) newParquet(first *frontier.Source, layout batch.Layout, w blob.Writer) (batch.Sink, error) {
	if first.Passing {
		return parquetio.NewPassing(w, first.Source.(*parquetio.Source), layout)
	}
	return parquetio.NewSink(w, parquetio.SinkOptions{Layout: layout, Schema: first.Schema, Codec: o.Inside, Level: o.Level})
}

// newArrow returns a sink of an Arrow file or stream. It copies the input's columns undecoded
// if the input permits that.
func (o *Options) newArrow(first *frontier.Source, layout batch.Layout, w blob.Writer, stream bool) (batch.Sink, error) {
	s := arrowipc.SinkOptions{Layout: layout, Schema: first.Schema, Codec: o.Inside, Stream: stream, Selects: !o.AllRows}
	if first.Passing {
		s.From = first.Source.(*arrowipc.Source)
	}
	return arrowipc.NewSink(w, s)
}
