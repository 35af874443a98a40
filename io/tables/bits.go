package tables

import (
	"encoding/binary"
	"math/bits"
)

// Bitmap has the bits of rows, the lowest bit of a byte first.
type Bitmap []byte

// wordBits is the number of bits that Bitmap.word returns, wherever in a byte they begin.
const wordBits = 56

// word returns wordBits bits from bit i on, the first lowest, and perhaps more above them. After the
// bitmap's last byte they are 0.
func (b Bitmap) word(i int) uint64 {
	if at := i >> 3; at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:]) >> (i & 7)
	}
	var last [8]byte
	copy(last[:], b[min(i>>3, len(b)):])
	return binary.LittleEndian.Uint64(last[:]) >> (i & 7)
}

// CopyBits copies the rows' bits to the beginning of to, which has room for all. It collects them in a
// word, because runs may have a row each: a call for each run would take longer than the copy.
func (r Rows) CopyBits(to, bits []byte) {
	from := Bitmap(bits)
	word, n := uint64(0), 0 // bits that wait, fewer than 8
	for _, run := range r {
		low := run.Low
		if n == 0 && low&7 == 0 {
			whole := (run.High - low) >> 3
			to = to[copy(to, from[low>>3:low>>3+whole]):]
			low += 8 * whole
		}
		for low < run.High {
			part := min(run.High-low, wordBits)
			word |= from.word(low) & (1<<part - 1) << n
			low += part
			for n += part; n >= 8; n -= 8 {
				to[0] = byte(word)
				to, word = to[1:], word>>8
			}
		}
	}
	if n > 0 {
		to[0] = byte(word)
	}
}

// RowsOf returns the rows whose bits are 1 among the first n, the lowest bit of a byte first.
func RowsOf(ones []byte, n int) Rows {
	from := Bitmap(ones)
	count, last := 0, uint64(0)
	for i := 0; i < n; i += wordBits {
		word := from.word(i) & (1<<wordBits - 1)
		count += bits.OnesCount64(word &^ (word<<1 | last))
		last = word >> (wordBits - 1)
	}
	var runs Rows
	if count > 0 { // runs that begin in the bits after the first n included
		runs = make(Rows, 0, count)
	}
	return from.AppendRuns(runs, 0, n, 0)
}

// AppendRuns appends the runs of 1 from bit low to high-1, as rows that are counted from base on. It
// never extends a run that is there.
func (b Bitmap) AppendRuns(dst Rows, low, high, base int) Rows {
	for at := b.one(low, high); at < high; {
		end := b.zero(at, high)
		dst = append(dst, Run{at - base, end - base})
		at = b.one(end, high)
	}
	return dst
}

// CountRuns returns the number of runs of 1 from bit low to high-1, or most+1 if there are more than most.
func (b Bitmap) CountRuns(low, high, most int) (n int) {
	for at := b.one(low, high); at < high && n <= most; n++ {
		at = b.one(b.zero(at, high), high)
	}
	return n
}

// one returns the first bit from i on, and before n, that is 1; n if there is none.
func (b Bitmap) one(i, n int) int { return b.next(i, n, 0) }

// zero returns the first bit from i on, and before n, that is 0; n if there is none.
func (b Bitmap) zero(i, n int) int { return b.next(i, n, ^uint64(0)) }

// next returns the first bit from i on, and before n, that is 1 once flip, all ones or none, flips
// words; n if there is none.
func (b Bitmap) next(i, n int, flip uint64) int {
	for ; i < n; i += wordBits {
		if word := (b.word(i) ^ flip) & (1<<wordBits - 1); word != 0 {
			return min(n, i+bits.TrailingZeros64(word))
		}
	}
	return n
}
