package blob

import (
	"bufio"
	"fmt"
	"io"
)

// writeSize is how many octets are collected for one write. Longer ones are
// written from where they are.
const writeSize = 256 << 10

// writer collects small writes, and completes the output once.
type writer struct {
	name    string
	buffer  *bufio.Writer
	publish func() error // what Close does after the last write
	discard func()       // gives up what was written, also after a failed publish
	done    bool         // closed or aborted
}

func newWriter(name string, f io.Writer, publish func() error, discard func()) *writer {
	return &writer{name: name, buffer: bufio.NewWriterSize(f, writeSize), publish: publish, discard: discard}
}

func (w *writer) Write(p []byte) (int, error) {
	if w.done {
		return 0, fmt.Errorf("blob: %s: write after Close or Abort", w.name)
	}
	n, err := w.buffer.Write(p)
	if err != nil {
		return n, named(w.name, err)
	}
	return n, nil
}

func (w *writer) Close() error {
	if w.done {
		return fmt.Errorf("blob: %s: Close after Close or Abort", w.name)
	}
	w.done = true
	err := w.buffer.Flush()
	if err == nil {
		err = w.publish()
	}
	if err != nil {
		w.discard()
		return named(w.name, err)
	}
	return nil
}

func (w *writer) Abort() {
	if !w.done {
		w.done = true
		w.discard()
	}
}
