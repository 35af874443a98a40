package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// File is an open input.
type File struct {
	name string
	in   input
	size int64 // -1 for a stream
	info Info
	stop func() bool // keeps the context from ending the reads of a pipe; nil for other inputs
}

// input is what a File reads from.
type input interface {
	io.Reader
	io.ReaderAt
	io.Closer
}

// Open opens the file of that name, an object by its URL, or stdin for [Stdio].
// Opening a named pipe waits until somebody writes to it. Reading a named pipe or an object ends
// with ctx; of an object it is an error that is [ErrChanged] once that was replaced.
func Open(ctx context.Context, name string) (*File, error) {
	if name == Stdio {
		return newFile("stdin", os.Stdin)
	}
	name, object, err := resolveName(name)
	switch {
	case err != nil:
		return nil, err
	case object != nil:
		o, err := openObject(ctx, *object)
		if err != nil {
			return nil, err
		}
		return &File{name: object.Name(), in: o, size: o.size, info: Info{Attributes: o.version, regular: true}}, nil
	}
	var f *os.File
	info, _ := os.Stat(name)
	isPipe := info != nil && !info.Mode().IsRegular()
	if isPipe { // even opening a device may block forever
		f, err = openPipe(ctx, name, os.O_RDONLY)
	} else {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil, withName(name, err)
	}
	opened, err := newFile(name, f)
	if err != nil {
		f.Close()
	} else if isPipe {
		opened.stop = context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Now()) }) // which ends a read
	}
	return opened, err
}

// Copy copies the file or object of that name into a file on this machine, which it creates or replaces.
// After an error that may have a part of it.
func Copy(ctx context.Context, name, file string) error {
	in, err := Open(ctx, name)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read from
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("a copy of %s: %w", in.Name(), err)
	}
	return out.Close()
}

// newFile returns f as an input with that name.
func newFile(name string, f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, withName(name, err)
	}
	if info.IsDir() {
		return nil, withName(name, errors.New("it is a folder, not a file"))
	}
	size := int64(-1) // a stream
	if info.Mode().IsRegular() {
		// Stdin may be a file of which another program has read the beginning. The rest is a
		// stream, because ReadAt counts from the file's first byte.
		if at, err := f.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			size = info.Size()
		}
	}
	version := infoOf(info)
	if f == os.Stdin { // Stat returns none for it
		version = Info{}
	}
	return &File{name: name, in: f, size: size, info: version}, nil
}

// Name is the name that Open was given, without the parameters of a URL, or
// "stdin".
func (f *File) Name() string { return f.name }

// Size returns the input's length in bytes. regular is false for a stream, such as a
// pipe, whose length is not known and which can only be read in order.
func (f *File) Size() (bytes int64, regular bool) { return max(0, f.size), f.size >= 0 }

// Info is the version that is read, as Stat tells it.
func (f *File) Info() Info { return f.info }

// Remote reports whether the input is in an object store, where each reading at another
// place is a request.
func (f *File) Remote() bool {
	_, remote := f.in.(*object)
	return remote
}

// Read reads in order.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	return n, f.readError(err)
}

// ReadAt reads at an offset, and does not change where Read goes on. It returns an error for
// a stream; see Size.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	if f.size < 0 {
		return 0, withName(f.name, errStream)
	}
	n, err := f.in.ReadAt(p, offset)
	return n, f.readError(err)
}

var errStream = errors.New("a stream can only be read from its beginning to its end")

// Close closes the file; stdin stays open.
func (f *File) Close() error {
	if f.in == input(os.Stdin) {
		return nil
	}
	if f.stop != nil {
		f.stop()
	}
	if err := f.in.Close(); err != nil {
		return withName(f.name, err)
	}
	return nil
}

// readError adds the file's name to an error of reading but io.EOF. Errors of objects have it.
func (f *File) readError(err error) error {
	if err == nil || err == io.EOF || f.Remote() {
		return err
	}
	return withName(f.name, err)
}

// Info tells one version of a file from another.
type Info struct {
	// Attributes have a size of 0 for what is no regular file, and no version for local files.
	Attributes

	regular bool
	file    fs.FileInfo // local files
}

// Stat looks up the version that a name stands for now. [Stdio] and what is no
// regular file have none: see Info.Known.
func Stat(ctx context.Context, name string) (Info, error) {
	if name == Stdio {
		return Info{}, nil
	}
	name, object, err := resolveName(name)
	switch {
	case err != nil:
		return Info{}, err
	case object != nil:
		_, info, err := statObject(ctx, *object)
		return info, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return Info{}, withName(name, err)
	}
	return infoOf(info), nil
}

// infoOf returns the version of a local file; none of what is no regular file.
func infoOf(info fs.FileInfo) Info {
	if !info.Mode().IsRegular() {
		return Info{}
	}
	return Info{Attributes: Attributes{Size: info.Size(), Modified: info.ModTime()}, regular: true, file: info}
}

// Replaced returns a function that returns the input that writing an output would replace; "" for
// none. It follows links. The inputs are looked up only when an output that exists already is asked
// about.
func Replaced(inputs ...string) func(out string) string {
	// Files are compared only with those of the same likeness, as there may be many inputs.
	type likeness struct{ size, modified int64 }
	type file struct {
		name string
		info fs.FileInfo
	}
	objects := make(map[string]string)
	for _, name := range inputs {
		objects[Shown(name)] = name
	}
	alike := func(info fs.FileInfo) likeness { return likeness{info.Size(), info.ModTime().UnixNano()} }
	files := sync.OnceValue(func() map[likeness][]file {
		files := make(map[likeness][]file)
		for _, name := range inputs {
			if info, isRegular := statRegular(name); isRegular {
				files[alike(info)] = append(files[alike(info)], file{name, info})
			}
		}
		return files
	})
	return func(out string) string {
		if out, err := LocalName(out); err == nil && IsURL(out) {
			return objects[Shown(out)]
		}
		if info, isRegular := statRegular(out); isRegular {
			for _, f := range files()[alike(info)] {
				if os.SameFile(f.info, info) {
					return f.name
				}
			}
		}
		return ""
	}
}

// statRegular returns the info of a regular file on this machine; ok is false for all else.
func statRegular(name string) (info fs.FileInfo, ok bool) {
	name, err := LocalName(name)
	if err != nil || name == "" || name == Stdio {
		return nil, false
	}
	info, err = os.Stat(name)
	return info, err == nil && info.Mode().IsRegular()
}

// Known reports whether the version is known. A pipe has none.
func (i Info) Known() bool { return i.regular || i.Version != "" }

// Same reports whether two are the same version, by their sizes, times and Version. It is false if
// one of them is not known.
func (i Info) Same(other Info) bool {
	return i.Known() && other.Known() && i.Size == other.Size && i.Modified.Equal(other.Modified) && i.Version == other.Version
}

// Unchanged returns ErrChanged if the local file of that name was written to since i was
// looked up. It returns nil if the name is gone or is another file's by now, because a reader
// that has the old file open still reads that.
func (i Info) Unchanged(name string) error {
	if i.file == nil {
		return nil
	}
	now, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return withName(name, err)
	case !os.SameFile(i.file, now) || now.Size() == i.Size && now.ModTime().Equal(i.Modified):
		return nil
	case now.Size() != i.Size:
		return withName(name, fmt.Errorf("%w: it had %d bytes and has %d", ErrChanged, i.Size, now.Size()))
	}
	return withName(name, ErrChanged)
}

// ErrChanged says that a file or object changed under a reader.
var ErrChanged = errors.New("it was written to while it was read: run again when it is complete")
