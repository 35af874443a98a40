package tables

import (
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
)

// These loops are those of both gatherers: of [Maker], which makes arrays, and of arrow/ipc, which makes
// the buffers of a record batch. They change what refers to values (offsets, views, run ends) so that
// it refers to the values that are kept. An error says what is damaged.

// dataOf returns the values in a buffer. The library's form of it has a pointer to the first of
// them, which an empty buffer need not have room for.
func dataOf[T arrow.FixedWidthType | arrow.ViewHeader](buffer []byte) []T {
	if len(buffer) == 0 {
		return nil
	}
	return arrow.GetData[T](buffer)
}

// CopyValues copies the rows' values, of width bytes each, to the beginning of dst, and returns the
// number of bytes. dst may be src.
func (r Rows) CopyValues(dst, src []byte, width int) (n int) {
	for _, run := range r {
		n += copy(dst[n:], src[run.Low*width:run.High*width])
	}
	return n
}

// Times returns the runs of the values of rows that have n values each.
func (r Rows) Times(n int) Rows {
	values := make(Rows, len(r))
	for i, run := range r {
		values[i] = Run{run.Low * n, run.High * n}
	}
	return values
}

// CheckOffsets checks that offsets of width bytes rise from 0 or more, and returns the last.
func CheckOffsets(offsets []byte, width int) (int, error) {
	if width == 4 {
		return rising(dataOf[int32](offsets))
	}
	return rising(dataOf[int64](offsets))
}

// rising is CheckOffsets for one width.
func rising[T int32 | int64](offsets []T) (int, error) {
	last := T(0)
	for i, offset := range offsets {
		if offset < last {
			return 0, fmt.Errorf("damaged: offset %d is %d after %d", i, offset, last)
		}
		last = offset
	}
	return int(last), nil
}

// MoveOffsets sets to, which has room for an offset of width bytes more than there are rows, to the
// rows' offsets, from 0 on. from are those of the input. It returns the runs of values between them.
func (r Rows) MoveOffsets(to, from []byte, width int) (values Rows) {
	clear(to[:width])
	if width == 4 {
		return moveOffsets(dataOf[int32](to), dataOf[int32](from), r)
	}
	return moveOffsets(dataOf[int64](to), dataOf[int64](from), r)
}

// moveOffsets is MoveOffsets for one width. to[0] is 0 already.
func moveOffsets[T int32 | int64](to, from []T, rows Rows) (values Rows) {
	at, last := 1, T(0)
	for _, r := range rows {
		base := from[r.Low]
		for _, offset := range from[r.Low+1 : r.High+1] {
			to[at] = last + offset - base
			at++
		}
		last = to[at-1]
		values = values.Add(int(base), int(from[r.High]))
	}
	return values
}

// Valid has a bit for each row, the lowest bit of a byte first; nil if none is null.
type Valid []byte

// MoveLists changes the offsets of list views, of width bytes each, to those into the values that the
// lists have, and returns the runs of these. Null lists become empty. v is the lists' validity.
func (v Valid) MoveLists(offsets, sizes []byte, width int) (Rows, error) {
	if width == 4 {
		return moveLists(dataOf[int32](offsets), dataOf[int32](sizes), v)
	}
	return moveLists(dataOf[int64](offsets), dataOf[int64](sizes), v)
}

// moveLists is MoveLists for one width.
func moveLists[T int32 | int64](offsets, sizes []T, valid Valid) (Rows, error) {
	var values places
	for i, size := range sizes {
		at := offsets[i]
		switch {
		case size == 0 || !valid.has(i):
			sizes[i] = 0
		case at < 0 || size < 0 || at+size < at:
			return nil, fmt.Errorf("damaged: list %d of the output has %d values from %d on", i, size, at)
		default:
			values.Add(int(at), int(at)+int(size))
		}
	}
	values.arrange()
	for i, size := range sizes {
		if size == 0 {
			offsets[i] = 0
		} else {
			offsets[i] = T(values.find(int(offsets[i])))
		}
	}
	return values.Rows, nil
}

// MoveViews changes views into count buffers to those into the parts of these that the views refer to,
// and returns the parts of each buffer. A buffer without any is left out: it has nil, and the next one
// its number. Views of null values become empty. v is the values' validity.
func (v Valid) MoveViews(header []byte, count int) ([]Rows, error) {
	views, buffers := dataOf[arrow.ViewHeader](header), make([]places, count)
	for i := range views {
		view := &views[i]
		if !v.has(i) {
			*view = arrow.ViewHeader{}
			continue
		}
		if view.Len() >= 0 && view.IsInline() {
			continue
		}
		buffer, begin := int(view.BufferIndex()), int(view.BufferOffset())
		if view.Len() < 0 || buffer < 0 || buffer >= count || begin < 0 {
			return nil, fmt.Errorf("damaged: value %d of the output: %d bytes from byte %d of buffer %d", i, view.Len(), begin, buffer)
		}
		buffers[buffer].Add(begin, begin+view.Len())
	}
	kept, number, numbers := make([]Rows, count), int32(0), make([]int32, count)
	for i := range buffers {
		buffers[i].arrange()
		kept[i], numbers[i] = buffers[i].Rows, number
		if kept[i] != nil {
			number++
		}
	}
	for i := range views {
		if view := &views[i]; !view.IsInline() {
			buffer := view.BufferIndex()
			view.SetIndexOffset(numbers[buffer], int32(buffers[buffer].find(int(view.BufferOffset()))))
		}
	}
	return kept, nil
}

