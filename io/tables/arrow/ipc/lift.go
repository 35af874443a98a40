package ipc

import (
	"robotsbatch/io/tables/arrow/layout"
)

// lifted is a part of an input's body that goes from the file to the output when that is written,
// and is not in memory before. A body is its bytes in memory with the lifted parts between them.
type lifted struct {
	at         int   // how many of the bytes in memory come before it
	from, size int64 // where it lies in the input's body
}

// lift adds a part of the input's body to the new one, after at of the bytes that are in memory.
func (b *buffers) lift(at int, from, size int64) {
	b.liftedSize += size
	if n := len(b.lifted); n > 0 {
		if last := &b.lifted[n-1]; last.at == at && last.from+last.size == from {
			last.size += size
			return
		}
	}
	b.lifted = append(b.lifted, lifted{at: at, from: from, size: size})
}

// madeSize returns the size of the new body so far, with what is lifted.
func (b *buffers) madeSize() int64 { return int64(len(b.out.bytes)) + b.liftedSize }

// collector writes to an output in pieces of copySize, of bytes that come from memory and from a file.
type collector struct {
	writer *Writer
	filled int // of the writer's buffer
}

// collect returns a collector, which uses the writer's buffer.
func (s *Writer) collect() *collector {
	if s.buffer == nil {
		s.buffer = make([]byte, copySize)
	}
	return &collector{writer: s}
}

// bytes writes bytes.
func (c *collector) bytes(p []byte) error {
	for len(p) > 0 {
		n := copy(c.writer.buffer[c.filled:], p)
		if err := c.add(n); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// part writes size bytes of a body that is in a file.
func (c *collector) part(f *layout.Frame, from, size int64) error {
	for size > 0 {
		n := min(size, int64(copySize-c.filled))
		if err := layout.ReadAt(f.Body, c.writer.buffer[c.filled:][:n], from); err != nil {
			return err
		}
		if err := c.add(int(n)); err != nil {
			return err
		}
		from, size = from+n, size-n
	}
	return nil
}

// add adds n bytes, which are in the buffer already.
func (c *collector) add(n int) error {
	if c.filled += n; c.filled < copySize {
		return nil
	}
	return c.flush()
}

// flush writes what was not written yet.
func (c *collector) flush() error {
	n := c.filled
	c.filled = 0
	return c.writer.write(c.writer.buffer[:n])
}

// writeLifted writes a message with its lifted parts, which lie in the body of f.
func (s *Writer) writeLifted(m message, f *layout.Frame) error {
	c, at := s.collect(), 0
	err := c.bytes(m.head)
	for _, l := range m.lifted {
		if err == nil {
			err = c.bytes(m.body[at:l.at])
		}
		if err == nil {
			err = c.part(f, l.from, l.size)
		}
		at = l.at
	}
	if err == nil {
		err = c.bytes(m.body[at:])
	}
	if err == nil {
		err = c.flush()
	}
	return err
}

// copyBody writes a body and its padding.
func (s *Writer) copyBody(f *layout.Frame) error {
	if f.Bytes != nil {
		if err := s.write(f.Bytes); err != nil {
			return err
		}
		return s.write(zeros[:-f.BodyLength&7])
	}
	c := s.collect()
	err := c.part(f, 0, f.BodyLength)
	if err == nil {
		err = c.bytes(zeros[:-f.BodyLength&7])
	}
	if err == nil {
		err = c.flush()
	}
	return err
}
