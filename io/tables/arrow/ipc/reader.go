package ipc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"robotsbatch/io/store/budget"
	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// ReaderOptions are those of a [Reader].
type ReaderOptions struct {
	// Rows is the most rows of a piece of a part; 0 means 65,536.
	Rows int
	// Memory is the most bytes that one record batch and all dictionaries may take, as
	// read and decoded together; 0 means 512 MiB.
	Memory int64
	// Select returns which of a file's record batches are read, low to high-1; all is their number.
	// nil reads all.
	Select func(all int) (low, high int)
	// StopAtEnd stops reading at the end marker, because a stream's writer may keep it
	// open.
	StopAtEnd bool
	// Strict verifies all metadata as readers in C++ do.
	Strict bool
}

// Reader reads the record batches of a file or stream.
type Reader struct {
	options ReaderOptions
	framer  layout.Framer
	file    *layout.FileFramer // framer; nil if that reads the input as a stream
	schema  *layout.Schema
	columns []int    // indices of the columns that are decoded; nil for all
	decoder *decoder // of columns; nil before the first Next
	records int      // number of record batches that were read
	others  int      // number of dictionary batches that were read

	copying           *copying           // nil if no column is copied
	renumberedDecoder *decoder           // of copied columns whose indices are renumbered; nil for none
	used              []usedDictionary   // the dictionaries in force of these columns; nil until a record batch needs them
	before            []copiedDictionary // dictionaries to copy that came after the last record batch
}

// NewFileReader returns a reader of a file of size bytes in the file format, of which it has read footer and schema.
// An error wraps io.ErrUnexpectedEOF if the file is cut.
func NewFileReader(r io.ReaderAt, size int64, o ReaderOptions) (_ *Reader, err error) {
	s := newReader(o)
	if s.file, err = layout.OpenFile(r, size, s.framing()); err != nil {
		return nil, err
	}
	if o.Select != nil {
		low, high := o.Select(len(s.file.Batches))
		s.file.Batches = s.file.Batches[low:high]
	}
	s.framer = s.file
	s.schema, err = s.file.Schema()
	return s, err
}

// NewStreamReader returns a reader of the stream format, or of the file format from a pipe, of which it has read the
// schema: it waits for that. An error wraps io.ErrUnexpectedEOF if the stream is cut.
func NewStreamReader(r io.Reader, o ReaderOptions) (*Reader, error) {
	s := newReader(o)
	var err error
	if s.framer, err = layout.OpenStream(r, s.framing()); err == nil {
		s.schema, err = s.framer.Schema()
	}
	return s, err
}

// newReader returns a reader with the defaults for options that are zero. framer and schema are still to be set.
func newReader(o ReaderOptions) *Reader {
	o.Rows, o.Memory = cmp.Or(o.Rows, 65536), cmp.Or(o.Memory, 512<<20)
	return &Reader{options: o}
}

// framing returns what framers need to know of the options.
func (s *Reader) framing() layout.Framing {
	return layout.Framing{Limit: s.options.Memory, Strict: s.options.Strict, StopAtEnd: s.options.StopAtEnd}
}

// Schema returns the schema. In it, the null type stands for a type that is not known, and decimals of 128 bits stand
// for those of 32 and 64.
func (s *Reader) Schema() *arrow.Schema { return s.schema.Arrow }

// Memory returns the most bytes that a record batch may take: see [ReaderOptions].
func (s *Reader) Memory() int64 { return s.options.Memory }

// SmallDecimal returns the bits of the widest decimal of 32 or 64 bits in the column with the index column; 0 if it has
// none.
func (s *Reader) SmallDecimal(column int) int { return s.schema.Columns[column].SmallDecimal() }

// Decode limits decoding to the columns with these indices, which rise. Call it before Next.
func (s *Reader) Decode(columns []int) {
	s.columns = columns
	if s.file != nil {
		s.file.Partly = true
	}
}

// CanCopy reports whether all columns can be copied into an output. stream says that the output is a stream, not a
// file, and several that it has other inputs as well. What cannot be copied is:
//   - a dictionary, if there are several inputs, because theirs may differ;
//   - a dictionary of a stream, if the output is a file, because streams may replace dictionaries and files must not;
//   - a type that is not known, if there are several inputs, because it cannot be compared with theirs;
//   - a union from before Arrow 1.0, which had another layout.
func (s *Reader) CanCopy(stream, several bool) bool {
	isOldUnion := s.schema.Header.Version < layout.MetadataV5 && s.schema.HasUnion()
	if isOldUnion || several && s.schema.Unknown != nil {
		return false
	}
	return len(s.schema.IDs) == 0 || !several && (stream || s.file != nil)
}

