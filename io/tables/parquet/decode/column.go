package decode

import (
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/layout"
)

// Column reads a column of a row group in runs of rows. Workers take the runs in any order: to take one, a worker
// first reads the pages of all runs before it that were not read yet, and keeps them for other workers. The worker that
// takes a run decodes it. Only lists are decoded as they are read.
type Column struct {
	// Done, if not nil, is called when the last run was read and all were taken.
	Done func()

	in     io.ReaderAt
	chunks []layout.Chunk // by leaf of the file
	column *columns.Column
	run    int64 // rows of each run but the last, which may have fewer
	left   int64 // rows that are not read yet
	limit  int64 // see NewColumn

	mu      sync.Mutex
	readers []*Reader       // one a leaf, nil until the first run and after the last
	runs    map[int][]*Part // the parts of runs that were read and not taken, by the run's number: one a leaf
	next    int             // number of the run to read next
	err     error           // the first; it ends reading
}

// NewColumn returns column c of a row group. rows is the number of its rows, and run that of each run but the last.
// chunks, one for each leaf of the file, lie in the file in. A page may have limit bytes decompressed, and so may a run
// decoded.
func NewColumn(in io.ReaderAt, chunks []layout.Chunk, c *columns.Column, rows, run, limit int64) *Column {
	return &Column{in: in, chunks: chunks, column: c, run: run, left: rows, limit: limit, runs: make(map[int][]*Part)}
}

// Take returns the array of a run, which are numbered from 0. It may be called once for each run, by several
// goroutines at once. The caller releases the array.
func (c *Column) Take(run int) (arrow.Array, error) {
	parts, err := c.takeParts(run)
	leaves := make([]columns.Leaf, len(parts))
	for i := 0; i < len(parts) && err == nil; i++ {
		leaves[i], err = parts[i].Decode()
	}
	var data *array.Data
	if err == nil {
		data, err = c.column.Assemble(leaves)
	}
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", c.column.Field.Name, err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// takeParts returns the parts of a run, one for each leaf. It first reads all runs up to it that were not read
// yet, and keeps their parts for those who will take them.
func (c *Column) takeParts(run int) ([]*Part, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && c.next <= run {
		var parts []*Part
		if parts, c.err = c.readNext(); c.err == nil {
			c.runs[c.next] = parts
			c.next++
		}
	}
	parts, ok := c.runs[run]
	if !ok { // reading failed in this run, or before it
		return nil, c.err
	}
	delete(c.runs, run)
	if c.left == 0 && len(c.runs) == 0 {
		c.readers = nil
		if c.Done != nil {
			c.Done()
		}
	}
	return parts, nil
}

// readNext reads the next run, and returns its parts, one for each leaf.
func (c *Column) readNext() ([]*Part, error) {
	if c.readers == nil {
		for _, leaf := range c.column.Leaves {
			reader, err := NewReader(c.in, &c.chunks[leaf.Leaf], leaf, c.limit)
			if err != nil {
				return nil, err
			}
			c.readers = append(c.readers, reader)
		}
	}
	rows := min(c.run, c.left)
	c.left -= rows
	parts := make([]*Part, len(c.readers))
	for i, r := range c.readers {
		var err error
		if parts[i], err = r.Next(int(rows)); err == nil && c.left == 0 {
			err = r.Done()
		}
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}
