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
	schema   *columns.Schema
	compress func(dst, src []byte) []byte // nil for Uncompressed
	heads    []layout.Chunk               // by leaf: what all its chunks have in common
}

// NewEncoder returns an encoder that compresses pages with c. level is that of zstd, or compress.Standard.
func NewEncoder(schema *columns.Schema, c compress.Codec, level int) (*Encoder, error) {
	codec, ok := layout.CodecOf(c)
	if !ok {
		return nil, fmt.Errorf("the compression %s is none of Parquet", c)
	}
	e := &Encoder{schema: schema, compress: codec.Compressor(level)}
	e.addHeads(nil, schema.Nodes, codec)
	return e, nil
}

// addHeads appends to e.heads that of each leaf among nodes and below them. path has the names of the groups
// around nodes.
func (e *Encoder) addHeads(path []string, nodes []*columns.Node, codec layout.Codec) {
	for _, n := range nodes {
		path := append(path[:len(path):len(path)], n.Name)
		if n.Type != layout.NoType {
			e.heads = append(e.heads, layout.Chunk{Type: n.Type, Path: path, Codec: codec})
		}
		e.addHeads(path, n.Children, codec)
	}
}

// Rows are some rows of all columns.
type Rows struct {
	N      int64
	Size   int64          // bytes of the leaves: see [columns.Leaf.Size]
	Leaves []columns.Leaf // as in the schema
}

// Shred returns the n rows of data, which has a checked array for each column of the schema. They may share
// the arrays' memory. What else they need is allocated by mem; if that panics, the caller gets the panic.
func (e *Encoder) Shred(n int64, data []*array.Data, mem memory.Allocator) (*Rows, error) {
	r := &Rows{N: n, Leaves: make([]columns.Leaf, 0, len(e.schema.Leaves))}
	shredder := columns.Shredder{Memory: mem}
	for i, node := range e.schema.Nodes {
		leaves, err := shredder.Shred(node, data[i])
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", node.Name, err)
		}
		r.Leaves = append(r.Leaves, leaves...)
	}
	for i := range r.Leaves {
		r.Size += r.Leaves[i].Size()
	}
	return r, nil
}

// Append appends copies of other's rows to r, which may be the zero Rows.
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

// Group is an encoded row group.
type Group struct {
	Rows int64
	Data []byte // its chunks as they lie in a file, one after the other

	chunks []chunk // by leaf
}

// Encode encodes rows as a row group. It does not keep r's memory.
func (e *Encoder) Encode(r *Rows) (*Group, error) {
	g := &Group{Rows: r.N, chunks: make([]chunk, len(r.Leaves))}
	for i, n := range e.schema.Leaves {
		var err error
		if g.Data, g.chunks[i], err = e.encodeChunk(g.Data, n, &r.Leaves[i]); err != nil {
			return nil, fmt.Errorf("column %q: %w", n.Name, err)
		}
	}
	return g, nil
}
