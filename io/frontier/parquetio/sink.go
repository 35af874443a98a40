package parquetio

import (
	"errors"
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
	closing tableio.Closing
	output  *tableio.Output
	schema  *columns.Schema
	encoder *encode.Encoder
	file    *encode.Writer
	memory  int64 // the most bytes that a batch may take while it is written

	pending encode.Rows // of small batches, which Write collects
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
	s := &Sink{closing: tableio.Closing{File: w}, output: output, memory: o.Layout.MemoryLimit()}
	if s.schema, err = columns.FromArrow(output.Schema()); err != nil {
		return nil, option.Errorf("%w: write Arrow, or leave it out with %s", err, option.Columns.With("url"))
	}
	if err := checkMetadata(output.Schema().Metadata(), s.memory); err != nil {
		return nil, err
	}
	if s.schema.Stored.NumFields() == 0 {
		return nil, errors.New("a Parquet file needs a column")
	}
	output.CodeAgents() // Parquet stores the names in a dictionary
	if s.encoder, err = encode.NewEncoder(s.schema, o.Codec, o.Level); err != nil {
		return nil, err
	}
	s.file, err = encode.NewWriter(w, s.encoder)
	return s, err
}

// Notes returns lines for people about columns that are written as another type than the tables have.
func (s *Sink) Notes() []string {
	var notes []string
	for _, cast := range s.schema.Casts {
		notes = append(notes, cast.String())
	}
	return notes
}

// shred returns the rows of a record as leaves, which may share its memory; mem allocates the rest.
func (s *Sink) shred(record arrow.Record, mem memory.Allocator) (*encode.Rows, error) {
	data := make([]*array.Data, record.NumCols())
	for i, column := range record.Columns() {
		data[i] = column.Data().(*array.Data)
	}
	return s.encoder.Shred(record.NumRows(), data, mem)
}

// encodedBatch is an encoded batch, or a small one whose rows wait to be collected.
type encodedBatch struct {
	groups []*encode.Group
	rows   *encode.Rows // of a small one, in place of groups; else nil
	size   int64        // of either, in bytes
	kept   int64        // by how many bytes the collected rows have grown when it was written
}

// Size implements batch.Chunk.
func (c *encodedBatch) Size() int64 { return c.size }

// Kept is what [batch.Kept] asks for.
func (c *encodedBatch) Kept() int64 { return c.kept }

// Encode implements batch.Sink. It encodes a large batch as row groups. Of a small one it returns the leaves,
// which Write collects.
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
		whole := r.N == int64(v.SelectedRows) // this share is the only one
		if whole && r.N < leastRows && r.Size < s.largeBytes() {
			c.rows, c.size = &encode.Rows{}, r.Size
			if err := b.Grant.Take(r.Size); err != nil {
				return err
			}
			return s.encoder.Append(c.rows, r) // a copy: r may share the batch's memory
		}
		return s.encodeRecord(b, c, record, r, share.Memory())
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// encodeRecord encodes a record, whose leaves are r, as one row group or, if it is too large, as several
// with equal numbers of rows, and adds them to c. mem allocates the leaves of the latter.
func (s *Sink) encodeRecord(b *batch.Batch, c *encodedBatch, record arrow.Record, r *encode.Rows, mem memory.Allocator) error {
	parts := max(1, (r.N+mostRows-1)/mostRows, (r.Size+mostBytes-1)/mostBytes)
	step := max(1, (r.N+parts-1)/parts)
	for low := int64(0); low < r.N; low += step {
		part := r
		if parts > 1 {
			slice := record.NewSlice(low, min(low+step, r.N))
			var err error
			part, err = s.shred(slice, mem)
			slice.Release()
			if err != nil {
				return err
			}
		}
		if err := b.Grant.Take(2 * part.Size); err != nil { // for pages before and after compression
			return err
		}
		g, err := s.encoder.Encode(part)
		if err != nil {
			return err
		}
		c.groups = append(c.groups, g)
		c.size += int64(cap(g.Data))
		if most := s.memory; c.size > most {
			return option.Errorf("its rows take more than %d bytes as they are written: raise %s, or lower %s", most, option.Memory, option.BatchRows)
		}
		if err := b.Grant.Take(int64(cap(g.Data)) - 2*part.Size); err != nil { // what remains
			return err
		}
	}
	return nil
}

// largeBytes returns the size in bytes from which on batches are not collected.
func (s *Sink) largeBytes() int64 { return min(leastBytes, s.memory/16) }

// fillsGroup reports whether the collected rows make a row group. They do if they are many and large, if they
// are very large, or if no more fit into one. Very large depends on the number of columns, so that no chunk
// is tiny, and is at most a quarter of the memory.
func (s *Sink) fillsGroup() bool {
	n, size, large := s.pending.N, s.pending.Size, s.largeBytes()
	veryLarge := max(large, min(leastBytes, s.memory/4, leastChunk*int64(len(s.schema.Leaves))))
	return n >= leastRows && size >= large || size >= veryLarge || n >= mostRows
}

// Write implements batch.Sink. It writes row groups, and collected rows before them, or as soon as these
// make a row group.
func (s *Sink) Write(c batch.Chunk) error {
	chunk := c.(*encodedBatch)
	before := s.pending.Size
	defer func() { chunk.kept = s.pending.Size - before }()
	var err error
	if chunk.rows != nil {
		if err = s.encoder.Append(&s.pending, chunk.rows); err == nil && s.fillsGroup() {
			err = s.flush()
		}
	}
	for i := 0; i < len(chunk.groups) && err == nil; i++ {
		if err = s.flush(); err == nil {
			err = s.file.Write(chunk.groups[i])
		}
	}
	return tableio.Worded(err)
}

// flush writes the collected rows as one row group.
func (s *Sink) flush() error {
	if s.pending.N == 0 {
		return nil
	}
	g, err := s.encoder.Encode(&s.pending)
	s.pending = encode.Rows{}
	if err != nil {
		return err
	}
	return s.file.Write(g)
}

// Close implements batch.Sink.
func (s *Sink) Close() error {
	return s.closing.Close(func() error {
		if err := s.flush(); err != nil {
			return err
		}
		return s.file.Close(maker())
	})
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
	s.closing.Abort()
	s.pending = encode.Rows{}
}
