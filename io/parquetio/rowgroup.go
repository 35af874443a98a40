package parquetio

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/tables"
)

// rowGroup is a row group that its pieces share. A piece is a run of rows.
type rowGroup struct {
	source  *Source
	index   int
	rows    int64
	runs    int
	handed  int // runs that have a piece
	columns []column
	octets  int64 // as it lies in the file; twice where there is a copy of it, meanwhile
}

func newRowGroup(s *Source, index int) *rowGroup {
	g := &rowGroup{source: s, index: index, rows: s.meta.RowGroups[index].NumRows, octets: s.octets(index)}
	size := int64(s.options.BatchRows)
	g.runs = int((g.rows + size - 1) / size)
	g.columns = make([]column, len(s.fields))
	for i := range g.columns {
		g.columns[i].group, g.columns[i].field = g, i
	}
	if in, ok := s.in.(announcing); ok {
		var ranges []blob.Range
		for i := range g.columns {
			ranges = append(ranges, g.columns[i].ranges()...)
		}
		if in.Expect(ranges...) { // an object, which keeps what it has read until it is decoded
			g.octets *= 2
		}
	}
	return g
}

// announcing is an input that wants to know what will be read of it, for each
// reading costs a request. blob.File is one.
type announcing interface {
	Expect(ranges ...blob.Range) (kept bool)
	Done(blob.Range)
}

// rowsOf is how many rows a run has.
func (g *rowGroup) rowsOf(run int) int {
	size := int64(g.source.options.BatchRows)
	return int(min(size, g.rows-int64(run)*size))
}

// column decodes a field of a row group run by run, in order. Whoever wants a
// run decodes those before it, too, for the workers that will want them.
type column struct {
	group *rowGroup
	field int // of the source's schema

	mu      sync.Mutex
	reader  *pqarrow.ColumnReader
	plain   *plainFile // which it reads
	checker tables.Checker
	decoded map[int]arrow.Array // runs that nobody took yet
	next    int                 // run
	err     error
}

// take returns a run's array, which is the caller's.
func (c *column) take(run int) (arrow.Array, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && c.next <= run {
		var values arrow.Array
		if values, c.err = c.decode(); c.err == nil {
			if c.decoded == nil {
				c.decoded = make(map[int]arrow.Array)
			}
			c.decoded[c.next] = values
			c.next++
		}
	}
	values, ok := c.decoded[run]
	if !ok {
		return nil, c.err
	}
	delete(c.decoded, run)
	if c.next == c.group.runs && len(c.decoded) == 0 {
		c.reader, c.plain = nil, nil
	}
	return values, nil
}

