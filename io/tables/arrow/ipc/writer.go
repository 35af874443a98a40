package ipc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/zeebo/xxh3"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/store/compress/zstdcut"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// WriterOptions say what is written.
type WriterOptions struct {
	// Stream writes the stream format instead of the file format.
	Stream bool
	// Codec compresses the bodies of record batches, buffer by buffer: Zstd, LZ4 or None,
	// with which they can be memory-mapped and used directly.
	Codec compress.Codec
	// Selects says that rows may be left out. No value of such rows is then in the output, nor in
	// its dictionaries.
	Selects bool
	// From is the reader of parts that are copied ([Reader.Copy]); nil if none are. Its copied columns come
	// first. The input's compression replaces Codec, and the argument of Copy replaces Selects.
	From *Reader
	// Memory is the most bytes that the numbers of a dictionary's values may take.
	Memory int64
	// Allocator is where dictionaries are made.
	Allocator memory.Allocator
}

// Writer writes record batches in their order. Encode and Copy, which any goroutine may call,
// make chunks of messages, which Write writes. It writes dictionaries as well: those that are needed depend on
// what was written before.
type Writer struct {
	options WriterOptions
	codec   int8 // the number of options.Codec

	schema     *arrow.Schema     // of the columns that are encoded
	ids        []int64           // numbers of the dictionaries in schema
	renumbered []layout.Shape    // shapes of the columns in schema, if rows may be left out; nil otherwise
	written    layout.Header     // of the output's schema message
	pairs      *layout.KeyValues // keys and values of the input's footer, which the output's gets; nil for none

	out          output
	dictionaries dictionaryWriter
	refused      zstdcut.Refusals
}

// NewWriter begins an output on w with the columns of a schema, after those that are copied.
// Dictionary columns stay dictionary columns. A file can extend a dictionary but not replace it,
// so Write fails there for a part with a different dictionary; a stream accepts any.
func NewWriter(w io.Writer, schema *arrow.Schema, o WriterOptions) (*Writer, error) {
	if o.From != nil {
		o.Selects = o.From.copying.selects
	}
	codec, ok := layout.CodecNumber(o.Codec)
	if !ok {
		return nil, fmt.Errorf("the compression %s is none of Arrow", o.Codec)
	}
	s := &Writer{options: o, codec: codec, schema: schema, out: output{Output: tables.Output{To: w}}}
	s.dictionaries = dictionaryWriter{
		out: &s.out, codec: codec, isStream: o.Stream, memory: o.Memory, allocator: o.Allocator,
		last: make(map[int64]*array.Data), copied: make(map[int64]xxh3.Uint128), kept: make(map[int64]*keptValues),
	}
	return s, s.writeSchema()
}

// writeSchema writes what comes before the first record batch: a file's magic, and the schema. That has the copied
// columns and then those that are encoded. writeSchema sets the fields from ids to pairs.
func (s *Writer) writeSchema() error {
	fields, err := layout.BuildSchema(s.schema)
	if err != nil {
		return err
	}
	head := fields.Head()
	s.ids = fields.IDs
	if s.options.Selects {
		s.renumbered = fields.Columns
	}
	if from := s.options.From; from != nil {
		head = layout.SealedHead(layout.JoinSchemas(from.schema, from.copying.columns, fields), nil)
		if from.file != nil {
			s.pairs = from.file.Pairs()
		}
	}
	if s.written, err = layout.ParseHeader(head[layout.FramePrefix:]); err != nil {
		return err
	}
	if !s.options.Stream {
		if err := s.out.Put([]byte(layout.MagicPadded)); err != nil {
			return err
		}
	}
	return s.out.Put(head)
}

// Notes returns lines for people about buffers that were compressed again because they could not be
// cut.
func (s *Writer) Notes() []string { return s.refused.Notes() }

// Failed reports whether writing failed, rather than reading what is copied.
func (s *Writer) Failed() bool { return s.out.Failed }

// Chunk has record batches that are written together: some that were encoded, or one that is copied. The zero Chunk
// has none.
type Chunk struct {
	messages     []message
	dictionaries []usedDictionary // of encoded record batches, retained until Write
	copied       *copiedRecord    // the record batch that is copied or was gathered; nil for encoded ones
}

