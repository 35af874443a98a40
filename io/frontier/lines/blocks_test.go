package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"robotsbatch/batch/option"
	"robotsbatch/io/frontier/lines/linestest"
	"robotsbatch/io/store/must"
)

// pairs is a Cutter whose records are two lines each.
type pairs struct{ lines int }

func (c *pairs) Cut(data []byte, from, most int) (end, records int) {
	if from == 0 {
		c.lines = 0
	}
	for at := from; at < len(data) && records < most; at++ {
		if data[at] != '\n' {
			continue
		}
		if c.lines++; c.lines%2 == 0 {
			end, records = at+1, records+1
		}
	}
	return end, records
}

// TestBlocks has blocks follow each other without a gap, whatever the reads and
// the records are, also when a context ends in the first read.
func TestBlocks(t *testing.T) {
	var b strings.Builder
	for i := range 101 {
		fmt.Fprintf(&b, "line %d%s\n", i, strings.Repeat("x", i*i%40))
	}
	for _, input := range []string{b.String(), strings.TrimSuffix(b.String(), "\n"), "\n", "x", mark + "\n\n\n", ""} {
		for _, rows := range []int{0, 1, 3, 100} {
			for _, cutter := range []Cutter{nil, &pairs{}} {
				for _, r := range []io.Reader{strings.NewReader(input), iotest.OneByteReader(strings.NewReader(input)), iotest.DataErrReader(strings.NewReader(input))} {
					ctx, cancel := context.WithCancel(t.Context())
					cancelling := linestest.ReaderFunc(func(p []byte) (int, error) { cancel(); return r.Read(p) })
					testBlocks(ctx, t, strings.TrimPrefix(input, mark), (&Options{BatchRows: rows}).Blocks(cancelling, option.Message{}, cutter))
				}
			}
		}
	}
}

func testBlocks(ctx context.Context, t *testing.T, input string, blocks *Blocks) {
	t.Helper()
	var got []byte
	lines := int64(0)
	_, plain := blocks.cutter.(lineCutter)
	for index := 0; ; index++ {
		block, err := blocks.Next(ctx, nil)
		if errors.Is(err, context.Canceled) {
			block, err = blocks.Next(t.Context(), nil)
		}
		if err == io.EOF {
			break
		}
		must.Do(t, err)
		wantLines := bytes.Count(block.Data, newline)
		if !bytes.HasSuffix(block.Data, newline) {
			wantLines++
		}
		wantRecords := wantLines
		if !plain {
			wantRecords = (wantLines + 1) / 2
		}
		must.Be(t, block.Index == index && block.FirstLine == lines && block.Lines == wantLines && block.Records == wantRecords,
			"block %d after %d lines: %+v", index, lines, block)
		must.Be(t, block.Records != 0 && block.Records <= blocks.rows, "%d records, want at most %d", block.Records, blocks.rows)
		last := len(block.Data) - 1
		must.Be(t, block.Line(last) == lines+int64(block.Lines), "the last line is %d", block.Line(last))
		lines += int64(block.Lines)
		got = append(got, block.Data...)
	}
	must.Equal(t, string(got), input, "blocks of")
}

func TestStrings(t *testing.T) {
	var s Strings
	for range 2 { // the memory is used again
		s.Reset(10)
		for i := range 10 {
			s.Data = append(s.Data, strings.Repeat("x", i)...)
			if i%3 == 1 {
				s.Data = s.Data[:len(s.Data)-i]
				s.Null()
				continue
			}
			s.End()
		}
		column := s.Column()
		must.Do(t, column.Validate())
		record := Record(StringSchema("a", "b"), []*Strings{&s, &s})
		for i := range 10 {
			if column.Null(i) != (i%3 == 1) || record.Column(1).IsNull(i) != column.Null(i) {
				t.Errorf("row %d: null %v in the column, %v in the record", i, column.Null(i), record.Column(1).IsNull(i))
			}
			if !column.Null(i) && (len(column.Value(i)) != i || record.Column(0).ValueStr(i) != string(column.Value(i))) {
				t.Errorf("row %d: %q", i, column.Value(i))
			}
		}
		record.Release()
		s.Reset(3)
		s.End()
		column = s.Column()
		must.Be(t, column.Validity == nil && column.Len() == 1, "after Reset: %+v", column)
	}
}

// Blanks counts as one that looks at each line does.
func TestBlanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		data := make([]byte, rng.IntN(40))
		for i := range data {
			data[i] = "ab \t\n\r\n\v"[rng.IntN(8)]
		}
		var got Blanks
		got.Add(&Block{Data: data, FirstLine: 7})
		count, line, first := int64(0), int64(0), ""
		for number, rest := int64(7), data; len(rest) > 0; number++ {
			var row []byte
			row, rest = CutLine(rest)
			if row = bytes.Trim(row, " \t\r\v\f"); !bytes.ContainsAny(row, " \t") {
				continue
			}
			if count++; count == 1 {
				line, first = number, string(row)
			}
		}
		n, text := got.Count()
		must.Need(t, n == count && text == first && got.line == line, "%q: %d, the first %q in line %d; want %d, %q, %d", data, n, text, got.line, count, first, line)
	}
}
