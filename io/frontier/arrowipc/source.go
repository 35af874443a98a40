package arrowipc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/batch"
	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/tableio"
	"robotsbatch/io/store/budget"
)

// Options of a source.
type Options struct {
	// Name of the input for errors, such as a path or "stdin".
	Name string
	// URLColumn names the column with the URLs. Empty means "url" or, if there is no
	// such column, the one that [tableio.Locate] finds.
	URLColumn string
	// Keep says which columns come out. It matters only for URLs that are split over
	// several columns.
	Keep batch.Keep
	// Extra names columns that are read besides the URLs, even if they are not written.
	Extra batch.ExtraColumns
	// BatchRows is the most rows that a batch has; 0 means 65,536. Larger
	// record batches are cut.
	BatchRows int
	// Memory is the most bytes that one record batch and all dictionaries may take, as
	// read and decoded together; 0 means 512 MiB.
	Memory int64
	// Part selects the record batches of a file that are read. Row numbers start at its
	// first row.
	Part batch.Part
	// StopAtEnd stops reading at the end marker, because a stream's writer may keep it
	// open.
	StopAtEnd bool
}

// Source reads the record batches of a file or stream.
type Source struct {
	options Options
	framer  framer
	file    *fileFramer // the same; nil for one that reads from the beginning to the end
	strict  bool        // metadata is verified
	schema  *schema
	urls    *tableio.Location
	columns []int    // decoded columns; nil for all
	decoder *decoder // of these
	started bool     // the first record batch was asked for

	pool    *budget.Buffers
	passing bool
	selects bool             // rows are left out
	coded   []int            // columns that pass through whose dictionaries are decoded, because rows are left out
	codes   *decoder         // of these; nil for none
	used    []usedDictionary // dictionaries in force, once a record batch came
	in      io.Closer        // closed after all that passes through was written
	users   atomic.Int64     // users of in: the open source, and record batches
	before  []passedMessage  // dictionaries since the last record batch

	pending *sharedRecord // a record batch that is not yet handed out completely
	cut     int           // rows of it that were handed out

	closed           bool
	records, batches int
	rows             int64
	err              error
}

// OpenFile reads the file format from the size bytes of r, which must stay open until
// the source is closed. An error names the input, and wraps io.ErrUnexpectedEOF if the
// file is cut.
func OpenFile(r io.ReaderAt, size int64, o Options) (*Source, error) {
	s := newSource(o)
	err := s.frameFile(r, size)
	if err == nil {
		err = s.locate()
	}
	if err != nil {
		return nil, s.fail(err)
	}
	return s, nil
}

// frameFile reads the footer and the schema of a file.
func (s *Source) frameFile(r io.ReaderAt, size int64) (err error) {
	if s.file, err = openFile(r, size, s.framing()); err != nil {
		return err
	}
	s.framer = s.file
	low, high := s.options.Part.Of(len(s.file.batches))
	s.file.batches = s.file.batches[low:high]
	if err := s.readSchema(); err != nil {
		return err
	}
	return s.checkSchema()
}

// readSchema reads the schema, which comes first.
func (s *Source) readSchema() error {
	meta, err := s.framer.schema()
	if err == nil {
		s.schema, err = readSchema(meta)
	}
	return err
}

func (s *Source) framing() framing { return framing{limit: s.options.Memory, strict: s.strict} }

// OpenStream reads the stream format, and the file format from a pipe, to its
// end. It waits for the schema. An error names the input; it wraps
// io.ErrUnexpectedEOF when the stream is cut.
func OpenStream(r io.Reader, o Options) (*Source, error) {
	s := newSource(o)
	err := s.frameStream(r)
	if err == nil {
		err = s.locate()
	}
	if err != nil {
		return nil, s.fail(err)
	}
	return s, nil
}

// frameStream reads the schema of a stream, or of a file from a pipe.
func (s *Source) frameStream(r io.Reader) error {
	buffered := bufio.NewReaderSize(r, 64<<10)
	file, err := isFile(buffered)
	if err != nil {
		return err
	}
	stream := &streamFramer{framing: s.framing(), r: buffered, stopAtEnd: s.options.StopAtEnd}
	stream.isFile, s.framer = file, stream
	return s.readSchema()
}

func newSource(o Options) *Source {
	if o.BatchRows <= 0 {
		o.BatchRows = 65536
	}
	if o.Memory <= 0 {
		o.Memory = 512 << 20
	}
	return &Source{options: o, pool: budget.NewBuffers(o.Memory / 2)}
}

