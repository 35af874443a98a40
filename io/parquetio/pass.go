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
	"robotsbatch/io/parquetio/decode"
	"robotsbatch/io/parquetio/encode"
	"robotsbatch/io/parquetio/layout"
	"robotsbatch/io/parquetio/splice"
	"robotsbatch/io/tables"
)

// CanPassThrough reports whether row groups can pass through. They cannot if URLs are
// joined from several columns, or if columns are read that do not come out.
func (s *Source) CanPassThrough() bool {
	return s.options.Keep == batch.KeepAll || !s.urls.IsSplit() && s.options.Beside == (batch.Beside{})
}

// PassThrough makes all row groups pass through to a sink of [NewPassing]: only the URLs
// are decoded, and the columns that come out, all or the URLs', are copied byte for byte
// without checks. Call it before the first Next. The file is closed once the source is
// closed and all its row groups are written.
func (s *Source) PassThrough() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("parquetio: %s: %w", s.options.Name, err)
		}
	}()
	s.notes, s.unreadable = nil, nil
	if s.options.Keep != batch.KeepAll {
		s.copied = s.fields
		s.nodes = pick(s.nodes, s.copied)
		s.leaves = columns.Leaves(nil, s.nodes)
	}
	s.passed, err = splice.Open(s.in, s.file, s.copied)
	if err == nil && s.copied == nil {
		err = s.readOnlyURLs()
	}
	return err
}

// urlLeaf returns the leaf of the URLs, nil if URLs are joined from several columns.
func (s *Source) urlLeaf() *columns.Node {
	if s.urls.IsSplit() {
		return nil
	}
	return s.columns[s.urls.Columns()[0]].Leaves[0]
}

// pick returns the elements at these indices.
func pick[T any](list []T, numbers []int) []T {
	chosen := make([]T, len(numbers))
	for i, number := range numbers {
		chosen[i] = list[number]
	}
	return chosen
}

// passing is a sink of row groups that pass through.
type passing struct {
	w       blob.Writer
	from    *Source
	output  *tables.Output // of the verdict columns
	schema  *columns.Schema
	encoder encode.Encoder
	footer  *encode.Footer // used to encode the verdict columns
	mixed   *encode.Footer // used to encode the input's columns of mixed row groups
	file    *splice.Writer
	closed  bool
}

// NewPassing starts a Parquet output on w for the row groups of sources that pass
// through: the unchanged columns of from, the first source, followed by the verdict
// columns of the layout. Row groups and the rest of the footer stay unchanged.
//
// Closing or aborting the sink closes or aborts w. When NewPassing fails, the caller
// must abort w.
func NewPassing(w blob.Writer, from *Source, l batch.Layout) (batch.Sink, error) {
	s := &passing{w: w, from: from}
	if err := s.start(l); err != nil {
		return nil, fmt.Errorf("parquetio: %w", err)
	}
	return s, nil
}

func (s *passing) start(l batch.Layout) (err error) {
	var names []string
	for _, n := range s.from.nodes {
		names = append(names, n.Name)
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
	s.mixed = encode.NewFooter(s.from.nodes, s.encoder.Codec)
	s.file, err = splice.NewWriter(s.w, s.from.passed, splice.Columns{
		Elements: s.footer.Elements(), Fields: len(s.schema.Nodes), Leaves: len(s.schema.Leaves), Metadata: s.metadata,
	})
	return err
}

// compression returns the codec of the URLs if this package writes it, or else one that
// all readers know.
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

// versionKey names the program that added columns to another writer's file.
const versionKey = "robotsbatch.columns"

// metadata extends a stored Arrow schema, if there is one, by the verdict columns, and
// records which program added them. created_by stays, because readers judge statistics
// by it.
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
			stream, err = arrowipc.ExtendSchema(stream, s.from.copied, s.schema.Stored)
		}
		if err != nil {
			return nil, fmt.Errorf("damaged: the Arrow schema stored in it cannot be read: %w; -recode does without it", err)
		}
		pairs[i].Value = base64.StdEncoding.EncodeToString(stream)
	}
	pairs = slices.DeleteFunc(pairs, func(p layout.KeyValue) bool { return p.Key == versionKey })
	return append(pairs, layout.KeyValue{Key: versionKey, Value: string(names)}), nil
}

// passedChunk is a piece of a row group that passes through. The last piece writes the row group.
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
	size, last, err := p.group.verdicts.Add(s.output, p.run, b, v, p.urls)
	p.kept, p.urls = size, nil
	if err == nil && last {
		err = s.assemble(p.group, b.Grant)
		for _, a := range p.group.added {
			p.kept += int64(cap(a.Data))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("parquetio: %w", err)
	}
	return &passedChunk{group: p.group, last: p.run == p.group.runs-1, size: size}, nil
}

// result says what the sink does with a row group.
type result uint8

const (
	passes  result = iota
	mixed          // some rows come out: all columns are encoded again with them
	leftOut        // no row comes out
)

// assemble encodes a row group's new columns, or all of a mixed one, after all its
// pieces were evaluated.
func (s *passing) assemble(g *rowGroup, grant *batch.Grant) error {
	verdicts, err := g.verdicts.Columns(s.output)
	if err != nil {
		return err
	}
	defer tables.Release(verdicts)
	switch rows, selected := g.verdicts.Counts(); selected {
	case rows:
	case 0:
		g.result = leftOut
		return nil
	default:
		g.result = mixed
		if err := s.encodeMixed(g, grant); err != nil {
			return fmt.Errorf("some rows come out and others do not, so it must be decoded: %w", err)
		}
	}
	return s.encodeVerdicts(g, verdicts, grant)
}

