package parquetio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/format"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encode"
	"robotsbatch/io/tables/parquet/groupfilter"
	"robotsbatch/io/tables/parquet/splice"
)

// CanPassThrough reports whether row groups can pass through: whether all columns that are read are also written.
func (s *Source) CanPassThrough() bool { return s.urls.ReadsWritten() }

// PassThrough makes all row groups pass through to a sink of [NewPassing]: only the URLs
// are decoded, and the columns that are written, all or the URLs', are copied byte for byte
// without checks. Call it before the first Next. The file is closed once the source is
// closed and all its row groups are written.
func (s *Source) PassThrough() (err error) {
	s.unreadable = nil // what is copied need not be decoded
	if s.options.Keep != batch.KeepAll {
		s.copied = s.fields
	}
	s.passed, err = splice.Open(s.in, s.whole.File, s.copied)
	if err == nil && s.copied == nil {
		err = s.readOnlyURLs() // with another Keep, it reads only them already
	}
	if err != nil {
		return s.fail(err)
	}
	return nil
}

// passing is a sink of row groups that pass through.
type passing struct {
	closing tableio.Closing
	from    *Source         // the first input, to which the others must be alike
	output  *tableio.Output // of the verdict columns
	encoder *encode.Encoder // of the verdict columns
	file    *splice.Writer
	filter  *groupfilter.Filter // of row groups; not used with allRows
	allRows bool                // no row is left out
}

// NewPassing starts a Parquet output on w for the row groups of sources that pass
// through: the unchanged columns of from, the first source, followed by the verdict
// columns of the layout. Row groups and the rest of the footer stay unchanged.
//
// Closing or aborting the sink closes or aborts w. When NewPassing fails, the caller
// must abort w.
func NewPassing(w blob.Writer, from *Source, l batch.Layout) (batch.Sink, error) {
	var names []string
	nodes, _ := from.whole.Pick(from.copied)
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	output, err := tableio.NewVerdicts(l, names, memory.NewGoAllocator())
	if err != nil {
		return nil, err
	}
	output.CodeAgents() // Parquet stores the names in a dictionary
	schema, err := columns.FromArrow(output.Schema())
	if err != nil {
		return nil, tableio.Worded(err)
	}
	encoder, err := encode.NewEncoder(schema, from.verdictCodec(), compress.Standard)
	if err != nil {
		return nil, tableio.Worded(err)
	}
	// splice writes maker as created_by only if it encodes pages, and never in place of a writer that readers treat
	// differently: they judge statistics by it.
	file, err := splice.NewWriter(w, from.passed, encoder.Columns(from.copied, maker(), columnsKey))
	if err != nil {
		return nil, tableio.Worded(err)
	}
	return &passing{
		closing: tableio.Closing{File: w}, from: from, output: output, encoder: encoder, file: file, allRows: l.AllRows,
		filter: groupfilter.New(2 * from.options.Memory), // a page is held as stored and decompressed
	}, nil
}

// Notes returns lines for people about pages that were compressed again.
func (s *passing) Notes() []string { return s.filter.Notes() }

// verdictCodec returns the codec for the verdict columns: that of the URLs in the first row group if
// outputs may have it, or else Snappy, which all readers know.
func (s *Source) verdictCodec() compress.Codec {
	if len(s.whole.File.Groups) > 0 {
		ofURLs := s.whole.Chunk(0, s.columns[0].Leaves[0]).Codec
		for _, codec := range format.Parquet.Inside() {
			if ofURLs.Is(codec) {
				return codec
			}
		}
	}
	return compress.Snappy
}

// columnsKey is the key under which a file's metadata has the names of the columns that this program added to it.
const columnsKey = "robotsbatch.columns"

// passedChunk is a piece of a row group that passes through. The last piece writes the row group.
type passedChunk struct {
	group *rowGroup
	last  bool
	size  int64
	grant *batch.Grant
	start func(do func()) // see batch.Batch.Start
}

// Size implements batch.Chunk.
func (c *passedChunk) Size() int64 { return c.size }

// Open reports whether the next chunk belongs to the same row group. A manifest then counts them as one part.
func (c *passedChunk) Open() bool { return !c.last }

// Encode implements batch.Sink: it makes the verdict columns of a piece. When a row group has those of all its pieces, it
// encodes them.
func (s *passing) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	p, ok := b.Table.(*piece)
	if !ok || p.group.verdicts == nil {
		return nil, fmt.Errorf("%s does not pass through", b.Input)
	}
	size, last, err := p.group.verdicts.Add(s.output, p.run, b, v, nil)
	p.kept = size
	if err == nil && last {
		err = s.assemble(p.group, b.Grant)
		if p.group.added != nil {
			p.kept += int64(cap(p.group.added.Data))
		}
	}
	if err != nil {
		return nil, tableio.Worded(err)
	}
	return &passedChunk{group: p.group, last: p.run == p.group.runs-1, size: size, grant: b.Grant, start: b.Start}, nil
}

// assemble encodes a row group's verdict columns, after all its pieces were evaluated, unless no row is
// kept.
func (s *passing) assemble(g *rowGroup, grant *batch.Grant) error {
	verdicts, err := g.verdicts.Columns(s.output)
	if err != nil {
		return err
	}
	defer tables.Release(verdicts)
	selected := g.verdicts.Selected()
	if selected == 0 {
		return nil
	}
	rows, err := s.encoder.Shred(int64(selected), verdicts, memory.NewGoAllocator())
	if err != nil {
		return err
	}
	if g.added, err = s.encoder.Encode(rows); err != nil {
		return err
	}
	return grant.Take(int64(cap(g.added.Data)))
}

// Write implements batch.Sink. A row group is written with its last chunk. In an output that keeps all
// rows, its pages are copied with its first chunk, while workers evaluate the others.
func (s *passing) Write(c batch.Chunk) error {
	chunk := c.(*passedChunk)
	g := chunk.group
	begins := s.allRows && !g.begun
	if !chunk.last && !begins {
		return nil
	}
	if difference := s.from.passed.Difference(g.source.passed); difference != "" {
		return option.Errorf("%s and %s cannot go into one output as they are, for %s: give an output each with %s, or use %s", s.from.options.Name, g.source.options.Name, difference, option.Out.With("FOLDER/"), option.Compression.With("zstd"))
	}
	var err error
	if chunk.last {
		if err = s.writeGroup(chunk); err == nil {
			err = g.source.endUse()
		}
		g.added = nil
	} else {
		g.begun, err = true, s.file.BeginGroup(g.source.passed, g.index)
	}
	if err == nil || s.file.Failed() { // such an error names the output
		return err
	}
	return tableio.Worded(fmt.Errorf("%s: row group %d: %w", g.source.options.Name, g.index, err))
}

// writeGroup writes what is left of a row group, with the verdict columns; nothing if no row is kept.
func (s *passing) writeGroup(c *passedChunk) error {
	g := c.group
	if g.verdicts.Selected() == 0 {
		return nil
	}
	from, added := g.source, s.encoder.Added(g.added)
	if s.allRows {
		return s.file.CopyGroup(from.passed, g.index, added)
	}
	_, leaves := from.whole.Pick(from.copied)
	return s.filter.Write(s.file, &groupfilter.Group{
		In: from.in, File: from.whole.File, Input: from.passed, Leaves: leaves, Number: g.index, Kept: g.verdicts.EachSelected, Added: added, Grant: c.grant, Start: c.start,
	})
}

// Close implements batch.Sink.
func (s *passing) Close() error { return s.closing.Close(s.file.Close) }

// Abort implements batch.Sink.
func (s *passing) Abort() { s.closing.Abort() }
