package encode

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"robotsbatch/io/store/compress"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

// Encoder encodes rows of a schema's columns. It is safe for concurrent use.
type Encoder struct {
	// Plain is the number of a leaf whose values hardly repeat, so that no dictionary is tried; -1
	// for none.
	Plain int

	schema   *columns.Schema
	compress func(dst, src []byte) []byte // nil for Uncompressed
	heads    []layout.Chunk               // what the chunks of each leaf have alike
}

// NewEncoder returns an encoder that compresses, with zstd at a level, 0 for the standard.
func NewEncoder(schema *columns.Schema, c compress.Codec, level int) (*Encoder, error) {
	codec, ok := layout.CodecOf(c)
	if !ok {
		return nil, fmt.Errorf("the compression %s is none of Parquet", c)
	}
	e := &Encoder{Plain: -1, schema: schema, compress: codec.Compressor(level)}
	e.addHeads(nil, schema.Nodes, codec)
	return e, nil
}

// addHeads adds a head for each leaf below nodes. path has the names of the groups around them.
func (e *Encoder) addHeads(path []string, nodes []*columns.Node, codec layout.Codec) {
	for _, n := range nodes {
		path := append(path[:len(path):len(path)], n.Name)
		if n.Type != layout.NoType {
			e.heads = append(e.heads, layout.Chunk{Type: n.Type, Path: path, Codec: codec})
		}
		e.addHeads(path, n.Children, codec)
	}
}

// Rows are rows of all columns as leaves.
type Rows struct {
	N      int64
	Size   int64 // bytes of the leaves
	Leaves []columns.Leaf
}

// Shred returns the rows of arrays, one for each column, which must have been checked. They may share the
// arrays' memory. What else they need is allocated by mem; if that panics, the caller gets the panic.
func (e *Encoder) Shred(rows int64, data []*array.Data, mem memory.Allocator) (*Rows, error) {
	r := &Rows{N: rows, Leaves: make([]columns.Leaf, 0, len(e.schema.Leaves))}
	shredder := columns.Shredder{Memory: mem}
	for i, n := range e.schema.Nodes {
		leaves, err := shredder.Shred(n, data[i])
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", n.Name, err)
		}
		r.Leaves = append(r.Leaves, leaves...)
	}
	for i := range r.Leaves {
		r.Size += r.Leaves[i].Size()
	}
	return r, nil
}

// Append appends copies of other rows to those of r, of which there may be none yet.
func (e *Encoder) Append(r, other *Rows) error {
	if r.Leaves == nil {
		r.Leaves = make([]columns.Leaf, len(other.Leaves))
	}
	for i, n := range e.schema.Leaves {
		if err := r.Leaves[i].Append(n, &other.Leaves[i]); err != nil {
			return fmt.Errorf("column %q: %w", n.Name, err)
		}
	}
	r.N += other.N
	r.Size += other.Size
	return nil
}

// Group is a row group as it lies in a file, one chunk after the other.
type Group struct {
	Rows int64
	Data []byte

	chunks []chunk
}

// Encode encodes rows as a row group.
func (e *Encoder) Encode(r *Rows) (*Group, error) {
	g := &Group{Rows: r.N, chunks: make([]chunk, len(r.Leaves))}
	for i, n := range e.schema.Leaves {
		var err error
		if g.Data, g.chunks[i], err = e.chunk(g.Data, n, &r.Leaves[i], i == e.Plain); err != nil {
			return nil, fmt.Errorf("column %q: %w", n.Name, err)
		}
	}
	return g, nil
}