// encodeVerdicts encodes the verdict columns.
func (s *passing) encodeVerdicts(g *rowGroup, data []*array.Data, grant *batch.Grant) error {
	shredder := columns.Shredder{Memory: memory.NewGoAllocator()}
	var leaves []columns.Leaf
	for i, n := range s.schema.Nodes {
		shredded, err := shredder.Shred(n, data[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", n.Name, err)
		}
		leaves = append(leaves, shredded...)
	}
	for i := range leaves {
		if err := s.encode(g, s.footer, i, s.schema.Leaves[i], &leaves[i], grant); err != nil {
			return fmt.Errorf("column %q: %w", s.schema.Leaves[i].Name, err)
		}
	}
	return nil
}

// encode encodes a leaf's chunk and adds it to the row group.
func (s *passing) encode(g *rowGroup, footer *encode.Footer, i int, n *columns.Node, l *columns.Leaf, grant *batch.Grant) error {
	// URLs hardly repeat: a dictionary of them is work for nothing.
	pages, chunk, err := s.encoder.Chunk(nil, n, l, n == g.source.urlLeaf())
	if err == nil {
		err = grant.Take(int64(cap(pages)))
	}
	g.added = append(g.added, splice.Added{
		Data: pages, Uncompressed: chunk.Uncompressed, OffsetIndex: chunk.OffsetIndex,
		Chunk: func(offset, index int64) []byte { return footer.ColumnChunk(i, &chunk, offset, index) },
	})
	return err
}

// encodeMixed encodes the output rows of a row group, column by column. Values keep
// their stored form, whatever their logical type.
func (s *passing) encodeMixed(g *rowGroup, grant *batch.Grant) error {
	urls, err := g.verdicts.URLs(memory.NewGoAllocator())
	if err != nil {
		return err
	}
	for i, n := range g.source.leaves {
		if urls != nil && n == g.source.urlLeaf() {
			err = s.encodeURLs(g, i, n, urls, grant)
		} else {
			err = s.encodeSelected(g, i, n, grant)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", g.source.file.Path(n.Leaf), err)
		}
	}
	return nil
}

// encodeURLs encodes the URLs of the output rows from the arrays that were kept.
func (s *passing) encodeURLs(g *rowGroup, i int, n *columns.Node, urls *array.Data, grant *batch.Grant) error {
	defer urls.Release()
	shredder := columns.Shredder{Memory: memory.NewGoAllocator()}
	leaves, err := shredder.Shred(n, urls)
	if err != nil {
		return err
	}
	return s.encode(g, s.mixed, i, n, &leaves[0], grant)
}

// encodeSelected decodes a leaf and encodes its output rows.
func (s *passing) encodeSelected(g *rowGroup, i int, n *columns.Node, grant *batch.Grant) error {
	stored := g.source.chunk(g.index, n).Pages.Length
	if err := grant.Take(stored); err != nil {
		return err
	}
	l, err := g.selected(n)
	if err == nil {
		err = grant.Take(l.Size())
	}
	if err == nil {
		err = s.encode(g, s.mixed, i, n, &l, grant)
	}
	if err == nil {
		err = grant.Take(-stored - l.Size())
	}
	return err
}

// selected returns a leaf's output rows.
func (g *rowGroup) selected(n *columns.Node) (l columns.Leaf, err error) {
	s, chunk := g.source, g.source.chunk(g.index, n)
	if n.Type == columns.FixedLenByteArray && n.Length <= 0 {
		return l, errors.New("damaged: its values have no bytes")
	}
	if err := chunk.Codec.Check(); err != nil {
		return l, err
	}
	if chunk.Pages.Length > s.options.Memory {
		return l, fmt.Errorf("it has %d bytes, more than -memory permits: raise it", chunk.Pages.Length)
	}
	data := make([]byte, chunk.Pages.Length)
	if err := layout.ReadAt(s.in, data, chunk.Pages.Offset); err != nil {
		return l, err
	}
	reader, err := decode.NewReader(data, chunk, n, s.options.Memory)
	if err != nil {
		return l, err
	}
	_, selected := g.verdicts.Counts()
	for run := range g.runs {
		part, err := reader.Read(g.rowsOf(run))
		if err == nil && run == 0 {
			l.Reserve(&part, g.rowsOf(0), selected)
		}
		if err == nil {
			err = l.AppendRows(n, &part, g.verdicts.Selected(run))
		}
		if err != nil {
			return l, err
		}
		if l.Size() > s.options.Memory {
			return l, fmt.Errorf("it takes more than %d bytes decoded: raise -memory", s.options.Memory)
		}
	}
	return l, reader.Done()
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
	err := s.writeGroup(g)
	g.added = nil
	if err == nil {
		err = g.source.done()
	}
	if err != nil {
		return fmt.Errorf("parquetio: row group %d: %w", g.index, err)
	}
	return nil
}

// writeGroup writes a row group as its result says.
func (s *passing) writeGroup(g *rowGroup) error {
	switch g.result {
	case leftOut:
		return nil
	case mixed:
		_, selected := g.verdicts.Counts()
		return s.file.WriteGroup(g.source.passed, g.index, int64(selected), g.added)
	}
	return s.file.CopyGroup(g.source.passed, g.index, g.added)
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
