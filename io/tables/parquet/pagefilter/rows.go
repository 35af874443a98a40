package pagefilter

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/tables"
)

// Rows are the kept rows of a row group: a bit each, the lowest bit of a byte first.
type Rows struct {
	bits []byte
	n    int
}

// NewRows returns n rows of which none stays.
func NewRows(n int) *Rows { return &Rows{bits: make([]byte, (n+7)/8+8), n: n} }

// Keep says that the rows from low to high-1 stay.
func (r *Rows) Keep(low, high int) {
	bitutil.SetBitsTo(r.bits, int64(low), int64(high-low), true)
}

// Len returns the number of rows, those that are left out included.
func (r *Rows) Len() int { return r.n }

// has reports whether a row stays.
func (r *Rows) has(row int) bool { return r.bits[row>>3]>>(row&7)&1 == 1 }

// Count returns how many of the rows from low to high-1 stay.
func (r *Rows) Count(low, high int) int { return bitutil.CountSetBits(r.bits, low, high-low) }

// run is some entries or values.
type run = tables.Run

// appendRuns appends the runs of kept rows from low to high-1, counted from low.
func (r *Rows) appendRuns(dst []run, low, high int) []run {
	for at := low; at < high; {
		at = r.next(at, high, 0)
		end := r.next(at, high, ^uint64(0))
		if at < end {
			dst = append(dst, run{Low: at - low, High: end - low})
		}
		at = end
	}
	return dst
}

// countRuns returns how many runs of rows from low to high-1 stay, most+1 for more than most.
func (r *Rows) countRuns(low, high, most int) (n int) {
	for at := low; at < high && n <= most; n++ {
		if at = r.next(at, high, 0); at == high {
			return n
		}
		at = r.next(at, high, ^uint64(0))
	}
	return n
}

// next returns the first row from at on that stays or, if flip has all bits, that does not; high for
// none.
func (r *Rows) next(at, high int, flip uint64) int {
	for at < high {
		word := (binary.LittleEndian.Uint64(r.bits[at>>3:]) ^ flip) >> (at & 7)
		if word != 0 {
			return min(high, at+bits.TrailingZeros64(word))
		}
		at += 64 - at&7
	}
	return high
}
