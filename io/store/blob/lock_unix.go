//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package blob

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed. ok is false if another process has it locked. On a
// file system without locks, ok is true.
func tryLock(f *os.File) (ok bool, err error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil, errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS):
			return true, nil // the file system may have no locks
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, os.NewSyscallError("flock", err)
		}
	}
}

// removeLocked removes a file and then releases its lock, so that the next holder of
// the lock finds the name gone.
func removeLocked(f *os.File, path string) {
	os.Remove(path)
	f.Close()
}
