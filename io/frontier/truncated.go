package frontier

import (
	"sync/atomic"

	"robotsbatch/batch"
)

// Truncated is an input that ended too early. The rows before its end were taken.
type Truncated struct {
	Input string
	// Err says where the input ended.
	Err error
	// Rows is the number of rows before the end.
	Rows int64
}

// cut is a Truncated whose rows are not all decoded yet.
type cut struct {
	input string
	err   error
	rows  *atomic.Int64
}

// Truncated returns the inputs that ended too early. Call it after the last row was
// decoded.
func (c *Concatenation) Truncated() []Truncated {
	var all []Truncated
	for _, t := range c.truncated {
		all = append(all, Truncated{t.input, t.err, t.rows.Load()})
	}
	return all
}

// countedPiece is a piece that counts its rows when it is decoded.
type countedPiece struct {
	batch.Piece
	rows *atomic.Int64
}

// Decode implements batch.Piece, and counts the rows.
func (p countedPiece) Decode() (*batch.Batch, error) {
	b, err := p.Piece.Decode()
	if err == nil {
		p.rows.Add(int64(b.URLs.Len()))
	}
	return b, err
}

// Ready implements batch.Waiting.
func (p countedPiece) Ready(g *batch.Grant, again func()) bool {
	waiting, ok := p.Piece.(batch.Waiting)
	return !ok || waiting.Ready(g, again)
}

// Kept implements batch.Sharing.
func (p countedPiece) Kept() int64 {
	if sharing, ok := p.Piece.(batch.Sharing); ok {
		return sharing.Kept()
	}
	return 0
}

// Freed implements batch.Freeing.
func (p countedPiece) Freed() int64 {
	if freeing, ok := p.Piece.(batch.Freeing); ok {
		return freeing.Freed()
	}
	return 0
}

// Continued implements batch.Continued.
func (p countedPiece) Continued() bool {
	part, ok := p.Piece.(batch.Continued)
	return ok && part.Continued()
}
