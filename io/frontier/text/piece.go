package text

import (
	"fmt"

	"robotsbatch/batch"
	"robotsbatch/io/frontier/lines"
)

// memory is what a batch needs. It passes from Source.Next to Piece.Decode, and
// Batch.Release gives it back.
type memory struct {
	data    []byte
	offsets []int32
}

// piece is a run of whole lines.
type piece struct {
	source *Source
	memory *memory
	block  lines.Block
}

// Name implements batch.Piece. Lines are counted from 1.
func (p *piece) Name() string {
	return fmt.Sprintf("text: %s: batch %d (%s)", p.source.name, p.block.Index, p.block.LineRange())
}

// Size implements batch.Piece.
func (p *piece) Size() int64 {
	const offsetSize = 4
	return int64(cap(p.memory.data)) + offsetSize*int64(max(p.block.Lines+1, cap(p.memory.offsets)))
}

// Decode implements batch.Piece. It removes line ends and blank lines in place,
// which leaves a column of rows.
func (p *piece) Decode() (*batch.Batch, error) {
	m := p.memory
	if cap(m.offsets) < p.block.Lines+1 {
		m.offsets = make([]int32, 0, p.block.Lines+1)
	}
	m.offsets = append(m.offsets[:0], 0)
	end := 0
	for line, rest := int64(1), m.data; len(rest) > 0; line++ {
		var row []byte
		row, rest = lines.TakeLine(rest)
		if len(row) > p.source.blocks.MaxLine() {
			return nil, p.source.blocks.TooLong(p.block.FirstLine + line)
		}
		if !blank(row) {
			end += copy(m.data[end:], row)
			m.offsets = append(m.offsets, int32(end))
		}
	}
	return &batch.Batch{
		Input:    p.source.name,
		Index:    p.block.Index,
		FirstRow: p.block.FirstLine,
		URLs:     batch.Column{Offsets32: m.offsets, Data: m.data[:end]},
		Release:  func() { p.source.pool.Put(m) },
	}, nil
}

// blank reports whether a line has only what URL splitting trims.
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
