package pagefilter

import (
	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/tables"
)

// Selection says which rows of a row group are kept: a bit for each, the lowest bit of a byte first.
type Selection struct {
	bits tables.Bitmap // eight bytes longer than the rows need, so that a word can be read at any row
	n    int           // rows
}

// NewSelection returns a selection of none of n rows.
func NewSelection(n int) *Selection { return &Selection{bits: make(tables.Bitmap, (n+7)/8+8), n: n} }

// Keep adds the rows from low to high-1.
func (s *Selection) Keep(low, high int) {
	bitutil.SetBitsTo(s.bits, int64(low), int64(high-low), true)
}

// Len returns the number of rows, kept or not.
func (s *Selection) Len() int { return s.n }

// has reports whether a row is kept.
func (s *Selection) has(row int) bool { return s.bits[row>>3]>>(row&7)&1 == 1 }

// Count returns how many of the rows from low to high-1 are kept.
func (s *Selection) Count(low, high int) int { return bitutil.CountSetBits(s.bits, low, high-low) }