// decode decodes the next run.
func (c *column) decode() (values arrow.Array, err error) {
	field := c.group.source.read.Field(c.field)
	err = guard(func() error {
		if c.reader == nil {
			if err := c.open(); err != nil {
				return err
			}
		}
		rows := c.group.rowsOf(c.next)
		chunked, err := c.reader.NextBatch(int64(rows))
		if err == nil {
			defer chunked.Release()
		}
		if first := c.plain.err(); first != nil {
			return first
		}
		if err != nil {
			return err
		}
		switch {
		case chunked.Len() != rows:
			return errRows
		case len(chunked.Chunks()) != 1:
			return fmt.Errorf("its strings take more than 2 GiB in one batch: lower -batch-rows")
		case !arrow.TypeEqual(chunked.DataType(), field.Type):
			return fmt.Errorf("damaged: it is of type %s, and the schema says %s", chunked.DataType(), field.Type)
		}
		values = chunked.Chunk(0)
		if err := c.checker.Check(values.Data().(*array.Data)); err != nil {
			return err
		}
		values.Retain()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", field.Name, err)
	}
	return values, nil
}

// ranges are what the column has of the file.
func (c *column) ranges() []blob.Range {
	s := c.group.source
	var ranges []blob.Range
	for _, leaf := range s.leaves[c.field] {
		start, length := chunkRange(s.meta, c.group.index, leaf)
		ranges = append(ranges, blob.Range{Offset: start, Length: length})
	}
	return ranges
}

// open reads the field's chunks and starts the library's reader.
func (c *column) open() error {
	s, group := c.group.source, c.group.index
	leaves := s.leaves[c.field]
	include := make(map[int]bool, len(leaves))
	chunks := make(map[int]*plainChunk, len(leaves))
	for _, leaf := range leaves {
		start, length := chunkRange(s.meta, group, leaf)
		data := make([]byte, length)
		if err := readAt(s.in, data, start); err != nil {
			return err
		}
		codec := compress.Compression(s.meta.RowGroups[group].Columns[leaf].MetaData.Codec)
		var err error
		if chunks[leaf], err = newPlainChunk(data, codec, s.options.Memory); err != nil {
			return err
		}
		include[leaf] = true
	}
	c.plain = newPlainFile(s.meta, group, chunks)
	reader, err := s.reader(c.plain.meta, io.NewSectionReader(c.plain, 0, math.MaxInt64))
	if err != nil {
		return err
	}
	index := s.fields[c.field]
	if err := c.rehearse(reader, &reader.Manifest.Fields[index]); err != nil {
		return cmp.Or(c.plain.err(), err)
	}
	c.reader, err = reader.GetFieldReader(context.Background(), index, include, []int{group})
	if in, ok := s.in.(announcing); ok && err == nil {
		for _, r := range c.ranges() {
			in.Done(r)
		}
	}
	return err
}

// rehearse decodes the columns of a field with structs, for the library
// decodes them on goroutines, whose panics nobody can catch. It does as the
// library will, so that what does not panic here will not there.
func (c *column) rehearse(reader *pqarrow.FileReader, field *pqarrow.SchemaField) error {
	if !hasStruct(field) {
		return nil
	}
	return eachLeaf(field, func(leaf *pqarrow.SchemaField) error {
		pages, err := reader.ParquetReader().RowGroup(c.group.index).GetColumnPageReader(leaf.ColIndex)
		if err != nil {
			return err
		}
		descr := reader.ParquetReader().MetaData().Schema.Column(leaf.ColIndex)
		records := file.NewRecordReader(descr, leaf.LevelInfo, leaf.Field.Type, memory.NewGoAllocator(), reader.ParquetReader().BufferPool())
		records.SetPageReader(pages)
		for run := range c.group.runs {
			if err := loadRun(records, c.group.rowsOf(run)); err != nil {
				return err
			}
		}
		return nil
	})
}

// loadRun reads rows as the library does, and throws them away.
func loadRun(records file.RecordReader, rows int) error {
	records.Reset()
	if err := records.Reserve(int64(rows)); err != nil {
		return err
	}
	for rows > 0 && records.HasMore() {
		n, err := records.ReadRecords(int64(rows))
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		rows -= int(n)
	}
	if rows > 0 {
		return errRows
	}
	if binary, ok := records.(file.BinaryRecordReader); ok {
		for _, chunk := range binary.GetBuilderChunks() {
			chunk.Release()
		}
	}
	return nil
}

func hasStruct(field *pqarrow.SchemaField) bool {
	if len(field.Children) > 0 {
		if id := field.Field.Type.ID(); id != arrow.LIST && id != arrow.FIXED_SIZE_LIST {
			return true
		}
	}
	for i := range field.Children {
		if hasStruct(&field.Children[i]) {
			return true
		}
	}
	return false
}

func eachLeaf(field *pqarrow.SchemaField, f func(*pqarrow.SchemaField) error) error {
	if len(field.Children) == 0 {
		return f(field)
	}
	for i := range field.Children {
		if err := eachLeaf(&field.Children[i], f); err != nil {
			return err
		}
	}
	return nil
}

// piece is a run of rows of a row group.
type piece struct {
	group    *rowGroup
	run      int
	index    int
	firstRow int64
	rows     int
}

// Name implements batch.Piece.
func (p *piece) Name() string {
	return fmt.Sprintf("%s: batch %d (rows %d to %d)", p.group.source.options.Name, p.index, p.firstRow, p.firstRow+int64(p.rows)-1)
}

// Size implements batch.Piece. What lies in the file is read with the first
// run of a row group.
func (p *piece) Size() int64 {
	if p.run == 0 {
		return p.declared() + p.group.octets
	}
	return p.declared()
}

// Kept implements batch.Sharing.
func (p *piece) Kept() int64 {
	switch first, last := p.run == 0, p.run == p.group.runs-1; {
	case first && !last:
		return p.group.octets
	case last && !first:
		return -p.group.octets
	}
	return 0
}

// declared is what the row group says that the run takes decoded.
func (p *piece) declared() int64 {
	share := float64(p.rows) / float64(p.group.rows)
	return int64(2*share*float64(p.group.source.decoded(p.group.index))) + 16*int64(p.rows)
}

// Decode implements batch.Piece.
func (p *piece) Decode() (*batch.Batch, error) {
	b, err := p.decode()
	if closing := p.group.source.done(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, fmt.Errorf("parquetio: row group %d: %w", p.group.index, err)
	}
	return b, nil
}

func (p *piece) decode() (*batch.Batch, error) {
	s := p.group.source
	arrays := make([]arrow.Array, len(p.group.columns))
	decoded := int64(0)
	for i := range arrays {
		at := (i + p.run) % len(arrays) // workers start at different columns
		values, err := p.group.columns[at].take(p.run)
		if err != nil {
			return nil, err
		}
		arrays[at] = values
		defer values.Release()
		if decoded += octets(values.Data()); decoded > s.options.Memory {
			return nil, fmt.Errorf("its rows take more than %d octets decoded: raise -memory, or lower -batch-rows", s.options.Memory)
		}
	}
	urls, table, err := s.urls.URLs(array.NewRecord(s.read, arrays, int64(p.rows)), s.options.Memory)
	if err != nil {
		return nil, err
	}
	return &batch.Batch{
		Input: s.options.Name, Index: p.index, FirstRow: p.firstRow, URLs: urls, Table: table,
		Undeclared: max(0, decoded-p.declared()),
	}, nil
}
