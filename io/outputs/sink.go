package outputs

import (
	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/blob"
	"robotsbatch/io/delimited"
	"robotsbatch/io/format"
	"robotsbatch/io/frontier"
	"robotsbatch/io/jsonl"
	"robotsbatch/io/parquetio"
	"robotsbatch/io/text"
)

// Compression is the compression inside Arrow and Parquet files. LZ4 is only for Arrow,
// Snappy only for Parquet.
type Compression uint8

const (
	ZstdCompression Compression = iota
	LZ4Compression
	SnappyCompression
	NoCompression
)

// PassThrough makes the columns of an output's inputs pass through, if all of them come
// out as the same kind of table and no other encoding was asked for.
func (o *Options) PassThrough(t Target, out Output, src *frontier.Concatenation) error {
	if o.Recode || o.Keep == batch.KeepNone {
		return nil
	}
	passing := false
	switch source := src.First().Source.(type) {
	case *arrowipc.Source:
		passing = t.Format.IsArrow() && source.CanPassThrough(t.Format == format.ArrowS, len(out.Inputs) > 1)
	case *parquetio.Source:
		passing = t.Format == format.Parquet && source.CanPassThrough()
	}
	if !passing {
		return nil
	}
	return src.PassThrough()
}

// NewSink returns a sink that encodes the inputs' rows to w; first is the first input.
// passing says that their columns pass through. memory is the most bytes that encoding a
// batch may take.
func (o *Options) NewSink(t Target, first *frontier.Source, passing bool, memory int64, w blob.Writer) (batch.Sink, error) {
	layout := batch.Layout{Keep: o.Keep, URLColumn: first.URLColumn, Verdicts: o.Verdicts, Memory: memory}
	switch t.Format {
	case format.Text:
		return text.NewSink(w, t.codec, layout)
	case format.JSONL:
		return jsonl.NewSink(w, jsonl.SinkOptions{Layout: layout, Schema: first.Schema, Codec: t.codec})
	case format.CSV, format.TSV:
		return delimited.NewSink(w, delimited.SinkOptions{Layout: layout, Schema: first.Schema, Codec: t.codec, Tab: t.Format == format.TSV})
	case format.Parquet:
		if passing {
			return parquetio.NewPassing(w, first.Source.(*parquetio.Source), layout)
		}
		inside := map[Compression]parquetio.Compression{SnappyCompression: parquetio.Snappy, NoCompression: parquetio.Uncompressed}[o.Compression]
		return parquetio.NewSink(w, parquetio.SinkOptions{Layout: layout, Schema: first.Schema, Compression: inside})
	default:
		inside := map[Compression]arrowipc.Compression{LZ4Compression: arrowipc.LZ4, NoCompression: arrowipc.Uncompressed}[o.Compression]
		s := arrowipc.SinkOptions{Layout: layout, Schema: first.Schema, Compression: inside, Stream: t.Format == format.ArrowS}
		if passing {
			s.From = first.Source.(*arrowipc.Source)
		}
		return arrowipc.NewSink(w, s)
	}
}
