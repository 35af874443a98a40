package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"robotsbatch/batch"
)

const (
	// DefaultBatchRows is how many lines a batch has at most, unless Options
	// say otherwise.
	DefaultBatchRows = 65_536

	// DefaultMaxLine is how many octets a line may have, its line end apart,
	// unless Options say otherwise: 1 MiB.
	DefaultMaxLine = 1 << 20

	// readSize is how many octets are read at once.
	readSize = 256 << 10

	// maxBatchSize is how many octets a batch may have, but for its last line:
	// a batch of fewer lines than asked for is no harm, one of 65,536 lines of
	// a megabyte each is.
	maxBatchSize = 16 << 20
)

// mark is UTF-8's byte order mark.
const mark = "\xEF\xBB\xBF"

// Options of a source. The zero value is the default.
type Options struct {
	// Name of the input for errors.
	Name string
	// BatchRows is the most lines a batch has; 0 means DefaultBatchRows.
	BatchRows int
	// MaxLine is the most octets a line may have, its line end apart; 0 means
	// DefaultMaxLine, and 1 GiB is the most there can be. A longer line is an
	// error: no row is ever cut or dropped, and one endless line must not fill
	// the memory.
	MaxLine int
}

// Source reads a list of URLs. It is a batch.Source.
type Source struct {
	r         io.Reader
	name      string
	batchRows int
	maxLine   int

	rest  []byte // was read, and belongs to the next batch
	err   error  // what ended the reading, io.EOF included
	index int    // the next batch's
	line  int64  // lines before the next batch
	pool  sync.Pool
}

// NewSource reads r, which must be decompressed already, and does not close it.
func NewSource(r io.Reader, o Options) *Source {
	s := &Source{r: r, name: o.Name, batchRows: o.BatchRows, maxLine: o.MaxLine}
	if s.batchRows <= 0 {
		s.batchRows = DefaultBatchRows
	}
	if s.maxLine <= 0 {
		s.maxLine = DefaultMaxLine
	}
	s.maxLine = min(s.maxLine, 1<<30) // offsets have 32 bits
	s.pool.New = func() any { return new(memory) }
	return s
}

// Next returns the next batch of lines. It only looks for line ends and copies
// next to nothing; blank lines are left out, and MaxLine is checked, when the
// piece is decoded. When reading fails, the whole lines that were read come
// first, then the error, which stays.
func (s *Source) Next(ctx context.Context) (batch.Piece, error) {
	m := s.pool.Get().(*memory)
	lines, err := s.fill(ctx, m)
	if err != nil {
		s.pool.Put(m)
		return nil, err
	}
	p := &piece{source: s, memory: m, index: s.index, firstLine: s.line, lines: lines}
	s.index++
	s.line += int64(lines)
	return p, nil
}

// Close does nothing: the input belongs to who opened it.
func (s *Source) Close() error { return nil }

// fill sets m.data to the next batch's whole lines and returns how many there
// are. What was read beyond them is left in s.rest.
func (s *Source) fill(ctx context.Context, m *memory) (lines int, err error) {
	m.data = m.data[:0]
	end, lines := cutLines(s.rest, s.batchRows) // of the whole lines in m.data
	if lines == s.batchRows {
		m.data = append(m.data, s.rest[:end]...)
		s.rest = s.rest[end:]
		return lines, nil
	}
	m.data = append(m.data, s.rest...)
	s.rest = s.rest[:0]
	for lines < s.batchRows && end < maxBatchSize && s.err == nil {
		if err := ctx.Err(); err != nil {
			s.rest = append(s.rest, m.data...)
			return 0, err
		}
		start := len(m.data)
		m.data, err = readOnce(s.r, m.data)
		cut, found := cutLines(m.data[start:], s.batchRows-lines)
		if found > 0 {
			end, lines = start+cut, lines+found
		}
		s.err = s.check(err, m.data[end:], s.line+int64(lines)+1)
	}
	if s.err == io.EOF && lines < s.batchRows && end < len(m.data) {
		return lines + 1, nil // the last line, without a line end
	}
	if lines == 0 {
		return 0, s.err
	}
	s.rest = append(s.rest, m.data[end:]...)
	m.data = m.data[:end]
	return lines, nil
}

// check says what ends the reading after a read that returned err: nil when
// nothing does. What follows the batch's whole lines starts with line, counted
// from 1.
func (s *Source) check(err error, after []byte, line int64) error {
	if err == io.EOF {
		return err
	}
	begun := len(after) - (bytes.LastIndexByte(after, '\n') + 1)
	// A whole line is measured when it is decoded; this is to end one that
	// never ends.
	tooLong := begun > s.maxLine+len("\r")+len(mark)
	if err == nil && !tooLong {
		return nil
	}
	line += int64(bytes.Count(after, newline))
	if tooLong {
		return fmt.Errorf("text: %s: %w", s.name, s.lineTooLong(line))
	}
	return fmt.Errorf("text: %s: reading line %d: %w", s.name, line, err)
}

// lineTooLong is the error for a line, counted from 1.
func (s *Source) lineTooLong(line int64) error {
	return fmt.Errorf("line %d has more than %d octets: if this is a list of URLs take the line out, if it is not say what it is with -in-format", line, s.maxLine)
}

// readOnce appends what one read gives to data.
func readOnce(r io.Reader, data []byte) ([]byte, error) {
	const attempts = 100 // as many as bufio.Reader makes
	start := len(data)
	if cap(data)-start < readSize {
		data = append(make([]byte, 0, max(2*cap(data), start+readSize)), data...)
	}
	for range attempts {
		n, err := r.Read(data[start : start+readSize])
		if n > 0 || err != nil {
			return data[:start+n], err
		}
	}
	return data, io.ErrNoProgress
}

// cutLines returns how many whole lines data starts with, but not more than
// most, and where the last of them ends.
func cutLines(data []byte, most int) (end, lines int) {
	// Counting is far cheaper than finding, so only the last block is searched.
	const block = 4 << 10
	for at := 0; at < len(data); at += block {
		part := data[at:min(at+block, len(data))]
		found := bytes.Count(part, newline)
		if lines+found < most {
			lines += found
			continue
		}
		end = at
		for ; lines < most; lines++ {
			end += bytes.IndexByte(data[end:], '\n') + 1
		}
		return end, lines
	}
	return bytes.LastIndexByte(data, '\n') + 1, lines
}

var newline = []byte{'\n'}