// Size returns the number of bytes of memory of the messages. [Reader.Dictionaries] counts those of dictionaries.
func (c *Chunk) Size() (bytes int64) {
	for _, m := range c.messages {
		bytes += m.size()
	}
	return bytes
}

// Len returns the number of record batches.
func (c *Chunk) Len() int { return len(c.messages) }

// Encode adds a record batch of columns to a chunk, in memory taken from a grant. The arrays have
// no offsets, and are arrays of indices where the schema has dictionaries (see [Writer.Use]).
func (s *Writer) Encode(c *Chunk, columns []*array.Data, grant *budget.Grant) error {
	m, err := encodeRecord(s.renumbered, columns, s.codec, grant)
	if err == nil {
		m.seal()
		c.messages = append(c.messages, m)
		err = grant.Take(int64(len(m.head)))
	}
	return err
}

// Use says to which dictionaries the indices in a chunk's first columns refer: those in these columns, which it retains.
func (s *Writer) Use(c *Chunk, columns []*array.Data) {
	ids := s.ids
	for i, data := range columns {
		c.dictionaries = appendDictionaries(c.dictionaries, &ids, s.schema.Field(i).Name, data)
	}
}

// Copy returns a chunk with the kept rows of a part, which comes from WriterOptions.From, and with columns that are
// added: these have the kept rows alone. The chunk's memory is taken from a grant.
func (s *Writer) Copy(p *Part, kept Kept, added []*array.Data, grant *budget.Grant) (*Chunk, error) {
	r := p.copied
	switch {
	// Readers refuse a record batch of the old version that has keys and values of its
	// own, as the checksum is. The versions differ only for unions.
	case r.meta.Version < layout.MetadataV5 && r.schema.HasUnion():
		return nil, &tables.LimitError{What: "it has a union in an older version of the format than the schema says", Help: tables.Recode}
	case kept.Rows.Count() < p.Rows() && !s.options.Selects:
		return nil, errors.New("rows are left out, which the output was not told")
	}
	encoded, err := encodeRecord(nil, added, r.meta.Codec, grant)
	if err != nil {
		return nil, err
	}
	m := copyBody(r.frame)
	m.batch = r.meta
	if s.options.Selects {
		if m, err = r.gather(kept, len(encoded.body), grant, &s.refused); err != nil {
			return nil, fmt.Errorf("rows are left out, so that each record batch must be written anew: %w", err)
		}
	}
	m.appendColumns(encoded)
	return &Chunk{messages: []message{m}, copied: r}, grant.Take(int64(len(m.head)))
}

// Write writes a chunk and, before it, the dictionaries that readers need for it. If rows may be left out, it first
// renumbers the indices. It frees the chunk's memory: dictionaries, and the body of a gathered record batch.
func (s *Writer) Write(c *Chunk) (err error) {
	used := c.dictionaries
	if c.copied != nil {
		used = c.copied.used
		for _, d := range c.copied.before {
			if err := s.dictionaries.copy(d); err != nil {
				return fmt.Errorf("dictionary %d: %w", d.id, err)
			}
		}
	}
	for _, d := range c.dictionaries {
		defer d.values.Release()
		if err != nil || s.options.Selects { // complete writes those of which rows may be left out
			continue
		}
		if err = s.dictionaries.write(d); err != nil {
			err = fmt.Errorf("column %q: %w", d.column, err)
		}
	}
	for i := 0; i < len(c.messages) && err == nil; i++ {
		m := &c.messages[i]
		if s.options.Selects {
			err = s.dictionaries.complete(m, used)
		}
		if err == nil {
			err = s.out.write(m, &s.out.batches)
		}
		if err == nil && s.options.Selects && c.copied != nil {
			c.copied.pool.Put(m.body)
		}
	}
	c.messages = nil
	return err
}

// End writes what comes after the last record batch, and releases the dictionaries that the writer retains.
func (s *Writer) End() error {
	end := layout.EndOfStream
	if !s.options.Stream {
		if err := s.dictionaries.writeKept(); err != nil { // none, unless rows may be left out
			return err
		}
		end = append(bytes.Clone(end), layout.FooterBytes(s.written, s.out.dictionaries, s.out.batches, s.pairs)...)
	}
	s.Release()
	return s.out.Put(end)
}

// Release releases the dictionaries that the writer retains. It replaces End if the output is given up.
func (s *Writer) Release() { s.dictionaries.release() }
