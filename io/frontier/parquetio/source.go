package parquetio

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/budget"
	"robotsbatch/io/tables/parquet/columns"
	"robotsbatch/io/tables/parquet/splice"
)

// Options of a source. Where rows are long, a batch has fewer than BatchRows.
type Options = tableio.SourceOptions

// Source reads the row groups of a file.
type Source struct {
	options Options
	fields  []int             // indices of the columns that are read
	columns []*columns.Column // the columns that are read
	read    *arrow.Schema     // of the columns that are read
	urls    *tableio.Location
	notes   []string // see Notes
	in      File
	size    int64        // of in, in bytes
	users   atomic.Int64 // of in: the open source, pieces that are not decoded, and row groups that pass through
	closed  bool

	whole      *columns.Table // all columns of the file
	unreadable error          // why not all columns can be decoded; returned by the first Next
	passed     *splice.Input  // the columns that are copied; nil unless row groups pass through
	copied     []int          // indices of the columns that pass through; nil for all

	group   int       // index of the next row group
	end     int       // index of the row group after the last that is read
	pending *rowGroup // a row group of which Next has not returned all runs; nil for none
	batches int       // pieces that Next has returned
	rows    int64     // rows of these
}

// File is an input.
type File interface {
	io.ReaderAt
	io.Closer
}

// Open reads the footer of the size bytes of r. r is closed once the source is closed
// and all its pieces are decoded; when Open fails, the caller must close r. An error
// names the input, and wraps io.ErrUnexpectedEOF if the file is cut.
func Open(r File, size int64, o Options) (*Source, error) {
	s := newSource(r, size, o)
	if err := s.open(); err != nil {
		return nil, s.fail(err)
	}
	return s, nil
}

// fail returns err with the input's name, in the user's words.
func (s *Source) fail(err error) error {
	return tableio.Worded(fmt.Errorf("%s: %w", s.options.Name, err))
}

// newSource returns a source that has not read anything.
func newSource(r File, size int64, o Options) *Source {
	o.BatchRows, o.Memory = cmp.Or(o.BatchRows, 65536), cmp.Or(o.Memory, 512<<20)
	o.Piece = cmp.Or(o.Piece, o.Memory/pieceShare)
	s := &Source{options: o, in: r, size: size}
	s.users.Store(1)
	return s
}

// open reads the footer, and finds the columns to read. If all are to be read and some cannot be, that is
// an error for later: they may be copied.
func (s *Source) open() (err error) {
	if err = s.readSchema(); err != nil {
		return err
	}
	o := s.options
	if s.urls, err = tableio.Locate(s.whole.Schema, o.URLColumn, o.Keep, o.Extra); err != nil {
		return err
	}
	if o.Keep == batch.KeepAll {
		s.unreadable = s.readColumns(nil, s.whole.Schema)
		return nil
	}
	return s.readOnlyURLs()
}

// footerShare divides the memory that a batch may take: a footer may have 1/footerShare
// of it. mostFooter is the most bytes of metadata that are written to one: verify reads
// that much.
const (
	footerShare = 8
	mostFooter  = 48 << 20
)

// checkMetadata refuses metadata so long that the footer with it would be refused when it is read,
// by a reader whose batches may take no more than memory bytes.
func checkMetadata(m arrow.Metadata, memory int64) error {
	size := int64(0)
	for i, key := range m.Keys() {
		size += int64(len(key) + len(m.Values()[i]))
	}
	size += (size + 2) / 3 * 4 // once more in the stored Arrow schema, in base64
	switch {
	case size > mostFooter:
		return fmt.Errorf("the metadata of the schema has %d bytes in the footer of a Parquet file, which is more than is read: write Arrow, or leave it out", size)
	case size > memory/footerShare:
		return &budget.MemoryError{What: "the metadata of the schema, in the footer of a Parquet file,", Need: size, Limit: memory / footerShare}
	}
	return nil
}

// readSchema reads the footer, and decides which row groups are read.
func (s *Source) readSchema() (err error) {
	if s.whole, err = columns.ReadTable(s.in, s.size, s.options.Memory/footerShare); err != nil {
		return err
	}
	s.group, s.end = s.options.Part.Of(len(s.whole.File.Groups))
	if s.whole.Foreign {
		s.notes = append(s.notes, "the Arrow schema stored in the file is not understood: columns are written as Parquet's own schema describes them")
	}
	return nil
}

