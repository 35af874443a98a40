package blob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

const (
	// temporaryMark and temporaryEnd make temporary files recognisable, in case the
	// program is killed before it removes them.
	temporaryMark = ".robotsbatch-"
	temporaryEnd  = ".tmp"
)

// Create starts the output of that name, which appears when Close succeeds:
// until then it is a file beside that name, .NAME.robotsbatch-XXXXXXXX.tmp.
// Permissions are those of any new file. For a symbolic link, the target is replaced.
// An existing device or named pipe is written directly, and so is stdout, under [Stdio]
// or the system's names for it.
//
// The name may be the URL of an object. Once ctx has ended, the output cannot be
// written and does not appear.
func Create(ctx context.Context, name string) (Writer, error) {
	if name == Stdio || isStdout(name) {
		// Abort cannot undo what was written to stdout, and Close leaves it open. A program must ignore
		// SIGPIPE if it wants the error EPIPE when a pipe's reader has gone, instead of being killed.
		return newWriter("stdout", interruptible(ctx, os.Stdout), func() error { return nil }, func() {}), nil
	}
	name, object, err := resolveName(name)
	switch {
	case err != nil:
		return nil, err
	case object != nil:
		return createObject(ctx, *object)
	case os.IsPathSeparator(name[len(name)-1]):
		return nil, fmt.Errorf("%s is the name of a folder, not of a file", name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, withName(name, err)
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder, not a file", name)
	case err == nil && !info.Mode().IsRegular(): // a device or named pipe
		f, err := openPipe(ctx, name, os.O_WRONLY)
		if err != nil {
			return nil, withName(name, err)
		}
		return newWriter(name, interruptible(ctx, f), f.Close, func() { f.Close() }), nil
	}
	w, err := createFile(name)
	if err != nil {
		return nil, withName(name, err)
	}
	return w, nil
}

// MissingFolderError says that an output cannot lie where it was asked for. It is an
// [fs.ErrNotExist].
type MissingFolderError struct{ Folder string }

func (e *MissingFolderError) Error() string {
	return fmt.Sprintf("the folder %s is missing: make it", e.Folder)
}

// Is implements the interface of errors.Is.
func (e *MissingFolderError) Is(target error) bool { return target == fs.ErrNotExist }

// WriteFile creates the output of that name, as Create does, with these bytes.
func WriteFile(ctx context.Context, name string, data []byte) error {
	w, err := Create(ctx, name)
	if err != nil {
		return err
	}
	defer w.Abort() // which does nothing after Close
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Close()
}

// createFile begins an output that is a regular file. It writes a temporary file beside the
// file, which Close renames.
func createFile(name string) (*writer, error) {
	target, err := followLinks(name)
	if err != nil {
		return nil, err
	}
	f, err := createTemporary(target)
	if err != nil {
		return nil, err
	}
	discard := func() {
		f.Close()
		os.Remove(f.Name())
	}
	return newWriter(name, writesBack(f), func() error { return publish(f, target) }, discard), nil
}

// isStdout recognises stdout's other names. If they were opened like files, the file
// that stdout is redirected to would be overwritten or replaced.
func isStdout(name string) bool {
	switch filepath.ToSlash(filepath.Clean(name)) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	}
	return false
}

// followLinks returns the path that a name stands for after all symbolic links. Nothing need
// exist there.
func followLinks(name string) (string, error) {
	const maxLinks = 40
	for range maxLinks {
		folder, err := filepath.EvalSymlinks(filepath.Dir(name))
		if errors.Is(err, fs.ErrNotExist) {
			err = &MissingFolderError{filepath.Dir(name)}
		}
		if err != nil {
			return "", err
		}
		name = filepath.Join(folder, filepath.Base(name))
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		link, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			// Not filepath.Join, which would resolve ".." against a folder that may
			// itself be a link.
			link = folder + string(filepath.Separator) + link
		}
		name = link
	}
	return "", errors.New("too many symbolic links")
}

// createTemporary creates a new file in target's folder. It is locked while it is open, so
// that Sweep can tell it from the file of a killed process.
func createTemporary(target string) (*os.File, error) {
	folder, base := filepath.Split(target)
	const attempts = 100
	for attempt := 1; ; attempt++ {
		name := fmt.Sprintf("%s.%s%s%08x%s", folder, shortBase(base), temporaryMark, rand.Uint32(), temporaryEnd)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case errors.Is(err, fs.ErrExist) && attempt < attempts:
			continue // with another name
		case err != nil:
			return nil, err
		}
		if ok, _ := tryLock(f); ok && isAt(f, name) || attempt == attempts { // in the end without a lock
			return f, nil
		}
		removeLocked(f, name) // another process sweeps it away just now, or it cannot be locked
	}
}

// publish syncs the temporary file f to the disk and renames it to target.
func publish(f *os.File, target string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		var linkError *os.LinkError
		if errors.As(err, &linkError) {
			return fmt.Errorf("rename: %w", linkError.Err)
		}
		return err
	}
	return syncFolder(filepath.Dir(target))
}

// syncFolder makes a rename in a folder durable, if the file system can do that.
func syncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be opened on this system
	}
	folder, err := os.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder may be writable but not readable
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// writeSize is the number of bytes that are collected for one write. Longer ones are written
// without copying.
const writeSize = 256 << 10

// writer collects small writes, and completes the output once.
type writer struct {
	name    string
	buffer  *bufio.Writer
	publish func() error // what Close does after the last write
	discard func()       // discards what was written, also after a failed publish
	done    bool         // closed or aborted
}

// newWriter returns a Writer called name that collects small writes to f. publish completes
// the output after the last write, and discard removes it.
func newWriter(name string, f io.Writer, publish func() error, discard func()) *writer {
	return &writer{name: name, buffer: bufio.NewWriterSize(f, writeSize), publish: publish, discard: discard}
}

// Write implements Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.done {
		return 0, fmt.Errorf("%s: write after Close or Abort", w.name)
	}
	n, err := w.buffer.Write(p)
	if err != nil {
		return n, withName(w.name, err)
	}
	return n, nil
}

// Close writes what is buffered and publishes the output. If that fails, it discards the
// output.
func (w *writer) Close() error {
	if w.done {
		return fmt.Errorf("%s: Close after Close or Abort", w.name)
	}
	w.done = true
	err := w.buffer.Flush()
	if err == nil {
		err = w.publish()
	}
	if err != nil {
		w.discard()
		return withName(w.name, err)
	}
	return nil
}

func (w *writer) Abort() {
	if !w.done {
		w.done = true
		w.discard()
	}
}

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
