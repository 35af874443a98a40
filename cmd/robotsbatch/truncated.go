package main

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"robotsbatch/batch"
)

// truncated is an input that ended too early and was taken as far as it came
// (-accept-truncated).
type truncated struct {
	input string
	err   error
	rows  *atomic.Int64
}

// counted is a piece whose rows are counted when they are known.
type countedPiece struct {
	batch.Piece
	rows *atomic.Int64
}

// Decode implements batch.Piece.
func (p countedPiece) Decode() (*batch.Batch, error) {
	b, err := p.Piece.Decode()
	if err == nil {
		p.rows.Add(int64(b.URLs.Len()))
	}
	return b, err
}

// Kept implements batch.Sharing.
func (p countedPiece) Kept() int64 {
	if sharing, ok := p.Piece.(batch.Sharing); ok {
		return sharing.Kept()
	}
	return 0
}

// isCut tells whether an error is that of an input that ends too early.
func isCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// truncatedSummary is a truncated input in the summary.
type truncatedSummary struct {
	Input string `json:"input"`
	// Rows that came before the cut.
	Rows int64 `json:"rows"`
}

// reportTruncated says which inputs of an output that is done were cut.
func (j *job) reportTruncated(src *concatenation) {
	for _, t := range src.truncated {
		rows := t.rows.Load()
		j.log.warn(fmt.Sprintf("%s is cut, and its first %s taken: %v", t.input, counted(rows, "row was", "rows were"), t.err))
		j.summary.Truncated = append(j.summary.Truncated, truncatedSummary{t.input, rows})
	}
}
