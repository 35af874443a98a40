//go:build unix

package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"robotsbatch/io/store/must"
)

func TestPermissions(t *testing.T) {
	before := syscall.Umask(0o027)
	defer syscall.Umask(before)
	name := filepath.Join(t.TempDir(), "out.csv")
	must.Do(t, create(t, name).Close())
	info := must.Get(os.Stat(name))(t)
	must.Equal(t, info.Mode(), 0o640, "permissions")
}

// registered counts the functions that wait for the end of a context.
type registered struct {
	context.Context
	done    chan struct{} // which never is
	waiting int
}

func (r *registered) Done() <-chan struct{} { return r.done }

func (r *registered) AfterFunc(func()) (stop func() bool) {
	r.waiting++
	return func() bool { r.waiting--; return true }
}

// A pipe that is closed does not wait for the end of its context.
func TestClosedPipeWaitsForNothing(t *testing.T) {
	r := &registered{Context: t.Context(), done: make(chan struct{})}
	f := must.Get(Open(r, os.DevNull))(t)
	must.Equal(t, r.waiting, 1)
	must.Do(t, f.Close())
	must.Equal(t, r.waiting, 0)
}

func TestSymbolicLinkStays(t *testing.T) {
	for _, test := range []struct {
		name   string
		target string // from the folder links
		before bool
	}{
		{"to a file", "../data/out.csv", true},
		{"to nothing yet", "../data/out.csv", false},
		{"to a link", "second", true},
		{"absolute", "/data/out.csv", true}, // below the test's folder
	} {
		t.Run(test.name, func(t *testing.T) {
			top := t.TempDir()
			links, data := filepath.Join(top, "links"), filepath.Join(top, "data")
			for _, folder := range []string{links, data} {
				must.Do(t, os.Mkdir(folder, 0o777))
			}
			if test.before {
				must.WriteFile(t, filepath.Join(data, "out.csv"), "before")
			}
			target := test.target
			if filepath.IsAbs(target) {
				target = top + target
			}
			link := filepath.Join(links, "link")
			must.Do(t, errors.Join(os.Symlink(target, link), os.Symlink("../data/out.csv", filepath.Join(links, "second"))))
			w := create(t, link)
			write(t, w, "after")
			must.Do(t, w.Close())
			must.Equal(t, must.Get(os.Readlink(link))(t), target, "link")
			wantFiles(t, data, map[string]string{"out.csv": "after"})
			wantFiles(t, links, map[string]string{"link": "after", "second": "after"})
		})
	}
}

// TestLinkInLinkedFolder has a relative link whose ".." is that of the folder
// it really lies in.
func TestLinkInLinkedFolder(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "x", "deep")
	must.Do(t, os.MkdirAll(deep, 0o777))
	err := errors.Join(
		os.Symlink(deep, filepath.Join(top, "short")),
		os.Symlink("../out.csv", filepath.Join(deep, "link")))
	must.Do(t, err)
	w := create(t, filepath.Join(top, "short", "link"))
	must.Do(t, w.Close())
	must.Get(os.Stat(filepath.Join(top, "x", "out.csv")))(t)
}

func TestLinkLoop(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink("link", link))
	must.Say(t, must.Err(Create(t.Context(), link)), link)
}

func TestDevicesAreWrittenDirectly(t *testing.T) {
	w := create(t, os.DevNull)
	write(t, w, "text")
	must.Do(t, w.Close())
	info, err := os.Stat(os.DevNull)
	must.Need(t, err == nil && info.Mode()&fs.ModeDevice != 0, "the device is gone: %v, %v", info, err)
}

func TestNoSpace(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	w := create(t, full)
	write(t, w, "text") // still in the buffer
	err := w.Close()
	must.Be(t, errors.Is(err, syscall.ENOSPC) && strings.Contains(err.Error(), full), "Close: %v", err)
	w.Abort()

	w = create(t, full)
	defer w.Abort()
	must.Is(t, must.Err(w.Write(make([]byte, 2*writeSize))), syscall.ENOSPC, "Write")
	must.Is(t, must.Err(w.Write([]byte("x"))), syscall.ENOSPC, "stayed")
}

// makePipe makes a named pipe and opens it for reading.
func makePipe(t *testing.T) (name string, reader *os.File) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("a named pipe can be opened for both only on Linux")
	}
	name = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Skip(err)
	}
	reader, err := os.OpenFile(name, os.O_RDWR, 0) // does not wait
	must.Do(t, err)
	return name, reader
}

func TestNamedPipe(t *testing.T) {
	name, reader := makePipe(t)
	defer reader.Close()
	w := create(t, name)
	write(t, w, "text")
	must.Do(t, w.Close())
	got := make([]byte, 4)
	_, err := io.ReadFull(reader, got)
	must.Be(t, err == nil && string(got) == "text", "read %q, %v", got, err)
	info, err := os.Stat(name)
	must.Be(t, err == nil && info.Mode()&fs.ModeNamedPipe != 0, "the pipe was replaced: %v, %v", info, err)
}

func TestReaderGone(t *testing.T) {
	name, reader := makePipe(t)
	w := create(t, name)
	defer w.Abort()
	reader.Close()
	write(t, w, "text")
	err := w.Close()
	must.Be(t, errors.Is(err, syscall.EPIPE) && strings.Contains(err.Error(), name), "Close: %v", err)
}
