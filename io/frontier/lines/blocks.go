package lines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"robotsbatch/batch/option"
)

const (
	// defaultMaxLine is the most bytes of a record, without its line end, unless Options say
	// otherwise: 1 MiB.
	defaultMaxLine = 1 << 20

	// readSize is the number of bytes that are read at once.
	readSize = 256 << 10

	// MaxBlockSize is the number of bytes that a block may have before its last record,
	// unless Options say less. Long lines thus make batches of fewer rows.
	MaxBlockSize = 16 << 20
)

// mark is UTF-8's byte order mark.
const mark = "\xEF\xBB\xBF"

// Cutter finds where records end.
type Cutter interface {
	// Cut returns the number of records that end in data[from:], at most most, and the offset in
	// data after the last of them, which is undefined if there is none. data starts with a record.
	// Between calls the caller appends to data; from is its length at the last call. If from is 0,
	// data is another one.
	Cut(data []byte, from, most int) (end, records int)
}

// Block is a run of whole records. The last one of an input needs no line end.
type Block struct {
	// Data are the records with their line ends.
	Data []byte
	// Index is the block's number within its input, from 0.
	Index int
	// Records is the number of records.
	Records int
	// FirstLine is the number of lines before the block.
	FirstLine int64
	// Lines is the number of lines in Data.
	Lines int
}

// lineRange says which lines the block has, such as "lines 1 to 65536".
func (b *Block) lineRange() string {
	return fmt.Sprintf("lines %d to %d", b.FirstLine+1, b.FirstLine+int64(b.Lines))
}

// Line returns the number, from 1, of the line that starts at or before Data[at].
func (b *Block) Line(at int) int64 {
	return b.FirstLine + int64(bytes.Count(b.Data[:at], newline)) + 1
}

// Blocks cuts an input into blocks. One goroutine runs it, so it only searches for the
// ends of records and copies little; workers decode the blocks. It skips a UTF-8 byte
// order mark at the start.
type Blocks struct {
	r       io.Reader
	name    string         // of the input; it begins errors
	rows    int            // the most records of a block
	size    int            // the most bytes of a block before its last record
	maxLine int            // the most bytes of a record without its line end
	hint    option.Message // what to do about a record that is too long
	cutter  Cutter

	begun bool   // a mark was looked for
	rest  []byte // what was read and is in no block yet
	err   error  // what ended the reading, which may be io.EOF; nil before
	index int    // that of the next block
	line  int64  // the number of lines before the next block
}

// MaxLine returns the most bytes a record may have, its line end apart.
func (b *Blocks) MaxLine() int { return b.maxLine }

// Size returns the most bytes of a block before its last record.
func (b *Blocks) Size() int { return b.size }

// LimitRows lowers the most records that a block has, to at least 1.
func (b *Blocks) LimitRows(most int) { b.rows = min(b.rows, most) }

// Header returns the next record as a block of its own, which does not count in the indices of
// blocks.
func (b *Blocks) Header(ctx context.Context) (Block, error) {
	rows := b.rows
	b.rows = 1
	block, err := b.Next(ctx, nil)
	if b.rows = rows; err == nil {
		b.index--
	}
	return block, err
}

// Next returns the next block. It reuses the memory of dst if that is large enough.
// After a failed read it returns the whole records that were read, and then the error
// on every call; io.EOF is the end. It checks ctx before each read, and may be called
// again after an error of ctx. A block that comes with an error has memory to reuse,
// but no records.
//
// Next fails at a record that is longer than MaxLine and whose end was not read yet. The decoder
// checks the length of the others.
func (b *Blocks) Next(ctx context.Context, dst []byte) (Block, error) {
	data, records, err := b.fill(ctx, dst[:0])
	if err != nil {
		return Block{Data: data}, err
	}
	block := Block{Data: data, Index: b.index, Records: records, FirstLine: b.line, Lines: records}
	if _, plain := b.cutter.(lineCutter); !plain {
		block.Lines = bytes.Count(data, newline)
		if data[len(data)-1] != '\n' {
			block.Lines++
		}
	}
	b.index++
	b.line += int64(block.Lines)
	return block, nil
}

