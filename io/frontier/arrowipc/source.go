package arrowipc

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/tables/arrow/ipc"
)

// Options of a source. Larger record batches than BatchRows are cut.
type Options = tableio.SourceOptions

// Source reads the record batches of a file or stream.
type Source struct {
	options Options
	reader  *ipc.Reader
	urls    *tableio.Location
	columns []int // indices of the columns that are decoded; nil for all

	// If record batches pass through:
	passing bool
	selects bool         // rows may be left out
	in      io.Closer    // the input, closed after the last record batch was written; may be nil
	users   atomic.Int64 // number of users of in: the source until Close, and record batches that are not written

	pending   *sharedRecord // a record batch of which Next has not returned all pieces; nil for none
	nextPiece int           // index in pending of the piece that Next returns next

	closed  bool
	batches int   // number of pieces that Next has returned
	rows    int64 // number of their rows
	err     error // what ended the reading, which Next returns from then on
}

// OpenFile reads the file format from the size bytes of r, which must stay open until
// the source is closed. An error names the input, and wraps io.ErrUnexpectedEOF if the
// file is cut.
func OpenFile(r io.ReaderAt, size int64, o Options) (*Source, error) {
	reader, err := ipc.NewFileReader(r, size, readerOptions(&o))
	return newSource(reader, err, o)
}

// OpenStream reads the stream format, and the file format from a pipe, to its
// end. It waits for the schema. An error names the input; it wraps
// io.ErrUnexpectedEOF when the stream is cut.
func OpenStream(r io.Reader, o Options) (*Source, error) {
	reader, err := ipc.NewStreamReader(r, readerOptions(&o))
	return newSource(reader, err, o)
}

// readerOptions returns the reader's options for those of a source.
func readerOptions(o *Options) ipc.ReaderOptions {
	return ipc.ReaderOptions{Rows: o.BatchRows, Memory: o.Memory, Select: o.Part.Of, StopAtEnd: o.StopAtEnd}
}

// newSource returns the source of a reader r. err is the error of opening r: newSource returns it with the
// input's name.
func newSource(r *ipc.Reader, err error, o Options) (*Source, error) {
	s := &Source{options: o, reader: r}
	if err == nil {
		s.urls, err = tableio.Locate(r.Schema(), o.URLColumn, o.Keep, o.Extra)
	}
	if err == nil && o.Keep != batch.KeepAll {
		err = s.decodeOnlyURLs()
	}
	if err != nil {
		return nil, s.fail(err)
	}
	return s, nil
}

// fail returns err with the input's name.
func (s *Source) fail(err error) error {
	return tableio.Worded(fmt.Errorf("%s: %w", s.options.Name, err))
}

// decodeOnlyURLs limits decoding to the URLs' columns and those of [tableio.SourceOptions.Extra]. It locates them again in
// the decoded tables, which have no others.
func (s *Source) decodeOnlyURLs() error {
	s.columns = slices.Sorted(slices.Values(s.urls.Columns()))
	fields := make([]arrow.Field, len(s.columns))
	for i, column := range s.columns {
		fields[i] = s.reader.Schema().Field(column)
	}
	name := "" // with which Locate finds the parts of joined URLs again
	if !s.urls.IsJoined() {
		name = s.urls.Name()
	}
	metadata := s.reader.Schema().Metadata()
	decoded := arrow.NewSchema(fields, &metadata)
	located, err := tableio.Locate(decoded, name, s.options.Keep, s.options.Extra)
	if err != nil {
		return err
	}
	s.urls = located
	s.reader.Decode(s.columns)
	return nil
}

// Schema returns the schema of the batches' tables: the input's or, when only URLs
// joined from several columns are written, that of the joined URLs.
func (s *Source) Schema() *arrow.Schema { return s.urls.Schema() }

// URLColumn returns the name of the URL column; "url" if URLs are joined from several
// columns.
func (s *Source) URLColumn() string { return s.urls.Name() }