// MoveUnion changes the offsets of a dense union, of 4 bytes each, to those into the values that they
// refer to, and returns the runs of these for each child. codes are the values' type codes, and of the
// children's.
func MoveUnion(codes, offsetBytes []byte, of []arrow.UnionTypeCode) ([]Rows, error) {
	offsets := dataOf[int32](offsetBytes)
	child, used := unionChildren(of), make([]places, len(of))
	for i, at := range offsets {
		code := arrow.UnionTypeCode(codes[i])
		if code < 0 || child[code] < 0 || at < 0 {
			return nil, fmt.Errorf("damaged: value %d of the output has the type code %d and the offset %d", i, code, at)
		}
		used[child[code]].Add(int(at), int(at)+1)
	}
	kept := make([]Rows, len(of))
	for i := range used {
		used[i].arrange()
		kept[i] = used[i].Rows
	}
	for i, at := range offsets {
		offsets[i] = int32(used[child[codes[i]]].find(int(at)))
	}
	return kept, nil
}

// risingEnds checks that the ends of runs rise, and that the last is not below rows.
func risingEnds[T int16 | int32 | int64](ends []T, rows int) error {
	last := T(0)
	for i, end := range ends {
		if end <= last {
			return fmt.Errorf("damaged: run %d ends at %d after %d", i, end, last)
		}
		last = end
	}
	if int64(last) < int64(rows) {
		return fmt.Errorf("damaged: runs of %d rows do not cover %d", last, rows)
	}
	return nil
}

// MoveRunEnds sets to to the ends, of width bytes each, of the runs that have some of the rows, and
// returns which of the input's runs these are. from are the ends of the input's, which must cover its n
// rows.
func (r Rows) MoveRunEnds(to, from []byte, width, n int) (runs Rows, err error) {
	switch width {
	case 2:
		return moveRunEnds(dataOf[int16](to), dataOf[int16](from), r, n)
	case 4:
		return moveRunEnds(dataOf[int32](to), dataOf[int32](from), r, n)
	}
	return moveRunEnds(dataOf[int64](to), dataOf[int64](from), r, n)
}

// moveRunEnds is MoveRunEnds for one width.
func moveRunEnds[T int16 | int32 | int64](to, from []T, rows Rows, n int) (runs Rows, err error) {
	if err := risingEnds(from, n); err != nil {
		return nil, err
	}
	moved, made := 0, 0 // rows, and runs of the output
	for _, r := range rows {
		low := r.Low
		for i := sort.Search(len(from), func(i int) bool { return int(from[i]) > low }); low < r.High; i++ {
			high := min(int(from[i]), r.High)
			moved, low = moved+high-low, high
			if len(runs) == 0 || runs[len(runs)-1].High != i+1 {
				runs = runs.Add(i, i+1)
				made++
			}
			if to[made-1] = T(moved); int(to[made-1]) != moved { // rows that are taken more than once
				return nil, fmt.Errorf("runs of %d rows do not fit into their type", moved)
			}
		}
	}
	return runs, nil
}

func (v Valid) has(i int) bool { return v == nil || v[i>>3]>>(i&7)&1 == 1 }

// places are the parts of a buffer, or of an array's values, to which views or offsets refer. They are
// added in any order, and some more than once. After arrange, find tells where they lie once all else
// is left out.
type places struct {
	Rows
	begins []int // where each run begins once all else is left out
	last   int   // the run that was found last
}

// Add adds the bytes or values from low to high-1.
func (p *places) Add(low, high int) { p.Rows = p.Rows.Add(low, high) }

// arrange sorts the parts and joins those that overlap or touch.
func (p *places) arrange() {
	byLow := func(x, y Run) int { return x.Low - y.Low }
	if !slices.IsSortedFunc(p.Rows, byLow) {
		slices.SortFunc(p.Rows, byLow)
	}
	joined := p.Rows[:0]
	for _, r := range p.Rows {
		if last := len(joined) - 1; last >= 0 && r.Low <= joined[last].High {
			joined[last].High = max(joined[last].High, r.High)
		} else {
			joined = append(joined, r)
		}
	}
	p.Rows, p.begins = joined, make([]int, len(joined))
	at := 0
	for i, r := range joined {
		p.begins[i] = at
		at += r.High - r.Low
	}
}

// find returns where a byte or value that was added lies once all else is left out.
func (p *places) find(at int) int {
	if r := p.Rows[p.last]; at < r.Low || at >= r.High {
		p.last = sort.Search(len(p.Rows), func(i int) bool { return p.Rows[i].High > at })
	}
	return p.begins[p.last] + at - p.Rows[p.last].Low
}