// fill appends the records of the next block to data, which is empty, and returns their number. It
// takes them from b.rest, then reads on if these are too few, and keeps what it read beyond them in
// b.rest.
func (b *Blocks) fill(ctx context.Context, data []byte) (_ []byte, records int, err error) {
	if err := b.skipMark(ctx); err != nil {
		return data, 0, err
	}
	rows := b.rows
	end, records := b.cutter.Cut(b.rest, 0, rows) // of the whole records, first in rest and then in data
	if records == 0 {
		end = 0
	}
	if records == rows { // without reading
		data = append(data, b.rest[:end]...)
		b.rest = b.rest[end:]
		return data, records, nil
	}
	data = append(data, b.rest...)
	b.rest = b.rest[:0]
	for records < rows && end < b.size && b.err == nil {
		if err := ctx.Err(); err != nil {
			b.rest = append(b.rest, data...) // for the next call
			return data, 0, err
		}
		start := len(data)
		data, err = readOnce(b.r, data)
		if cut, found := b.cutter.Cut(data, start, rows-records); found > 0 {
			end, records = cut, records+found
		}
		b.err = b.readError(err, data, end, records < rows)
	}
	if b.err == io.EOF && records < rows && end < len(data) {
		return data, records + 1, nil // the last record, without a line end
	}
	if records == 0 {
		return data, 0, b.err
	}
	b.rest = append(b.rest, data[end:]...)
	return data[:end], records, nil
}

// skipMark skips a byte order mark at the start of the input.
func (b *Blocks) skipMark(ctx context.Context) error {
	if b.begun {
		return nil
	}
	for b.err == nil && len(b.rest) < len(mark) && strings.HasPrefix(mark, string(b.rest)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		b.rest, err = readOnce(b.r, b.rest)
		b.err = b.readError(err, b.rest, 0, false) // the start of a mark is no record
	}
	b.begun = true
	b.rest = bytes.TrimPrefix(b.rest, []byte(mark))
	return nil
}

// readError returns the error that ends the reading, after a read that returned err; nil if the
// reading goes on. inRecord says that data[end:] is the start of a record, which must not be too long.
func (b *Blocks) readError(err error, data []byte, end int, inRecord bool) error {
	tooLong := inRecord && len(data)-end > b.maxLine+len("\r")
	switch {
	case err == io.EOF:
		return err // and the last record is measured when it is decoded
	case tooLong:
		line := b.line + int64(bytes.Count(data[:end], newline)) + 1
		return fmt.Errorf("%s: %w", b.name, b.TooLong(line))
	case err != nil:
		line := b.line + int64(bytes.Count(data, newline)) + 1
		return fmt.Errorf("%s: reading line %d: %w", b.name, line, err)
	}
	return nil
}

// TooLong returns the error, without the input's name, for a record that is longer than
// MaxLine and starts in that line, counted from 1.
func (b *Blocks) TooLong(line int64) error {
	what := fmt.Sprintf("line %d", line)
	if _, plain := b.cutter.(lineCutter); !plain {
		what = fmt.Sprintf("the row that starts in line %d", line)
	}
	return option.Errorf("%s has more than %d bytes (%s): %s", what, b.maxLine, option.MaxLine, b.hint)
}

// readOnce appends the bytes of one read to data.
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

// lineCutter is the Cutter of inputs in which a record is a line.
type lineCutter struct{}

func (lineCutter) Cut(data []byte, from, most int) (end, records int) {
	end, records = CutLines(data[from:], most)
	return from + end, records
}

// CutLines returns the number of whole lines that data starts with, at most most, and the offset
// after the last of them; 0 if there is none.
func CutLines(data []byte, most int) (end, lines int) {
	// Counting line ends is far cheaper than finding each, so only the part with the last one is searched.
	const size = 4 << 10
	for at := 0; at < len(data); at += size {
		part := data[at:min(at+size, len(data))]
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

// CutLine splits the first line off data. line is without its line end, LF or CRLF.
func CutLine(data []byte) (line, rest []byte) {
	i := bytes.IndexByte(data, '\n')
	switch {
	case i < 0:
		return data, nil
	case i > 0 && data[i-1] == '\r':
		return data[:i-1], data[i+1:]
	}
	return data[:i], data[i+1:]
}

var newline = []byte{'\n'}
