package arrowipc

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/zeebo/xxh3"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
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
	// Selects says that rows may be left out. Then no value of them is in the output, nor in
	// its dictionaries.
	Selects bool
	// OneToOne writes one record batch for each batch, even without rows. A batch that
	// would have to be cut is then an error.
	OneToOne bool
	// From is the source of batches that pass through ([Source.PassThrough]). Its
	// schema and compression then replace Schema and Codec, and what it was told Selects.
	From *Source

	mem memory.Allocator // of tests
}

// sink writes record batches. Encode turns batches into messages. Which dictionaries
// are needed depends on what was written before, so Write decides about them.
type sink struct {
	w       blob.Writer
	options SinkOptions
	codec   int8 // the number of options.Codec
	output  *tableio.Output

	schema *arrow.Schema // as written
	// written is the header of the schema message.
	written header
	pairs   *keyValues // of the footer, besides the checksum

	failed                bool // the output, and not what is copied
	pos                   int64
	dictionaries, batches []block
	last                  map[int64]*array.Data  // dictionaries, as they were written
	coded                 []shape                // columns with indices that are numbered; nil if no row is left out
	shapes                map[int64]*shape       // of dictionaries
	ids                   []int64                // of the schema's dictionaries
	kept                  map[int64]*keptValues  // if rows are left out
	used                  []usedDictionary       // by the last record batch
	passedLast            map[int64]xxh3.Uint128 // the same of those that passed through
	buffer                []byte                 // for what passes through
	closed                bool
}

// NewSink starts an Arrow output on w. Its columns are those of
// [tableio.NewOutput]: what the input has and o.Layout keeps, then the verdicts.
//
// A list of URLs comes out as a utf8 column with unchanged bytes, even if they are not
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
	if o.From != nil {
		o.Selects = o.From.selects
	}
	codec, ok := codecNumber(o.Codec)
	if !ok {
		return nil, fmt.Errorf("the compression %s is none of Arrow", o.Codec)
	}
	s := &sink{w: w, options: o, codec: codec, last: make(map[int64]*array.Data), kept: make(map[int64]*keptValues)}
	if err := s.layOut(); err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// layOut makes the schemas.
func (s *sink) layOut() (err error) {
	if s.options.From != nil {
		return s.layOutPassed()
	}
	if s.output, err = tableio.NewOutput(s.options.Layout, s.options.Schema, s.options.mem); err != nil {
		return err
	}
	s.schema = s.output.Schema()
	return nil
}

// start writes what comes before the first batch.
func (s *sink) start() error {
	meta, err := encodeSchema(s.schema)
	if err != nil {
		return err
	}
	message := newMessage(meta, nil)
	fields, err := readSchema(meta)
	if err != nil {
		return err
	}
	s.ids = fields.ids
	if from := s.options.From; from != nil {
		message = newMessage(joinSchemas(from.schema, from.copied(), fields), nil)
		s.pairs = from.footerPairs()
		fields = from.schema
	}
	if s.options.Selects {
		s.coded = fields.columns
		d, err := newDecoder(fields, fields.all(), 0, true)
		if err != nil {
			return err
		}
		s.shapes = d.shapes
	}
	if s.written, err = parseHeader(message.meta()); err != nil {
		return err
	}
	if !s.options.Stream {
		if err := s.write([]byte(magicPadded)); err != nil {
			return err
		}
	}
	return s.writeMessage(message)
}

// write writes bytes and keeps count.
func (s *sink) write(p []byte) error {
	n, err := s.w.Write(p)
	s.pos += int64(n)
	s.failed = s.failed || err != nil
	return err
}

func (s *sink) writeMessage(m message) error {
	if err := s.write(m.head); err != nil {
		return err
	}
	return s.write(m.body)
}

// chunk is an encoded batch.
type chunk struct {
	messages     []message
	dictionaries []usedDictionary
}

// Size implements batch.Chunk. The dictionaries are counted by the source.
func (c *chunk) Size() (bytes int64) {
	for _, m := range c.messages {
		bytes += m.size()
	}
	return bytes
}

// Write implements batch.Sink.
func (s *sink) Write(c batch.Chunk) error {
	if passed, ok := c.(*passedChunk); ok {
		err := s.writePassed(passed)
		if err != nil && !s.failed { // what is copied cannot be read
			err = fmt.Errorf("%s: %w", passed.name, err)
		}
		return err
	}
	chunk := c.(*chunk)
	if s.options.Selects {
		return s.writeSelected(chunk)
	}
	for i, d := range chunk.dictionaries {
		if err := s.writeDictionary(d); err != nil {
			for _, rest := range chunk.dictionaries[i+1:] {
				rest.values.Release()
			}
			return fmt.Errorf("column %q: %w", d.column, err)
		}
	}
	for _, m := range chunk.messages {
		s.batches = append(s.batches, m.at(s.pos))
		if err := s.writeMessage(m); err != nil {
			return err
		}
	}
	return nil
}

// writeSelected writes record batches of kept rows.
func (s *sink) writeSelected(c *chunk) error {
	defer func() {
		for _, d := range c.dictionaries {
			d.values.Release()
		}
	}()
	for i := range c.messages {
		m := &c.messages[i]
		if err := s.numberRecord(m, c.dictionaries); err != nil {
			return err
		}
		s.batches = append(s.batches, m.at(s.pos))
		if err := s.writeMessage(*m); err != nil {
			return err
		}
	}
	return nil
}

// Close implements batch.Sink.
func (s *sink) Close() error {
	if s.closed {
		return errors.New("the output is closed already")
	}
	end := endOfStream
	if !s.options.Stream {
		if err := s.writeKept(); err != nil {
			return err
		}
		end = s.footer()
	}
	if err := s.write(end); err != nil {
		return err
	}
	if err := s.w.Close(); err != nil {
		return err
	}
	s.closed = true
	s.release()
	return nil
}

// footer returns the end of a file: the end marker, the footer and the magic.
func (s *sink) footer() []byte {
	foot := footerBytes(s.written, s.dictionaries, s.batches, s.pairs)
	end := append(endOfStream[:len(endOfStream):len(endOfStream)], foot...)
	end = appendUint32(end, uint32(len(foot)))
	return append(end, magic...)
}

// Abort implements batch.Sink.
func (s *sink) Abort() {
	if !s.closed {
		s.w.Abort()
	}
	s.release()
}

// release gives back the dictionaries.
func (s *sink) release() {
	for _, d := range s.last {
		d.Release()
	}
	clear(s.last)
	for _, k := range s.kept {
		k.values.Release()
	}
	clear(s.kept)
}
