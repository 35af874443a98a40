package outputs

import (
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

// NewSink returns a sink that encodes rows to w, or copies the columns of an input that passes
// undecoded. first is the first input. memory is the most bytes that encoding a batch may take.
func (o *Options) NewSink(t Target, first *frontier.Source, memory int64, w blob.Writer) (batch.Sink, error) {
	layout := batch.Layout{Keep: o.Keep, URLColumn: first.URLColumn, Verdicts: o.Verdicts, Memory: memory, AllRows: o.AllRows}
	switch newSink := lineSinks[t.Format]; {
	case newSink != nil:
		return newSink(w, lines.SinkOptions{Layout: layout, Schema: first.Schema, Codec: t.codec, Separator: t.Format.Separator()})
	case t.Format != format.Parquet:
		s := arrowipc.SinkOptions{Layout: layout, Schema: first.Schema, Codec: o.Inside, Stream: t.Format == format.ArrowS, Selects: !o.AllRows}
		if first.Passing {
			s.From = first.Source.(*arrowipc.Source)
		}
		return arrowipc.NewSink(w, s)
	case first.Passing:
		return parquetio.NewPassing(w, first.Source.(*parquetio.Source), layout)
	}
	return parquetio.NewSink(w, parquetio.SinkOptions{Layout: layout, Schema: first.Schema, Codec: o.Inside, Level: o.Level})
}

// lineSinks open the sinks of the formats that are made of lines.
var lineSinks = map[format.Format]func(blob.Writer, lines.SinkOptions) (batch.Sink, error){
	format.Text: text.NewSink, format.CSV: delimited.NewSink, format.TSV: delimited.NewSink, format.JSONL: jsonl.NewSink,
}
