package arrowipc

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/ipc"
)

// SinkOptions say what is written.
type SinkOptions struct {
	// Layout names the columns.
	Layout batch.Layout
	// Schema is the schema of the batches' tables; nil when the input is a list of
	// URLs.
	Schema *arrow.Schema
	// Codec compresses the bodies of record batches, buffer by buffer: Zstd, LZ4 or None,
	// with which they can be memory-mapped and used directly.
	Codec compress.Codec
	// Stream writes the stream format instead of the file format.
	Stream bool
	// Selects says that rows may be left out. No value of such rows is then in the output, nor in
	// its dictionaries.
	Selects bool
	// OneToOne writes one record batch for each batch, even without rows. A batch that
	// would have to be cut is then an error.
	OneToOne bool
	// From is the source of batches that pass through ([Source.PassThrough]), nil for none. Its input's schema
	// and compression, and the argument selects of PassThrough, replace Schema, Codec and Selects.
	From *Source

	mem memory.Allocator // for tests; nil for Go's memory
}

// sink writes record batches. Encode turns batches into chunks.
type sink struct {
	closing tableio.Closing
	options SinkOptions
	output  *tableio.Output
	writer  *ipc.Writer
}

// NewSink starts an Arrow output on w. Its columns are those of [tableio.NewOutput]: what the
// input has and o.Layout keeps, then the verdicts. With o.From, only the verdicts are made
// ([tableio.NewVerdicts]), and the input's columns are copied: each of its record batches
// becomes one.
//
// A list of URLs becomes a utf8 column with unchanged bytes, even if they are not
// UTF-8. Readers that check UTF-8 refuse such a column; use csv for such lists.
//
// Dictionary columns stay dictionary columns. A file can extend a dictionary but not
// replace it, so Write fails there for a batch with a different dictionary; a stream
// accepts any.
//
// Closing or aborting the sink closes or aborts w. When NewSink fails, the caller must
// abort w.
func NewSink(w blob.Writer, o SinkOptions) (batch.Sink, error) {
	if o.mem == nil {
		o.mem = memory.NewGoAllocator()
	}
	s := &sink{closing: tableio.Closing{File: w}}
	writer := ipc.WriterOptions{Stream: o.Stream, Codec: o.Codec, Selects: o.Selects, Memory: o.Layout.MemoryLimit(), Allocator: o.mem}
	var err error
	if o.From == nil {
		s.output, err = tableio.NewOutput(o.Layout, o.Schema, o.mem)
	} else {
		writer.From, o.Selects = o.From.reader, o.From.selects
		s.output, err = tableio.NewVerdicts(o.Layout, o.From.copied(), o.mem)
	}
	if err != nil {
		return nil, tableio.Worded(err)
	}
	if o.From == nil && o.OneToOne {
		s.output.KeepEmpty()
	}
	s.options = o
	if s.writer, err = ipc.NewWriter(w, s.output.Schema(), writer); err != nil {
		return nil, tableio.Worded(err)
	}
	return s, nil
}

// Notes returns lines for people about buffers that were compressed again.
func (s *sink) Notes() []string { return s.writer.Notes() }

// Encode implements batch.Sink. A batch becomes one record batch or, if its selected rows take too much memory at once, one
// for each share of them. With OneToOne, several are an error. Unless it is set, a batch without selected rows has an empty
// chunk.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	if s.options.From != nil {
		return s.encodePassed(b, v)
	}
	c := new(ipc.Chunk)
	err := s.output.Shares(b, v, func(share *tableio.Share) error {
		if s.options.OneToOne && c.Len() > 0 {
			return option.Errorf("its rows take more memory as they are written than a batch may: raise %s", option.Memory)
		}
		columns, err := share.Columns()
		if err != nil {
			return err
		}
		defer tables.Release(columns)
		if err := s.writer.Encode(c, columns, b.Grant); err != nil {
			return err
		}
		if most := s.options.Layout.MemoryLimit(); c.Size() > most {
			return option.Errorf("its rows take more than %d bytes as they are written: raise %s, or lower %s", most, option.Memory, option.BatchRows)
		}
		return nil
	})
	var inputs []*array.Data // whose dictionaries the chunk uses
	if err == nil && c.Len() > 0 {
		inputs, err = s.output.Inputs(b)
	}
	if err != nil {
		return nil, err
	}
	s.writer.Use(c, inputs)
	return c, nil
}

