package blob

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// File is an open input.
type File struct {
	name string
	file *os.File
	size int64 // -1 for a stream
}

// Open opens the file of that name, or stdin for [Stdio]. Opening a named pipe
// waits until somebody writes to it.
func Open(name string) (*File, error) {
	if name == Stdio {
		return newFile("stdin", os.Stdin)
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, named(name, err)
	}
	opened, err := newFile(name, f)
	if err != nil {
		f.Close()
	}
	return opened, err
}

func newFile(name string, f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, named(name, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("blob: %s is a folder, not a file", name)
	}
	size := int64(-1)
	if info.Mode().IsRegular() {
		// Stdin may be a file of which somebody has read the beginning: it
		// then is a stream, whose first octet is not the file's.
		if at, err := f.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			size = info.Size()
		}
	}
	return &File{name: name, file: f, size: size}, nil
}

// Name is the name that Open was given, or "stdin".
func (f *File) Name() string { return f.name }

// Size is the input's length in octets. It is false for a stream, such as a
// pipe, whose length is not known and which can only be read in order.
func (f *File) Size() (octets int64, regular bool) { return max(0, f.size), f.size >= 0 }

// Read reads in order.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	return n, f.readError(err)
}

// ReadAt reads at any place, and does not move that of Read. It is an error for
// a stream, see Size.
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	if f.size < 0 {
		return 0, fmt.Errorf("blob: %s: %w", f.name, errStream)
	}
	n, err := f.file.ReadAt(p, offset)
	return n, f.readError(err)
}

var errStream = errors.New("a stream can only be read from its beginning to its end")

// Close closes the file; stdin stays open.
func (f *File) Close() error {
	if f.file == os.Stdin {
		return nil
	}
	if err := f.file.Close(); err != nil {
		return named(f.name, err)
	}
	return nil
}

func (f *File) readError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return named(f.name, err)
}