// Notes returns lines for people about columns that are written as another type than the input has.
func (s *Source) Notes() []string {
	if s.passing || s.options.Keep != batch.KeepAll { // columns are copied undecoded, or only URLs are written
		return nil
	}
	var notes []string
	for i, field := range s.reader.Schema().Fields() {
		if bits := s.reader.SmallDecimal(i); bits > 0 {
			notes = append(notes, fmt.Sprintf("column %q: decimal%d is written as decimal128", field.Name, bits))
		}
	}
	return notes
}

// Next returns the next piece, or io.EOF after the last. Record batches come in the
// input's order, including empty ones. An error names the input and the record batch,
// counted from 0; it wraps io.ErrUnexpectedEOF when the input is cut, and every later
// call returns it again.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.err == nil && s.pending == nil {
		part, err := s.reader.Next()
		switch {
		case err == nil:
			s.pending, s.nextPiece = newSharedRecord(s, part), 0
		case err == io.EOF:
			s.err = err
		default:
			s.err = s.fail(err)
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.takePiece(), nil
}

// Share returns the share of a file's record batches that Next has returned, from 0 to 1. It is
// not known for a stream.
func (s *Source) Share() (share float64, known bool) {
	read, all, known := s.reader.Batches()
	if all == 0 {
		return 0, known
	}
	done := float64(read)
	if s.pending != nil { // it counts as read already
		done += float64(s.nextPiece)/float64(s.pending.part.Pieces()) - 1
	}
	return done / float64(all), true
}

// takePiece returns the next piece of the pending record batch.
func (s *Source) takePiece() *piece {
	record := s.pending
	low, high := record.part.Piece(s.nextPiece)
	p := &piece{
		record: record, input: s.options.Name, index: s.batches, firstRow: s.rows, rows: high - low,
		number: s.nextPiece, first: s.nextPiece == 0, last: s.nextPiece+1 == record.part.Pieces(),
	}
	p.size = s.reader.Dictionaries() // each piece is charged for the dictionaries
	if p.first {
		p.size += record.bytes
	}
	s.nextPiece++
	s.batches++
	s.rows += int64(p.rows)
	if p.last {
		s.pending = nil
	}
	return p
}

// CanPassThrough reports whether the record batches can be copied unchanged into an output. stream says
// that the output is a stream, not a file, and several that it has other inputs as well.
func (s *Source) CanPassThrough(stream, several bool) bool {
	return s.urls.ReadsWritten() && s.reader.CanCopy(stream, several)
}

// PassThrough makes all record batches pass through to a sink with [SinkOptions.From]:
// only the URLs are decoded, and the columns that are written are copied unchanged. selects
// says that rows may be left out. Call it before the first Next. in, which may be nil, is the
// input: the source takes it over, and closes it once the source is closed and all its record
// batches are written.
func (s *Source) PassThrough(in io.Closer, selects bool) error {
	s.passing, s.selects, s.in = true, selects, in
	s.users.Store(1)
	if s.options.Keep != batch.KeepAll {
		s.reader.Copy(s.columns, selects) // only the URLs are decoded anyway
		return nil
	}
	if err := s.decodeOnlyURLs(); err != nil {
		return s.fail(err)
	}
	s.reader.Copy(nil, selects)
	return nil
}

// endUse ends one of the uses that users counts, and closes the input after the last.
func (s *Source) endUse() error {
	if s.users.Add(-1) > 0 || s.in == nil {
		return nil
	}
	return s.in.Close()
}

// copied returns the names of the columns that pass through.
func (s *Source) copied() (names []string) {
	for i, field := range s.reader.Schema().Fields() {
		if s.options.Keep == batch.KeepAll || slices.Contains(s.columns, i) {
			names = append(names, field.Name)
		}
	}
	return names
}

// urlColumn returns the index of the URL column, -1 if URLs are joined from several
// columns.
func (s *Source) urlColumn() int {
	if !s.urls.IsColumn() {
		return -1
	}
	return s.columns[s.urls.Columns()[0]]
}

// Close frees the dictionaries; pieces that are not decoded yet keep theirs. An input that PassThrough took
// over is closed now or, if record batches are still to be written, with the last of them.
func (s *Source) Close() error {
	s.reader.Close()
	if s.passing && !s.closed {
		s.closed = true
		return s.endUse()
	}
	return nil
}