// passedChunk is a piece of a record batch that passes through. The last piece writes
// the record batch.
type passedChunk struct {
	record *sharedRecord
	name   string // of its piece, for people
	last   bool   // of the record's pieces
	size   int64  // in bytes
}

// Size implements batch.Chunk.
func (c *passedChunk) Size() int64 { return c.size }

// encodePassed makes the verdict columns of a piece of a record batch that passes through. When all pieces of that have
// theirs, it makes the record batch.
func (s *sink) encodePassed(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	p, ok := b.Table.(*piece)
	if !ok || p.record.verdicts == nil {
		return nil, fmt.Errorf("%s does not pass through", b.Input)
	}
	r := p.record
	if err := s.checkDecimals(r.source, b.Input); err != nil {
		return nil, err
	}
	size, last, err := r.verdicts.Add(s.output, p.number, b, v, p.urls)
	p.kept, p.urls = size, nil // until the last piece has its verdicts
	if err == nil && last {
		if r.chunk, err = s.assemble(r, b.Grant); r.chunk != nil {
			p.kept += r.chunk.Size()
		}
	}
	if err != nil {
		return nil, tableio.Worded(err)
	}
	return &passedChunk{record: r, name: p.Name(), last: p.last, size: size}, nil
}

// checkDecimals refuses an input whose decimals have another width than the first input's, if they are copied: the output
// has one schema. That is all in which schemas may differ here. With a compression that is named, columns are decoded, and
// all decimals become decimal128.
func (s *sink) checkDecimals(src *Source, input string) error {
	if from := s.options.From; from.options.Keep == batch.KeepAll && !from.reader.SameDecimals(src.reader) {
		return option.Errorf("%s has decimals of other bits than the first input: make all decimal128 with %s", input, option.Compression.With("zstd"))
	}
	return nil
}

// assemble makes the chunk of a record batch that passes through, once all its pieces have verdicts. It returns nil if
// the record batch is not written, because no row is kept where rows may be left out.
func (s *sink) assemble(r *sharedRecord, grant *batch.Grant) (*ipc.Chunk, error) {
	verdicts, err := r.verdicts.Columns(s.output)
	if err != nil {
		return nil, err
	}
	defer tables.Release(verdicts)
	urls, err := r.verdicts.URLs(s.options.mem)
	if err != nil {
		return nil, err
	}
	if urls != nil {
		defer urls.Release()
	}
	rows := r.verdicts.AllSelected()
	if len(rows) == 0 && s.options.Selects && !s.options.OneToOne {
		return nil, nil
	}
	return s.writer.Copy(r.part, ipc.Kept{Rows: rows, Column: r.source.urlColumn(), Texts: urls}, verdicts, grant)
}

// Write implements batch.Sink. A record batch that passes through is written with the chunk of its last piece.
func (s *sink) Write(c batch.Chunk) error {
	passed, ok := c.(*passedChunk)
	if !ok {
		return s.writer.Write(c.(*ipc.Chunk))
	}
	if !passed.last {
		return nil
	}
	r := passed.record
	if r.chunk != nil {
		if err := s.writer.Write(r.chunk); err != nil {
			if !s.writer.Failed() { // what is copied cannot be read
				err = fmt.Errorf("%s: %w", passed.name, err)
			}
			return err
		}
		r.chunk = nil
	}
	return r.source.endUse()
}

// Close implements batch.Sink.
func (s *sink) Close() error { return s.closing.Close(s.writer.End) }

// Abort implements batch.Sink.
func (s *sink) Abort() {
	s.closing.Abort()
	s.writer.Release()
}
