package parquetio

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/blob"
	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/encode"
	"robotsbatch/io/tables/parquet/layout"
)

// Sizes of row groups. Batches smaller than the least size are collected, and larger
// ones than the most are cut.
const (
	leastRows  = 16_384
	leastBytes = 16 << 20
	mostRows   = 1 << 20
	mostBytes  = 128 << 20
	// leastChunk is the least average size of a column chunk in a collected row group,
	// as far as memory allows: each chunk costs about a hundred bytes of the footer.
	leastChunk = 16 << 10
)

// SinkOptions say what is written.
type SinkOptions struct {
	// Layout names the columns.
	Layout batch.Layout
	// Schema is the schema of the batches' tables; nil when the input is a list of
	// URLs.
	Schema *arrow.Schema
	// Codec compresses pages: one that the format has a number for.
	Codec compress.Codec
	// Level of zstd, from 1 to 22 as in its own program; 0 means 3.
	Level int
}

// Sink writes row groups. Workers encode large batches; they only shred small ones,
// which are then collected.
type Sink struct {
	w       blob.Writer
	output  *tableio.Output
	schema  *columns.Schema
	encoder encode.Encoder
	footer  *encode.Footer
	url     int   // the URL column, -1 for none
	memory  int64 // the most that a batch may take while it is written

	pos     int64
	pending rows
	closed  bool
}

// rows are rows as leaves.
type rows struct {
	n      int64
	leaves []columns.Leaf
	size   int64
}

// NewSink starts a Parquet output on w. Its columns are those of
// [tableio.NewOutput]; the Arrow schema is stored as well as Parquet's own, so that
// readers restore types that Parquet lacks. A type that cannot be written is an error
// that names the column.
//
// Closing or aborting the sink closes or aborts w. When NewSink fails, the caller must
// abort w.
func NewSink(w blob.Writer, o SinkOptions) (*Sink, error) {
	output, err := tableio.NewOutput(o.Layout, o.Schema, memory.NewGoAllocator())
	if err != nil {
		return nil, err
	}
	s := &Sink{w: w, output: output, url: -1, memory: o.Layout.MemoryLimit()}
	if s.schema, err = columns.FromArrow(output.Schema()); err != nil {
		return nil, option.Errorf("%w: write Arrow, or leave it out with %s", err, option.Columns.With("url"))
	}
	if err := checkMetadata(output.Schema().Metadata(), s.memory); err != nil {
		return nil, err
	}
	output.CodeAgents()
	if s.schema.Stored.NumFields() == 0 {
		return nil, errors.New("a Parquet file needs a column")
	}
	for i, n := range s.schema.Leaves {
		if n.Name == o.Layout.URLColumn && n.MaxRepetition == 0 {
			s.url = i
		}
	}
	codec, ok := layout.CodecOf(o.Codec)
	if !ok {
		return nil, fmt.Errorf("the compression %s is none of Parquet", o.Codec)
	}
	s.encoder = encode.NewEncoder(codec, o.Level)
	s.footer = encode.NewFooter(s.schema.Nodes, s.encoder.Codec)
	if err := s.write([]byte(layout.Magic)); err != nil {
		return nil, err
	}
	return s, nil
}

// Notes returns lines for people about columns that are written as another type than the tables have.
func (s *Sink) Notes() []string {
	var notes []string
	for _, cast := range s.schema.Casts {
		notes = append(notes, cast.String())
	}
	return notes
}

func (s *Sink) write(p []byte) error {
	n, err := s.w.Write(p)
	s.pos += int64(n)
	return err
}

// group is a row group as it is written.
type group struct {
	rows   int64
	chunks []encode.Chunk
	data   []byte
}

// encode encodes leaves as a row group.
func (s *Sink) encode(r *rows) (*group, error) {
	g := &group{rows: r.n, chunks: make([]encode.Chunk, len(r.leaves))}
	for i := range r.leaves {
		var err error
		// URLs hardly repeat: a dictionary of them is work for nothing.
		g.data, g.chunks[i], err = s.encoder.Chunk(g.data, s.schema.Leaves[i], &r.leaves[i], i == s.url)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", s.schema.Leaves[i].Name, err)
		}
	}
	return g, nil
}

// shred returns rows of a record as leaves, which may share its memory.
func (s *Sink) shred(record arrow.Record, mem memory.Allocator) (*rows, error) {
	r := &rows{n: record.NumRows(), leaves: make([]columns.Leaf, 0, len(s.schema.Leaves))}
	shredder := columns.Shredder{Memory: mem}
	for i, n := range s.schema.Nodes {
		leaves, err := shredder.Shred(n, record.Column(i).Data().(*array.Data))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", n.Name, err)
		}
		r.leaves = append(r.leaves, leaves...)
	}
	for i := range r.leaves {
		r.size += r.leaves[i].Size()
	}
	return r, nil
}

// encodedBatch is an encoded batch, or a small one whose rows wait to be collected.
type encodedBatch struct {
	groups []*group
	rows   *rows
	size   int64
	kept   int64 // bytes that are collected, less those that were collected before
}

