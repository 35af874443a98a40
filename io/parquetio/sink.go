package parquetio

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/batch"
	"robotsbatch/io/blob"
	"robotsbatch/io/tables"
)

// Compression of pages.
type Compression uint8

const (
	// Zstd is the default.
	Zstd Compression = iota
	// Snappy is larger and known to every reader.
	Snappy
	// Uncompressed pages are written as they are.
	Uncompressed
)

var codecs = [...]compress.Compression{
	Zstd: compress.Codecs.Zstd, Snappy: compress.Codecs.Snappy, Uncompressed: compress.Codecs.Uncompressed,
}

// Sizes of row groups. Batches that are smaller than the least are collected,
// and larger ones than the most are cut.
const (
	leastRows   = 32_768
	leastOctets = 16 << 20
	mostRows    = 1 << 20
	mostOctets  = 128 << 20
)

// SinkOptions say what is written.
type SinkOptions struct {
	// Layout names the columns.
	Layout batch.Layout
	// Schema is that of the batches' tables, which must be records of it; nil
	// when the input is a list of URLs.
	Schema *arrow.Schema
	// Compression of what is written.
	Compression Compression
}

// schemaKey is where Arrow's readers look for the schema of the table that was
// written.
const schemaKey = "ARROW:schema"

// sink writes row groups. Workers encode each batch as a file of its own; of
// these the data is written one after another, and the footers become one.
type sink struct {
	w      blob.Writer
	output *tables.Output
	schema *arrow.Schema // as the library is given it, without dictionaries
	props  *parquet.WriterProperties
	mem    memory.Allocator
	memory int64 // that a batch may take as it is written
	codec  Compression

	meta    *metadata.FileMetaData
	pos     int64
	pending []arrow.Record // small batches
	rows    int64          // of these
	octets  int64          // of these
	closed  bool
}

// NewSink starts a Parquet output on w. Its columns are those of
// [tables.NewOutput]; the Arrow schema is stored beside Parquet's own, so that
// types which Parquet does not have come back. A type that cannot be written
// is an error that names the column.
//
// Closing or aborting the sink does the same to w. When NewSink fails, w is
// still the caller's to abort.
func NewSink(w blob.Writer, o SinkOptions) (batch.Sink, error) {
	mem := memory.NewGoAllocator()
	output, err := tables.NewOutput(o.Layout, o.Schema, mem)
	if err != nil {
		return nil, fmt.Errorf("parquetio: %w", err)
	}
	s := &sink{w: w, output: output, mem: mem, memory: o.Layout.MemoryLimit(), codec: o.Compression}
	s.props = parquet.NewWriterProperties(
		parquet.WithAllocator(mem),
		parquet.WithCompression(compress.Codecs.Uncompressed),    // a packer compresses
		parquet.WithRootRepetition(parquet.Repetitions.Required), // some readers refuse any other
		parquet.WithMaxRowGroupLength(mostRows),
		// URLs hardly repeat: a dictionary of them is work for nothing.
		parquet.WithDictionaryFor(o.Layout.URLColumn, false),
		parquet.WithCreatedBy("robotsbatch"),
	)
	if err := s.start(); err != nil {
		return nil, fmt.Errorf("parquetio: %w", err)
	}
	return s, nil
}

// start tries the schema column by column, and writes the beginning.
func (s *sink) start() error {
	fields := slices.Clone(s.output.Schema().Fields())
	for i := range fields {
		field := fields[i]
		err := encoding(func() (err error) {
			if fields[i].Type, err = tables.PlainType(field.Type); err == nil {
				err = s.try(fields[i])
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("column %q of type %s cannot be written as Parquet: write Arrow, or leave it out with -columns url (%w)", field.Name, field.Type, err)
		}
	}
	m := s.output.Schema().Metadata()
	stored := flight.SerializeSchema(s.output.Schema(), s.mem)
	m = arrow.NewMetadata(append(slices.Clone(m.Keys()), schemaKey), append(slices.Clone(m.Values()), base64.StdEncoding.EncodeToString(stored)))
	s.schema = arrow.NewSchema(fields, &m)
	empty, err := s.encode(nil)
	if err != nil {
		return err
	}
	s.meta = empty.meta
	return s.write([]byte(magic))
}

// try writes a row of a column.
func (s *sink) try(field arrow.Field) error {
	schema := arrow.NewSchema([]arrow.Field{field}, nil)
	values := array.MakeArrayOfNull(s.mem, field.Type, 1)
	if !field.Nullable {
		b := array.NewBuilder(s.mem, field.Type)
		defer b.Release()
		b.AppendEmptyValue()
		values = b.NewArray()
	}
	defer values.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, s.props, pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	record := array.NewRecord(schema, []arrow.Array{values}, 1)
	defer record.Release()
	if err := w.Write(record); err != nil {
		return err
	}
	return w.Close()
}

func (s *sink) write(p []byte) error {
	n, err := s.w.Write(p)
	s.pos += int64(n)
	return err
}

// encoding calls f, which calls the library, and makes an error of a panic.
func encoding(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		default:
			if err = tables.Refused(p); err != nil {
				return
			}
			err = fmt.Errorf("the Parquet library does not write this: %v", p)
		}
	}()
	return f()
}

