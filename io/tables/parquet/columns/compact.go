package columns

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"robotsbatch/io/tables/parquet/layout"
)

// Bits are the entries of a column of booleans by row, as bits with the lowest bit of a byte
// first. With a byte for each boolean, a job with a column for each of 20 agents takes twice the processor time,
// and for each of 166 agents 5 times, and 2.5 times the memory.
type Bits struct {
	// Values and Valid have whole bytes. Valid is nil when no row is null.
	Values, Valid []byte
}

// Count returns how many of the first n rows have a value.
func (b *Bits) Count(n int) int {
	if b.Valid == nil {
		return n
	}
	return bitutil.CountSetBits(b.Valid, 0, n)
}

// plain returns the first n rows as a leaf with a byte for each boolean.
func (b *Bits) plain(n int) *Leaf {
	l := &Leaf{N: n, Fixed: unpack(make([]byte, (n+7)&^7), b.Values)[:n]}
	if b.Count(n) == n {
		return l
	}
	l.Definitions = unpack(make([]byte, (n+7)&^7), b.Valid)[:n]
	to := 0 // the next value's place: nulls take none
	for row, definition := range l.Definitions {
		if l.Fixed[to] = l.Fixed[row]; definition > 0 {
			to++
		}
	}
	l.Fixed = l.Fixed[:to]
	return l
}

// unpack sets dst[i], for each i up to a multiple of eight, to bit i of packed, and returns dst. dst has at
// most eight bytes for each byte of packed.
func unpack(dst, packed []byte) []byte {
	for i := range len(dst) / 8 {
		binary.LittleEndian.PutUint64(dst[8*i:], layout.BitBytes(packed[i]))
	}
	return dst
}

// flatBits returns the leaf of a top-level column of booleans, which shares the memory of array d. e must be
// its rows ([entries.isRows]).
func flatBits(d *array.Data, e *entries) Leaf {
	l := Leaf{N: e.n, Bits: &Bits{Values: elements[byte](d, 1)[e.low>>3:]}}
	if valid := validity(d); valid != nil {
		l.Bits.Valid = valid[e.low>>3:]
	}
	return l
}

// Lists are the entries of a column of lists of text, of which many rows have the same: with each row's own, a
// job that lists 166 agents takes 4 times the processor time and 8 times the memory. A
// text is given by its number among the distinct ones, which the leaf has in Data.
type Lists struct {
	// Of has the number of each row's list, negative for null.
	Of []int32
	// List i is Codes[Ends[i]:Ends[i+1]].
	Ends, Codes []int32
}

// count returns how many entries and values the lists of all rows have. A null or empty list has one entry
// and no value.
func (x *Lists) count() (entries, values int) {
	for _, list := range x.Of {
		length := 0
		if list >= 0 {
			length = int(x.Ends[list+1] - x.Ends[list])
		}
		entries += max(1, length)
		values += length
	}
	return entries, values
}

// Page sets page to the levels of some rows, and appends the codes of their values. The first of these rows is row. Page
// ends before the first one that would begin at entry most or later, and returns it as next. n is the lists' leaf. page's
// memory is used again.
func (x *Lists) Page(n *Node, page *Leaf, codes []int32, row, most int) (next int, _ []int32) {
	repetitions, definitions := page.Repetitions[:0], page.Definitions[:0]
	for ; row < len(x.Of) && len(repetitions) < most; row++ {
		var values []int32
		level := uint8(0) // the definition level of a null; 1 is that of an empty list
		if list := x.Of[row]; list >= 0 {
			level, values = 1, x.Codes[x.Ends[list]:x.Ends[list+1]]
		}
		if len(values) == 0 {
			repetitions, definitions = append(repetitions, 0), append(definitions, level)
			continue
		}
		repetition := uint8(0) // of the first value, which begins the row
		for range values {
			repetitions, definitions = append(repetitions, repetition), append(definitions, n.MaxDefinition)
			repetition = n.MaxRepetition
		}
		codes = append(codes, values...)
	}
	page.N, page.Repetitions, page.Definitions = len(repetitions), repetitions, definitions
	return row, codes
}

// plain returns the entries of all rows, with texts in place of codes. l is the leaf that has x, and n its
// node.
func (x *Lists) plain(n *Node, l *Leaf) *Leaf {
	p := &Leaf{Offsets: []int32{0}}
	_, codes := x.Page(n, p, nil, 0, math.MaxInt) // from row 0, all rows
	for _, code := range codes {
		p.Data = append(p.Data, l.Data[l.Offsets[code]:l.Offsets[code+1]]...)
		p.Offsets = append(p.Offsets, int32(len(p.Data)))
	}
	return p
}

// textSize returns the bytes of the texts of all rows, each text counted as often as it comes. l is the leaf
// that has x.
func (x *Lists) textSize(l *Leaf) (size int64) {
	sizes := make([]int64, len(x.Ends)-1) // of each list; 0 if it is not computed yet, or has no bytes
	for _, list := range x.Of {
		if list < 0 {
			continue
		}
		if sizes[list] == 0 {
			for _, code := range x.Codes[x.Ends[list]:x.Ends[list+1]] {
				sizes[list] += int64(l.Offsets[code+1] - l.Offsets[code])
			}
		}
		size += sizes[list]
	}
	return size
}

// codedLists returns the leaf of a top-level column of [tables.CodedLists], which shares the memory of array
// d. e has its rows.
func codedLists(d *array.Data, e *entries) Leaf {
	lists := d.Dictionary().(*array.Data)
	numbers := lists.Children()[0].(*array.Data)
	texts := numbers.Dictionary().(*array.Data)
	x := &Lists{Of: elements[int32](d, 1)[e.low : e.low+e.n], Ends: elements[int32](lists, 1), Codes: elements[int32](numbers, 1)}
	l := Leaf{Lists: x, Data: elements[byte](texts, 2), Offsets: elements[int32](texts, 1)}
	l.N, _ = x.count()
	return l
}
