package text

import (
	"bytes"
	"fmt"

	"robotsbatch/batch"
)

// memory is what a batch needs. It goes round: Source.Next, Piece.Decode,
// Batch.Release.
type memory struct {
	data    []byte
	offsets []int32
}

// piece is a run of whole lines.
type piece struct {
	source    *Source
	memory    *memory
	index     int
	firstLine int64 // from 0
	lines     int   // blank ones included
}

// Name implements batch.Piece. Lines are counted from 1.
func (p *piece) Name() string {
	return fmt.Sprintf("text: %s: batch %d (lines %d to %d)", p.source.name, p.index, p.firstLine+1, p.firstLine+int64(p.lines))
}

// Size implements batch.Piece.
func (p *piece) Size() int64 {
	const offsetSize = 4
	return int64(cap(p.memory.data)) + offsetSize*int64(max(p.lines+1, cap(p.memory.offsets)))
}

// Decode implements batch.Piece. It closes the gaps that line ends and blank
// lines leave, so that the rows are a column.
func (p *piece) Decode() (*batch.Batch, error) {
	m := p.memory
	data := m.data
	if p.index == 0 {
		data = bytes.TrimPrefix(data, []byte(mark))
	}
	if cap(m.offsets) < p.lines+1 {
		m.offsets = make([]int32, 0, p.lines+1)
	}
	m.offsets = append(m.offsets[:0], 0)
	end := 0
	for line := int64(1); len(data) > 0; line++ {
		row, next := data, len(data)
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			row, next = data[:i], i+1
			if i > 0 && data[i-1] == '\r' {
				row = data[:i-1]
			}
		}
		if len(row) > p.source.maxLine {
			return nil, p.source.lineTooLong(p.firstLine + line)
		}
		if !blank(row) {
			end += copy(m.data[end:], row)
			m.offsets = append(m.offsets, int32(end))
		}
		data = data[next:]
	}
	return &batch.Batch{
		Input:    p.source.name,
		Index:    p.index,
		FirstRow: p.firstLine,
		URLs:     batch.Column{Offsets32: m.offsets, Data: m.data[:end]},
		Release:  func() { p.source.pool.Put(m) },
	}, nil
}

// blank tells whether a line has nothing that URL splitting would not trim.
func blank(line []byte) bool {
	for _, c := range line {
		switch c {
		case ' ', '\t', '\r', '\v', '\f':
		default:
			return false
		}
	}
	return true
}
