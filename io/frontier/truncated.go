package frontier

import (
	"sync/atomic"

	"robotsbatch/batch"
)

// Truncated is an input that ended too early. The rows before its end were taken.
type Truncated struct {
	Input string
	// Err says where the input ended.
	Err  error
	rows *atomic.Int64 // decoded so far
}

// Rows returns the number of rows before the end. Call it after the last one was decoded.
func (t *Truncated) Rows() int64 { return t.rows.Load() }

// Truncated returns the inputs that ended too early so far. Call it after the last piece was read.
func (c *Concatenation) Truncated() []Truncated { return c.truncated }

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

// Kept is what [batch.Kept] asks for.
func (p countedPiece) Kept() int64 { return batch.Kept(p.Piece) }

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
