package blob

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
)

// chunkSize is the number of bytes that are written to a pipe or device at once.
const chunkSize = 256 << 10

// Stdout is the standard output. Writes that wait for a reader end with the context. It
// is safe for concurrent use, and remembers its first error. Where the program was started
// without one, texts are dropped, and Rows fail.
type Stdout struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewStdout returns the standard output, whose writes end with ctx.
func NewStdout(ctx context.Context) *Stdout { return &Stdout{w: interruptible(ctx, os.Stdout)} }

// Write implements io.Writer.
func (s *Stdout) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(p)
	if err != nil && s.err == nil {
		s.err = err
	}
	return n, err
}

// Err returns the first error of a write; nil if that was EPIPE, which means that the reader
// had enough.
func (s *Stdout) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil || errors.Is(s.err, syscall.EPIPE) {
		return nil
	}
	return withName("stdout", s.err)
}

// Rows returns a writer of rows to w. If the program was started without the standard output
// that w is, the writer fails, because the rows would be lost. Other texts are dropped there.
func Rows(w io.Writer) io.Writer {
	if s, ok := w.(*Stdout); ok && s.w == io.Writer(noStdout{}) {
		return noRows{}
	}
	return w
}

// Fd is the file's descriptor, by which a terminal is recognised.
func (s *Stdout) Fd() uintptr { return os.Stdout.Fd() }

// interruptible returns a writer to f whose writes end when ctx does, with its cause. A
// regular file does not block, and is returned as it is.
func interruptible(ctx context.Context, f *os.File) io.Writer {
	info, err := f.Stat()
	switch {
	case errors.Is(err, os.ErrClosed):
		return noStdout{}
	case ctx.Done() == nil || err != nil || info.Mode().IsRegular():
		return f
	}
	return &pipeWriter{ctx: ctx, f: f, written: make(chan written, 1)}
}

// noStdout is stdout of a program that was started without one. It looks the same to have
// been started with the null device, which other programs do for the exit status alone.
type noStdout struct{}

func (noStdout) Write(p []byte) (int, error) { return len(p), nil }

// noRows is noStdout for rows.
type noRows struct{}

var errNoStdout = errors.New("stdout is closed, or the null device opened for reading and writing: name a file")

func (noRows) Write([]byte) (int, error) { return 0, errNoStdout }

// pipeWriter is a writer whose Write ends with the context, also while nobody reads the
// pipe. Each system call is made in a goroutine of its own, which outlives a Write that was
// interrupted. So it writes chunk, a copy of the caller's bytes, and after an interrupted
// Write there must be no other.
type pipeWriter struct {
	ctx     context.Context
	f       *os.File
	chunk   []byte
	written chan written
}

// written is the outcome of one write.
type written struct {
	n   int
	err error
}

// Write writes p in chunks of up to chunkSize bytes.
func (w *pipeWriter) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if w.ctx.Err() != nil {
			return n, context.Cause(w.ctx)
		}
		w.chunk = append(w.chunk[:0], p[n:min(len(p), n+chunkSize)]...)
		go func() {
			n, err := w.f.Write(w.chunk)
			w.written <- written{n, err}
		}()
		select {
		case done := <-w.written:
			if n += done.n; done.err != nil {
				return n, done.err
			}
		case <-w.ctx.Done():
			return n, context.Cause(w.ctx)
		}
	}
	return n, nil
}

// openPipe opens a named pipe or a device with a flag of os.OpenFile. A pipe waits for its other end,
// until ctx ends.
func openPipe(ctx context.Context, name string, flag int) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	open := make(chan opened)
	go func() {
		f, err := os.OpenFile(name, flag, 0)
		select {
		case open <- opened{f, err}:
		case <-ctx.Done():
			f.Close() // Close of a nil file only returns an error
		}
	}()
	select {
	case o := <-open:
		return o.f, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
