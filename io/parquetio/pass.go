package parquetio

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/io/arrowipc"
	"robotsbatch/io/blob"
	"robotsbatch/io/parquetio/columns"
	"robotsbatch/io/parquetio/encode"
	"robotsbatch/io/parquetio/layout"
	"robotsbatch/io/parquetio/splice"
	"robotsbatch/io/tables"
)

// PassThrough makes all row groups pass through to a sink of [NewPassing]: only the URLs
// are decoded, and every other column is copied as its bytes lie, without being looked
// at. It comes before the first Next, of a source that was opened to keep all columns.
// The source closes the file when it is closed itself and all row groups that it handed
// out were written.
func (s *Source) PassThrough() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("parquetio: %s: %w", s.options.Name, err)
		}
	}()
	if s.passed, err = splice.Open(s.in, s.file); err != nil {
		return err
	}
	s.columns, s.notes, s.unreadable = nil, nil, nil
	fields, err := s.onlyURLs(s.whole)
	if err != nil {
		return err
	}
	return s.readColumns(s.whole, fields)
}

// passing is a sink of row groups that pass through.
type passing struct {
	w       blob.Writer
	from    *Source
	output  *tables.Output // of the verdict columns
	schema  *columns.Schema
	encoder encode.Encoder
	footer  *encode.Footer // for its structures
	file    *splice.Writer
	closed  bool
}

// NewPassing starts a Parquet output on w for the row groups of sources that pass
// through: the columns of from, which is the first of them, as they are, and the verdict
// columns of the layout behind them. Row groups stay as they are, and so does all else
// that the footer says.
//
// Closing or aborting the sink does the same to w. When NewPassing fails, w is still the
// caller's to abort.
func NewPassing(w blob.Writer, from *Source, l batch.Layout) (batch.Sink, error) {
	s := &passing{w: w, from: from}
	if err := s.start(l); err != nil {
		return nil, fmt.Errorf("parquetio: %w", err)
	}
	return s, nil
}

func (s *passing) start(l batch.Layout) (err error) {
	names := make([]string, s.from.whole.arrow.NumFields())
	for i := range names {
		names[i] = s.from.whole.arrow.Field(i).Name
	}
	if s.output, err = tables.NewVerdicts(l, names, memory.NewGoAllocator()); err != nil {
		return err
	}
	if s.schema, err = columns.FromArrow(s.output.Schema()); err != nil {
		return err
	}
	compression := s.from.compression()
	s.encoder = encode.Encoder{Codec: codecs[compression], Compress: compressors[compression]}
	s.footer = encode.NewFooter(s.schema.Nodes, s.encoder.Codec)
	s.file, err = splice.NewWriter(s.w, s.from.passed, splice.Columns{
		Elements: s.footer.Elements(), Fields: len(s.schema.Nodes), Leaves: len(s.schema.Leaves), Metadata: s.metadata,
	})
	return err
}

// compression is the codec of the URLs, if it is one that is written, else one that all
// readers know.
func (s *Source) compression() Compression {
	if len(s.file.Groups) > 0 {
		switch s.chunk(0, s.columns[0].Leaves[0]).Codec {
		case layout.Zstd:
			return Zstd
		case layout.Uncompressed:
			return Uncompressed
		}
	}
	return Snappy
}

// versionKey says which program added columns to a file that another one wrote.
const versionKey = "robotsbatch.columns"

// metadata adds the verdict columns to the Arrow schema that is stored in a file, if
// one is, and says who added them: created_by stays, for readers judge statistics by it.
func (s *passing) metadata(pairs []layout.KeyValue) ([]layout.KeyValue, error) {
	pairs = slices.Clone(pairs)
	var names []byte
	for i, field := range s.output.Schema().Fields() {
		if i > 0 {
			names = append(names, ',')
		}
		names = append(names, field.Name...)
	}
	for i, pair := range pairs {
		if pair.Key != schemaKey {
			continue
		}
		stream, err := decodeBase64(pair.Value)
		if err == nil {
			stream, err = arrowipc.ExtendSchema(stream, s.schema.Stored)
		}
		if err != nil {
			return nil, fmt.Errorf("damaged: the Arrow schema stored in it cannot be read: %w; -recode does without it", err)
		}
		pairs[i].Value = base64.StdEncoding.EncodeToString(stream)
	}
	pairs = slices.DeleteFunc(pairs, func(p layout.KeyValue) bool { return p.Key == versionKey })
	return append(pairs, layout.KeyValue{Key: versionKey, Value: string(names)}), nil
}