// Copy says that a [Writer] will copy the columns with these indices, nil for all: see [WriterOptions].From. Other
// columns are not read, except those that Decode has named. selects says that rows may be left out. Call it before Next.
func (s *Reader) Copy(columns []int, selects bool) {
	whole, limit := columns == nil, s.options.Memory
	if whole {
		columns = s.schema.All()
	}
	s.copying = &copying{schema: s.schema, columns: columns, whole: whole, selects: selects, limit: limit, pool: budget.NewBuffers(limit / 2)} // half may be idle
	// Where every jump costs a request, as for an object in a store, bodies are read whole, in
	// order, and kept until they are written.
	if s.file != nil && whole && s.file.IsRemote() {
		s.file.Partly = false
	}
}

// SameDecimals reports whether the decimals of both readers' columns have the same widths. Their schemas must be
// equal otherwise.
func (s *Reader) SameDecimals(other *Reader) bool {
	return slices.EqualFunc(s.schema.Columns, other.schema.Columns, layout.SameDecimals)
}

// makeDecoders sets the decoders of the columns that Decode and Copy have chosen.
func (s *Reader) makeDecoders() (err error) {
	columns := s.columns
	if columns == nil {
		if s.schema.Unknown != nil {
			return s.schema.Unknown
		}
		columns = s.schema.All()
	}
	const exact = true // for renumbered dictionaries, because their values are written again
	if s.decoder, err = newDecoder(s.schema, columns, s.options.Memory, !exact); err != nil || s.copying == nil || !s.copying.selects {
		return err
	}
	var renumbered []int
	for _, i := range s.copying.columns {
		if s.schema.Columns[i].HasDictionary() && !s.schema.Columns[i].Unknown {
			renumbered = append(renumbered, i)
		}
	}
	if renumbered != nil {
		s.renumberedDecoder, err = newDecoder(s.schema, renumbered, s.options.Memory, exact)
	}
	return err
}

// addDictionary adds a dictionary for the record batches that follow: to the decoders that have
// columns with it, and to the dictionaries to copy.
func (s *Reader) addDictionary(f *layout.Frame) error {
	meta, err := f.Dictionary()
	if err != nil {
		return err
	}
	if !slices.Contains(s.schema.IDs, meta.ID) {
		return fmt.Errorf("dictionary %d: it is not in the schema", meta.ID)
	}
	_, decoded := s.decoder.values[meta.ID]
	// Either all columns are copied, or those that are decoded. If rows may be left out, dictionaries are written anew.
	if c := s.copying; c != nil && !c.selects && (decoded || c.whole) {
		s.before = append(s.before, copiedDictionary{Frame: f, id: meta.ID, delta: meta.Delta})
	}
	s.used = nil // usedDictionaries sets it again, with this one
	if s.decoder, err = s.extendDecoder(s.decoder, meta, f); err == nil && s.renumberedDecoder != nil {
		s.renumberedDecoder, err = s.extendDecoder(s.renumberedDecoder, meta, f)
	}
	return err
}

// extendDecoder returns a decoder with the dictionaries of d and the one in message f, whose metadata is meta. It
// returns d itself if no column of d has that dictionary, and with an error.
func (s *Reader) extendDecoder(d *decoder, meta *layout.DictionaryMeta, f *layout.Frame) (*decoder, error) {
	if _, used := d.values[meta.ID]; !used {
		return d, nil
	}
	if err := f.Load(); err != nil {
		return d, err
	}
	next, replaces, err := d.withDictionary(meta, f.Bytes)
	if err == nil && replaces && s.framer.IsFile() {
		err = errors.New("damaged: a dictionary comes twice, which files must not have")
	}
	if err != nil {
		return d, err
	}
	return next, nil
}

// usedDictionaries returns the dictionaries in force that copied columns use, if rows may be left out.
func (s *Reader) usedDictionaries() (_ []usedDictionary, err error) {
	if s.renumberedDecoder != nil && s.used == nil {
		s.used, err = s.renumberedDecoder.usedDictionaries()
	}
	return s.used, err
}

// Dictionaries returns the number of bytes that the dictionaries in force take, as read and decoded together.
func (s *Reader) Dictionaries() int64 {
	if s.renumberedDecoder == nil {
		return s.decoder.size()
	}
	return s.decoder.size() + s.renumberedDecoder.size()
}

