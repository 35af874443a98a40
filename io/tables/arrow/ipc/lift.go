package ipc

import (
	"bufio"
	"io"

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

// collect returns a writer to the output that collects pieces of copySize. It keeps an error of the
// output, and returns it at each later call.
func (s *Writer) collect() *bufio.Writer {
	if s.collected == nil {
		s.collected = bufio.NewWriterSize(&s.out, copySize)
	}
	return s.collected
}

// copyPart writes size bytes of the body of f, which is in a file.
func copyPart(w *bufio.Writer, f *layout.Frame, from, size int64) error {
	n, err := w.ReadFrom(io.NewSectionReader(f.Body, from, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return layout.Cut(err)
}

// writeLifted writes a message with its lifted parts, which lie in the body of f.
func (s *Writer) writeLifted(m message, f *layout.Frame) error {
	w, at := s.collect(), 0
	_, _ = w.Write(m.head) // Flush returns the error
	for _, l := range m.lifted {
		_, _ = w.Write(m.body[at:l.at])
		if err := copyPart(w, f, l.from, l.size); err != nil {
			return err
		}
		at = l.at
	}
	_, _ = w.Write(m.body[at:])
	return w.Flush()
}

// copyBody writes the body of f, padded to 8 bytes.
func (s *Writer) copyBody(f *layout.Frame) error {
	padding := zeros[:-f.BodyLength&7]
	if f.Bytes != nil {
		if err := s.out.Put(f.Bytes); err != nil {
			return err
		}
		return s.out.Put(padding)
	}
	w := s.collect()
	if err := copyPart(w, f, 0, f.BodyLength); err != nil {
		return err
	}
	_, _ = w.Write(padding)
	return w.Flush()
}
