package ipc

import (
	"bufio"
	"io"

	"robotsbatch/io/tables"
	"robotsbatch/io/tables/arrow/layout"
)

// output writes messages one after the other, and lists them for a file's footer.
type output struct {
	tables.Output
	dictionaries, batches []layout.Block // that were written
	// buffer collects the bytes of a body with lifted parts; nil before the first such body. It is flushed after
	// each body, and returns an error of the output then at the latest.
	buffer *bufio.Writer
}

// copySize is the number of bytes of the pieces in which lifted parts go from file to file.
const copySize = 1 << 20

// write writes a message, and adds its place to written: o.dictionaries or o.batches.
func (o *output) write(m *message, written *[]layout.Block) error {
	*written = append(*written, layout.Block{Offset: o.Pos, Meta: int32(len(m.head)), Body: m.bodySize()})
	if err := o.Put(m.head); err != nil {
		return err
	}
	if len(m.lifted) == 0 {
		return o.Put(m.body)
	}
	if o.buffer == nil {
		o.buffer = bufio.NewWriterSize(&o.Output, copySize)
	}
	at := 0
	for _, l := range m.lifted {
		_, _ = o.buffer.Write(m.body[at:l.at]) // Flush returns the error
		if err := o.copyPart(m.from, l.from, l.size); err != nil {
			return err
		}
		at = l.at
	}
	_, _ = o.buffer.Write(m.body[at:])
	return o.buffer.Flush()
}

// copyPart writes size bytes of the body of f, from byte from on, to the buffer.
func (o *output) copyPart(f *layout.Frame, from, size int64) error {
	if f.Bytes != nil {
		_, err := o.buffer.Write(f.Bytes[from : from+size])
		return err
	}
	n, err := o.buffer.ReadFrom(io.NewSectionReader(f.Body, from, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return layout.Cut(err)
}
