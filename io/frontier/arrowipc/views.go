package arrowipc

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"robotsbatch/io/tables"
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
	places tables.Places // to which views which come out refer
	number int           // of the new buffer
}

// views gathers an array of views, with the parts of buffers that they refer to. valid is
// the new validity bitmap, nil if no value is null.
func (g *gathering) views(length int, rows tables.Rows, n int, valid []byte) error {
	headers, err := g.next()
	if err != nil {
		return err
	}
	from, err := g.read(headers, viewSize*length)
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
		if b := &buffers[i]; b.places.Len() > 0 {
			b.places.Arrange()
			b.number = number
			number++
		}
	}
	for at := 0; at < len(to); at += viewSize {
		move(buffers, to[at:][:viewSize])
	}
	g.made.variadic = append(g.made.variadic, int64(number))
	if n == length && bytes.Equal(to, from[:len(to)]) {
		err = g.copyValues(headers, viewSize, n, rows)
	} else {
		err = g.add(to)
	}
	for i := range buffers {
		parts := buffers[i].places.Rows()
		if err == nil && len(parts) > 0 {
			err = g.copyValues(buffers[i].buffer, 1, parts[len(parts)-1].High, parts)
		}
	}
	return err
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
	buffers[buffer].places.Add(begin, begin+length)
	return nil
}

// move makes a view refer to the new buffers.
func move(buffers []viewed, view []byte) {
	_, buffer, begin, ok := long(view)
	if !ok {
		return
	}
	b := &buffers[buffer]
	binary.LittleEndian.PutUint32(view[8:], uint32(b.number))
	binary.LittleEndian.PutUint32(view[12:], uint32(b.places.Find(begin)))
}
