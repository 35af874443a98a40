//go:build linux || darwin || freebsd

package rulesdir

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plainFiles reads regular files that lie directly in a folder, with five system calls where
// os.Root takes eight: a folder of many small files costs little else.
type plainFiles struct {
	list *os.File // nil for none
	conn syscall.RawConn
}

// newPlainFiles opens the folder again, to list and read in it by its descriptor.
func newPlainFiles(root *os.Root) (p plainFiles, err error) {
	if p.list, err = root.Open("."); err != nil {
		return p, err
	}
	if p.conn, err = p.list.SyscallConn(); err != nil {
		p.list.Close()
	}
	return p, err
}

func (p *plainFiles) close() {
	if p.list != nil {
		_ = p.list.Close() // it was only read from
	}
}

// read appends the first limit bytes of a file to buffer, which must be empty, and returns the
// file's version. ok is false for anything but a regular file directly in the folder, and
// after an error: the caller then reads with os.Root, which returns the error.
func (p *plainFiles) read(name string, buffer []byte, limit int) (_ []byte, version Used, ok bool) {
	if p.list == nil || strings.Contains(name, "/") {
		return buffer, version, false
	}
	fd := -1
	// The folder may be closed meanwhile and its descriptor reused.
	err := p.conn.Control(func(folder uintptr) {
		fd, _ = unix.Openat(int(folder), name, openFlags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil || fd < 0 {
		return buffer, version, false
	}
	defer unix.Close(fd)
	var before, after unix.Stat_t
	if unix.Fstat(fd, &before) != nil || before.Mode&unix.S_IFMT != unix.S_IFREG {
		return buffer, version, false
	}
	buffer = slices.Grow(buffer, max(int(min(before.Size, int64(limit))), firstBuffer))
	// A file whose size is 0 is read once, too: some systems' own files have a size of 0.
	for len(buffer) < limit && (len(buffer) == 0 || int64(len(buffer)) != before.Size) {
		buffer = slices.Grow(buffer, 1)
		n, err := unix.Read(fd, buffer[len(buffer):min(cap(buffer), limit)])
		if n <= 0 && err != unix.EINTR {
			if err != nil {
				return buffer, version, false
			}
			break
		}
		buffer = buffer[:len(buffer)+max(n, 0)]
	}
	if unix.Fstat(fd, &after) != nil || before.Size != after.Size || before.Mtim != after.Mtim {
		return buffer, version, false
	}
	return buffer, Used{Name: name, Size: before.Size, Modified: time.Unix(before.Mtim.Unix())}, true
}
