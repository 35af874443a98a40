package parquetio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"robotsbatch/batch"
	"robotsbatch/io/tables"
)

// Options of a source.
type Options struct {
	// Name of the input for errors, such as a path.
	Name string
	// URLColumn names the column that has the URLs; empty means "url" or, when
	// there is none of that name, the columns that [tables.FindParts] finds,
	// else the only column of strings.
	URLColumn string
	// BatchRows is the most rows that a batch has; 0 means 65,536.
	BatchRows int
	// Memory is the most octets that the needed columns of a row group may take
	// as they lie in the file, or one buffer decoded; 0 means 512 MiB.
	Memory int64
	// Keep says which columns come out: with [batch.KeepAll] all are read, else
	// only what the URLs are in.
	Keep batch.Keep
}

// Source reads the row groups of a file.
type Source struct {
	options Options
	meta    *metadata.FileMetaData
	fields  []int         // of the file, which are read
	read    *arrow.Schema // of what is read
	urls    *tables.Location
	leaves  [][]int // columns of the file that each field of read has
	in      File
	size    int64
	users   atomic.Int64 // of in: the source until it is closed, and pieces
	closed  bool
	group   int       // the next one
	pending *rowGroup // not handed out to its end
	batches int
	rows    int64
}

// File is an input.
type File interface {
	io.ReaderAt
	io.Closer
}

// Open reads the footer of the size octets of r. The source closes r when it is
// closed itself and all pieces that it handed out were decoded; when Open
// fails, r is still the caller's to close. An error names the input; it wraps
// io.ErrUnexpectedEOF when the file is cut.
func Open(r File, size int64, o Options) (*Source, error) {
	if o.BatchRows <= 0 {
		o.BatchRows = 65536
	}
	if o.Memory <= 0 {
		o.Memory = 512 << 20
	}
	s := &Source{options: o, in: r, size: size}
	s.users.Store(1)
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("parquetio: %s: %w", o.Name, err)
	}
	return s, nil
}

func (s *Source) open() error {
	meta, end, err := readFooter(s.in, s.size, s.options.Memory)
	if err != nil {
		return err
	}
	s.meta = meta
	if err := checkRowGroups(meta, end); err != nil {
		return err
	}
	if err := checkStoredSchema(meta); err != nil {
		return err
	}
	var whole *arrow.Schema
	var manifest *pqarrow.SchemaManifest
	if err := guard(func() error {
		reader, err := s.reader(s.meta, io.NewSectionReader(s.in, 0, s.size))
		if err != nil {
			return err
		}
		manifest = reader.Manifest
		whole = wholeSchema(manifest, meta.KeyValueMetadata())
		return nil
	}); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if err := s.choose(whole); err != nil {
		return err
	}
	for _, field := range s.fields {
		s.leaves = append(s.leaves, leavesOf(&manifest.Fields[field], nil))
	}
	return s.checkMemory()
}

// wholeSchema returns the file's schema with all its metadata, that of the
// Arrow schema which some writers store first.
func wholeSchema(manifest *pqarrow.SchemaManifest, file metadata.KeyValueMetadata) *arrow.Schema {
	fields := make([]arrow.Field, len(manifest.Fields))
	for i := range manifest.Fields {
		fields[i] = *manifest.Fields[i].Field
		fields[i].Metadata = withoutFieldID(fields[i].Metadata)
	}
	var keys, values []string
	seen := map[string]bool{schemaKey: true}
	add := func(key, value string) {
		if !seen[key] {
			seen[key] = true
			keys, values = append(keys, key), append(values, value)
		}
	}
	if manifest.OriginSchema != nil {
		m := manifest.OriginSchema.Metadata()
		for i, key := range m.Keys() {
			add(key, m.Values()[i])
		}
	}
	for _, pair := range file {
		add(pair.Key, pair.GetValue())
	}
	m := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(fields, &m)
}

// withoutFieldID leaves out the field's number, which the library adds.
func withoutFieldID(m arrow.Metadata) arrow.Metadata {
	var keys, values []string
	for i, key := range m.Keys() {
		if key != "PARQUET:field_id" {
			keys, values = append(keys, key), append(values, m.Values()[i])
		}
	}
	return arrow.NewMetadata(keys, values)
}