// Next returns the next record batch, not decoded, or io.EOF after the last. Record batches come
// in the input's order, including empty ones. An error names the record batch, or a file's
// dictionary batch, counted from 0; it wraps io.ErrUnexpectedEOF when the input is cut.
func (s *Reader) Next() (*Part, error) {
	if s.decoder == nil { // the first call
		if err := s.makeDecoders(); err != nil {
			return nil, err
		}
	}
	for {
		f, err := s.framer.Next()
		if err == io.EOF {
			return nil, err
		}
		var p *Part
		if err == nil {
			p, err = s.addMessage(f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.position(), err)
		}
		if p != nil {
			s.records++
			return p, nil
		}
	}
}

// position names the message that is being read, for errors. A dictionary in a stream is named after the record batch
// that follows it.
func (s *Reader) position() string {
	if s.file != nil && s.others < len(s.file.Footer.Dictionaries) {
		return fmt.Sprintf("dictionary batch %d", s.others)
	}
	return fmt.Sprintf("record batch %d", s.records)
}

// addMessage adds a dictionary to the decoders, or returns the part of a record batch. f comes after the schema.
func (s *Reader) addMessage(f *layout.Frame) (*Part, error) {
	switch f.Kind {
	case layout.KindDictionary:
		err := s.addDictionary(f)
		if err == nil {
			s.others++
		}
		return nil, err
	case layout.KindRecord:
		p, err := s.readRecord(f)
		readsPipe := s.file == nil && s.framer.IsFile() // a file, but from its beginning to its end
		if readsPipe && errors.As(err, new(missingError)) {
			err = layout.ErrLateDictionary
		}
		return p, err
	default:
		return nil, fmt.Errorf("a message of kind %d: only dictionaries and record batches may follow the schema", f.Kind)
	}
}

// readRecord returns the part of record batch f. Of a body that is still in the file it reads the buffers of the decoded
// columns.
func (s *Reader) readRecord(f *layout.Frame) (*Part, error) {
	meta, err := f.Batch()
	if err != nil {
		return nil, err
	}
	var copied *copiedRecord
	if s.copying != nil {
		if err := s.schema.CheckCopied(meta, f.BodyLength); err != nil {
			return nil, err
		}
		used, err := s.usedDictionaries()
		if err != nil {
			return nil, err
		}
		copied = &copiedRecord{copying: s.copying, before: s.before, used: used, frame: f, meta: meta}
		s.before = nil
	}
	body := f.Bytes
	if s.columns != nil {
		if meta, err = s.schema.ProjectBatch(meta, s.columns); err != nil {
			return nil, err
		}
	}
	projects := copied != nil && !copied.whole // the copied columns are the decoded ones
	if body == nil || projects {
		if body, err = f.LoadSpans(meta, s.options.Memory); err != nil { // it sets meta's offsets to those in body
			return nil, err
		}
	}
	if projects {
		copied.project(meta, body)
	}
	record, err := s.decoder.checkRecord(meta, body)
	if err != nil {
		return nil, err
	}
	if record.memory() > s.options.Memory-s.Dictionaries() {
		return nil, tables.TooLarge("it takes more than %d bytes as read and again decoded, with its dictionaries", s.options.Memory)
	}
	return newPart(record, s.options.Rows, copied), nil
}

// Batches returns the number of record batches that were read, and the number of all in a file, also of those that were
// not selected. If the input is read as a stream, all is 0 and isFile false.
func (s *Reader) Batches() (read, all int, isFile bool) {
	if s.file == nil {
		return s.records, 0, false
	}
	return s.records, len(s.file.Footer.Batches), true
}

// Close frees the dictionaries. Parts can still be decoded; Next must not be called again. The input stays open.
func (s *Reader) Close() { s.decoder, s.renumberedDecoder, s.used, s.before = nil, nil, nil, nil }

// Check decodes all columns of the file or stream of size bytes in r, and returns the number
// of rows before the first error. It verifies the metadata as strictly as readers in C++ do. memory is the most bytes
// that a record batch may take, 0 for the default.
func Check(r io.ReaderAt, size int64, isFile bool, memory int64) (rows int64, err error) {
	o := ReaderOptions{Memory: memory, Strict: true, Rows: math.MaxInt / 2} // a part has one piece
	var s *Reader
	if isFile {
		s, err = NewFileReader(r, size, o)
	} else {
		s, err = NewStreamReader(io.NewSectionReader(r, 0, size), o)
	}
	for err == nil {
		var p *Part
		if p, err = s.Next(); err != nil {
			break
		}
		record, _, decodeErr := p.Decode(0)
		if decodeErr != nil {
			return rows, fmt.Errorf("record batch %d: %w", s.records-1, decodeErr)
		}
		rows += record.NumRows()
		record.Release()
	}
	if err == io.EOF {
		err = nil
	}
	return rows, err
}