// readOnlyURLs limits reading to the columns that the URLs and [tableio.SourceOptions.Extra] need, and in a struct to the
// fields that they need.
func (s *Source) readOnlyURLs() (err error) {
	o, whole, fields := s.options, s.whole, s.urls.Columns()
	read := make([]arrow.Field, len(fields))
	for i, field := range fields {
		var within [][]int // paths of the fields of a struct that are read
		for _, path := range s.urls.Paths() {
			if path[0] == field {
				within = append(within, path[1:])
			}
		}
		if read[i], err = whole.Narrow(field, within); err != nil {
			return err
		}
	}
	m := whole.Schema.Metadata()
	schema := arrow.NewSchema(read, &m)
	// Located again, because columns and fields have other indices in the schema of what is read.
	if s.urls, err = tableio.Locate(schema, o.URLColumn, o.Keep, o.Extra); err != nil {
		return err
	}
	return s.readColumns(fields, schema)
}

// readColumns limits reading to the columns with these indices, nil for all. schema is that of these columns, and in a
// struct of the fields that are read.
func (s *Source) readColumns(fields []int, schema *arrow.Schema) error {
	whole := s.whole
	if fields == nil {
		for i := range whole.Columns {
			fields = append(fields, i)
		}
	}
	s.fields, s.columns, s.read = fields, nil, schema
	for i, field := range fields {
		if err := whole.Errs[field]; err != nil {
			return fmt.Errorf("column %q: %w", schema.Field(i).Name, err)
		}
		s.columns = append(s.columns, whole.Columns[field])
		for _, cast := range whole.Casts[field] {
			s.notes = append(s.notes, cast.String())
		}
	}
	return s.checkCodecs()
}

// checkCodecs checks that the columns to read of each row group use known codecs.
func (s *Source) checkCodecs() error {
	for i := range s.whole.File.Groups {
		for _, c := range s.columns {
			for _, leaf := range c.Leaves {
				if err := s.whole.Chunk(i, leaf).Codec.Check(); err != nil {
					return fmt.Errorf("row group %d: column %q: %w", i, s.whole.File.Path(leaf.Leaf), err)
				}
			}
		}
	}
	return nil
}

// sizes returns the bytes of a row group's columns that are read: stored in the file, and decoded, as
// the footer declares them. reading estimates the memory that it takes to read them: a page of each leaf
// at a time, both as stored and decoded.
func (s *Source) sizes(group int) (stored, decoded, reading int64) {
	const page = 1 << 20 // most writers make none larger
	for _, c := range s.columns {
		for _, leaf := range c.Leaves {
			chunk := s.whole.Chunk(group, leaf)
			stored += chunk.Pages.Length
			decoded += chunk.Uncompressed
			reading += min(chunk.Pages.Length, page) + min(chunk.Uncompressed, page)
		}
	}
	return stored, decoded, reading
}

// Notes returns lines for people about columns that are written as another type than the
// file has. Those that are copied, or read and not written, are not among them.
func (s *Source) Notes() []string {
	if s.passed != nil || s.options.Keep != batch.KeepAll {
		return nil
	}
	return s.notes
}

// Schema returns the schema of the batches' tables: the file's or, when only the URLs
// are written, that of their column.
func (s *Source) Schema() *arrow.Schema { return s.urls.Schema() }

// URLColumn returns the name of the URL column; "url" if URLs are joined from several
// columns.
func (s *Source) URLColumn() string { return s.urls.Name() }

// Next returns the next piece, or io.EOF after the last. Row groups come in the file's
// order; empty ones are left out.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.unreadable != nil {
		return nil, s.fail(s.unreadable)
	}
	for s.pending == nil {
		if s.group == s.end {
			return nil, io.EOF
		}
		if s.whole.File.Groups[s.group].Rows > 0 {
			s.pending = newRowGroup(s, s.group)
		}
		s.group++
	}
	g := s.pending
	p := &piece{group: g, run: g.nextRun, index: s.batches, firstRow: s.rows, rows: g.rowsOf(g.nextRun)}
	s.users.Add(1)
	g.nextRun++
	if g.nextRun == g.runs {
		s.pending = nil
	}
	s.batches++
	s.rows += int64(p.rows)
	return p, nil
}

// Share returns the fraction of the file's rows that Next has returned, from 0 to 1; 0 if it has none. It is
// always known: the footer has the number of rows.
func (s *Source) Share() (share float64, known bool) {
	if s.whole.File.Rows <= 0 {
		return 0, true
	}
	return min(1, float64(s.rows)/float64(s.whole.File.Rows)), true
}

// Close frees what the source holds. Pieces stay usable: the last one closes the file.
func (s *Source) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.pending, s.group = nil, s.end
	return s.endUse()
}

// endUse ends one of the uses that users counts, and closes the file after the last.
func (s *Source) endUse() error {
	if s.users.Add(-1) > 0 {
		return nil
	}
	return s.in.Close()
}