// choose decides which columns are read, and which come out.
func (s *Source) choose(whole *arrow.Schema) (err error) {
	o := s.options
	if s.urls, err = tables.Locate(whole, o.URLColumn, o.Keep); err != nil {
		return err
	}
	s.read = whole
	if o.Keep == batch.KeepAll {
		for i := range whole.NumFields() {
			s.fields = append(s.fields, i)
		}
		return nil
	}
	s.fields = s.urls.Columns()
	fields := make([]arrow.Field, len(s.fields))
	for i, field := range s.fields {
		fields[i] = whole.Field(field)
	}
	m := whole.Metadata()
	s.read = arrow.NewSchema(fields, &m)
	s.urls, err = tables.Locate(s.read, o.URLColumn, o.Keep)
	return err
}

// leavesOf appends the columns of the file that a field has.
func leavesOf(field *pqarrow.SchemaField, list []int) []int {
	if len(field.Children) == 0 {
		return append(list, field.ColIndex)
	}
	for i := range field.Children {
		list = leavesOf(&field.Children[i], list)
	}
	return list
}

// checkMemory checks that what is read of each row group fits.
func (s *Source) checkMemory() error {
	for i := range s.meta.RowGroups {
		if n := s.octets(i); n > s.options.Memory {
			return fmt.Errorf("row group %d: its columns have %d octets, more than -memory permits: raise it, or read less with -columns url", i, n)
		}
	}
	return nil
}

// octets is what is read of a row group as it lies in the file.
func (s *Source) octets(group int) int64 {
	total := int64(0)
	for _, leaves := range s.leaves {
		for _, leaf := range leaves {
			total += s.meta.RowGroups[group].Columns[leaf].MetaData.TotalCompressedSize
		}
	}
	return total
}

// decoded is what a row group says that it has decoded.
func (s *Source) decoded(group int) int64 {
	total := int64(0)
	for _, leaves := range s.leaves {
		for _, leaf := range leaves {
			total += s.meta.RowGroups[group].Columns[leaf].MetaData.TotalUncompressedSize
		}
	}
	return total
}

// reader returns a reader of the library's, for one goroutine.
func (s *Source) reader(meta *metadata.FileMetaData, in parquet.ReaderAtSeeker) (*pqarrow.FileReader, error) {
	mem := limited{memory.NewGoAllocator(), s.options.Memory}
	props := parquet.NewReaderProperties(mem)
	props.BufferedStreamEnabled = true // else it reads chunks as a whole
	f, err := file.NewParquetReader(in, file.WithMetadata(meta), file.WithReadProps(props))
	if err != nil {
		return nil, err
	}
	return pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: int64(s.options.BatchRows)}, mem)
}

// Schema returns the schema of the batches' tables: the file's or, when only
// the URLs come out, their column.
func (s *Source) Schema() *arrow.Schema { return s.urls.Schema() }

// URLColumn returns the name of the column that has the URLs; "url" when they
// are put together from several.
func (s *Source) URLColumn() string { return s.urls.Name() }

// Next returns the next piece, or io.EOF after the last. Row groups come in
// the file's order; those without rows are left out.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for s.pending == nil {
		if s.group == len(s.meta.RowGroups) {
			return nil, io.EOF
		}
		if s.meta.RowGroups[s.group].NumRows > 0 {
			s.pending = newRowGroup(s, s.group)
		}
		s.group++
	}
	g := s.pending
	p := &piece{group: g, run: g.handed, index: s.batches, firstRow: s.rows, rows: g.rowsOf(g.handed)}
	s.users.Add(1)
	g.handed++
	if g.handed == g.runs {
		s.pending = nil
	}
	s.batches++
	s.rows += int64(p.rows)
	return p, nil
}

// Close gives back what the source holds. Pieces stay usable: the last one
// closes the file.
func (s *Source) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.pending, s.group = nil, len(s.meta.RowGroups)
	return s.done()
}

// done closes the file after its last use.
func (s *Source) done() error {
	if s.users.Add(-1) > 0 {
		return nil
	}
	return s.in.Close()
}

var errRows = errors.New("damaged: a column has fewer rows than its row group")