// passedChunk is a piece of a row group that passes through. The last one writes it.
type passedChunk struct {
	group *rowGroup
	last  bool
	size  int64
}

// Size implements batch.Chunk.
func (c *passedChunk) Size() int64 { return c.size }

// Encode implements batch.Sink.
func (s *passing) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	p, ok := b.Table.(*piece)
	if !ok || p.group.verdicts == nil {
		return nil, fmt.Errorf("parquetio: %s does not pass through", b.Input)
	}
	size, last, err := p.group.verdicts.Add(s.output, p.run, b, v)
	p.verdicts = size
	if err == nil && last {
		p.group.added, err = s.assemble(p.group, b.Grant)
	}
	if err != nil {
		return nil, fmt.Errorf("parquetio: %w", err)
	}
	return &passedChunk{group: p.group, last: p.run == p.group.runs-1, size: size}, nil
}

// assemble encodes the verdict columns of a row group whose pieces were all evaluated.
func (s *passing) assemble(g *rowGroup, grant *batch.Grant) (added []splice.Added, err error) {
	data, err := g.verdicts.Columns(s.output)
	if err != nil {
		return nil, err
	}
	defer tables.Release(data)
	shredder := columns.Shredder{Memory: memory.NewGoAllocator()}
	var leaves []columns.Leaf
	for i, n := range s.schema.Nodes {
		column := array.MakeFromData(data[i])
		defer column.Release()
		shredded, err := shredder.Shred(n, column.Data().(*array.Data))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", n.Name, err)
		}
		leaves = append(leaves, shredded...)
	}
	for i := range leaves {
		pages, chunk, err := s.encoder.Chunk(nil, s.schema.Leaves[i], &leaves[i], false)
		if err == nil {
			err = grant.Take(int64(cap(pages)))
		}
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", s.schema.Leaves[i].Name, err)
		}
		added = append(added, splice.Added{
			Data: pages, Uncompressed: chunk.Uncompressed, OffsetIndex: chunk.OffsetIndex,
			Chunk: func(offset, index int64) []byte { return s.footer.ColumnChunk(i, &chunk, offset, index) },
		})
	}
	return added, nil
}

// Write implements batch.Sink.
func (s *passing) Write(c batch.Chunk) error {
	chunk := c.(*passedChunk)
	if !chunk.last {
		return nil
	}
	g := chunk.group
	if difference := s.from.passed.Same(g.source.passed); difference != "" {
		return fmt.Errorf("parquetio: %s and %s cannot go into one output as they are, for %s: give an output each with -out FOLDER/, or use -recode",
			s.from.options.Name, g.source.options.Name, difference)
	}
	err := s.file.CopyGroup(g.source.passed, g.index, g.added)
	g.added = nil
	if err == nil {
		err = g.source.done()
	}
	if err != nil {
		return fmt.Errorf("parquetio: row group %d: %w", g.index, err)
	}
	return nil
}

// Close implements batch.Sink.
func (s *passing) Close() error {
	if s.closed {
		return errors.New("parquetio: the output is closed already")
	}
	err := s.file.Close()
	if err == nil {
		err = s.w.Close()
	}
	if err != nil {
		return fmt.Errorf("parquetio: %w", err)
	}
	s.closed = true
	return nil
}

// Abort implements batch.Sink.
func (s *passing) Abort() {
	if !s.closed {
		s.w.Abort()
	}
}
