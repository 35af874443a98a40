package arrowipc

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

const (
	viewSize = 16
	// mostInline is the most bytes of a value that lies in its view. That of a longer
	// one has its first four bytes, the buffer with all of it, and where it begins.
	mostInline = 12
)

// viewed is a buffer that views refer to.
type viewed struct {
	buffer span
	// parts are those that views which come out refer to: in order, and apart from one
	// another once they are sorted.
	parts  []run
	begins []int // where each part begins in the new buffer
	number int   // of the new buffer
	last   int   // the part that was found last
}

// views gathers an array of views, with the parts of buffers that they refer to. valid is
// the new validity bitmap, nil if no value is null.
func (g *gathering) views(length int, rows []run, n int, valid []byte) error {
	from, err := g.load(viewSize * length)
	if err != nil {
		return err
	}
	g.runs += 2 * n // parts, and where they begin
	defer func() { g.runs -= 2 * n }()
	to, err := g.build(viewSize * n)
	if err != nil {
		return err
	}
	copyRuns(to, from, viewSize, rows)
	buffers, err := g.viewedBuffers()
	if err != nil {
		return err
	}
	for i := range n {
		view := to[viewSize*i:][:viewSize]
		if valid != nil && valid[i>>3]>>(i&7)&1 == 0 {
			clear(view)
			continue
		}
		if err := refer(buffers, view); err != nil {
			return fmt.Errorf("damaged: value %d of the output: %w", i, err)
		}
	}
	number := 0
	for i := range buffers {
		if b := &buffers[i]; len(b.parts) > 0 {
			b.arrange()
			b.number = number
			number++
		}
	}
	for at := 0; at < len(to); at += viewSize {
		move(buffers, to[at:][:viewSize])
	}
	g.made.variadic = append(g.made.variadic, int64(number))
	if err := g.add(to); err != nil {
		return err
	}
	for i := range buffers {
		if b := &buffers[i]; len(b.parts) > 0 {
			if err := g.copyValues(b.buffer, 1, b.parts[len(b.parts)-1].high, b.parts); err != nil {
				return err
			}
		}
	}
	return nil
}

// viewedBuffers returns the buffers that views refer to, which are the next.
func (g *gathering) viewedBuffers() ([]viewed, error) {
	meta := g.record.meta
	if g.at.variadic >= len(meta.variadic) {
		return nil, errArrays
	}
	count := meta.variadic[g.at.variadic]
	g.at.variadic++
	if count < 0 || count > int64(len(meta.buffers)-g.at.buffers) {
		return nil, errArrays
	}
	list := make([]viewed, count)
	for i := range list {
		list[i].buffer = meta.buffers[g.at.buffers+i]
	}
	g.at.buffers += int(count)
	return list, nil
}

// long returns the length of a view's value, its buffer and where it begins there. It
// reports false if the value lies in the view.
func long(view []byte) (length, buffer, begin int, ok bool) {
	length = int(int32(binary.LittleEndian.Uint32(view)))
	if 0 <= length && length <= mostInline {
		return length, 0, 0, false
	}
	return length, int(int32(binary.LittleEndian.Uint32(view[8:]))), int(int32(binary.LittleEndian.Uint32(view[12:]))), true
}

// refer adds what a view refers to.
func refer(buffers []viewed, view []byte) error {
	length, buffer, begin, ok := long(view)
	if !ok {
		return nil
	}
	if length < 0 || buffer < 0 || buffer >= len(buffers) || begin < 0 {
		return fmt.Errorf("%d bytes from byte %d of buffer %d", length, begin, buffer)
	}
	b := &buffers[buffer]
	b.parts = appendRun(b.parts, begin, begin+length)
	return nil
}

// arrange sorts the parts, joins those that overlap or touch, and finds where each begins
// in the new buffer.
func (b *viewed) arrange() {
	byLow := func(x, y run) int { return x.low - y.low }
	if !slices.IsSortedFunc(b.parts, byLow) {
		slices.SortFunc(b.parts, byLow)
	}
	joined := b.parts[:1]
	for _, r := range b.parts[1:] {
		if last := &joined[len(joined)-1]; r.low <= last.high {
			last.high = max(last.high, r.high)
		} else {
			joined = append(joined, r)
		}
	}
	b.parts, b.begins = joined, make([]int, len(joined))
	at := 0
	for i, r := range joined {
		b.begins[i] = at
		at += r.high - r.low
	}
}

// move makes a view refer to the new buffers.
func move(buffers []viewed, view []byte) {
	_, buffer, begin, ok := long(view)
	if !ok {
		return
	}
	b := &buffers[buffer]
	if r := b.parts[b.last]; begin < r.low || begin >= r.high {
		b.last = sort.Search(len(b.parts), func(i int) bool { return b.parts[i].high > begin })
	}
	binary.LittleEndian.PutUint32(view[8:], uint32(b.number))
	binary.LittleEndian.PutUint32(view[12:], uint32(b.begins[b.last]+begin-b.parts[b.last].low))
}
