package tables

import (
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
)

// [Maker], which makes arrays, and arrow/ipc, which makes the buffers of a record batch, both leave out values. Then
// offsets, views and run ends must change, because the values to which they refer move. These functions change them, and
// say which values are kept. An error says what is damaged.

// dataOf returns the values in a buffer, in its memory. The library's function takes an empty buffer for memory of one
// value, which the race detector refuses.
func dataOf[T arrow.FixedWidthType | arrow.ViewHeader](buffer []byte) []T {
	if len(buffer) == 0 {
		return nil
	}
	return arrow.GetData[T](buffer)
}

// CopyValues copies the rows' values in src, of width bytes each, to the beginning of dst, and returns the
// number of bytes. dst may be src if rows rise: no value is then overwritten before it is copied.
func (r Rows) CopyValues(dst, src []byte, width int) (n int) {
	for _, run := range r {
		n += copy(dst[n:], src[run.Low*width:run.High*width])
	}
	return n
}

// Times returns the values of these rows in an array that has n values for each row.
func (r Rows) Times(n int) Rows {
	values := make(Rows, len(r))
	for i, run := range r {
		values[i] = Run{run.Low * n, run.High * n}
	}
	return values
}

// CheckOffsets checks that offsets of 4 or 8 bytes begin with 0 or more and never fall, and returns the last one;
// 0 if there is none.
func CheckOffsets(offsets []byte, width int) (int, error) {
	if width == 4 {
		return rising(dataOf[int32](offsets))
	}
	return rising(dataOf[int64](offsets))
}

// rising checks offsets of one width, and returns the last: see CheckOffsets.
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

// MoveOffsets is for texts and lists, whose values are left out if they belong to other rows. It fills to with the rows'
// new offsets, which begin with 0 and are one more than the rows, and returns the runs of values that are kept. from has
// the old offsets of all rows, which were checked. An offset has width bytes.
func (r Rows) MoveOffsets(to, from []byte, width int) (values Rows) {
	clear(to[:width])
	if width == 4 {
		return moveOffsets(dataOf[int32](to), dataOf[int32](from), r)
	}
	return moveOffsets(dataOf[int64](to), dataOf[int64](from), r)
}

