package pagefilter

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/tables"
)

// Selection says which rows of a row group are kept: a bit for each, the lowest bit of a byte first.
type Selection struct {
	bits []byte // and eight bytes more, so that a word can be read from any row on
	n    int
}

// NewSelection returns a selection of none of n rows.
func NewSelection(n int) *Selection { return &Selection{bits: make([]byte, (n+7)/8+8), n: n} }

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

// appendRuns appends the runs of kept rows from low to high-1, counted from base on. It never extends
// a run that is there.
func (s *Selection) appendRuns(dst tables.Rows, low, high, base int) tables.Rows {
	for at := low; at < high; {
		at = s.next(at, high, toKept)
		end := s.next(at, high, toLeftOut)
		if at < end {
			dst = append(dst, tables.Run{Low: at - base, High: end - base})
		}
		at = end
	}
	return dst
}

// countRuns returns the number of runs of kept rows from low to high-1, or most+1 if there are more
// than most.
func (s *Selection) countRuns(low, high, most int) (n int) {
	for at := low; at < high && n <= most; n++ {
		if at = s.next(at, high, toKept); at == high {
			return n
		}
		at = s.next(at, high, toLeftOut)
	}
	return n
}

// What next looks for: words are flipped so that it is a 1.
const (
	toKept    = 0
	toLeftOut = ^uint64(0)
)

// next returns the first row from at on, and before high, that is kept or left out, as flip says; high
// if there is none.
func (s *Selection) next(at, high int, flip uint64) int {
	for at < high {
		word := (binary.LittleEndian.Uint64(s.bits[at>>3:]) ^ flip) >> (at & 7)
		if word != 0 {
			return min(high, at+bits.TrailingZeros64(word))
		}
		at += 64 - at&7
	}
	return high
}