func (s *Source) fail(err error) error {
	return fmt.Errorf("%s: %w", s.options.Name, err)
}

// locate finds the columns with the URLs, and decides which columns are decoded.
func (s *Source) locate() (err error) {
	if s.urls, err = tableio.Locate(s.schema.arrow, s.options.URLColumn, s.options.Keep); err != nil {
		return err
	}
	if err := s.urls.FindExtra(s.schema.arrow, s.options.Extra); err != nil {
		return err
	}
	if s.options.Keep == batch.KeepAll {
		return nil
	}
	return s.decodeOnlyURLs()
}

// decodeOnlyURLs limits decoding to the URLs' columns and those of [Options.Extra].
func (s *Source) decodeOnlyURLs() error {
	s.columns = slices.Sorted(slices.Values(s.urls.Columns()))
	fields := make([]arrow.Field, len(s.columns))
	for i, column := range s.columns {
		fields[i] = s.schema.arrow.Field(column)
	}
	name := ""
	if !s.urls.IsJoined() {
		name = s.urls.Name()
	}
	metadata := s.schema.arrow.Metadata()
	decoded := arrow.NewSchema(fields, &metadata)
	located, err := tableio.Locate(decoded, name, s.options.Keep)
	if err == nil {
		err = located.FindExtra(decoded, s.options.Extra)
	}
	if err != nil {
		return err
	}
	s.urls = located
	if s.file != nil {
		s.file.partly = true
	}
	return nil
}

// checkSchema checks that a file's second schema message, if any, equals the first.
func (s *Source) checkSchema() error {
	second := &s.framer.shared().second
	if *second == nil {
		return nil
	}
	other, err := readSchema(*second)
	if err != nil {
		return err
	}
	if *second = nil; !sameSchema(s.schema, other) {
		return errTwoSchemas
	}
	return nil
}

// begin makes the decoders.
func (s *Source) begin() (err error) {
	s.started = true
	columns := s.columns
	if columns == nil {
		if s.schema.unknown != nil {
			return s.schema.unknown
		}
		columns = s.schema.all()
	}
	s.decoder, err = newDecoder(s.schema, columns, s.options.Memory, false)
	if err == nil && len(s.coded) > 0 {
		s.codes, err = newDecoder(s.schema, s.coded, s.options.Memory, true)
	}
	return err
}

// addDictionary adds a dictionary for the record batches that follow.
func (s *Source) addDictionary(f *frame) error {
	meta, err := f.dictionary()
	if err != nil {
		return err
	}
	_, used := s.decoder.values[meta.id]
	if s.passing && !s.selects && (used || s.options.Keep == batch.KeepAll) {
		s.before = append(s.before, passedMessage{frame: f, id: meta.id, delta: meta.delta})
	}
	known := false
	for _, d := range []**decoder{&s.decoder, &s.codes} {
		if *d == nil || (*d).values[meta.id] == nil {
			continue
		}
		known = true
		if err := f.load(); err != nil {
			return err
		}
		next, replaces, err := (*d).with(meta, f.bytes)
		if err != nil {
			return err
		}
		if replaces && s.framer.shared().isFile {
			return errors.New("damaged: a dictionary comes twice, which files must not have")
		}
		*d = next
	}
	s.used = nil
	if !known && !slices.Contains(s.schema.ids, meta.id) {
		return fmt.Errorf("dictionary %d: it is not in the schema", meta.id)
	}
	return nil // else used only by columns that are not decoded
}

// usedDictionaries returns the dictionaries that a record batch uses that passes through.
func (s *Source) usedDictionaries() (_ []usedDictionary, err error) {
	if s.codes != nil && s.used == nil {
		s.used, err = s.codes.dictionaryValues()
	}
	return s.used, err
}

// decodersSize returns how many bytes the dictionaries take.
func (s *Source) decodersSize() int64 {
	if s.codes == nil {
		return s.decoder.size()
	}
	return s.decoder.size() + s.codes.size()
}

// Schema returns the schema of the batches' tables: the input's or, when only URLs
// joined from several columns come out, that of the joined URLs.
func (s *Source) Schema() *arrow.Schema { return s.urls.Schema() }

// URLColumn returns the name of the URL column; "url" if URLs are joined from several
// columns.
func (s *Source) URLColumn() string { return s.urls.Name() }