// moveOffsets moves offsets of one width: see MoveOffsets. to[0] is 0 already.
func moveOffsets[T int32 | int64](to, from []T, rows Rows) (values Rows) {
	at, last := 1, T(0) // index in to of the next offset, and the offset before
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

// Valid is a validity bitmap: a bit for each row, 0 for null, the lowest bit of a byte first. It is nil if none is
// null.
type Valid []byte

// has reports whether row i is not null.
func (v Valid) has(i int) bool { return v == nil || v[i>>3]>>(i&7)&1 == 1 }

// MoveLists is for list views, whose values are left out if no list has them. It changes the offsets to match, makes null
// lists empty, and returns the runs of values that are kept. Offsets and sizes have width bytes each, and v is the lists'
// validity.
func (v Valid) MoveLists(offsets, sizes []byte, width int) (Rows, error) {
	if width == 4 {
		return moveLists(dataOf[int32](offsets), dataOf[int32](sizes), v)
	}
	return moveLists(dataOf[int64](offsets), dataOf[int64](sizes), v)
}

// moveLists moves the offsets of list views of one width: see MoveLists.
func moveLists[T int32 | int64](offsets, sizes []T, valid Valid) (Rows, error) {
	var values compaction
	for i, size := range sizes {
		at := offsets[i]
		switch {
		case size == 0 || !valid.has(i):
			sizes[i] = 0
		case at < 0 || size < 0 || at+size < at: // the sum overflows
			return nil, fmt.Errorf("damaged: list %d of the output has %d values from %d on", i, size, at)
		default:
			values.Add(int(at), int(at)+int(size))
		}
	}
	values.finish()
	for i, size := range sizes {
		if size == 0 {
			offsets[i] = 0
		} else {
			offsets[i] = T(values.position(int(offsets[i])))
		}
	}
	return values.Rows, nil
}

// MoveViews is for views, which refer to count buffers of bytes: bytes to which no view refers are left out. It changes
// the views in header to match, makes those of null values empty, and returns the runs of bytes that are kept, for each
// buffer. A buffer that has nil is left out, and the new views do not count it. v is the values' validity.
func (v Valid) MoveViews(header []byte, count int) ([]Rows, error) {
	views, buffers := dataOf[arrow.ViewHeader](header), make([]compaction, count)
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
	kept, numbers := make([]Rows, count), make([]int32, count)
	number := int32(0) // of the next buffer that is kept
	for i := range buffers {
		buffers[i].finish()
		kept[i], numbers[i] = buffers[i].Rows, number
		if kept[i] != nil {
			number++
		}
	}
	for i := range views {
		if view := &views[i]; !view.IsInline() {
			buffer := view.BufferIndex()
			view.SetIndexOffset(numbers[buffer], int32(buffers[buffer].position(int(view.BufferOffset()))))
		}
	}
	return kept, nil
}

// MoveUnion is for dense unions, whose values are left out if no offset refers to them. It changes the offsets, of 4
// bytes each, to match, and returns the runs of values that are kept, for each child. codes has the type code of each
// offset, and childCodes that of each child.
func MoveUnion(codes, offsetBytes []byte, childCodes []arrow.UnionTypeCode) ([]Rows, error) {
	offsets := dataOf[int32](offsetBytes)
	child, used := unionChildren(childCodes), make([]compaction, len(childCodes))
	for i, at := range offsets {
		code := arrow.UnionTypeCode(codes[i])
		if code < 0 || child[code] < 0 || at < 0 {
			return nil, fmt.Errorf("damaged: value %d of the output has the type code %d and the offset %d", i, code, at)
		}
		used[child[code]].Add(int(at), int(at)+1)
	}
	kept := make([]Rows, len(childCodes))
	for i := range used {
		used[i].finish()
		kept[i] = used[i].Rows
	}
	for i, at := range offsets {
		offsets[i] = int32(used[child[codes[i]]].position(int(at)))
	}
	return kept, nil
}

// risingEnds checks that the ends of runs rise, and that the last is at least rows.
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

// MoveRunEnds is for run-end encoded arrays, whose runs are left out if they have none of the rows. It fills the beginning
// of to with the new ends of the others, and returns which runs these are. from has the old ends of all runs, which must
// cover n rows. to has room for an end for each of these rows or, if the rows rise, for each old run. An end has width
// bytes.
func (r Rows) MoveRunEnds(to, from []byte, width, n int) (runs Rows, err error) {
	switch width {
	case 2:
		return moveRunEnds(dataOf[int16](to), dataOf[int16](from), r, n)
	case 4:
		return moveRunEnds(dataOf[int32](to), dataOf[int32](from), r, n)
	}
	return moveRunEnds(dataOf[int64](to), dataOf[int64](from), r, n)
}

// moveRunEnds moves the ends of runs of one width: see MoveRunEnds.
func moveRunEnds[T int16 | int32 | int64](to, from []T, rows Rows, n int) (runs Rows, err error) {
	if err := risingEnds(from, n); err != nil {
		return nil, err
	}
	moved, made := 0, 0 // rows and runs of the output so far; the last run may still grow
	for _, r := range rows {
		low := r.Low // the first row that has not moved yet
		for i := sort.Search(len(from), func(i int) bool { return int64(from[i]) > int64(low) }); low < r.High; i++ {
			high := int(min(int64(from[i]), int64(r.High)))
			moved, low = moved+high-low, high
			extendsLast := len(runs) > 0 && runs[len(runs)-1].High == i+1 // the rows are of the run that was added last
			if !extendsLast {
				runs = runs.Add(i, i+1)
				made++
			}
			to[made-1] = T(moved)
			if int(to[made-1]) != moved { // T overflows, which only rows that are taken more than once can cause
				return nil, fmt.Errorf("runs of %d rows do not fit into their type", moved)
			}
		}
	}
	return runs, nil
}

// compaction says where the bytes of a buffer, or the values of an array, lie once those to which nothing refers are left
// out. First all that is kept is added, in any order and maybe more than once; after finish, position gives the answers.
type compaction struct {
	Rows         // that are kept; after finish they rise
	begins []int // where each run begins once all else is left out
	last   int   // index of the run that position found last
}

// Add keeps the bytes or values from low to high-1.
func (p *compaction) Add(low, high int) { p.Rows = p.Rows.Add(low, high) }

// finish sorts the runs and joins those that overlap or touch.
func (p *compaction) finish() {
	slices.SortFunc(p.Rows, func(x, y Run) int { return x.Low - y.Low })
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

// position returns the new index of a byte or value that was added.
func (p *compaction) position(at int) int {
	if r := p.Rows[p.last]; at < r.Low || at >= r.High { // mostly it is in the run of the call before
		p.last = sort.Search(len(p.Rows), func(i int) bool { return p.Rows[i].High > at })
	}
	return p.begins[p.last] + at - p.Rows[p.last].Low
}