// Size implements batch.Chunk.
func (c *encodedBatch) Size() int64 { return c.size }

// Kept implements batch.Sharing.
func (c *encodedBatch) Kept() int64 { return c.kept }

// Encode implements batch.Sink.
func (s *Sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	c := &encodedBatch{}
	err := s.output.Shares(b, v, func(share *tableio.Share) error {
		record, err := share.Record()
		if err != nil {
			return err
		}
		defer record.Release()
		r, err := s.shred(record, share.Memory())
		if err != nil {
			return err
		}
		if r.n < leastRows && r.size < s.leastBytes() && r.n == int64(v.SelectedRows) {
			c.rows, c.size = &rows{}, r.size
			if err := b.Grant.Take(r.size); err != nil {
				return err
			}
			return c.rows.append(s.schema.Leaves, r)
		}
		return s.encodeRecord(b, c, record, r, share.Memory())
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// encodeRecord encodes a record with leaves r as one row group, or as several of equal
// size if it is too large.
func (s *Sink) encodeRecord(b *batch.Batch, c *encodedBatch, record arrow.Record, r *rows, mem memory.Allocator) error {
	parts := max(1, (r.n+mostRows-1)/mostRows, (r.size+mostBytes-1)/mostBytes)
	step := max(1, (r.n+parts-1)/parts)
	for low := int64(0); low < r.n; low += step {
		part := r
		if parts > 1 {
			slice := record.NewSlice(low, min(low+step, r.n))
			var err error
			part, err = s.shred(slice, mem)
			slice.Release()
			if err != nil {
				return err
			}
		}
		if err := b.Grant.Take(2 * part.size); err != nil { // uncompressed and compressed
			return err
		}
		g, err := s.encode(part)
		if err != nil {
			return err
		}
		c.groups = append(c.groups, g)
		c.size += int64(cap(g.data))
		if most := s.memory; c.size > most {
			return option.Errorf("its rows take more than %d bytes as they are written: raise %s, or lower %s", most, option.Memory, option.BatchRows)
		}
		if err := b.Grant.Take(int64(cap(g.data)) - 2*part.size); err != nil {
			return err
		}
	}
	return nil
}

// append appends copies of other rows.
func (r *rows) append(nodes []*columns.Node, other *rows) error {
	if r.leaves == nil {
		r.leaves = make([]columns.Leaf, len(nodes))
	}
	for i := range other.leaves {
		if err := r.leaves[i].Append(nodes[i], &other.leaves[i]); err != nil {
			return fmt.Errorf("column %q: %w", nodes[i].Name, err)
		}
	}
	r.n += other.n
	r.size += other.size
	return nil
}

// leastBytes returns the size from which on batches are not collected.
func (s *Sink) leastBytes() int64 { return min(leastBytes, s.memory/16) }

// enough reports whether the collected rows make a row group.
func (s *Sink) enough() bool {
	wanted := max(s.leastBytes(), min(leastBytes, s.memory/4, leastChunk*int64(len(s.schema.Leaves))))
	return s.pending.n >= leastRows && s.pending.size >= s.leastBytes() || s.pending.size >= wanted || s.pending.n >= mostRows
}

// Write implements batch.Sink.
func (s *Sink) Write(c batch.Chunk) error {
	chunk := c.(*encodedBatch)
	before := s.pending.size
	defer func() { chunk.kept = s.pending.size - before }()
	var err error
	if chunk.rows != nil {
		if err = s.pending.append(s.schema.Leaves, chunk.rows); err == nil && s.enough() {
			err = s.flush()
		}
	}
	for i := 0; i < len(chunk.groups) && err == nil; i++ {
		if err = s.flush(); err == nil {
			err = s.append(chunk.groups[i])
		}
	}
	return tableio.Worded(err)
}

// flush writes the collected rows as one row group.
func (s *Sink) flush() error {
	if s.pending.n == 0 {
		return nil
	}
	g, err := s.encode(&s.pending)
	s.pending = rows{}
	if err != nil {
		return err
	}
	return s.append(g)
}

// append writes a row group.
func (s *Sink) append(g *group) error {
	s.footer.Group(s.pos, g.rows, g.chunks)
	return s.write(g.data)
}

// Close implements batch.Sink.
func (s *Sink) Close() error {
	if s.closed {
		return errors.New("the output is closed already")
	}
	err := s.flush()
	if err == nil {
		err = s.end()
	}
	if err == nil {
		err = s.w.Close()
	}
	if err != nil {
		return err
	}
	s.closed = true
	return nil
}

// end writes the footer.
func (s *Sink) end() error {
	footer, err := s.footer.End(s.schema.Stored, maker())
	if err != nil {
		return err
	}
	return s.write(footer)
}

// maker is the created_by of files: readers want a name and a version.
func maker() string {
	version := "0"
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		version = info.Main.Version[1:]
	}
	return "robotsbatch version " + version
}

// Abort implements batch.Sink.
func (s *Sink) Abort() {
	if !s.closed {
		s.w.Abort()
	}
	s.pending = rows{}
}