// groups are row groups as they are written.
type groups struct {
	data []byte // without the magic before and the footer after it
	meta *metadata.FileMetaData
}

// encode encodes a record as row groups; none for nil.
func (s *sink) encode(record arrow.Record) (g groups, err error) {
	err = encoding(func() error {
		var out bytes.Buffer
		if record != nil {
			out.Grow(int(sizeOf(record)) + 64<<10)
		}
		w, err := pqarrow.NewFileWriter(s.schema, &out, s.props, pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(s.mem)))
		if err != nil {
			return err
		}
		if record != nil {
			if err := writeRecord(w, record); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		data := out.Bytes()
		end := len(data) - tailSize
		begin := end - int(binary.LittleEndian.Uint32(data[end:]))
		if g.meta, err = metadata.NewFileMetaData(data[begin:end], nil); err != nil {
			return err
		}
		g.data, err = s.pack(data[len(magic):begin], g.meta)
		return err
	})
	return g, err
}

// pack compresses row groups, if they are to be compressed.
func (s *sink) pack(data []byte, meta *metadata.FileMetaData) ([]byte, error) {
	if s.codec == Uncompressed {
		return data, nil
	}
	p := packer{codec: codecs[s.codec], compress: compressors[s.codec], data: data, meta: meta}
	return p.pack()
}

