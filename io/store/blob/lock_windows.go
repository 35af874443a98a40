package blob

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file until it is closed. ok is false when somebody else has
// it locked.
func tryLock(f *os.File) (ok bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// Lock a byte beyond any file's end, because a locked byte cannot be written.
	place := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, place)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

// removeLocked releases a lock and removes the file. An open file cannot be removed.
func removeLocked(f *os.File, path string) {
	f.Close()
	os.Remove(path)
}
