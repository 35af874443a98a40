package ipc

import (
	"bufio"
	"io"

	"robotsbatch/io/tables/arrow/layout"
)

// lifted is a part of an input's body that goes from the file to the output when the record batch is written,
// and is never in memory as a whole. A body is its bytes in memory with the lifted parts between them.
type lifted struct {
	at         int   // how many of the bytes in memory come before it
	from, size int64 // where it lies in the input's body
}

// lift appends a part of the input's body to the new one, of which at bytes are in memory.
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

// buffered returns a writer to the output that collects pieces of copySize. It must be flushed before s.out is
// written to. It keeps an error of the output, and returns it at each later call.
func (s *Writer) buffered() *bufio.Writer {
	if s.buffer == nil {
		s.buffer = bufio.NewWriterSize(&s.out, copySize)
	}
	return s.buffer
}

// copyPart writes to w the size bytes from from on of the body of f, which is in a file.
func copyPart(w *bufio.Writer, f *layout.Frame, from, size int64) error {
	n, err := w.ReadFrom(io.NewSectionReader(f.Body, from, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return layout.Cut(err)
}

// writeLifted writes a record batch with its lifted parts.
func (s *Writer) writeLifted(m message) error {
	w, at := s.buffered(), 0
	_, _ = w.Write(m.head) // Flush returns the error
	for _, l := range m.lifted {
		_, _ = w.Write(m.body[at:l.at])
		if err := copyPart(w, m.from, l.from, l.size); err != nil {
			return err
		}
		at = l.at
	}
	_, _ = w.Write(m.body[at:])
	return w.Flush()
}

// copyBody writes the body of f as it lies, padded to 8 bytes.
func (s *Writer) copyBody(f *layout.Frame) error {
	if f.Bytes != nil {
		if err := s.out.Put(f.Bytes); err != nil {
			return err
		}
		return s.out.Put(padding(f.BodyLength))
	}
	w := s.buffered()
	if err := copyPart(w, f, 0, f.BodyLength); err != nil {
		return err
	}
	_, _ = w.Write(padding(f.BodyLength))
	return w.Flush()
}