// writeRecord writes a record as one row group, or as several of equal size
// where it is too large for one.
func writeRecord(w *pqarrow.FileWriter, record arrow.Record) error {
	rows := record.NumRows()
	parts := max(1, (rows+mostRows-1)/mostRows, (sizeOf(record)+mostOctets-1)/mostOctets)
	step := max(1, (rows+parts-1)/parts)
	for low := int64(0); low < rows; low += step {
		part := record.NewSlice(low, min(low+step, rows))
		err := w.Write(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is how many octets the buffers of a record have.
func sizeOf(record arrow.Record) int64 {
	size := int64(0)
	for _, column := range record.Columns() {
		size += octets(column.Data())
	}
	return size
}

func octets(d arrow.ArrayData) int64 {
	size := int64(0)
	for _, buffer := range d.Buffers() {
		if buffer != nil {
			size += int64(buffer.Len())
		}
	}
	for _, child := range d.Children() {
		size += octets(child)
	}
	return size
}

// encodedBatch is a batch as it is written, or a small one that is still a table.
type encodedBatch struct {
	groups []groups
	record arrow.Record
	size   int64
}

// Size implements batch.Chunk.
func (c *encodedBatch) Size() int64 { return c.size }

// Encode implements batch.Sink.
func (s *sink) Encode(b *batch.Batch, v *batch.Verdicts) (batch.Chunk, error) {
	c := &encodedBatch{}
	err := s.output.Shares(b, v, func(share *tables.Share) error {
		record, err := s.record(share)
		if err != nil {
			return err
		}
		size := sizeOf(record)
		if record.NumRows() < leastRows && size < s.leastOctets() && record.NumRows() == int64(v.SelectedRows) {
			c.record, c.size = record, size
			return b.Grant.Take(size)
		}
		defer record.Release()
		if err := b.Grant.Take(2 * size); err != nil { // not compressed, and compressed
			return err
		}
		encoded, err := s.encode(record)
		if err != nil {
			return err
		}
		c.groups = append(c.groups, encoded)
		c.size += int64(cap(encoded.data))
		if most := s.memory; c.size > most {
			return fmt.Errorf("its rows take more than %d octets as they are written: raise -memory, or lower -batch-rows", most)
		}
		return b.Grant.Take(int64(cap(encoded.data)) - 2*size)
	})
	if err != nil {
		return nil, fmt.Errorf("parquetio: %w", err)
	}
	return c, nil
}

// leastOctets is where batches are no longer small, which while they are
// collected are not counted.
func (s *sink) leastOctets() int64 { return min(leastOctets, s.memory/16) }

// record returns a share's rows without dictionaries, which the library writes
// on goroutines of its own, and some wrong.
func (s *sink) record(share *tables.Share) (arrow.Record, error) {
	record, err := share.Record()
	if err != nil {
		return nil, err
	}
	defer record.Release()
	columns := make([]arrow.Array, record.NumCols())
	defer func() {
		for _, column := range columns {
			if column != nil {
				column.Release()
			}
		}
	}()
	for i := range columns {
		if err := encoding(func() error {
			plain := tables.Plain(record.Column(i).Data().(*array.Data), share.Memory())
			columns[i] = array.MakeFromData(plain)
			plain.Release()
			return nil
		}); err != nil {
			return nil, fmt.Errorf("column %q without its dictionary: %w", record.ColumnName(i), err)
		}
	}
	return array.NewRecord(s.schema, columns, record.NumRows()), nil
}

// Write implements batch.Sink.
func (s *sink) Write(c batch.Chunk) error {
	chunk := c.(*encodedBatch)
	var err error
	switch {
	case chunk.record != nil:
		s.pending = append(s.pending, chunk.record)
		s.rows += chunk.record.NumRows()
		s.octets += chunk.size
		if s.rows >= leastRows || s.octets >= s.leastOctets() {
			err = s.flush()
		}
	default:
		for i := range chunk.groups {
			if err = s.flush(); err == nil {
				err = s.append(chunk.groups[i])
			}
			if err != nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("parquetio: %w", err)
	}
	return nil
}

// flush writes the small batches as one row group.
func (s *sink) flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	defer s.drop()
	merged, err := s.merge()
	if err != nil {
		return err
	}
	defer merged.Release()
	encoded, err := s.encode(merged)
	if err != nil {
		return err
	}
	return s.append(encoded)
}

// merge makes one record of the small batches.
func (s *sink) merge() (record arrow.Record, err error) {
	if len(s.pending) == 1 {
		s.pending[0].Retain()
		return s.pending[0], nil
	}
	err = encoding(func() error {
		columns := make([]arrow.Array, s.schema.NumFields())
		for i := range columns {
			parts := make([]arrow.Array, len(s.pending))
			for j, record := range s.pending {
				parts[j] = record.Column(i)
			}
			var err error
			if columns[i], err = array.Concatenate(parts, s.mem); err != nil {
				return fmt.Errorf("column %q: %w", s.schema.Field(i).Name, err)
			}
			defer columns[i].Release()
		}
		record = array.NewRecord(s.schema, columns, s.rows)
		return nil
	})
	return record, err
}

// drop gives up the small batches.
func (s *sink) drop() {
	for _, record := range s.pending {
		record.Release()
	}
	s.pending, s.rows, s.octets = nil, 0, 0
}

// append writes row groups, whose offsets are those of a file that has only
// them.
func (s *sink) append(g groups) error {
	shift := s.pos - int64(len(magic))
	for _, group := range g.meta.RowGroups {
		move(group.FileOffset, shift)
		group.Ordinal = nil
		if n := len(s.meta.RowGroups); n <= math.MaxInt16 {
			ordinal := int16(n)
			group.Ordinal = &ordinal
		}
		for _, column := range group.Columns {
			column.FileOffset = 0 // of a second copy of the metadata, which nobody reads
			column.MetaData.DataPageOffset += shift
			move(column.MetaData.IndexPageOffset, shift)
			move(column.MetaData.DictionaryPageOffset, shift)
		}
		s.meta.RowGroups = append(s.meta.RowGroups, group)
		s.meta.NumRows += group.NumRows
	}
	return s.write(g.data)
}

// move adds shift to an offset that is there; 0 stands for none.
func move(offset *int64, shift int64) {
	if offset != nil && *offset > 0 {
		*offset += shift
	}
}

// Close implements batch.Sink.
func (s *sink) Close() error {
	if s.closed {
		return errors.New("parquetio: the output is closed already")
	}
	err := s.flush()
	if err == nil {
		err = s.footer()
	}
	if err == nil {
		err = s.w.Close()
	}
	if err != nil {
		return fmt.Errorf("parquetio: %w", err)
	}
	s.closed = true
	return nil
}

// footer writes the footer.
func (s *sink) footer() error {
	var out bytes.Buffer
	if err := encoding(func() error {
		_, err := s.meta.WriteTo(&out, nil)
		return err
	}); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint32(out.Bytes(), uint32(out.Len()))
	return s.write(append(tail, magic...))
}

// Abort implements batch.Sink.
func (s *sink) Abort() {
	if !s.closed {
		s.w.Abort()
	}
	s.drop()
}