// Notes returns lines for people about columns that come out as another type than the input has.
func (s *Source) Notes() []string {
	if s.passing || s.options.Keep != batch.KeepAll {
		return nil
	}
	var notes []string
	for i := range s.schema.columns {
		if bits := s.schema.columns[i].smallDecimal(); bits > 0 {
			notes = append(notes, fmt.Sprintf("column %q: decimal%d is written as decimal128", s.schema.arrow.Field(i).Name, bits))
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
	if s.err == nil && !s.started {
		if err := s.begin(); err != nil {
			s.err = s.fail(err)
		}
	}
	if s.err == nil && s.pending == nil {
		s.err = s.read()
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.slice(), nil
}

// read reads the next record batch, with the dictionaries before it.
func (s *Source) read() error {
	for {
		f, err := s.framer.next()
		if err == io.EOF {
			if err := s.checkSchema(); err != nil { // of a file that came through a pipe
				return s.fail(err)
			}
			return io.EOF
		}
		if err == nil {
			err = s.take(f)
		}
		if err != nil {
			return s.fail(fmt.Errorf("record batch %d: %w", s.records, err))
		}
		if s.pending != nil {
			s.records++
			return nil
		}
	}
}

// take handles a message after the schema.
func (s *Source) take(f *frame) error {
	switch f.kind {
	case kindDictionary:
		return s.addDictionary(f)
	case kindRecord:
		err := s.takeRecord(f)
		if s.file == nil && s.framer.shared().isFile && errors.As(err, new(missingError)) {
			return errLateDictionary
		}
		return err
	default:
		return fmt.Errorf("a message of kind %d: only dictionaries and record batches may follow the schema", f.kind)
	}
}

// takeRecord handles a record batch.
func (s *Source) takeRecord(f *frame) error {
	meta, err := f.batch()
	if err != nil {
		return err
	}
	var passed *passedRecord
	if s.passing {
		if err := s.schema.checkPassing(meta, f.bodyLength); err != nil {
			return err
		}
		used, err := s.usedDictionaries()
		if err != nil {
			return err
		}
		passed = &passedRecord{source: s, before: s.before, used: used, frame: f, meta: meta}
		s.before = nil
	}
	body := f.bytes
	if s.columns != nil {
		if meta, err = s.schema.projectBatch(meta, s.columns); err != nil {
			return err
		}
	}
	projects := passed != nil && s.options.Keep != batch.KeepAll
	if body == nil || projects {
		if body, err = loadSpans(f, meta, s.options.Memory); err != nil {
			return err
		}
	}
	if projects {
		passed.project(meta, body)
	}
	total, err := s.decoder.check(meta, body)
	if err != nil {
		return err
	}
	if decodedBytes(meta, body, total) > s.options.Memory-s.decodersSize() {
		return option.Errorf("it takes more than %d bytes as read and again decoded, with its dictionaries: raise %s", s.options.Memory, option.Memory)
	}
	s.pending = newSharedRecord(s, meta, body, total)
	if passed != nil {
		passed.verdicts = tableio.NewAssembly(int(s.pending.pieces.Load()))
		s.pending.passed = passed
		s.users.Add(1)
	}
	s.cut = 0
	return nil
}

// Share returns how much of a file's record batches was handed out, from 0 to 1. It is
// not known for a stream.
func (s *Source) Share() (share float64, known bool) {
	if s.file == nil || len(s.file.footer.batches) == 0 {
		return 0, s.file != nil
	}
	done := float64(s.records)
	if s.pending != nil { // it is counted as handed out
		done += float64(s.cut)/float64(s.pending.meta.rows) - 1
	}
	return done / float64(len(s.file.footer.batches)), true
}

// slice cuts the next piece off the pending record batch.
func (s *Source) slice() *piece {
	record := s.pending
	rows := int(record.meta.rows)
	p := &piece{
		record: record, input: s.options.Name, index: s.batches, firstRow: s.rows,
		low: s.cut, high: min(s.cut+s.options.BatchRows, rows),
	}
	p.number, p.first, p.last = p.low/s.options.BatchRows, p.low == 0, p.high == rows
	p.size = s.decodersSize() // each piece is charged for the dictionaries
	if p.first {
		p.size += record.bytes
	}
	s.cut = p.high
	s.batches++
	s.rows += int64(p.high - p.low)
	if s.cut == rows {
		s.pending = nil
	}
	return p
}

// Close frees what the source holds. Pieces stay usable.
func (s *Source) Close() error {
	s.decoder, s.codes = nil, nil
	if s.passing && !s.closed {
		s.closed = true
		return s.done()
	}
	return nil
}
